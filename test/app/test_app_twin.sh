#!/usr/bin/env bash
# Twins in a system, as people run them: a circuit as the plant, sensors with noise, and the twin; slow sensors, lost samples and
# gaps; schemes and threads; what `check` says of a twin, and each kind of mistake.
set -u
. "${YOKE_SOURCE_DIR:?path of the source tree}/test/support/run_cases.sh"

cat >plant.cir <<'END'
three resistors and two capacities
.param r1=1 r2=2 r3=3 c1=0.1 c2=0.2
.input q0=10 W
heat_source Q0 n1 {q0}
thermal_resistance R1 n1 n2 {r1}
thermal_resistance R2 n2 n3 {r2}
thermal_resistance R3 n3 air {r3}
heat_capacity C1 n2 {c1} T0=299
heat_capacity C2 n3 {c2} T0=301
temperature_source Tair air 300
.end
END
cat >rc.yaml <<'END'
yoke: 1
time: {stop: 10, step: 1e-3}
units:
  plant: {circuit: plant.cir}
  s1: {model: channel, exchange: fresh, with: {noise: 0.5, seed: 1}}
  s2: {model: channel, exchange: fresh, with: {noise: 0.5, seed: 2}}
  s3: {model: channel, exchange: fresh, with: {noise: 0.5, seed: 3}}
  twin:
    twin: plant.cir
    with: {r1: 10, r2: 10, r3: 10}
    sensors:
      T(N1): {from: s1.y, sigma: 0.5}
      t(n2): {from: s2.y, sigma: 0.5}
      t(n3): {from: s3.y, sigma: 0.5}
    unknown:
      r1: {as: resistance, sd: 3.2}
      r2: {as: resistance, sd: 3.2}
      r3: {as: resistance, sd: 3.2}
    noise: {start: 0.1, rate_start: 0.1, rate_walk: 31.6}
connections: [plant.t(n1) -> s1.u, plant.t(n2) -> s2.u, plant.t(n3) -> s3.u]
record: {every: 100}
END

# value FOLDER NAME: the last one of a column
value() {
  awk -F, -v name="$2" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) at = i; next } { last = $at } END { print last }' \
    "$1/results.csv"
}
# near FOLDER NAME VALUE RELATIVE
near() {
  local got
  got=$(value "$1" "$2")
  holds "${got:-1e99} - $3 <= $4 * $3 && $3 - ${got:-1e99} <= $4 * $3" || echo "$1: $2 = $got"
}

# ---- the resistances of the circuit, from sensors with noise (E-06)
run 0 run rc.yaml --trust none --quiet --out fast
near fast twin.r1 1 0.005
near fast twin.r2 2 0.003
near fast twin.r3 3 0.002
holds "$(value fast twin.verdict) == 1 && $(value fast twin.readings) == 3"
run 0 run rc.yaml --trust none --quiet --threads 3 --out threads
same fast threads

# ---- sensors that give every tenth step a reading (E-22): each counts once
sed 's/exchange: fresh, with/step: 1e-2, exchange: fresh, with/' rc.yaml >slow.yaml
run 0 run slow.yaml --trust none --quiet --out slow
for k in 1 2 3; do near slow twin.r$k $k 0.02; done
run 0 run slow.yaml --trust none --quiet --set record.every=1 --set time.stop=0.1 --out slow-rows
awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "twin.readings") at = i; next } { n[$at]++ }
  END { print n[0], n[3]; exit !(n[3] == 10 && n[0] == 91) }' slow-rows/results.csv >out && pass || bad 'readings of slow sensors'

# ---- lost samples are no readings; a lost one that is held would pull the estimates and look certain
sed 's/noise: 0.5,/noise: 0.5, loss: 0.4,/' rc.yaml >lossy.yaml
run 0 run lossy.yaml --trust none --quiet --out lossy
for k in 1 2 3; do near lossy twin.r$k $k 0.01; done
holds "$(value lossy twin.verdict) != 2"

# ---- one after another: readings of the end of a step wait for the next one
run 0 run rc.yaml --trust none --quiet --set scheme=gauss-seidel --set 'order=[plant, s1, s2, s3, twin]' --out gs
for k in 1 2 3; do near gs twin.r$k $k 0.01; done
holds "$(value gs twin.verdict) == 1"

# ---- readings that come late, with the time at which they were taken
sed 's/{from: s2.y, sigma: 0.5}/{from: s2.y, sigma: 0.5, delay: 0.02}/; s/stop: 10/stop: 5/' rc.yaml >late.yaml
run 0 run late.yaml --trust none --quiet --out late
for k in 1 2 3; do near late twin.r$k $k 0.02; done
holds "$(value late twin.verdict) != 2"

