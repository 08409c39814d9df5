#!/usr/bin/env bash
# Circuits in SSP archives: a netlist cannot be the source of a component, but the annotation may name it as a unit, bare and
# packed; a system with circuits is exported with FMUs in their place and gives the same numbers.
set -u
yoke=${YOKE_PROGRAM:?set YOKE_PROGRAM to the program}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
n_failed=0
if ! command -v zip >/dev/null; then
  echo "skipped: zip is missing"
  exit 77
fi

fail() {
  echo "FAILED: $1"
  head -c 2000 err
  n_failed=$((n_failed + 1))
}

# run STATUS ARGUMENTS...
run() {
  local want=$1 status
  shift
  "$yoke" "$@" >out 2>err
  status=$?
  [ $status -eq "$want" ] || fail "yoke $*: status $status, expected $want"
}

# last FOLDER: the last row of results
last() { tail -n 1 "$1/results.csv"; }

mkdir resources
printf 'rc\nV1 a 0 1\nR1 a b 1\nC1 b 0 1\n.output v(b) name=y\n.tran 10m 1 uic\n' >resources/rc.cir
printf 'yoke: 1\ntime: {start: 0, stop: 1, step: 1e-2}\nunits: {rc: {circuit: resources/rc.cir}}\nrecord: {signals: [rc.y]}\n' >rc.yaml
# structure COMPONENT-ATTRIBUTES ANNOTATION
structure() {
  cat <<X
<?xml version="1.0" encoding="UTF-8"?>
<ssd:SystemStructureDescription xmlns:ssc="http://ssp-standard.org/SSP1/SystemStructureCommon"
    xmlns:ssd="http://ssp-standard.org/SSP1/SystemStructureDescription" name="s" version="1.0">
  <ssd:System name="root"><ssd:Elements><ssd:Component name="rc" $1>
    <ssd:Connectors><ssd:Connector name="y" kind="output"><ssc:Real/></ssd:Connector></ssd:Connectors>
  </ssd:Component></ssd:Elements></ssd:System>
  <ssd:DefaultExperiment startTime="0" stopTime="1"/>
  <ssd:Annotations><ssc:Annotation type="org.yoke.system">
$2
  </ssc:Annotation></ssd:Annotations>
</ssd:SystemStructureDescription>
X
}

# 1 - exp(-1) after 1 s, to the order of the method
run 0 run rc.yaml --out native --quiet
wanted=$(last native)
awk -F, '{exit !($2 > 0.63211 && $2 < 0.63213)}' <<<"$wanted" || fail "native: $wanted"

# ---- not as the source of a component
structure 'source="resources/rc.cir" type="application/x-spice"' 'time: {step: 1e-2}' >source.ssd
run 2 run source.ssd --out refused --quiet
grep -q "a component of type 'application/x-spice' cannot be run" err || fail "no reason is given"
structure 'source="resources/rc.cir"' 'time: {step: 1e-2}' >untyped.ssd
run 2 run untyped.ssd --out refused --quiet
[ -e refused ] && fail "a refused system left results"

# ---- by the annotation, bare and packed
structure '' 'time: {step: 1e-2}
units: {rc: {circuit: resources/rc.cir}}
record: {signals: [rc.y]}' >SystemStructure.ssd
run 0 run SystemStructure.ssd --out bare --quiet
[ "$(last bare)" = "$wanted" ] || fail "bare: $(last bare), expected $wanted"
zip -q packed.ssp SystemStructure.ssd resources/rc.cir
mkdir elsewhere && mv packed.ssp elsewhere
run 0 run elsewhere/packed.ssp --out packed --quiet
[ "$(last packed)" = "$wanted" ] || fail "packed: $(last packed), expected $wanted"

# ---- exported: an FMU in its place
run 0 export rc.yaml --ssp -o rc.ssp
run 0 run rc.ssp --out exported --quiet
[ "$(last exported)" = "$wanted" ] || fail "exported: $(last exported), expected $wanted"

[ $n_failed -eq 0 ] && echo "circuits in SSP: all checks passed"
exit $((n_failed > 0))
