#!/usr/bin/env bash
# yoke analyse over the scenarios of the repository: each is analysed, or refused for a reason that lies in its nature.
# Here one of each kind; all of them with YOKE_FULL=1 (test_app_analyse_scenarios_slow.sh).
set -u
export LC_ALL=C
yoke=${YOKE_PROGRAM:?set YOKE_PROGRAM to the program}
source=${YOKE_SOURCE_DIR:?path of the source tree}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
s=$source/scenarios

command=analyse limit=120
. "$source/test/support/study_cases.sh"

# ---- refused, and why

# springs with force sgn(e) sqrt(e) stand at rest length, where they have no slope
ends 2 "$s/nonlinear-oscillator/case1.yaml"
has err "unit 'left': it is in a loop, but has no linear model"
# transistors switch while they are tried
ends 2 "$s/rig/twin.yaml"
has err "unit 'twin': it is in a loop, but has no linear model"

# ---- nothing to analyse

ends 0 "$s/rig/automotive.yaml"
has out 'There is no closed loop of connections'

# ---- verdicts that runs confirm

# a sampled controller inside of a unit: it sees a demand every tenth call only. Its run is trustworthy
for file in inertia vehicle; do
  ends 0 "$s/engine-test-bench/$file.yaml" --methods file --expect stable
  has out 'loop bench | load, zero-order hold, fresh exchange'
  has out 'stable at every step up to 0.004 s'
done
# slow motions show in long trials only: the same cut both ways, of which one diverges (steering/README.md)
ends 0 "$s/steering/belt-to-motor.yaml" --methods file --expect stable
ends 3 "$s/steering/belt-to-rack.yaml" --methods file --expect stable
has out 'coupled exactly: 16 states, stable'
# drives that are off: the loop is open there, which says nothing of the run
ends 3 "$s/steering/motor-in-line.yaml" --methods file --expect stable
has out "Stability is unknown: unit 'rig' does not react to its inputs at t = 0 s"
# four signals each way: structured loops of 28 states
ends 0 "$s/helicopter/held.yaml" --methods file --expect stable
has out '  mu '
ends 0 "$s/two-pendula/minimal.yaml" --methods file --at 0.5
has out 'linearised at 0.5 s'

if [ "${YOKE_FULL:-0}" = 1 ]; then
  (cd "$source" && git ls-files 'scenarios/*.yaml' 2>/dev/null || find scenarios -name '*.yaml') |
    while read -r file; do grep -q '^yoke:' "$source/$file" && echo "$file"; done >files
  is 'many scenarios' test "$(lines files)" -ge 90
  while read -r file; do
    case $file in
    scenarios/nonlinear-oscillator/case1.yaml | scenarios/rig/twin.yaml) continue ;;
    esac
    ends 0 "$source/$file"
    is "$file: a verdict" test -n "$(tail -n 1 out)"
  done <files
fi

echo "$n_checks checks, $n_failed failed"
[ "$n_failed" -eq 0 ]
