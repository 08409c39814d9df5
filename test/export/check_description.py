#!/usr/bin/env python3
"""The rules of FMI 2.0.4 and 3.0 for modelDescription.xml, as far as co-simulation FMUs without events need them.

Written from the standards and apart from the exporter and the importer, so that the three can disagree.

    check_description.py FILE.fmu...            one line per fault; status 1 if there is one
    check_description.py --self-test FILE.fmu   spoils the description in many ways; each must be found
"""
import re
import sys
import zipfile
import xml.etree.ElementTree as ET

IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
BASES = ["kg", "m", "s", "A", "K", "mol", "cd", "rad"]

# (causality, variability) -> allowed values of initial; the first is the default; None: the attribute is not allowed
CALCULATED = ["calculated", "exact", "approx"]
COMBINATIONS = {
    ("parameter", "fixed"): ["exact"],
    ("parameter", "tunable"): ["exact"],
    ("calculatedParameter", "fixed"): ["calculated", "approx"],
    ("calculatedParameter", "tunable"): ["calculated", "approx"],
    ("input", "discrete"): None,
    ("input", "continuous"): None,
    ("output", "constant"): ["exact"],
    ("output", "discrete"): CALCULATED,
    ("output", "continuous"): CALCULATED,
    ("local", "constant"): ["exact"],
    ("local", "fixed"): ["calculated", "approx"],
    ("local", "tunable"): ["calculated", "approx"],
    ("local", "discrete"): CALCULATED,
    ("local", "continuous"): CALCULATED,
    ("independent", "continuous"): None,
}

ROOT_ATTRIBUTES = {
    2: {"fmiVersion", "modelName", "guid", "description", "author", "version", "copyright", "license",
        "generationTool", "generationDateAndTime", "variableNamingConvention", "numberOfEventIndicators"},
    3: {"fmiVersion", "modelName", "instantiationToken", "description", "author", "version", "copyright", "license",
        "generationTool", "generationDateAndTime", "variableNamingConvention"},
}
ROOT_ORDER = {
    2: ["ModelExchange", "CoSimulation", "UnitDefinitions", "TypeDefinitions", "LogCategories", "DefaultExperiment",
        "VendorAnnotations", "ModelVariables", "ModelStructure"],
    3: ["ModelExchange", "CoSimulation", "ScheduledExecution", "UnitDefinitions", "TypeDefinitions", "LogCategories",
        "DefaultExperiment", "ModelVariables", "ModelStructure", "Annotations"],
}
INTERFACE_ATTRIBUTES = {
    2: {"modelIdentifier", "needsExecutionTool", "canHandleVariableCommunicationStepSize", "canInterpolateInputs",
        "maxOutputDerivativeOrder", "canRunAsynchronuously", "canBeInstantiatedOnlyOncePerProcess",
        "canNotUseMemoryManagementFunctions", "canGetAndSetFMUstate", "canSerializeFMUstate",
        "providesDirectionalDerivative"},
    3: {"modelIdentifier", "needsExecutionTool", "canBeInstantiatedOnlyOncePerProcess", "canGetAndSetFMUState",
        "canSerializeFMUState", "providesDirectionalDerivatives", "providesAdjointDerivatives",
        "providesPerElementDependencies", "canHandleVariableCommunicationStepSize", "fixedInternalStepSize",
        "maxOutputDerivativeOrder", "recommendedIntermediateInputSmoothness", "providesIntermediateUpdate",
        "mightReturnEarlyFromDoStep", "canReturnEarlyAfterIntermediateUpdate", "hasEventMode",
        "providesEvaluateDiscreteStates"},
}
TYPES = {2: ["Real", "Integer", "Boolean", "String", "Enumeration"],
         3: ["Float64", "Float32", "Int8", "UInt8", "Int16", "UInt16", "Int32", "UInt32", "Int64", "UInt64", "Boolean",
             "String", "Binary", "Enumeration", "Clock"]}
