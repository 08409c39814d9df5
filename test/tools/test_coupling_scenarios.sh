#!/bin/bash
# The table of scenarios in docs/studies/coupling.md, made again for some fast systems: signals that name no method are never
# the worst of file, held signals and `auto`, by more than 2 % (mean over the exchanged signals of rms over spread).
# Loops that holding loses, one with a method that knows the plant, iterative ones, several rates, sampled units.
set -u
export LC_ALL=C
command -v python3 >/dev/null || { echo "skipped: python3 is missing" && exit 77; }
program=${YOKE_PROGRAM:?path of the yoke program}
source=${YOKE_SOURCE_DIR:?path of the source tree}
tool=$source/tools/make_coupling_scenarios
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
systems=(blocks/blocks dual-mass/provided dual-mass/pulsed-loaded engine-test-bench/inertia helicopter/mpsm-loaded
  hydraulic-crane/crane-advised hydraulic-crane/crane-unstable linear-oscillator/displacement
  linear-oscillator/iterative-mean linear-oscillator/multirate-linear nonlinear-oscillator/case1
  rotational-oscillator/gauss-seidel three-rate-chain/chain two-pendula/corrected typed-signals/typed)

if ! YOKE_PROGRAM=$program python3 "$tool" --check "${systems[@]/%/.yaml}" >"$work/table" 2>&1; then
  echo "FAILED: auto is the worst, or much worse than the file's method without a reason"
  cat "$work/table"
  exit 1
fi
n=$(grep -c '^| [a-z-]*/' "$work/table")
[ "$n" -eq ${#systems[@]} ] || { echo "FAILED: $n rows for ${#systems[@]} systems" && cat "$work/table" && exit 1; }

# it sees an auto that is the worst: the same program with another spring in the runs of auto
cat >"$work/yoke" <<SH
#!/bin/sh
case \$2 in
*-auto.yaml) exec '$program' "\$@" --set units.left.with.kc=150 ;;
esac
exec '$program' "\$@"
SH
chmod +x "$work/yoke"
YOKE_PROGRAM=$work/yoke python3 "$tool" --check linear-oscillator/jacobi.yaml >"$work/table" 2>&1
status=$?
if [ $status -ne 1 ] || ! grep -q '^linear-oscillator/jacobi.yaml: `auto` is the worst' "$work/table"; then
  echo "FAILED: an auto that is the worst ended with $status"
  cat "$work/table"
  exit 1
fi
echo "$n systems: auto is never the worst"
