#!/usr/bin/env python3
"""Checks .ssp files against the schemas of SSP 1.0 and 2.0: which element may stand where, in which order, with which
attributes and text. What is a tool's own may stand inside ssc:Annotation only, as one element.

check_ssp.py FILE...              says what is wrong; status 1 then
check_ssp.py --self-test FILE...  breaks each file in every way below and sees that it is found
"""
import re
import sys
import zipfile
import xml.etree.ElementTree as ElementTree

SPACES = {
    "http://ssp-standard.org/SSP1/SystemStructureDescription": "ssd",
    "http://ssp-standard.org/SSP1/SystemStructureCommon": "ssc",
    "http://ssp-standard.org/SSP1/SystemStructureParameterValues": "ssv",
}
BASE = " id description"
TOP = BASE + " author fileversion copyright license generationTool generationDateAndTime"
TYPE = "(ssc:(Real|Integer|Boolean|String|Enumeration|Binary) )?"
NOTES = "(ssd:Annotations )?"
ELEMENT = "(ssd:Connectors )?(ssd:ElementGeometry )?(ssd:ParameterBindings )?"

# element: what stands inside, as a pattern of names; attributes, those with ! are required
RULES = {
    "ssd:SystemStructureDescription": (
        "ssd:System (ssd:Enumerations )?(ssd:Units )?(ssd:DefaultExperiment )?" + NOTES, "version! name!" + TOP),
    "ssd:System": (ELEMENT + "(ssd:Elements )?(ssd:Connections )?(ssd:SignalDictionaries )?" + NOTES, "name!" + BASE),
    "ssd:Elements": ("(ssd:Component |ssd:System |ssd:SignalDictionaryReference )+", ""),
    "ssd:Component": (ELEMENT + NOTES, "name! type source implementation" + BASE),
    "ssd:Connectors": ("(ssd:Connector )+", ""),
    "ssd:Connector": (TYPE + "(ssc:Dimension )*" + NOTES, "name! kind!" + BASE),
    "ssd:ParameterBindings": ("(ssd:ParameterBinding )+", ""),
    "ssd:ParameterBinding": ("(ssd:ParameterValues )?(ssd:ParameterMapping )?" + NOTES, "type source sourceBase prefix" + BASE),
    "ssd:Connections": ("(ssd:Connection )+", ""),
    "ssd:Connection": ("(ssc:LinearTransformation )?" + NOTES,
                       "startElement startConnector! endElement endConnector! suppressUnitConversion" + BASE),
    "ssd:Enumerations": ("(ssc:Enumeration )+", ""),
    "ssd:Units": ("(ssc:Unit )+", ""),
    "ssd:DefaultExperiment": (NOTES, "startTime stopTime" + BASE),
    "ssd:Annotations": ("(ssc:Annotation )+", ""),
    "ssc:Annotation": ("(?!ss[dcv]:)(\\S+ )?", "type!"),
    "ssc:Enumeration": ("(ssc:Item )+", "name!" + BASE),
    "ssc:Item": ("", "name! value!"),
    "ssc:Unit": ("ssc:BaseUnit ", "name!" + BASE),
    "ssc:BaseUnit": ("", "kg m s A K mol cd rad factor offset"),
    "ssc:Real": ("", "unit"),
    "ssc:Integer": ("", ""),
    "ssc:Boolean": ("", ""),
    "ssc:String": ("", ""),
    "ssc:Binary": ("", "mime-type"),
    "ssc:Enumeration of a connector": ("", "name!"),
    "ssc:Dimension": ("", "size"),
    "ssc:LinearTransformation": ("", "factor offset"),
    "ssv:ParameterSet": ("ssv:Parameters (ssv:Enumerations )?(ssv:Units )?", "version! name!" + TOP),
    "ssv:Parameters": ("(ssv:Parameter )*", ""),
    "ssv:Parameter": ("ssv:(Real|Integer|Boolean|String|Enumeration|Binary) (ssc:Dimension )*", "name!" + BASE),
    "ssv:Units": ("(ssc:Unit )+", ""),
    "ssv:Real": ("", "value! unit"),
    "ssv:Integer": ("", "value!"),
    "ssv:Boolean": ("", "value!"),
    "ssv:String": ("", "value!"),
    "ssv:Enumeration": ("", "value! name"),
    "ssv:Binary": ("", "value! mime-type"),
}
KINDS = {"input", "output", "parameter", "calculatedParameter"}


