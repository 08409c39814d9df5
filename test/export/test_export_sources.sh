#!/usr/bin/env bash
# yoke export on the command line: what is in the file, that it needs libc and libm only, that it is the same every time,
# that its sources build with a C compiler alone and give the same bits, and that a system runs on with exported units.
set -u
yoke=${YOKE_PROGRAM:?set YOKE_PROGRAM to the program}
source_dir=${YOKE_SOURCE_DIR:?set YOKE_SOURCE_DIR to the source folder}
cc=${YOKE_CC:-cc}
# the bits do not depend on it; test_export_sources_slow.sh takes the line of docs/export.md
optimise=${YOKE_EXPORT_OPTIMISE:--O0}
command -v unzip >/dev/null || { echo "unzip is missing"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
unset YOKE_FMU_RUNTIME SOURCE_DATE_EPOCH
n_failed=0

check() {
  [ "$1" -eq 0 ] && return
  echo "FAILED: $2"
  echo "--- stdout:"; head -c 2000 out
  echo "--- stderr:"; head -c 2000 err
  n_failed=$((n_failed + 1))
}
# export STATUS ARGUMENTS...
export_fmu() {
  local want=$1 status
  shift
  "$yoke" export "$@" >out 2>err
  status=$?
  check "$([ $status -eq "$want" ]; echo $?)" "yoke export $*: status $status, expected $want"
}
err_has() { check "$(grep -qF -- "$1" err; echo $?)" "stderr lacks: $1"; }

# ---- what is in it, twice the same, wherever it is made
for fmi in 2 3; do
  export_fmu 0 oscillator.force --fmi $fmi --with kc=80 --with v=3 -o left-$fmi.fmu
  mkdir -p elsewhere
  (cd elsewhere && "$yoke" export oscillator.force --fmi $fmi --with kc=80 --with v=3 -o again.fmu >/dev/null)
  cmp left-$fmi.fmu elsewhere/again.fmu >out 2>err
  check $? "FMI $fmi: two exports of one unit differ"
  unzip -q left-$fmi.fmu -d left-$fmi
  for file in modelDescription.xml resources/yoke.txt sources/oscillator.c documentation/licenses/license.txt; do
    check "$([ -s left-$fmi/$file ]; echo $?)" "FMI $fmi: $file is missing"
  done
  check "$(grep -q generationDateAndTime left-$fmi/modelDescription.xml; [ $? -eq 1 ]; echo $?)" "a date without being asked"
done
check "$([ -s left-3/sources/buildDescription.xml ]; echo $?)" "buildDescription.xml is missing"
check "$([ ! -e left-2/sources/buildDescription.xml ]; echo $?)" "buildDescription.xml belongs to FMI 3.0"
check "$(grep -rn --exclude='*.so' "$source_dir" left-2 left-3 >out; [ $? -eq 1 ]; echo $?)" "a path of this machine"
SOURCE_DATE_EPOCH=86400 "$yoke" export gain --fmi 2 >out 2>err
unzip -p gain.fmu modelDescription.xml | grep -q 'generationDateAndTime="1970-01-02T00:00:00Z"'
check $? "SOURCE_DATE_EPOCH gives no date"
export_fmu 0 gain --fmi 2 --with k=2 -o two.fmu
check "$([ "$(unzip -p gain.fmu modelDescription.xml | grep -o 'guid="[^"]*"')" != \
  "$(unzip -p two.fmu modelDescription.xml | grep -o 'guid="[^"]*"')" ]; echo $?)" "two units with one token"

# ---- it needs the C library and its mathematics only, and shows the functions of the standard only
binary=$(echo left-2/binaries/*/oscillator_force.so)
if [ -n "${YOKE_SANITIZE:-}" ] || ! command -v readelf >/dev/null; then
  echo "skipped: needed libraries: instrumented, or no readelf"
else
  needed=$(readelf -d "$binary" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | grep -vE '^(libc|libm|ld-linux.*)\.so(\.[0-9]+)?$')
  check "$([ -z "$needed" ]; echo $?)" "the binary needs more than libc and libm: $needed"
  shown=$(readelf --dyn-syms -W "$binary" | awk '$7 != "UND" && $5 == "GLOBAL" { print $8 }' | grep -vE '^fmi[23]')
  check "$([ -z "$shown" ]; echo $?)" "the binary shows more than FMI: $shown"
fi
functions() { readelf --dyn-syms -W "$1" | awk '$7 != "UND" { print $8 }' | grep -E '^fmi[23]' | sort; }

# ---- a system, native and with each kind of FMU; then with binaries from the sources
cat >native.yaml <<'YAML'
yoke: 1
inputs: start
calls: 1
time: {stop: 1, step: 1e-3}
units:
  left: {model: oscillator.force, with: {kc: 80}, start: {v: 3}}
  right: {model: state_space, with: {A: [[0, 1], [-1000, 0]], B: [0, 1], inputs: [f], outputs: [x, v], states: [p, q]}}
  noisy: {model: channel, with: {n: 1, noise: [0.1], seed: 5}}
laws:
  spring: {law: spring_damper, with: {k: 3, c: 0.5}}
connections:
  - right.x -> left.x_other
  - right.v -> left.v_other
  - left.f -> right.f
  - left.x -> noisy.u
  - left.x -> spring.x1
  - left.v -> spring.v1
  - right.x -> spring.x2
  - right.v -> spring.v2
YAML
"$yoke" run native.yaml --out native --quiet >out 2>err
check $? "the native system"
for fmi in 2 3; do
  mkdir -p fmus-$fmi
  for unit in left right noisy; do
    export_fmu 0 native.yaml --unit $unit --fmi $fmi -o fmus-$fmi/$unit.fmu
  done
  sed -E "s|^  (left\|right\|noisy): .*|  \1: {fmu: fmus-$fmi/\1.fmu}|" native.yaml >fmu-$fmi.yaml
  "$yoke" run fmu-$fmi.yaml --out fmu-$fmi --quiet >out 2>err
  check $? "the system with exported units, FMI $fmi"
  check "$([ ! -s err ]; echo $?)" "warnings about our own FMUs, FMI $fmi"
  cmp native/results.csv fmu-$fmi/results.csv >out 2>err
  check $? "FMI $fmi: other numbers than the native units"

  # the sources alone, in a folder of their own, with nothing but the compiler
  mkdir -p build-$fmi
  (cd build-$fmi && unzip -q ../fmus-$fmi/left.fmu) >out 2>err
  check $? "FMI $fmi: not an archive"
  if ls sources-*/*.c >/dev/null 2>&1 && cmp -s <(cat sources-2/*.c sources-2/*.h) <(cat build-$fmi/sources/*.c build-$fmi/sources/*.h); then
    # the same sources as before: once is enough
    cp "$(echo build-2/binaries/*/left.so)" "$(echo build-$fmi/binaries/*/left.so)" >out 2>err
  else
    (cd build-$fmi/sources &&
      $cc -shared -fPIC $optimise -ffp-contract=off -o "$(echo ../binaries/*/left.so)" ./*.c -lm) >out 2>err
  fi
  check $? "FMI $fmi: the sources do not build"
  check "$([ ! -s err ]; echo $?)" "FMI $fmi: the sources build with warnings"
  check "$(cmp -s "$(echo build-$fmi/binaries/*/left.so)" "$binary"; [ $? -eq 1 ]; echo $?)" "nothing was built"
  if command -v readelf >/dev/null; then
    functions "$binary" >out
    functions "$(echo build-$fmi/binaries/*/left.so)" | cmp - out 2>err
    check $? "FMI $fmi: the binary from the sources has other functions than the prebuilt one"
  fi

  # the FMUs of a whole system have the same binary, so all functions (test_export_functions)
  export_fmu 0 native.yaml --ssp --fmi $fmi -o system.ssp
  rm -rf system && mkdir system && (cd system && unzip -q ../system.ssp && unzip -q resources/noisy.fmu)
  cmp "$(echo system/binaries/*/noisy.so)" "$binary" >out 2>err
  check $? "FMI $fmi: a system has another binary"
  rm -rf sources-$fmi && mv build-$fmi/sources sources-$fmi
  sed "s|fmus-$fmi/left.fmu|build-$fmi|" fmu-$fmi.yaml >built-$fmi.yaml
  "$yoke" run built-$fmi.yaml --out built-$fmi --quiet >out 2>err
  check $? "the system with a binary from the sources, FMI $fmi"
  cmp native/results.csv built-$fmi/results.csv >out 2>err
  check $? "FMI $fmi: the binary from the sources gives other numbers"

  # the same binary with a netlist: two diodes, parameters, a file that is included
  printf 'Clipper\n.param r=1k\n.include load.inc\nV1 a 0 SIN(0 5 50)\nR1 a b {r}\nD1 b 0 d\nD2 0 b d\n.model d D(IS=1n RS=1)\n.print tran v(b) i(d1) v(c)\n.tran 0.1m 40m uic\n.end\n' >clipper.cir
  printf 'R2 b c 2k\nC1 c 0 1u IC=0\n' >load.inc
  "$yoke" run clipper.cir --out clip --quiet >out 2>err
  check $? "the netlist alone"
  export_fmu 0 clipper.cir --fmi $fmi -o clipper.fmu
  rm -rf clipper && mkdir clipper && (cd clipper && unzip -q ../clipper.fmu)
  check "$(grep -q 'include' clipper/resources/circuit.cir; [ $? -eq 1 ]; echo $?)" "an included file is not in the netlist"
  for from in prebuilt built; do
    [ $from = built ] && cp "$(echo build-$fmi/binaries/*/left.so)" "$(echo clipper/binaries/*/clipper.so)"
    "$yoke" run clipper --out clip-$from --quiet >out 2>err
    check $? "a netlist as FMI $fmi, $from"
    cmp clip/results.csv clip-$from/results.csv >out 2>err
    check $? "FMI $fmi, $from: other numbers than the netlist"
  done

  # and with a twin: scenario 4 of the circuit (E-09), its readings from connections
  cp "$source_dir"/scenarios/twin-circuit/*.cir .
  awk '/^    / && in_twin { next }
    { in_twin = 0 }
    /^  twin:/ { print "  twin: {fmu: twin}"; in_twin = 1; next }
    { print }
    /^connections:/ { print "  - \"sensor.y[0] -> twin.sensor.t(n2)\"\n  - \"sensor.y[1] -> twin.sensor.t(n3)\"" }
    ' "$source_dir/scenarios/twin-circuit/disturbed.yaml" >disturbed-fmu.yaml
  record="record.signals=['twin.t(*','twin.q0','twin.sd.*','twin.innovation.*','twin.nis','twin.readings','twin.verdict','error*.y']"
  "$yoke" run "$source_dir/scenarios/twin-circuit/disturbed.yaml" --set "$record" --out twin-native --quiet >out 2>err
  check $? "the twin alone"
  export_fmu 0 "$source_dir/scenarios/twin-circuit/disturbed.yaml" --unit twin --fmi $fmi -o twin.fmu
  rm -rf twin && mkdir twin && (cd twin && unzip -q ../twin.fmu)
  for from in prebuilt built; do
    [ $from = built ] && cp "$(echo build-$fmi/binaries/*/left.so)" "$(echo twin/binaries/*/twin.so)"
    "$yoke" run disturbed-fmu.yaml --set "$record" --out twin-$from --quiet >out 2>err
    check $? "a twin as FMI $fmi, $from"
    cmp twin-native/results.csv twin-$from/results.csv >out 2>err
    check $? "FMI $fmi, $from: other numbers than the twin"
  done
done

# ---- a law, with values of the command line on top of the file's
export_fmu 0 native.yaml --unit spring --fmi 3 --with k=4
unzip -p spring.fmu modelDescription.xml | grep -q 'name="k" .*start="4"'
check $? "--with does not change a law"
unzip -p spring.fmu modelDescription.xml | grep -q 'name="c" .*start="0.5"'
check $? "the law has lost its settings"

# ---- event mode on demand: fresh exchange of FMUs
export_fmu 0 native.yaml --unit spring --fmi 3 --event-mode -o fresh.fmu
unzip -p fresh.fmu modelDescription.xml | grep -q 'hasEventMode="true"'
check $? "--event-mode is not in the description"
unzip -p spring.fmu modelDescription.xml | grep -q 'hasEventMode="true"'
check $((! $?)) "event mode without being asked for"

# ---- refusals
export_fmu 2 oscilator.force --fmi 2; err_has "did you mean 'oscillator.force'?"
export_fmu 2 gain; err_has "expected --fmi 2, --fmi 3, --ssp or --c"
export_fmu 2 gain --fmi 1
export_fmu 2 gain --fmi 2 --unit x; err_has "--unit goes with a system file"
export_fmu 2 gain --ssp; err_has "--ssp goes with a system file"
export_fmu 2 gain --fmi 2 --event-mode; err_has "--event-mode goes with --fmi 3"
export_fmu 2 gain --ssp --event-mode; err_has "--event-mode goes with --fmi 3"
export_fmu 2 native.yaml --ssp --unit left; err_has "--unit and --with go with --fmi"
export_fmu 0 native.yaml --fmi 2 --unit left --set units.left.with.kc=81 -o set.fmu
unzip -p set.fmu modelDescription.xml | grep -A1 'name="kc"' | grep -q 'start="81"'
check $? "--set is not heard"
export_fmu 2 gain --fmi 2 --with kk=3; err_has "did you mean 'k'?"
export_fmu 2 gain --fmi 2 --with k=fast; err_has "k"
export_fmu 2 oscillator.force --fmi 2 --with m=0; err_has "m must be above 0"
export_fmu 2 state_space --fmi 2; err_has "A is missing"
export_fmu 2 native.yaml --fmi 2; err_has "name one with --unit"
export_fmu 2 native.yaml --fmi 2 --unit lefft; err_has "did you mean 'left'?"
export_fmu 2 fmu-2.yaml --fmi 2 --unit left; err_has "is an FMU already"
export_fmu 2 channel --fmi 2 --with seed=4000000000; err_has "beyond the integers of FMI 2.0"
export_fmu 0 channel --fmi 3 --with seed=4000000000
export_fmu 1 gain --fmi 2 -o nowhere/at/all.fmu
check "$([ ! -e nowhere ]; echo $?)" "a folder was made"
YOKE_FMU_RUNTIME=/nowhere export_fmu 1 gain --fmi 2; err_has "YOKE_FMU_RUNTIME is '/nowhere'"
cp "$yoke" alone 2>/dev/null
if ! head -c 2 "$yoke" | grep -q '#!'; then
  ./alone export gain --fmi 2 >out 2>err
  check "$([ $? -eq 1 ]; echo $?)" "an export without its runtime"
  err_has "yoke-fmu.so is missing: expected in"
  YOKE_FMU_RUNTIME=$(dirname "$yoke") ./alone export gain --fmi 2 >out 2>err
  check $? "YOKE_FMU_RUNTIME names a folder"
  YOKE_FMU_RUNTIME=$(dirname "$yoke")/yoke-fmu.so ./alone export gain --fmi 2 >out 2>err
  check $? "YOKE_FMU_RUNTIME names a file"
  cmp gain.fmu <("$yoke" export gain --fmi 2 -o same.fmu >/dev/null; cat same.fmu) >out 2>err
  check $? "the place of the runtime changes the FMU"
fi
leftovers=$(find . -name '*.tmp*' -o -name '*.part*' -o -name '.*.fmu*')
check "$([ -z "$leftovers" ]; echo $?)" "files left behind: $leftovers"

[ $n_failed -eq 0 ] || { echo "$n_failed checks failed"; exit 1; }
