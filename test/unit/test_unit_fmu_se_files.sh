#!/usr/bin/env bash
# Scheduled execution from the command line: the FMU `partitions` in our process and in one of its own gives
# the same table; descriptions that cannot be run are refused with the reason.
set -u
yoke=${YOKE_PROGRAM:?set YOKE_PROGRAM to the program}
fmus=${YOKE_FMUS:?set YOKE_FMUS to the folder of the test FMUs}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
n_failed=0

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

cp -r "$fmus/partitions3" ecu
cat >system.yaml <<'END'
yoke: 1
time: {stop: 0.12, step: 0.01}
units:
  ecu: {fmu: ecu}
record: {signals: [ecu.sum, ecu.n_fast, ecu.n_mid, ecu.n_slow, ecu.n_delayed, ecu.n_uneven, ecu.order, ecu.alarm]}
END
run 0 run system.yaml --out plain
# rows worked out by hand: see test_unit_fmu_se.c; time, alarm, sum, order, ticks of fast, mid, slow, delayed, uneven
for row in 0,0,0.5,213,1,1,1,0,0 0.03,1,2,1,4,2,1,1,3 0.1,0,5.5,2134,11,6,3,3,9 0.12,0,6.5,21,13,7,3,3,10; do
  grep -qx "$row" plain/results.csv || fail "no row $row in $(cat plain/results.csv)"
done
run 0 run system.yaml --set units.ecu.isolate=process --out isolated
cmp -s plain/results.csv isolated/results.csv || fail "another table in a process of its own"

# refused EDIT TEXT: with that change of the description
refused() {
  rm -rf changed
  cp -r ecu changed
  sed -i "$1" changed/modelDescription.xml
  run 2 run system.yaml --set units.ecu.fmu=changed --out refused
  grep -qF "$2" err || fail "the message lacks: $2"
}
refused '/<Clock .*causality="input"/d; s/ clocks="[0-9]*"//' \
  "unit 'ecu': it offers scheduled execution, but has no input clock: nothing in it would ever run"
refused 's|\(<Clock name="poke".*\)/>|\1><Dimension start="2"/></Clock>|' \
  "unit 'ecu': clock 'poke' is an array, which scheduled execution in Yoke does not take"
run 2 run system.yaml --set units.ecu.interface=co-simulation --out refused
grep -qF "'ecu' has no co-simulation interface; it has scheduled execution" err || fail "no word of the interface"

[ $n_failed -eq 0 ] && echo "all as expected"
exit $((n_failed > 0))
