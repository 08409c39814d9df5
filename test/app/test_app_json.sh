#!/usr/bin/env bash
# Every JSON document that a command prints or writes begins with its format and version, no member stands twice, and a
# summary.json from before they were written is still read.
set -u
export LC_ALL=C
yoke=${YOKE_PROGRAM:?set YOKE_PROGRAM to the program}
source=${YOKE_SOURCE_DIR:?path of the source tree}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
n_failed=0
seen=' '  # commands whose JSON was looked at
oscillator=$source/scenarios/linear-oscillator/jacobi.yaml
mass=$source/scenarios/dual-mass

fail() {
  echo "FAILED: $1"
  n_failed=$((n_failed + 1))
}
# names FILE NOUN: FILE is a document of that noun
names() {
  printf '{\n  "format": "yoke-%s",\n  "version": 1,\n' "$2" | cmp -s - <(head -n 3 "$1") ||
    { fail "$1: expected format yoke-$2, version 1"; head -n 4 "$1"; }
  if command -v python3 >/dev/null; then
    python3 - "$1" <<'PYTHON' || fail "$1: no JSON, or a member stands twice"
import json, sys
def unique(pairs):
    assert len({key for key, value in pairs}) == len(pairs), [key for key, value in pairs]
    return dict(pairs)
json.load(open(sys.argv[1]), object_pairs_hook=unique)
PYTHON
  fi
}
# prints NOUN COMMAND ARGUMENTS...
prints() {
  local noun=$1
  shift
  "$yoke" "$@" --json >out 2>err </dev/null || { fail "yoke $*: status $?"; cat err; }
  seen="$seen$1 "
  names out "$noun"
}

cat >rc.cir <<'END'
RC behind a source
V1 in 0 2
R1 in out 1k
C1 out 0 1u IC=0
.tran 0.1m 5m 1m uic
.end
END
"$yoke" run "$oscillator" --quiet --out one --set time.stop=1 --set record.every=1 --set 'record.signals=["**"]' --report 2>err || { fail 'run'; cat err; }
"$yoke" run "$mass/pulsed-mpsm.yaml" --quiet --out mass 2>err || { fail 'run of a cluster'; cat err; }
"$yoke" export gain --fmi 2 -o gain.fmu >out 2>err || { fail 'export'; cat err; }

# ---- what does not come about prints its document too
noun=summary
# fails STATUS PATTERN ARGUMENTS...: `failure` of the document has the pattern, and so does a message
fails() {
  local want=$1 pattern=$2 status
  shift 2
  "$yoke" "$@" --json >out 2>err </dev/null
  status=$?
  [ $status -eq "$want" ] || fail "yoke $*: status $status, expected $want"
  names out $noun
  python3 - out "$pattern" <<'PYTHON' || fail "yoke $*: no failure '$pattern'"
import json, sys
summary = json.load(open(sys.argv[1]))
failure = summary["failure"]
assert summary["status"] == "failed", summary["status"]
assert sys.argv[2] in failure["text"], failure
assert failure["status"].startswith("YOKE_"), failure
assert failure in summary["messages"], summary["messages"]
PYTHON
}
printf 'yoke: 1\ntime: {stop: 1, step: 0.1}\nunits:\n  a: {model: nothing}\n' >wrong.yaml
printf 't\nR1 a\n' >wrong.cir
: >file
if command -v python3 >/dev/null; then
  fails 2 'cannot open the file: No such file' run nope.yaml
  grep -q '"status": "YOKE_IO"' out || fail 'a missing file is not YOKE_IO'
  fails 2 "unknown model 'nothing'" run wrong.yaml
  fails 2 'R1' circuit wrong.cir
  fails 1 'cannot make folder file: a file of that name is in the way' run "$oscillator" --out file/inner
  noun=failure
  fails 2 "unknown model 'nothing'" check wrong.yaml
  fails 2 "unknown model 'nothing'" info wrong.yaml
  fails 2 'there is no such file' info nope.fmu
  fails 2 'is neither a model' info nonsense
fi

# ---- what commands print
prints models info
prints model info gain
prints method info mpsm
prints system info "$oscillator"
prints fmu info gain.fmu
prints circuit info rc.cir
prints system check "$oscillator"
prints summary circuit rc.cir --out rc
prints summary run "$oscillator" --set time.stop=1 --out run
prints comparison compare one one
prints meter meter one --bond spring
study=("$oscillator" --set time.stop=1 --vary "units.left.with.m=1,2" --jobs 1)
prints sweep sweep "${study[@]}" --measure end:left.x --out sweep
prints tune tune "${study[@]}" --minimise end:left.x --out tune
prints advice advise "$oscillator" --set time.stop=1 --budget 8 --out advised
prints summary twin "$source/scenarios/twin-record/bench.yaml" --data "$source/scenarios/twin-record/measured.csv" --tune --out twin
prints stability analyse "$mass/held.yaml" --methods hold --step 1e-3
prints stability-map analyse "$mass/pulsed-mpsm.yaml" --map units.right.with.cc=100:1e4:2:log --steps 1e-3:9e-3:2 --methods hold
prints stability-run analyse --run mass --cluster loop
prints synth synth "$source/scenarios/coupling-element/masses.yaml" --bond joint --no-run --output element.json
prints bench bench circuits --problem rlc --method tr --step 1e-2 --quick

# no command with --json is left out
for command in $("$yoke" --help | awk '/^Commands:/ { is_in = 1; next } /^$/ { is_in = 0 } is_in { print $1 }'); do
  if "$yoke" help "$command" | grep -q -e ' --json'; then
    case $seen in
    *" $command "*) ;;
    *) fail "yoke $command --json is not looked at" ;;
    esac
  fi
done

# ---- files
names one/summary.json summary
names rc/summary.json summary
names tune/tune.json tune
names element.json element
names advised/advise/advise.json advice
names mass/loop.models.json identified
names "$mass/models.json" identified
for part in data:report series:report-series; do
  sed -n "/id=\"${part%:*}\">/,/<\/script>/p" one/report.html | sed '1d; s/<\/script>.*//' >"${part%:*}.json"
  names "${part%:*}.json" "${part#*:}"
done

# ---- a summary without format and version
mkdir old
cp one/results.csv old
sed '2,3d' one/summary.json >old/summary.json
"$yoke" meter one --bond spring >new.txt 2>err || fail 'meter'
"$yoke" meter old --bond spring >old.txt 2>err || { fail 'meter of an old summary'; cat err; }
cmp -s <(tail -n +2 new.txt) <(tail -n +2 old.txt) || { fail 'other values with an old summary'; diff new.txt old.txt; }
sed -i '2,3d' mass/summary.json
"$yoke" analyse --run mass >out 2>err || { fail 'analyse of an old summary'; cat err; }

[ $n_failed -eq 0 ] || exit 1
