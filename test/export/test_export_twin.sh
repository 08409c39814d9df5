#!/usr/bin/env bash
# yoke export --unit TWIN --c: the C code gives the estimates of the run, bit by bit, on this machine and on a 64-bit ARM in the
# emulator; inputs that follow laws and waves; the same files twice; what is refused, with names.
set -u
yoke=${YOKE_PROGRAM:?set YOKE_PROGRAM to the program}
source_dir=${YOKE_SOURCE_DIR:?set YOKE_SOURCE_DIR to the source folder}
cc=${YOKE_CC:-cc}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
n_failed=0

check() {
  [ "$1" -eq 0 ] && return
  echo "FAILED: $2"
  echo "--- stdout:"; head -c 2000 out
  echo "--- stderr:"; head -c 2000 err
  n_failed=$((n_failed + 1))
}
# run STATUS ARGUMENTS...
run() {
  local want=$1 status
  shift
  "$yoke" "$@" >out 2>err
  status=$?
  check "$([ $status -eq "$want" ]; echo $?)" "yoke $*: status $status, expected $want"
}
out_has() { check "$(grep -qF -- "$1" out; echo $?)" "stdout lacks: $1"; }
err_has() { check "$(grep -qF -- "$1" err; echo $?)" "stderr lacks: $1"; }

strict="-std=c11 -ffreestanding -Wall -Wextra -Wpedantic -Werror -Wconversion -Wdouble-promotion -Wmissing-prototypes -ffp-contract=off"

# columns FILE NAME...: these columns of a result file as lines of numbers, without the head
columns() {
  local file=$1
  shift
  awk -F, -v wanted="$(IFS='|'; echo "$*")" '
    NR == 1 { n = split(wanted, names, "|")
      for (i = 1; i <= NF; i++) at[$i] = i
      for (k = 1; k <= n; k++) if (!(names[k] in at)) { print "no column " names[k] > "/dev/stderr"; exit 1 }
      next }
    { for (k = 1; k <= n; k++) printf "%s%s", $at[names[k]], k < n ? " " : "\n" }' "$file"
}

# The first two inputs go straight; of the step in which they begin to move this shows one step later.
# Rows of inputs, readings, outputs with unknowns, and their deviations, from the start on; every number of the run is compared.
cat >driver.c <<'C'
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "twin.h"
static int read_all(int n, double to[]) {
  for (int i = 0; i < n; i++)
    if (scanf("%lf", &to[i]) != 1) return 0;
  return 1;
}
int main(void) {
  enum { N_Y = TWIN_N_OUTPUTS };
  twin self;
  double u[TWIN_N_INPUTS + 1], last[TWIN_N_INPUTS + 1], before[TWIN_N_INPUTS + 1], older[TWIN_N_INPUTS + 1], r[TWIN_N_SENSORS], want[2 * N_Y], y[N_Y], variance[N_Y];
  long n = 0;
  twin_init(&self);
  while (read_all(TWIN_N_INPUTS, u) && read_all(TWIN_N_SENSORS, r) && read_all(2 * N_Y, want)) {
    twin_output(&self, n == 0 ? u : last, y, variance);
    memcpy(before, u, sizeof u);
    for (int i = 0; i < 2 && i < TWIN_N_INPUTS; i++) before[i] = last[i];
    if (n == 2 && twin_catch_up(&self, older, last) != TWIN_RUNNING) return 1;
    memcpy(older, last, sizeof u);
    memcpy(last, u, sizeof u);
    for (int i = 0; i < N_Y; i++) {
      if (y[i] != want[i] || sqrt(variance[i]) != want[N_Y + i]) {
        printf("row %ld, output %d: %.17g +- %.17g, expected %.17g +- %.17g\n", n, i, y[i], sqrt(variance[i]), want[i], want[N_Y + i]);
        return 1;
      }
    }
    if (n++ > 1 && twin_ramp(&self, before, u) != TWIN_RUNNING) return 1;
    if (twin_correct(&self, u, r, 0) != TWIN_RUNNING || twin_predict(&self, u) != TWIN_RUNNING) return 1;
  }
  printf("%ld rows\n", n);
  return 0;
}
C