REAL_ATTRIBUTES = {"declaredType", "quantity", "unit", "displayUnit", "relativeQuantity", "min", "max", "nominal",
                   "unbounded", "start", "derivative", "reinit"}
OTHER_ATTRIBUTES = {"declaredType", "quantity", "min", "max", "start"}
COMMON_2 = {"name", "valueReference", "description", "causality", "variability", "initial",
            "canHandleMultipleSetPerTimeInstant"}
COMMON_3 = COMMON_2 | {"intermediateUpdate", "previous", "clocks"}


def is_number(text):
    return re.match(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\Z|[+-]?INF\Z|NaN\Z", text) is not None


def is_integer(text):
    return re.match(r"[+-]?\d+\Z", text) is not None


class Checker:
    def __init__(self, text, names):
        self.faults = []
        self.names = names  # of the archive
        self.root = ET.fromstring(text)
        self.fmi = {"2.0": 2, "3.0": 3}.get(self.root.get("fmiVersion"), 0)

    def fault(self, text):
        self.faults.append(text)

    def need(self, holds, text):
        if not holds:
            self.fault(text)
        return holds

    def attributes(self, node, allowed, required, what):
        for name in node.attrib:
            self.need(name in allowed, f"{what}: attribute '{name}' is unknown")
        for name in required:
            self.need(name in node.attrib, f"{what}: attribute '{name}' is missing")

    def run(self):
        if not self.need(self.root.tag == "fmiModelDescription" and self.fmi, "no description of FMI 2.0 or 3.0"):
            return self.faults
        self.head()
        self.interface()
        self.units()
        self.types()
        self.categories()
        self.experiment()
        self.variables()
        self.structure()
        self.archive()
        return self.faults

    # ---- head
    def head(self):
        token = "guid" if self.fmi == 2 else "instantiationToken"
        self.attributes(self.root, ROOT_ATTRIBUTES[self.fmi], ["fmiVersion", "modelName", token], "root")
        self.need(self.root.get("modelName"), "modelName is empty")
        self.need(self.root.get(token), f"{token} is empty")
        self.need(self.root.get("variableNamingConvention", "flat") in ("flat", "structured"), "naming convention")
        order = [c.tag for c in self.root]
        for tag in order:
            self.need(tag in ROOT_ORDER[self.fmi], f"element {tag} is unknown")
        known = [t for t in order if t in ROOT_ORDER[self.fmi]]
        self.need(known == sorted(known, key=ROOT_ORDER[self.fmi].index) and len(set(known)) == len(known),
                  f"elements of the root in the wrong order: {known}")
        for tag in ("ModelVariables", "ModelStructure", "CoSimulation"):
            self.need(self.root.find(tag) is not None, f"element {tag} is missing")

    def interface(self):
        node = self.root.find("CoSimulation")
        if node is None:
            return
        self.attributes(node, INTERFACE_ATTRIBUTES[self.fmi], ["modelIdentifier"], "CoSimulation")
        self.identifier = node.get("modelIdentifier", "")
        self.need(IDENTIFIER.match(self.identifier), f"modelIdentifier '{self.identifier}' is no C identifier")
        for name, value in node.attrib.items():
            if name.startswith(("can", "provides", "needs", "has", "might")):
                self.need(value in ("true", "false"), f"CoSimulation {name}='{value}' is no boolean")
        state = "canGetAndSetFMUstate" if self.fmi == 2 else "canGetAndSetFMUState"
        serial = "canSerializeFMUstate" if self.fmi == 2 else "canSerializeFMUState"
        self.need(node.get(serial) != "true" or node.get(state) == "true", f"{serial} without {state}")
        for child in node:
            self.need(self.fmi == 2 and child.tag == "SourceFiles", f"CoSimulation has an element {child.tag}")

    # ---- definitions
    def units(self):
        self.unit_names = set()
        parent = self.root.find("UnitDefinitions")
        if parent is None:
            return
        self.need(len(parent), "UnitDefinitions is empty")
        for unit in parent:
            name = unit.get("name", "")
            self.need(unit.tag == "Unit" and name, "a unit without name")
            self.need(name not in self.unit_names, f"unit '{name}' is there twice")
            self.unit_names.add(name)
            for child in unit:
                self.need(child.tag in ("BaseUnit", "DisplayUnit", "Annotations"), f"unit '{name}': {child.tag}")
                if child.tag == "BaseUnit":
                    self.attributes(child, set(BASES) | {"factor", "offset"}, [], f"unit '{name}'")
                    for key, value in child.attrib.items():
                        good = is_integer(value) if key in BASES else is_number(value)
                        self.need(good, f"unit '{name}': {key}='{value}'")

    def types(self):
        self.enumerations = {}
        parent = self.root.find("TypeDefinitions")
        if parent is None:
            return
        self.need(len(parent), "TypeDefinitions is empty")
        seen = set()
        for node in parent:
            name = node.get("name", "")
            self.need(name and name not in seen, f"type '{name}' is empty or there twice")
            seen.add(name)
            if self.fmi == 2:
                self.need(node.tag == "SimpleType" and len(node) == 1, f"type '{name}'")
                node = node[0]
                self.need(node.tag in TYPES[2], f"type '{name}': {node.tag}")
            if node.tag in ("Enumeration", "EnumerationType"):
                items = [(i.get("name"), i.get("value")) for i in node if i.tag == "Item"]
                self.need(items, f"type '{name}' has no items")
                for k in (0, 1):
                    values = [i[k] for i in items]
                    self.need(all(values) and len(set(values)) == len(values), f"type '{name}': items not unique")
                self.need(all(is_integer(v or "") for _, v in items), f"type '{name}': a value is no integer")
                self.enumerations[name] = {v for _, v in items}
        self.type_names = seen
        variables = {v.get("name") for v in self.root.find("ModelVariables")}
        self.need(self.fmi == 3 or not (seen & variables), f"types named like variables: {seen & variables}")

    def categories(self):
        parent = self.root.find("LogCategories")
        if parent is not None:
            names = [c.get("name") for c in parent]
            self.need(names and all(names) and len(set(names)) == len(names), "LogCategories: empty or not unique")

    def experiment(self):
        node = self.root.find("DefaultExperiment")
        if node is not None:
            self.attributes(node, {"startTime", "stopTime", "tolerance", "stepSize"}, [], "DefaultExperiment")
            values = {k: float(v) for k, v in node.attrib.items() if self.need(is_number(v), f"{k}='{v}'")}
            self.need(values.get("stopTime", 1e300) >= values.get("startTime", 0.0), "stopTime before startTime")
            self.need(values.get("stepSize", 1.0) > 0.0, "stepSize not above 0")

    # ---- variables
    def variables(self):
        self.rows = []
        names, references, n_independent = set(), set(), 0
        parent = self.root.find("ModelVariables")
        for node in parent if parent is not None else []:
            row = self.variable_2(node) if self.fmi == 2 else self.variable_3(node)
            if row is None:
                continue
            what = f"variable '{row['name']}'"
            self.need(row["name"] and not re.search(r"[\x00-\x1f]", row["name"]), f"{what}: bad name")
            self.need(row["name"] not in names, f"{what} is there twice")
            names.add(row["name"])
            reference = row["reference"]
            if self.need(is_integer(reference) and 0 <= int(reference) < 2**32, f"{what}: valueReference"):
                self.need(int(reference) not in references, f"{what}: valueReference {reference} is there twice")
                references.add(int(reference))
            self.combination(row, what)
            n_independent += row["causality"] == "independent"
            self.rows.append(row)
        self.need(n_independent <= 1, "more than one independent variable")
        self.need(self.fmi == 2 or n_independent == 1, "no independent variable")

    def combination(self, row, what):
        pair = (row["causality"], row["variability"])
        if not self.need(pair in COMBINATIONS, f"{what}: {pair} is not allowed"):
            row["initial"] = None
            return
        self.need(row["variability"] != "continuous" or row["is_real"], f"{what}: only reals are continuous")
        allowed = COMBINATIONS[pair]
        if allowed is None:
            is_default = self.fmi == 3 and pair[0] == "input" and row["initial"] == "exact"
            self.need(row["initial"] is None or is_default, f"{what}: initial is not allowed")
            needs_start = row["causality"] == "input"
        else:
            row["initial"] = row["initial"] or allowed[0]
            self.need(row["initial"] in allowed, f"{what}: initial='{row['initial']}' is not allowed")
            needs_start = row["initial"] in ("exact", "approx")
        self.need(bool(row["starts"]) == needs_start, f"{what}: start {'missing' if needs_start else 'not allowed'}")

    def check_type(self, node, kind, starts, what):
        is_real = kind in ("Real", "Float64", "Float32")
        allowed = set(REAL_ATTRIBUTES if is_real else OTHER_ATTRIBUTES)
        if kind in ("Boolean", "String"):
            allowed -= {"min", "max", "quantity"}
        if kind == "Binary":
            allowed = {"declaredType", "mimeType", "maxSize"}
        if self.fmi == 3:
            allowed |= COMMON_3
            allowed -= {"start"} if kind in ("String", "Binary") else set()
        self.attributes(node, allowed, ["declaredType"] if kind == "Enumeration" else [], what)
        if "unit" in node.attrib:
            self.need(node.get("unit") in self.unit_names, f"{what}: unit '{node.get('unit')}' is not defined")
        if "declaredType" in node.attrib:
            self.need(node.get("declaredType") in getattr(self, "type_names", ()), f"{what}: type is not defined")
        for start in starts:
            good = True
            if is_real:
                good = is_number(start)
            elif kind == "Boolean":
                good = start in ("true", "false", "1", "0")
            elif kind == "Enumeration":
                good = start in self.enumerations.get(node.get("declaredType"), ())
            elif kind == "Integer":
                good = is_integer(start) and -2**31 <= int(start) < 2**31
            elif kind not in ("String", "Binary"):
                good = is_integer(start)
            self.need(good, f"{what}: start '{start}'")

    def variable_2(self, node):
        name = node.get("name", "")
        what = f"variable '{name}'"
        if not self.need(node.tag == "ScalarVariable", f"ModelVariables has an element {node.tag}"):
            return None
        self.attributes(node, COMMON_2, ["name", "valueReference"], what)
        types = [c for c in node if c.tag in TYPES[2]]
        if not self.need(len(types) == 1 and len(node) == 1, f"{what} has {len(types)} types"):
            return None
        kind = types[0].tag
        starts = [types[0].get("start")] if "start" in types[0].attrib else []
        self.check_type(types[0], kind, starts, what)
        return {"name": name, "reference": node.get("valueReference", ""), "is_real": kind == "Real",
                "causality": node.get("causality", "local"), "variability": node.get("variability", "continuous"),
                "initial": node.get("initial"), "starts": starts, "derivative": types[0].get("derivative")}

    def variable_3(self, node):
        name = node.get("name", "")
        what = f"variable '{name}'"
        kind = node.tag
        if not self.need(kind in TYPES[3], f"ModelVariables has an element {kind}"):
            return None
        order = [c.tag for c in node]
        self.need(order == sorted(order, key=["Annotations", "Dimension", "Start", "Alias"].index), f"{what}: order")
        size = 1
        for dimension in node.findall("Dimension"):
            given = dimension.get("start", "")
            self.need(set(dimension.attrib) in ({"start"}, {"valueReference"}), f"{what}: Dimension")
            if self.need(is_integer(given) and int(given) > 0, f"{what}: Dimension start='{given}'"):
                size *= int(given)
        if kind in ("String", "Binary"):
            starts = [s.get("value", "") for s in node.findall("Start")]
        else:
            starts = node.get("start", "").split()
        self.check_type(node, kind, starts, what)
        self.need(not starts or len(starts) in (1, size), f"{what}: {len(starts)} start values for {size} elements")
        is_real = kind in ("Float64", "Float32")
        return {"name": name, "reference": node.get("valueReference", ""), "is_real": is_real,
                "causality": node.get("causality", "local"),
                "variability": node.get("variability", "continuous" if is_real else "discrete"),
                "initial": node.get("initial"), "starts": starts, "derivative": node.get("derivative")}

    # ---- structure
    def structure(self):
        parent = self.root.find("ModelStructure")
        if parent is None:
            return
        # entries are known by their place (from 1) in FMI 2.0, by reference in FMI 3.0
        if self.fmi == 2:
            keys = {str(i + 1): row for i, row in enumerate(self.rows)}
            order = [c.tag for c in parent]
            self.need(order == [t for t in ("Outputs", "Derivatives", "InitialUnknowns") if t in order],
                      f"ModelStructure: {order}")
            for node in parent:
                self.need(len(node) > 0, f"ModelStructure: {node.tag} is empty")
            outputs, derivatives, initial = (list(parent.find(t) if parent.find(t) is not None else [])
                                             for t in ("Outputs", "Derivatives", "InitialUnknowns"))
        else:
            keys = {row["reference"]: row for row in self.rows}
            order = [c.tag for c in parent]
            allowed = ["Output", "ContinuousStateDerivative", "ClockedState", "InitialUnknown", "EventIndicator"]
            if self.need(all(t in allowed for t in order), f"ModelStructure: {order}"):
                self.need(order == sorted(order, key=allowed.index), "ModelStructure: elements in the wrong order")
            outputs = parent.findall("Output")
            derivatives = parent.findall("ContinuousStateDerivative")
            initial = parent.findall("InitialUnknown")
        rates = [k for k, row in keys.items() if row["derivative"] is not None]
        states = self.states(rates, keys)
        wanted = [k for k, row in keys.items() if row["causality"] == "output"]
        unknown = [k for k, row in keys.items() if row["causality"] == "calculatedParameter" or
                   (row["causality"] == "output" or k in states or k in rates) and
                   row["initial"] in ("approx", "calculated")]
        knowns = [k for k, row in keys.items() if row["causality"] in ("input", "independent")] + states
        self.entries(outputs, "Outputs", wanted, keys, knowns)
        self.entries(derivatives, "Derivatives", rates, keys, knowns)
        self.entries(initial, "InitialUnknowns", unknown, keys, None)

    # what the derivatives are derivatives of: continuous scalars or arrays of reals, no two of one state
    def states(self, rates, keys):
        states = []
        for k in rates:
            row, of = keys[k], keys.get(keys[k]["derivative"])
            what = f"variable '{row['name']}'"
            if not self.need(of is not None and of is not row, f"{what}: the derivative of no variable"):
                continue
            self.need(row["is_real"] and row["variability"] == "continuous", f"{what}: not continuous")
            self.need(row["causality"] in ("local", "output"), f"{what}: a derivative that is {row['causality']}")
            self.need(of["is_real"] and of["variability"] == "continuous" and of["causality"] in ("local", "output"),
                      f"{what}: '{of['name']}' is no state")
            self.need(row["derivative"] not in states, f"{what}: '{of['name']}' has two derivatives")
            states.append(row["derivative"])
        flag = "providesDirectionalDerivative" + ("s" if self.fmi == 3 else "")
        self.need(not rates or self.root.find("CoSimulation").get(flag) == "true",
                  f"derivatives of states without {flag}: nobody can use them")
        return states

    def entries(self, nodes, what, wanted, keys, knowns):
        key = "index" if self.fmi == 2 else "valueReference"
        given = []
        for node in nodes:
            self.need(self.fmi == 3 or node.tag == "Unknown", f"{what}: {node.tag}")
            self.attributes(node, {key, "dependencies", "dependenciesKind"}, [key], what)
            given.append(node.get(key))
            dependencies = node.get("dependencies", "").split()
            self.need(all(d in keys for d in dependencies), f"{what} {given[-1]}: a dependency is no variable")
            self.need(len(set(dependencies)) == len(dependencies), f"{what} {given[-1]}: a dependency twice")
            if self.fmi == 2:
                self.need(dependencies == sorted(dependencies, key=int), f"{what} {given[-1]}: not in order")
            if knowns is not None:
                self.need(all(d in knowns for d in dependencies if d in keys),
                          f"{what} {given[-1]}: depends on what is neither input nor state")
            kinds = node.get("dependenciesKind", "").split()
            self.need(not kinds or len(kinds) == len(dependencies), f"{what} {given[-1]}: dependenciesKind")
        self.need(given == wanted, f"{what}: {given}, expected {wanted}")

    # ---- the archive
    def archive(self):
        platform = {2: "linux64", 3: "x86_64-linux"}[self.fmi]
        binaries = [n for n in self.names if n.startswith("binaries/")]
        self.need(all(n.rsplit("/", 1)[1] == f"{self.identifier}.so" for n in binaries) and binaries,
                  f"binaries: {binaries}")
        self.need(binaries != [] and (binaries[0].split("/")[1] == platform or "aarch64" in binaries[0]),
                  f"binaries: {binaries}")
        sources = [f.get("name") for f in self.root.iter("File")]
        if self.fmi == 3 and "sources/buildDescription.xml" in self.names:
            sources = self.names["sources/buildDescription.xml"]
        self.need(all("sources/" + s in self.names for s in sources), "a source file is missing")
        self.need(bool(sources) == any(n.endswith(".c") for n in self.names), "sources that nothing names")


def read(path):
    with zipfile.ZipFile(path) as archive:
        names = {n: [] for n in archive.namelist()}
        build = "sources/buildDescription.xml"
        if build in names:
            root = ET.fromstring(archive.read(build))
            names[build] = [f.get("name") for f in root.iter("SourceFile")]
            if root.tag != "fmiBuildDescription" or root.get("fmiVersion") != "3.0":
                names[build] = ["(no build description)"]
        return archive.read("modelDescription.xml").decode("utf-8"), names


def swap(pattern, replacement):
    return lambda text: re.sub(pattern, replacement, text, count=1, flags=re.S)


SPOILS = [
    ("no version", swap(r' fmiVersion="[^"]*"', "")),
    ("no name", swap(r' modelName="[^"]*"', "")),
    ("no token", swap(r' (guid|instantiationToken)="[^"]*"', "")),
    ("unknown attribute", swap(r' generationTool=', " generatorTool=")),
    ("bad identifier", swap(r'modelIdentifier="', 'modelIdentifier="1.')),
    ("no boolean", swap(r'canHandleVariableCommunicationStepSize="true"',
                        'canHandleVariableCommunicationStepSize="yes"')),
    ("serialise without state", swap(r'(canGetAndSetFMU[sS]tate)="true"', r'\1="false"')),
    ("undefined unit", swap(r'<Unit name="N">', '<Unit name="NN">')),
    ("unit twice", swap(r'<Unit name="N">', '<Unit name="m">')),
    ("bad exponent", swap(r'kg="1"', 'kg="one"')),
    ("undefined type", swap(r'declaredType="spring_type"', 'declaredType="feather_type"')),
    ("item twice", swap(r'<Item name="square-root"', '<Item name="linear"')),
    ("item value twice", swap(r'value="1"/>', 'value="0"/>')),
    ("start of an enumeration", swap(r'(declaredType="spring_type" start=)"0"', r'\1"7"')),
    ("name twice", swap(r'name="v_other"', 'name="x_other"')),
    ("reference twice", swap(r'valueReference="1"', 'valueReference="0"')),
    ("no start of an input", swap(r'(name="x_other".*?) start="0"', r"\1")),
    ("no start of a parameter", swap(r'(name="kc".*?) start="[^"]*"', r"\1")),
    ("no start of an exact output", swap(r'(name="x" .*?) start="[^"]*"', r"\1")),
    ("start of a computed output", swap(r'(name="f" .*?unit="N")', r'\1 start="1"')),
    ("initial of an input", swap(r'(name="x_other"[^>]*causality="input")', r'\1 initial="calculated"')),
    ("fixed input", swap(r'(name="x_other"[^>]*variability=)"continuous"', r'\1"fixed"')),
    ("continuous parameter", swap(r'(name="kc"[^>]*variability=)"fixed"', r'\1"continuous"')),
    ("continuous integer", swap(r'(name="micro_steps"[^>]*)causality="parameter" variability="fixed"',
                                r'\1causality="local" variability="continuous"')),
    ("start is no number", swap(r'(name="kc".*?) start="[^"]*"', r'\1 start="fifty"')),
    ("output not listed", swap(r'<(Unknown|Output) (index|valueReference)="[0-9]+" dependencies="[0-9 ]*"/>', "")),
    ("depends on nothing known", swap(r'dependencies="[0-9 ]*"', 'dependencies="4711"')),
    ("initial unknown missing", swap(r'(.*)<(Unknown index|InitialUnknown valueReference)="[0-9]+"/>', r"\1")),
    ("derivative not listed", swap(r'<(Unknown index|ContinuousStateDerivative valueReference)="[0-9]+"/>', "")),
    ("derivative of nothing", swap(r'derivative="[0-9]+"', 'derivative="4711"')),
    ("two derivatives of one state", swap(r'(derivative="[0-9]+")(.*)derivative="[0-9]+"', r"\1\2\1")),
    ("derivatives that cannot be used", swap(r'(providesDirectionalDerivatives?)="true"', r'\1="false"')),
    ("order of elements", lambda text: re.sub(r"(?s)(<LogCategories>.*</LogCategories>)(.*)(</fmiModelDescription>)",
                                              r"\2\1\3", text)),
]
SPOILS_3 = [
    ("depends on itself", swap(r'(<Output valueReference="2" dependencies=)"[0-9 ]*"', r'\1"2"')),
    ("derivative of a parameter", swap(r'derivative="[0-9]+"', 'derivative="6"')),
    ("derivative of itself", swap(r'(valueReference=)("[0-9]+")([^>]*derivative=)"[0-9]+"', r'\1\2\3\2')),
    ("no independent variable", swap(r"<Float64 [^>]*independent[^>]*/>", "")),
    ("order of structure", lambda text: re.sub(r"(?s)(<Output [^>]*/>)(.*)(</ModelStructure>)", r"\2\1\3", text)),
]
SPOILS_2 = [
    ("depends on itself", swap(r'(<Unknown index="3" dependencies=)"[0-9 ]*"', r'\1"3"')),
    ("derivative of a parameter", swap(r'derivative="[0-9]+"', 'derivative="7"')),
    ("order of dependencies", swap(r'dependencies="1 2 ', 'dependencies="2 1 ')),
    ("type named like a variable", lambda text: text.replace("spring_type", "kc")),
    ("type missing", swap(r"<Integer [^>]*/>", "")),
]


def self_test(path):
    text, names = read(path)
    n_missed = 0
    faults = Checker(text, names).run()
    if faults:
        print(f"{path}: not sound before it is spoiled: {faults}")
        return 1
    for what, spoil in SPOILS + (SPOILS_2 if 'fmiVersion="2.0"' in text else SPOILS_3):
        spoiled = spoil(text)
        if spoiled == text:
            print(f"{path}: '{what}' does not apply")
            n_missed += 1
        elif not Checker(spoiled, names).run():
            print(f"{path}: '{what}' is not found")
            n_missed += 1
    return 1 if n_missed else 0


def main():
    if sys.argv[1:2] == ["--self-test"]:
        return max(self_test(path) for path in sys.argv[2:])
    n_faults = 0
    for path in sys.argv[1:]:
        text, names = read(path)
        for fault in Checker(text, names).run():
            print(f"{path}: {fault}")
            n_faults += 1
    print(f"{len(sys.argv) - 1} files, {n_faults} faults")
    return 1 if n_faults else 0


if __name__ == "__main__":
    sys.exit(main())