# ---- a recording with gaps in place of the sensors
awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; print "time,t1,t2,t3"; next }
  { y = (NR % 7 == 0) ? "" : $at["s1.y"]; z = (NR > 300 && NR < 1300) ? "nan" : $at["s3.y"]
    print $1 "," y "," $at["s2.y"] "," z }' <(run 0 run rc.yaml --trust none --quiet --set record.every=1 --set time.stop=4 --out rows
    cat rows/results.csv) >measured.csv
cat >replay.yaml <<'END'
yoke: 1
time: {stop: 4, step: 1e-3}
units:
  log: {model: playback, with: {file: measured.csv, gaps: hold, interpolation: hold}}
  twin:
    twin: plant.cir
    with: {r1: 10, r2: 10, r3: 10}
    sensors: {t(n1): log.t1, t(n2): log.t2, t(n3): log.t3}
    unknown: {r1: , r2: , r3: }
record: {every: 10}
END
run 0 run replay.yaml --trust none --quiet --out replay \
  --set 'units.twin.sensors.t(n1).sigma=0.5' --set 'units.twin.sensors.t(n2).sigma=0.5' --set 'units.twin.sensors.t(n3).sigma=0.5'
for k in 1 2 3; do near replay twin.r$k $k 0.02; done
run 2 run replay.yaml --trust none --quiet --set units.log.with.gaps=refuse --out refused
says "measured.csv:7: error: "
says "the cell of column 't1' is empty; with 'gaps: hold' the last value holds"

# ---- what check and describe say
run 0 check rc.yaml
says 'twin         derivative filter, time constants 0.586 to 3.41 s'
says 'sensor   t(n1)        sigma 0.5 K'
says 'unknown  r1           resistance R1, from 10 K/W, sd 3.2, within 0.01 to 10000'
says 'states   n2, n3'
says 'shown    5 of 5 combinations, singular values 1 0.'
silent 'weak'
says 's1.y -> twin.sensor.t(n1), every 0.001 s'
run 0 check rc.yaml --json
says '"seen": "yes"'
says '"filter": "derivative"'
run 0 check rc.yaml --set 'units.twin.unknown.r1={start: 5, walk: 0.1}' --set units.twin.filter=extended
says 'unknown  r1           resistance R1, from 5 K/W, sd 2.5 by default, walk 0.1'
says 'extended filter'
says 'the extended filter finds resistances and capacities only from good guesses'
run 0 check replay.yaml
says 'no sigma is given for t(n1), t(n2), t(n3): it is estimated while the twin runs, from 0.5 on'

# what shows weakly, and what shows in no record with constant inputs: by name, with its singular value
cat >long.cir <<'END'
a long bar, seen from its end
.input q0=10 W
heat_source Q0 a {q0}
heat_capacity Ca a 1
thermal_resistance Ra a b 1
heat_capacity Cb b 1
thermal_resistance Rb b c 30
heat_capacity Cc c 1
thermal_resistance Rc c d 30
heat_capacity Cd d 1
thermal_resistance Rd d air 1
temperature_source Tair air 300
.end
END
cat >long.yaml <<'END'
yoke: 1
time: {stop: 4, step: 0.1}
units:
  log: {model: constant, with: {value: 300}}
  twin:
    twin: long.cir
    sensors: {t(a): {from: log.y, sigma: 0.1}}
    unknown: {Rc: , Cd: , Rd: }
END
run 0 check long.yaml
says 'shown    7 of 7 combinations'
says "weak     "
run 0 check long.yaml --json
says '"rank": 7'
sed 's/{Rc: /{Ra: , Rb: , Ca: , Cb: , Cc: , Rc: /' long.yaml >many.yaml
run 0 check many.yaml
says 'while inputs are constant the sensors cannot tell '
says 'let inputs change, add a sensor, or leave one out'
# unknown heat and a resistance: a room whose temperature changes would tell; a heat and a temperature are alike whatever happens
sed 's/^temperature_source.*/.input room=300 K\ntemperature_source Tair air {room}/' long.cir >room.cir
sed 's/long.cir/room.cir/; s/{Rc: .*/{q0: {walk: 0.1}, Rd: }/' long.yaml >room.yaml
run 0 check room.yaml
says "while inputs are constant the sensors cannot tell 'q0' and 'Rd' apart: let inputs change"
run 0 check room.yaml --set 'units.twin.unknown={q0: , room: }'
says "twin': the sensors cannot tell 'q0' and 'room' apart: add a sensor or leave one out"