def name_of(node):
    space, _, name = node.tag.rpartition("}")
    return SPACES.get(space[1:], space[1:] or "no-namespace") + ":" + name


def check_node(node, parent, version, say):
    name = name_of(node)
    rule = "ssc:Enumeration of a connector" if (name, parent) == ("ssc:Enumeration", "ssd:Connector") else name
    if rule not in RULES:
        say(f"{name} in {parent} is no element of SSP: only ssc:Annotation may hold others")
        return
    inside, attributes = RULES[rule]
    children = "".join(name_of(child) + " " for child in node)
    if not re.fullmatch(inside, children):
        say(f"{name} holds '{children.strip()}'")
    for word in attributes.split():
        if word.endswith("!") and word[:-1] not in node.attrib:
            say(f"{name} has no {word[:-1]}")
    for key in node.attrib:
        if key not in attributes.replace("!", "").split():
            say(f"{name} has an attribute {key}")
    for text in [node.text] + [child.tail for child in node]:
        if text is not None and text.strip():
            say(f"{name} holds the text '{text.strip()[:40]}'")
    if name == "ssd:Connector" and node.get("kind") not in KINDS:
        say(f"{name} has the kind {node.get('kind')}")
    if name == "ssc:Dimension" and not version.startswith("2."):
        say(f"{name} is of SSP 2.0")
    if name != "ssc:Annotation":  # what is inside of one is the tool's own
        for child in node:
            check_node(child, name, version, say)


def check_file(text, root_name, say):
    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        say(f"no XML: {error}")
        return
    version = root.get("version", "")
    if version not in ("1.0", "2.0"):
        say(f"version {version}")
    if name_of(root) != root_name:
        say(f"the root is {name_of(root)}")
    check_node(root, "", version, say)


def check_archive(files):
    """files: name -> text. Returns the list of faults."""
    faults = []
    if "SystemStructure.ssd" not in files:
        faults.append("no SystemStructure.ssd")
    for name, text in files.items():
        root = {"ssd": "ssd:SystemStructureDescription", "ssv": "ssv:ParameterSet"}.get(name.rpartition(".")[2])
        if root is not None:
            check_file(text, root, lambda fault, name=name: faults.append(f"{name}: {fault}"))
    return faults


def read_archive(path):
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name).decode() for name in archive.namelist() if name.endswith((".ssd", ".ssv"))}


# what to look for in the SSD, what to put there, what must be said
BREAKS = [
    (r'(<ssc:Annotation type="org.yoke.system">)', r"\1time: 1", "ssc:Annotation holds the text"),
    (r"(</ssc:Annotation>)", r"<more xmlns='x'/>\1", "ssc:Annotation holds 'urn:org.yoke.system:System x:more'"),
    (r"(<ssd:DefaultExperiment )", r"<yoke:Extra xmlns:yoke='urn:org.yoke.system'/>\1", "urn:org.yoke.system:Extra"),
    (r"(<ssd:System )", r'\1order="a" ', "has an attribute order"),
    (r"(<ssd:Connection )", r"<ssd:Connections/>\1", "ssd:Connections holds"),
    (r' kind="\w+"', "", "ssd:Connector has no kind"),
    (r' kind="\w+"', ' kind="signal"', "ssd:Connector has the kind signal"),
    (r' startConnector="[^"]*"', "", "ssd:Connection has no startConnector"),
    (r'(<ssd:System[^>]*) version="[12].0"', r'\1 version="3.0"', "version 3.0"),
    (r"(<ssd:Elements>)", r"\1some text", "ssd:Elements holds the text"),
    (r"</ssd:System>", "", "no XML"),
]


def self_test(path):
    files = read_archive(path)
    assert not check_archive(files), check_archive(files)
    for pattern, replacement, expected in BREAKS:
        broken, n = re.subn(pattern, replacement, files["SystemStructure.ssd"], count=1)
        faults = check_archive({**files, "SystemStructure.ssd": broken})
        if n != 1 or not any(expected in fault for fault in faults):
            print(f"{path}: '{pattern}' was replaced {n} times; expected '{expected}', found {faults}")
            return 1
    return 0


def main(arguments):
    if arguments[0] == "--self-test":
        return max(self_test(path) for path in arguments[1:])
    n = 0
    for path in arguments:
        for fault in check_archive(read_archive(path)):
            print(f"{path}: {fault}")
            n += 1
    print(f"{len(arguments)} archives, {n} faults")
    return 1 if n > 0 or len(arguments) == 0 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