# compare N_ROWS: compiles c/twin.c and runs it over `rows`, here and on arm64
compare() {
  for level in -O0 -O2 -O3; do
    $cc $strict $level -c c/twin.c -o twin.o >out 2>err
    check $? "$level does not compile without warnings"
    wanted=$(nm -u twin.o | grep -v GLOBAL_OFFSET_TABLE)
    check "$([ -z "$wanted" ]; echo $?)" "$level calls $wanted"
  done
  $cc -std=c11 -O2 -ffp-contract=off -Ic driver.c twin.o -o driver -lm >out 2>err && ./driver <rows >out 2>err
  check $? "other numbers than the run"
  out_has "$1 rows"
  if ! command -v aarch64-linux-gnu-gcc >/dev/null || ! command -v qemu-aarch64 >/dev/null; then
    echo "skipped: arm64: aarch64-linux-gnu-gcc or qemu-aarch64 is missing"
    return
  fi
  aarch64-linux-gnu-gcc $strict -O2 -c c/twin.c -o arm.o >out 2>err &&
    aarch64-linux-gnu-gcc -std=c11 -O2 -ffp-contract=off -static -Ic driver.c arm.o -o arm -lm >>out 2>>err && qemu-aarch64 ./arm <rows >out 2>err
  check $? "arm64: other numbers than the run"
  out_has "$1 rows"
}