# ---- mistakes: one message each, with its place
# wrong PLACE TEXT [SETTINGS]: of rc.yaml as a filter of sed changes it
wrong() {
  local edit=$1 place=$2 text=$3
  shift 3
  sed "$edit" rc.yaml >wrong.yaml
  run 2 check wrong.yaml "$@"
  says "wrong.yaml:$place: error: $text"
}
wrong 's/T(N1): /t(n4): /' 12:7 "unit 'twin': t(n4): there is no node 'n4'; did you mean 'n1'?"
wrong 's/t(n2): {from/i(c1): {from/' 13:7 "unit 'twin': sensor 'i(c1)': a twin reads temperatures t(x)"
wrong 's/r3: {as/r4: {as/' 18:7 "unit 'twin': unknown 'r4': the netlist has no input, parameter or element of this name; did you mean 'r1'?"
wrong 's/s2.y, sigma/s2.z, sigma/' 13:21 "connection: 's2' (channel) has no variable 'z'"
wrong 's/from: s2.y, //' 8:3 "input 'twin.sensor.t(n2)' is not connected and has no start value"
wrong 's/^connections: \[/connections: [s1.y -> twin.sensor.T(n1), /' 12:14 "'twin.sensor.t(n1)' has two sources"
wrong 's/^    noise: .*/    filter: linear/' 9:11 "unit 'twin': unknown 'r1': the linear filter finds no resistances"
wrong 's/^    noise: .*/    inputs: {q1: s1.y}/' 19:18 "connection: 'twin' (plant.cir) has no variable 'q1'; did you mean 'q0'?"
wrong 's/^    noise: .*/    inputs: {r1: s1.y}/' 19:18 "'twin' estimates 'r1', which is one of its unknowns: leave it out there or here"
# a plant of volts for a sensor of kelvins
cat >volts.cir <<'END'
volts
V1 a 0 300
R1 a b 1
C1 b 0 1
.end
END
sed 's/^  s1: .*/&\n  volts: {circuit: volts.cir}/; s/from: s1.y/from: volts.v(b)/' rc.yaml >wrong.yaml
run 2 check wrong.yaml
says 'dimensions do not match: volts.v(b) is in V, twin.sensor.t(n1) in K'

# elements that a twin cannot have, by the lines of the netlist
sed 's/^\.end/.model d D\nD1 a 0 d\nR9 a 0 1\nL1 a b 1\nR8 b 0 1\n.end/' plant.cir >odd.cir
sed 's/twin: plant.cir/twin: odd.cir/' rc.yaml >odd.yaml
run 2 check odd.yaml
says "odd.cir:12: error: unit 'twin': 'D1' is a diode, which a twin cannot have"
says "odd.cir:14: error: unit 'twin': 'L1' is an inductor, which a twin cannot have"
# a law of temperatures and `filter: linear`
sed 's/R3 n3 air {r3}/R3 n3 air {3+0.001*(t(n3)-300)}/' plant.cir >law.cir
sed -e 's/twin: plant.cir/twin: law.cir/' -e '/^    with:/d' -e '/^      r[123]: /d' \
  -e 's/^    unknown:/    unknown: {q0: }/; s/^    noise:.*/    filter: linear/' rc.yaml >law.yaml
run 2 check law.yaml
says "law.yaml:15:13: error: unit 'twin': 'filter: linear' needs elements that do not depend on temperatures, and 'R3' does"
run 0 run law.yaml --trust none --quiet --set units.twin.filter=extended --set time.stop=1 --out law
near law twin.q0 10 0.05

# what the sensors cannot tell is named before the run: R1 shows only at n1
sed -e '/T(N1)/d' rc.yaml >blind.yaml
run 0 check blind.yaml
says "blind.yaml:15:7: warning: "
says "no sensor shows the unknown 'r1': its estimate stays the guess"
says 'resistance R1, from 10 K/W, sd 3.2, within 0.01 to 10000; no sensor shows it'

# ---- a filter that diverges says so once, and outputs stay finite
cat >fault.csv <<'END'
time,y
0,0
2,0
2.001,3000
9,3000
END
cat >fault.yaml <<'END'
yoke: 1
time: {stop: 6, step: 1e-3}
units:
  plant: {circuit: plant.cir}
  fault: {model: playback, with: {file: fault.csv, interpolation: hold}}
  twin:
    twin: plant.cir
    sensors: {t(n2): {from: plant.t(n2), sigma: 0.5}, t(n3): {from: bad.y, sigma: 0.5}}
    unknown: {r2: }
laws: {bad: {law: sum, with: {n: 2}}}
connections: [plant.t(n3) -> bad.u1, fault.y -> bad.u2]
record: {every: 100}
END
run 0 run fault.yaml --trust none --out fault
says "unit 'twin': the filter diverged at t = 2."
says 'the readings of t(n3) are far from what it expects'
holds "$(value fault twin.verdict) == 3"
near fault twin.r2 2 0.1
run 0 run fault.yaml --trust none --out again --set units.twin.reset=2
holds "$(value again twin.resets) == 2 && $(value again twin.verdict) == 3"

