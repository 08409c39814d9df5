#!/usr/bin/env bash
# yoke bench circuits: the table, JSON, searches, the figure, a netlist, a system and an FMU of one's own, and statuses.
set -u
export LC_ALL=C
yoke=${YOKE_PROGRAM:?set YOKE_PROGRAM to the program}
source=${YOKE_SOURCE_DIR:?path of the source tree}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
n_failed=0

fail() {
  echo "FAILED: $1"
  n_failed=$((n_failed + 1))
}
# ends STATUS ARGUMENTS...
ends() {
  local want=$1 got
  shift
  timeout 250 "$yoke" bench "$@" >out 2>err </dev/null
  got=$?
  [ "$got" -eq "$want" ] || { fail "yoke bench $*: status $got, expected $want"; head -5 err out; }
}
has() { grep -qF -- "$2" "$1" || { fail "'$2' not found in $1"; head -20 "$1"; }; }
lacks() { if grep -qF -- "$2" "$1"; then fail "'$2' found in $1"; fi; }
# number FILE SCRIPT: a Python expression of the JSON document d
json() {
  if command -v python3 >/dev/null; then
    python3 -c "import json,sys; d=json.load(open('out')); sys.exit(0 if ($1) else 1)" || fail "JSON: $1"
  fi
}

# ---- one configuration: errors, level, published figures beside them

ends 0 circuits --problem rlc --formulation dae --method tr --step 2.5e-3 --iterations 2 --quick
has out 'RLC: a source drives'
has out 'us/step'
has out '0.00025, 0.00038'
has out 'share of a step'
awk '$2 == "tr" && $5 == 2 && $8 == "low" { found = $6 > 2.47e-4 && $6 < 2.53e-4 && $7 > 3.74e-4 && $7 < 3.82e-4 } END { exit !found }' out ||
  { fail 'errors of TR at 2.5 ms'; cat out; }

# the group may be left out; several problems, methods and steps
ends 0 --problem rlc --problem ladder-2 --method tr,bdf3 --step 5e-3 --step 1e-2 --json --quick
json 'len(d["problems"]) == 2 and all(len(p["runs"]) == 4 for p in d["problems"])'
json 'all(r["errors"] and r["time_per_step"] > 0 and r["sizes"]["n"] in (8, 13) for p in d["problems"] for r in p["runs"])'
json 'all(abs(sum(r["stages"].values()) - 1) < 1e-9 for p in d["problems"] for r in p["runs"])'

# numbers are the same every time; only times differ
strip() { grep -v -E 'time|stages|update|assemble|factor|solve|project|rest|worst_over' out; }
ends 0 circuits --problem rectifier --method bdf3 --step 5e-4 --iterations 8 --json --quick
strip >first
ends 0 circuits --problem rectifier --method bdf3 --step 5e-4 --iterations 8 --json --quick
strip >second
cmp -s first second || { fail 'two runs give different numbers'; diff first second | head; }
json 'd["problems"][0]["runs"][0]["counts"]["iterations"] == 8 * 2000'

# ---- levels and limits

ends 0 circuits --problem rlc --method tr --step 2.5e-3 --level low --quick
ends 3 circuits --problem rlc --method tr --step 2.5e-3 --level high --quick
has err 'no configuration keeps the errors below the limit'
ends 3 circuits --problem rlc --method tr --step 2.5e-3 --level 1e-9 --quick
ends 0 circuits --problem rlc --method tr --step 2.5e-3 --level 5e-4 --quick

# ---- nothing could be run: why, and the status of a failed run; a problem among others does not decide

ends 1 circuits --problem rlc --method tr --step 3m --quick
has err 'rlc: no configuration could be run: a step of 0.003 s does not divide'
ends 1 circuits --problem rlc --formulation ode --quick
has err 'rlc: no configuration could be run: rlc:7: error: the differentiated equations are singular'
ends 1 circuits --problem rlc --formulation ode --find --quick
has err 'rlc: no configuration could be run: rlc:7: error: the differentiated equations are singular'
ends 0 circuits --problem rlc --problem ladder-2 --formulation ode --method rk4 --step 1m --quick
has err 'rlc: no configuration could be run'
lacks err 'ladder-2:'

# ---- searches

ends 0 circuits --problem rlc --method tr,esdirk3 --find --level low --json --quick
json 'all(c["found"] and c["level"] in ("low", "high") for c in d["problems"][0]["cheapest"])'
json '[c["step"] for c in d["problems"][0]["cheapest"] if c["method"] == "tr"] == [0.0025]'
ends 3 circuits --problem rlc --method tr --find --level 1e-30 --quick
has out 'none of the steps tried'

# ---- the figure