# ---- scenario 4 of the circuit (E-09): its readings, its estimates
scenario=$source_dir/scenarios/twin-circuit
cp "$scenario"/*.cir "$scenario"/disturbed.yaml .
run 0 run disturbed.yaml --set "record.signals=['twin.*','sensor.*']" --out disturbed --quiet
columns disturbed/results.csv 'sensor.y[0]' 'sensor.y[1]' 'twin.t(n1)' 'twin.t(n2)' 'twin.t(n3)' twin.q0 \
  'twin.sd.t(n1)' 'twin.sd.t(n2)' 'twin.sd.t(n3)' twin.sd.q0 >rows
run 0 export disturbed.yaml --unit twin --c -o c
out_has "3 states, 0 inputs, 2 sensors, 3 outputs, 1 unknown"
compare 5001

# ---- inputs that go straight, by a law and with an offset, a source with a wave, a sensor that lies, a bound
cat >box.cir <<'CIR'
Core in a case, two coolants
.input load=20 W
.input t_c=17
.input q=5 W
heat_source Q1 core {0.5*load}
heat_source Q2 core {q}
heat_source Q3 case PULSE(3 5 0.5 0 0 0.3 1)
thermal_resistance R1 core case 0.5 K/W
thermal_resistance R2 case air 1 K/W
thermal_resistance R3 case water 2 K/W
heat_capacity C1 core 2 J/K T0=320
heat_capacity C2 case 5 J/K
temperature_source Ta air {t_c+273.15}
temperature_source Tw water 280
.output t(core)
.output t(case)
.output i(r3) name=into_water
.output i(q3)
.end
CIR
cat >box.yaml <<'YAML'
yoke: 1
inputs: start
calls: 1
time: {stop: 2, step: 1e-2}
units:
  load: {model: sine, with: {offset: 20, amplitude: 15, frequency: 0.7}}
  air: {model: sine, with: {offset: 17, amplitude: 3, frequency: 0.2}}
  warm: {model: sine, with: {offset: 310, amplitude: 15, frequency: 0.4}}
  sensor: {model: channel, with: {n: 2, noise: [0.2, 0.1], seed: 3}}
  twin:
    twin: box.cir
    sensors:
      t(core): {from: "sensor.y[0]", sigma: 0.2}
      t(case): {from: "sensor.y[1]", sigma: 0.1}
    unknown: {q: {start: 5, sd: 4, walk: 2, bounds: [0, 12]}, offset(t(case)): {sd: 1}}
    noise: {start: 0.5}
connections:
  - {from: load.y, to: twin.load, average: false}
  - {from: air.y, to: twin.t_c, average: false}
  - warm.y -> sensor.u[0]
  - warm.y -> sensor.u[1]
YAML
# outputs of a row belong to inputs of the row before, whose wave they show
run 0 run box.yaml --set "record.signals=['*.*']" --out box --quiet
paste -d' ' <(columns box/results.csv load.y air.y) <(columns box/results.csv 'twin.i(q3)' | tail -n +2) \
  <(columns box/results.csv 'sensor.y[0]' 'sensor.y[1]' 'twin.t(core)' 'twin.t(case)' twin.into_water 'twin.i(q3)' twin.q \
    'twin.offset(t(case))' 'twin.sd.t(core)' 'twin.sd.t(case)' twin.sd.into_water 'twin.sd.i(q3)' twin.sd.q \
    'twin.sd.offset(t(case))') | awk 'NF == 17' >rows
hits=$(columns box/results.csv twin.hits.q | tail -1)
check "$([ "$hits" -gt 0 ]; echo $?)" "no bound is met: $hits"
run 0 export box.yaml --unit twin --c -o c
out_has "4 states, 3 inputs, 2 sensors, 4 outputs, 2 unknowns"
check "$(grep -q 'TWIN_IN_LOAD = 0,  /\* load \[W\], starts at 20.0' c/twin.h; echo $?)" "the first input"
check "$(grep -q 'TWIN_IN_Q3 = 2,  /\* Q3 \[W\], starts at 3.0' c/twin.h; echo $?)" "the source with a wave"
compare 200

# ---- the same bytes twice; settings of the command line; nothing of this machine; C++
run 0 export box.yaml --unit twin --c -o again
cmp -s c/twin.c again/twin.c && cmp -s c/twin.h again/twin.h
check $? "two exports differ"
run 0 export box.yaml --unit twin --c --set units.twin.noise.start=2 -o other
check "$(cmp -s c/twin.c other/twin.c; [ $? -eq 1 ]; echo $?)" "--set is not heard"
check "$(grep -rnF "$work" c >out; [ $? -eq 1 ]; echo $?)" "a path of this machine"
if command -v c++ >/dev/null; then
  echo '#include "twin.h"' >header.cpp
  c++ -Wall -Wextra -Werror -Ic -fsyntax-only header.cpp >out 2>err
  check $? "the header is no C++"
fi

# ---- a system with a twin as SSP
record="record.signals=['twin.t(*','twin.q0','twin.sd.*','error*.y']"
run 0 export disturbed.yaml --ssp -o disturbed.ssp
run 0 run disturbed.yaml --set "$record" --out native --quiet
run 0 run disturbed.ssp --set "$record" --out ssp --quiet
cmp native/results.csv ssp/results.csv >out 2>err
check $? "the SSP gives other numbers"

# ---- refused
refused() {
  sed "$1" box.yaml >changed.yaml
  run 2 export changed.yaml --unit twin --c -o no; err_has "$2"
}
refused 's/unknown: {/unknown: {C1: {}, /' "only linear twins"
refused 's/, sigma: 0.1//' "'t(case)' has no sigma"
refused 's/    noise:/    filter: unscented\n    noise:/' "unscented filter"
sed 's/case air 1 K/case air {1+0.01*load} K/' box.cir >laws.cir
refused 's/box.cir/laws.cir/' "'R2' changes"
sed 's/{0.5\*load}/{load*load}/' box.cir >square.cir
refused 's/box.cir/square.cir/' "'Q1' is no linear function of inputs"
sed 's/{0.5\*load}/{load*time}/' box.cir >time.cir
refused 's/box.cir/time.cir/' "'Q1' is no linear function of inputs"
refused 's/box.cir/box.fmu/; s/noise: {start: [0-9.]*}//; /noise:/d' "only twins of netlists"
run 2 export changed.yaml --unit twin --fmi 2; err_has "only twins of netlists"
run 2 export box.yaml --unit twin --fmi 2 --step 1e-3; err_has "--step with --fmi is that of a circuit's solver"
run 2 export box.yaml --unit sensor --c; err_has "unit 'sensor' is no twin"
run 2 export box.yaml --unit twinn --c; err_has "did you mean 'twin'?"
run 2 export box.yaml --c; err_has "name one with --unit"
run 2 export box.yaml --unit twin --c --float; err_has "--float goes with a netlist"
run 2 export box.yaml --unit twin --c --fmi 2; err_has "do not go together"
check "$([ ! -e no ]; echo $?)" "files in spite of errors"

[ $n_failed -eq 0 ] || { echo "$n_failed checks failed"; exit 1; }
echo "all checks passed"