# ---- heat from a faster source comes as means over the exchange interval: right for what follows the source in small steps, and held
# ---- by what gets the same means
cat >mean.yaml <<'END'
yoke: 1
time: {stop: 60, step: 0.02}
units:
  loss: {model: sine, step: 1e-3, with: {amplitude: 8, frequency: 0.2, offset: 10}}
  plant: {circuit: plant.cir, step: 1e-3}
  s3: {model: channel, exchange: fresh, with: {noise: 0.05, seed: 3}}
  twin:
    twin: plant.cir
    sensors: {t(n3): {from: s3.y, sigma: 0.05}}
    inputs: {q0: loss.y}
    unknown: {c2: {start: 0.25}}
connections: [{from: loss.y, to: plant.q0, exchange: 1e-3}, plant.t(n3) -> s3.u]
record: {every: 10}
END
run 0 check mean.yaml
says 'loss.y -> twin.q0, every 0.02 s, order 0, averaged'
run 0 run mean.yaml --trust none --quiet --out mean
near mean twin.c2 0.2 0.005
holds "$(value mean twin.verdict) == 1"
run 0 run mean.yaml --trust none --quiet --out turns --set scheme=gauss-seidel --set 'order=[loss, plant, s3, twin]'
near turns twin.c2 0.2 0.005
holds "$(value turns twin.verdict) == 1"
run 0 check mean.yaml --set 'units.twin.inputs.q0={from: loss.y, average: false}'
says 'loss.y -> twin.q0, every 0.02 s, order 0'
silent 'loss.y -> twin.q0, every 0.02 s, order 0, averaged'
run 0 run mean.yaml --trust none --quiet --out alike --set 'connections=[{from: loss.y, to: plant.q0, exchange: 0.02}, plant.t(n3) -> s3.u]'
near alike twin.c2 0.2 0.005
holds "$(value alike twin.verdict) == 1"

# ---- units of others may ask the same of their inputs, here and in a process of their own
if command -v "${YOKE_CC:-cc}" >/dev/null && [ -z "${YOKE_SANITIZE:-}" ]; then
  cat >ear.c <<'END'
#include <stddef.h>
#include <yoke/yoke.h>
typedef struct ear { double u, n, last; int64_t is_new; } ear;
static const yoke_variable variables[] = {
    {.name = "u", .causality = YOKE_INPUT, .offset = offsetof(ear, u)},
    {.name = "n", .causality = YOKE_OUTPUT, .offset = offsetof(ear, n)}};
static const yoke_unit_info info = {.variables = variables, .n_variables = 2,
                                    .flags = YOKE_UNIT_FLAT | YOKE_UNIT_SAMPLED, .self_size = sizeof(ear)};
static yoke_status listen(void* self, const yoke_sample_info i[], size_t n) {
  ear* e = self;
  e->is_new = n == 1 && i[0].is_valid && (double)i[0].sequence != e->last;
  e->last = (double)i[0].sequence;
  return YOKE_OK;
}
static yoke_status step(void* self, double t, double h, yoke_step_result* result) {
  ear* e = self;
  (void)t, (void)h, (void)result;
  e->n += e->is_new != 0;
  return YOKE_OK;
}
static const yoke_unit_ops ops = {YOKE_UNIT_HEAD, .name = "ear", .text = "counts samples", .info = &info,
                                  .step = step, .set_input_info = listen};
static const yoke_unit_ops* const units[] = {&ops};
const yoke_library_table yoke_library = {YOKE_LIBRARY_HEAD, .units = units, .n_units = 1};
END
  if ${YOKE_CC:-cc} -shared -fPIC -I"$source/include" -I"${YOKE_BUILD_DIR:-.}/generated" ear.c -o ear.so 2>out; then
    cat >ear.yaml <<'END'
yoke: 1
time: {stop: 1, step: 1e-2}
units:
  wave: {model: sine, step: 5e-2}
  link: {model: channel, exchange: fresh, step: 5e-2, with: {loss: 0.3, seed: 5}}
  ear: {library: ./ear.so}
connections: [wave.y -> link.u, link.y -> ear.u]
END
    run 0 run ear.yaml --trust none --quiet --out here
    run 0 run ear.yaml --trust none --quiet --out apart --set units.ear.isolate=process
    same here apart
    # 20 samples, of which some are lost
    holds "$(value here ear.n) >= 8 && $(value here ear.n) <= 19"
  else
    bad 'the library of the test cannot be compiled'
  fi
else
  echo 'skipped: a unit of a shared library'
fi

finish
