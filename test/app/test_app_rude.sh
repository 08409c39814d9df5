#!/usr/bin/env bash
# FMUs that take liberties with their process: printing, closing files, signal handlers, children, another working folder,
# another rounding mode, floating-point traps, very many messages. Results are the same bytes as without, here and
# isolated, the others in the system notice nothing, and nothing is left behind.
set -u
yoke=${YOKE_PROGRAM:?set YOKE_PROGRAM to the program}
source_dir=${YOKE_SOURCE_DIR:?set YOKE_SOURCE_DIR to the source folder}
fmus=${YOKE_FMUS:?set YOKE_FMUS to the folder of the test FMUs}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
# shellcheck source=test/support/output_cases.sh
. "$source_dir/test/support/output_cases.sh"
mkdir tmp
export TMPDIR=$work/tmp

clean() { n_checks=$((n_checks + 1)); [ -z "$(ls tmp)" ] || fail "left behind: $(ls tmp)"; }
same() { n_checks=$((n_checks + 1)); cmp -s "$1" "$2" || fail "$what$isolate: other results"; }

# one rude unit beside a native one and a well-behaved FMU
write_system() {
  cat >system.yaml <<EOF
yoke: 1
time: {start: 0, stop: 1, step: 0.01}
trust: {companions: none, status: false}
units:
  bad: {fmu: $fmus/rude2.fmu, with: {what: $what}$isolate}
  left: {model: oscillator.force, start: {x: 1, v: 10}}
  right: {fmu: $fmus/oscillator_mass2.fmu}
connections:
  - right.x -> left.x_other
  - right.v -> left.v_other
  - left.f -> right.f
record: {signals: ["*", bad.u, right.m, left.m]}
EOF
}

what=none isolate=
write_system
run 0 run system.yaml --out wanted --quiet
for what in prints takes-signals moves rounds traps speaks closes-files; do
  for isolate in '' ', isolate: process'; do
    # what it closes here is ours: the messages are gone, the results are not
    if [ "$what$isolate" = closes-files ]; then continue; fi
    write_system
    rm -rf got
    run 0 run system.yaml --out got --quiet
    same wanted/results.csv got/results.csv
    n_checks=$((n_checks + 1))
    [ -f got/summary.json ] || fail "$what$isolate: no summary"
  done
done
clean

# what an isolated binary prints is not among our results, and its children go with it
what=prints isolate=', isolate: process'
write_system
run 0 run system.yaml --out got
n_checks=$((n_checks + 1))
! grep -q '^rude' out || fail "a binary prints to standard output"
err_has 'rude: line 999 on standard output'
what=forks
write_system
run 0 run system.yaml --out got --quiet
same wanted/results.csv got/results.csv
clean

# messages beyond the room are counted
what=speaks isolate=
write_system
run 0 run system.yaml --out got
err_has 'more messages did not fit'

echo "$n_checks checks, $n_failed failed, $n_skipped skipped"
[ "$n_failed" -eq 0 ]