ends 0 circuits --problem rlc --method tr,bdf2 --step 5e-3 --step 2.5e-3 --figure sub/work.svg --quick
has sub/work.svg '<svg xmlns'
[ "$(grep -c '<polyline' sub/work.svg)" -eq 2 ] || fail 'two lines in the figure'
ends 0 circuits --problem rlc --method tr --step 5e-3 --figure work.html --quick
has work.html '<!DOCTYPE html>'
if command -v xmllint >/dev/null; then
  xmllint --noout sub/work.svg || fail 'the figure is no XML'
fi

# ---- a netlist of one's own

cat >rc.cir <<'END'
RC
V1 in 0 1
R1 in out 1k
C1 out 0 1u IC=0
.tran 1e-4 1e-2 uic
.end
END
awk 'BEGIN { print "time,v(out)"; for (i = 0; i <= 100; i++) printf "%.17g,%.17g\n", i * 1e-4, 1 - exp(-i * 0.1) }' >rc.csv
ends 0 circuits --netlist rc.cir --reference rc.csv --limit 'v(out)=1e-4' --quick
has out 'trbdf2'
has out 'error allowed: v(out) 0.0001;'
has out ' kept '
# without a limit there is no level, and nothing to search for
ends 0 circuits --netlist rc.cir --reference rc.csv --method tr --step 100u --quick
has out 'no error limit, so no level'
lacks out ' high '
awk '$2 == "tr" && $7 == "-" { found = 1 } END { exit !found }' out || { fail 'a level without a limit'; cat out; }
ends 0 circuits --netlist rc.cir --reference rc.csv --method tr --step 100u --quick --json
json 'd["problems"][0]["runs"][0]["level"] is None and d["problems"][0]["runs"][0]["step"] == 1e-4'
ends 2 circuits --netlist rc.cir --reference rc.csv --find
has err 'expected --limit SIGNAL=ERROR or --level ERROR'
ends 2 circuits --netlist rc.cir --reference rc.csv --level high
ends 0 circuits --netlist rc.cir --reference rc.csv --method tr --step 100u --level 1m --quick
ends 3 circuits --netlist rc.cir --reference rc.csv --method tr --step 100u --limit 'v(out)=1u' --quick
ends 1 circuits --netlist rc.cir --reference rc.csv --method tr --step 30u --quick
has err 'does not divide'
ends 3 circuits --netlist rc.cir --reference rc.csv --limit 'v(out)=1e-4' --method bdf1 --step 1e-4 --quick
ends 0 circuits --netlist rc.cir --reference rc.csv --limit 'v(out)=1e-4' --find --quick
has out 'cheapest'
ends 2 circuits --netlist rc.cir --reference rc.csv --limit 'v(oot)=1e-4'
has err "did you mean 'v(out)'?"
ends 2 circuits --netlist rc.cir --reference rc.csv --limit 'v(out)'
has err 'expected SIGNAL=ERROR'
ends 2 circuits --netlist rc.cir
has err '--reference'
ends 2 circuits --netlist none.cir --reference rc.csv
ends 2 circuits --netlist rc.cir --reference none.csv
echo 'time,v(nowhere)
1e-3,0' >other.csv
ends 2 circuits --netlist rc.cir --reference other.csv
has err 'nowhere'

# ---- a system and an FMU

oscillator=$source/scenarios/linear-oscillator
ends 0 circuits --system "$oscillator/jacobi.yaml" --reference "$oscillator/reference.csv" --step 1e-3 --step 1e-4 --quick --json
json 'len(d["problems"][0]["runs"]) == 2'
json 'd["problems"][0]["runs"][0]["errors"]["left.x"] > 5 * d["problems"][0]["runs"][1]["errors"]["left.x"]'
ends 3 circuits --system "$oscillator/jacobi.yaml" --reference "$oscillator/reference.csv" --step 1e-3 --limit left.x=1e-6 --quick
# x' = -x from 1, exact
if "$yoke" export oscillator.mass --fmi 2 -o mass.fmu >/dev/null 2>&1; then
  echo 'time,x
0.5,0
1,0' >mass.csv
  ends 0 circuits --fmu mass.fmu --reference mass.csv --step 0.1 --quick
  has out 'x realtime'
fi
ends 2 circuits --system none.yaml --reference rc.csv --step 1e-3
ends 2 circuits --system "$oscillator/jacobi.yaml" --reference "$oscillator/reference.csv" --find --limit left.x=1
has err '--find searches steps and iterations of circuits only'
ends 2 circuits --system a.yaml --fmu b.fmu --reference rc.csv

# ---- wrong command lines

ends 2 nonsense
has err "unknown group 'nonsense'"
ends 2 circuits --problem rcl
has err "did you mean 'rlc'?"
ends 2 circuits --problem ladder-0
ends 2 circuits --step 0
ends 2 circuits --step -1e-3
ends 2 circuits --iterations -1
ends 2 circuits --method nonsense
ends 2 circuits --level medium
ends 2 circuits --reference rc.csv
ends 0 --help
has out 'yoke bench'

[ "$n_failed" -eq 0 ] || { echo "$n_failed checks failed"; exit 1; }
echo 'all checks passed'
