#!/usr/bin/env bash
# Units of the user's own in a shared library: compiled against the public headers only, named in a system file, served by
# every command like a built-in model; and libraries that are wrong in every way end in a message with the line.
set -u
yoke=${YOKE_PROGRAM:?set YOKE_PROGRAM to the program}
source=${YOKE_SOURCE_DIR:?set YOKE_SOURCE_DIR to the tree}
build=${YOKE_BUILD_DIR:?set YOKE_BUILD_DIR to the build folder}
cc=${YOKE_CC:-cc}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
mkdir tmp lib
export TMPDIR=$work/tmp
# sanitizers leave the signals of a foreign binary alone
export ASAN_OPTIONS=handle_segv=0:handle_abort=0:${ASAN_OPTIONS:-}
export TSAN_OPTIONS=handle_segv=0:handle_abort=0:atexit_sleep_ms=0:report_thread_leaks=0:${TSAN_OPTIONS:-}

n_passed=0
n_failed=0
name=
is_good=true

finish() {
  [ -n "$name" ] || return 0
  if $is_good; then n_passed=$((n_passed + 1)); else n_failed=$((n_failed + 1)); fi
  name=
}

begin() {
  finish
  name=$1
  is_good=true
  : >out
  : >err
}

bad() {
  echo "FAILED: $name: $*"
  echo "--- stdout:"; head -c 2000 out
  echo "--- stderr:"; head -c 2000 err
  is_good=false
}

# yoke_ends STATUS ARGUMENTS...: without hanging
yoke_ends() {
  local want=$1 status
  shift
  timeout 300 "$yoke" "$@" >out 2>err
  status=$?
  [ "$status" -eq "$want" ] || bad "yoke $*: status $status, expected $want"
}

err_has() { grep -qF -- "$1" err || bad "stderr lacks: $1"; }
out_has() { grep -qF -- "$1" out || bad "stdout lacks: $1"; }

# compile NAME: lib/NAME.c to lib/NAME.so
compile() {
  "$cc" -shared -fPIC -std=c11 -I"$source/include" -o "lib/$1.so" "lib/$1.c" -lm ||
    bad "lib/$1.c does not compile"
}

# ---- good libraries

cat >lib/two.c <<'END'
#include <stddef.h>
#include <yoke/registry.h>

typedef struct gain { double u, y, k; } gain;
static const yoke_variable variables[] = {
    {.name = "u", .causality = YOKE_INPUT, .offset = offsetof(gain, u)},
    {.name = "y", .causality = YOKE_OUTPUT, .offset = offsetof(gain, y)},
    {.name = "k", .causality = YOKE_TUNABLE, .start = 2, .offset = offsetof(gain, k)},
};
static const yoke_feedthrough feedthrough[] = {{1, 0}};
static const yoke_unit_info info = {.variables = variables, .n_variables = 3,
    .feedthrough = feedthrough, .n_feedthrough = 1,
    .flags = YOKE_UNIT_FLAT | YOKE_UNIT_ALGEBRAIC, .self_size = sizeof(gain)};
static yoke_status refresh(void* self, double t) {
  gain* g = self;
  (void)t;
  g->y = g->k * g->u;
  return YOKE_OK;
}
static yoke_status step(void* self, double t, double h, yoke_step_result* result) {
  (void)h;
  (void)result;
  return refresh(self, t);
}
static yoke_status step_falls(void* self, double t, double h, yoke_step_result* result) {
  if (t > 0.05) { *(volatile int*)0 = 1; }
  return step(self, t, h, result);
}
static const yoke_unit_ops doubler = {YOKE_UNIT_HEAD, .name = "my.gain", .text = "k times u",
    .info = &info, .step = step, .refresh = refresh};
static const yoke_unit_ops falls = {YOKE_UNIT_HEAD, .name = "my.falls", .text = "crashes",
    .info = &info, .step = step_falls, .refresh = refresh};
static const yoke_unit_ops* const units[] = {&doubler, &falls};
const yoke_library_table yoke_library = {YOKE_LIBRARY_HEAD, .units = units, .n_units = 2};
END

begin compile
compile two
cp "$build/examples/own_library.so" lib/ || bad "the example was not built"

# the system stands elsewhere: paths are relative to it
mkdir systems
cat >systems/lag.yaml <<'END'
yoke: 1
inputs: start
calls: 1
time: {stop: 1, step: 0.01}
units:
  source: {model: step, with: {before: 0, after: 1, time: 0.2}}
  lag: {library: ../lib/own_library.so, model: my.lag, with: {T: 0.5}}
  twice: {library: ../lib/two.so, model: my.gain, with: {k: 3}}
connections: [source.y -> lag.u, lag.y -> twice.u]
END

# constructor NAME CODE: the library two with code that runs while it is loaded
constructor() {
  { cat lib/two.c; echo "#include <stdlib.h>
#include <unistd.h>
__attribute__((constructor)) static void at_load(void) { $2 }"; } >"lib/$1.c"
  compile "$1"
}

# one that hangs while it is loaded is given up after ten seconds: meanwhile the rest is checked
begin constructor_compiles
constructor hangs 'for (;;) pause();'
sed 's|own_library.so, model: my.lag|hangs.so|; s|two.so|hangs.so|' systems/lag.yaml >systems/hangs.yaml
{
  before=$SECONDS
  timeout 300 "$yoke" check systems/hangs.yaml >/dev/null 2>hangs.err
  echo "$? $((SECONDS - before))" >hangs.end
} &
hanging=$!

begin run
yoke_ends 0 run systems/lag.yaml --out plain
# 0.8 s after the step: exact for held inputs
awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i ~ /^lag.y/) c = i; next } { y = $c }
  END { e = y - (1 - exp(-0.8 / 0.5)); exit !(e < 1e-12 && e > -1e-12) }' plain/results.csv ||
  bad "lag.y is not 1 - exp(-t/T)"
awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) { if ($i ~ /^lag.y/) c = i; if ($i ~ /^twice.y/) d = i }; next }
  NR > 3 && $d != 0 { n++; e = $d / before - 3; if (e > 1e-12 || e < -1e-12) exit 1 } { before = $c }
  END { exit n < 50 }' plain/results.csv || bad "twice.y is not 3 times the lag of the step before"

begin model_may_be_left_out
sed 's/, model: my.lag//' systems/lag.yaml >systems/short.yaml
yoke_ends 0 run systems/short.yaml --out short
cmp -s plain/results.csv short/results.csv || bad "other results without 'model'"

begin one_of_two_must_be_chosen
sed 's/, model: my.gain//' systems/lag.yaml >systems/which.yaml
yoke_ends 2 check systems/which.yaml
err_has "which.yaml:8:"
err_has "it holds 2 units: choose one with 'model', such as my.gain"

begin isolated
yoke_ends 0 run systems/lag.yaml --set units.lag.isolate=process --set units.twice.isolate=process --out apart
cmp -s plain/results.csv apart/results.csv || bad "other results in a process of its own"

begin isolated_crash
yoke_ends 1 run systems/lag.yaml --set units.twice.isolate=process --set units.twice.model=my.falls --out fallen
err_has "unit 'twice'"
err_has "segmentation fault"
[ "$(wc -l <fallen/results.csv)" -ge 5 ] || bad "results up to the crash are lost"

# in this process: the unit is named also where its values are set and read
begin crash_of_values
cat >lib/values.c <<'END'
#include <stddef.h>
#include <yoke/registry.h>

typedef struct own { double u, y, where, t; } own;
static const yoke_variable variables[] = {
    {.name = "u", .causality = YOKE_INPUT, .offset = offsetof(own, u)},
    {.name = "y", .causality = YOKE_OUTPUT, .offset = offsetof(own, y)},
    {.name = "where", .causality = YOKE_PARAMETER, .offset = offsetof(own, where)},
};
static const yoke_unit_info info = {.variables = variables, .n_variables = 3, .flags = YOKE_UNIT_FLAT,
                                    .self_size = sizeof(own)};
static void fall(const own* o, int where) {
  if (o->where == where && o->t >= 0.5) *(volatile int*)0 = 1;
}
static yoke_status step(void* self, double t, double h, yoke_step_result* result) {
  (void)h, (void)result;
  ((own*)self)->t = t;
  return YOKE_OK;
}
static yoke_status set(void* self, const double u[], size_t n) {
  (void)n;
  fall(self, 1);
  ((own*)self)->u = u[0];
  return YOKE_OK;
}
static yoke_status get(const void* self, double y[], size_t n) {
  (void)n;
  fall(self, 2);
  y[0] = 1;
  return YOKE_OK;
}
static const yoke_unit_ops ops = {YOKE_UNIT_HEAD, .name = "my.values", .text = "crashes", .info = &info,
                                  .step = step, .set_inputs = set, .get_outputs = get};
static const yoke_unit_ops* const units[] = {&ops};
const yoke_library_table yoke_library = {YOKE_LIBRARY_HEAD, .text = "x", .units = units, .n_units = 1};
END
compile values
cat >systems/values.yaml <<'END'
yoke: 1
inputs: start
calls: 1
time: {stop: 1, step: 0.1}
trust: {companions: none}
units:
  values: {library: ../lib/values.so, with: {where: 1}}
  left: {model: sine}
connections: [left.y -> values.u]
END
case ${YOKE_SANITIZE:-} in
*address* | *thread* | *memory*) ;;
*)
  case $yoke in *-emulated) ;; *)
    for where in 1 2; do
      yoke_ends 1 run systems/values.yaml --set scheme=gauss-seidel --set units.values.with.where=$where --out values
      grep -q "unit 'values' at t = 0.[56] s: crashed with signal 11 (segmentation fault) during step" err ||
        bad "the unit is not named"
    done
    ;;
  esac
  ;;
esac

begin law
cat >systems/law.yaml <<'END'
yoke: 1
inputs: start
calls: 1
time: {stop: 1, step: 0.1}
units:
  source: {model: step, with: {before: 1, after: 1, time: 0.2}}
  lag: {library: ../lib/own_library.so}
laws:
  twice: {law: my.gain, library: ../lib/two.so}
connections: [source.y -> twice.u, twice.y -> lag.u]
END
yoke_ends 0 run systems/law.yaml --out law
tail -n 1 law/results.csv | grep -q '^1,1,' || bad "the law was not evaluated"

begin threads_and_iteration
yoke_ends 0 run systems/lag.yaml --set threads=2 --out threads
yoke_ends 0 run systems/lag.yaml --set scheme=iterative-gauss-seidel --out iterated

begin check
yoke_ends 0 check systems/lag.yaml
out_has "my.lag of ../lib/own_library.so"
yoke_ends 0 check systems/lag.yaml --json
out_has '"library": "../lib/own_library.so"'

begin report_sweep_analyse
yoke_ends 0 run systems/lag.yaml --report --out reported
[ -s reported/report.html ] || bad "no report"
yoke_ends 0 sweep systems/lag.yaml --vary units.lag.with.T=0.1,0.2,0.4 --measure status --out swept
yoke_ends 0 analyse systems/lag.yaml

# an exported unit takes its library along: the FMU and the SSP give the bytes of the system, also where no library is left
begin export_takes_the_library
yoke_ends 0 run systems/lag.yaml --out exported/own --no-verdict
for fmi in 2 3; do
  yoke_ends 0 export systems/lag.yaml --fmi $fmi --unit lag -o exported/lag$fmi.fmu
  unzip -l exported/lag$fmi.fmu >files
  grep -q ' resources/unit.so$' files || bad "FMI $fmi: the library is not in the FMU"
  grep -q ' sources/' files && bad "FMI $fmi: sources without the unit's own"
  yoke_ends 0 info exported/lag$fmi.fmu
  sed "s|{library:.*own_library.so[^}]*with|{fmu: lag$fmi.fmu, with|" systems/lag.yaml >exported/lag$fmi.yaml
  grep -q "fmu: lag$fmi.fmu" exported/lag$fmi.yaml || bad "the file was not changed"
done
yoke_ends 0 export systems/lag.yaml --ssp -o exported/lag.ssp
cp exported/lag3.fmu exported/again.fmu
yoke_ends 0 export systems/lag.yaml --fmi 3 --unit lag -o exported/lag3.fmu
cmp -s exported/lag3.fmu exported/again.fmu || bad "the same unit gives other bytes"
yoke_ends 2 export systems/law.yaml --ssp -o exported/law.ssp
err_has "law 'twice' is one of a shared library, which an SSP cannot carry"
mv lib/own_library.so lib/away.so
for file in lag2.yaml lag3.yaml lag.ssp; do
  yoke_ends 0 run exported/$file --out exported/run --no-verdict
  cut -d , -f 1-3 exported/run/results.csv >theirs
  cut -d , -f 1-3 exported/own/results.csv >ours
  cmp -s ours theirs || bad "$file: other numbers than the unit of the library"
done
mv lib/away.so lib/own_library.so
yoke_ends 2 export systems/lag.yaml --fmi 2 --unit lag --set units.lag.library=nowhere.so -o exported/x.fmu
[ ! -e exported/x.fmu ] || bad "a file was left behind"
# a library that is damaged or missing in the FMU is a message of the FMU
mkdir exported/open && (cd exported/open && unzip -q ../lag2.fmu)
echo damaged >exported/open/resources/unit.so
yoke_ends 2 run exported/lag2.yaml --set units.lag.fmu=open --out exported/run
err_has "the library of the unit cannot be loaded"

begin info
yoke_ends 0 info lib/two.so
out_has "my.gain: k times u"
out_has "my.falls: crashes"
out_has "tunable    k "
out_has "y <- u"
yoke_ends 0 info lib/two.so --json
python3 - out <<'END' || bad "the JSON is not as described"
import json, sys
d = json.load(open(sys.argv[1]))
assert d["format"] == "yoke-library" and d["version"] == 1
assert [m["name"] for m in d["models"]] == ["my.gain", "my.falls"]
assert [v["name"] for v in d["models"][0]["variables"]] == ["u", "y", "k"]
assert d["methods"] == []
END

# ---- bad libraries

# refused NAME TEXT: `check`, `run` and `info` end with status 2 and say why; the line is that of the system file
refused() {
  sed "s|\.\./lib/own_library\.so, model: my.lag|../lib/$1.so|" systems/lag.yaml >"systems/$1.yaml"
  yoke_ends 2 check "systems/$1.yaml"
  err_has "systems/$1.yaml:7:18: error: unit 'lag': library 'systems/../lib/$1.so': $2"
  yoke_ends 2 info "lib/$1.so"
  err_has "lib/$1.so: error: $2"
}

begin missing_file
sed 's/own_library/absent/' systems/lag.yaml >systems/absent.yaml
yoke_ends 2 run systems/absent.yaml
err_has "absent.yaml:7:18: error: unit 'lag': there is no file '../lib/absent.so'"
[ ! -e results ] || bad "results of a run that cannot start"
yoke_ends 2 info lib/absent.so
err_has "lib/absent.so: error: there is no such file"

begin no_such_model
yoke_ends 2 check systems/lag.yaml --set units.lag.model=my.lga
err_has "--set units.lag.model: error: unit 'lag': library 'systems/../lib/own_library.so': it has no unit 'my.lga'; did you mean 'my.lag'?"
# a built-in model is not in the library
yoke_ends 2 check systems/lag.yaml --set units.lag.model=gain
err_has "it has no unit 'gain'"

begin two_kinds
yoke_ends 2 check systems/lag.yaml --set units.lag.fmu=x.fmu
err_has "a second kind"

begin no_elf
echo "this is no library" >lib/text.so
refused text "it cannot be loaded"

begin no_symbol
echo 'int nothing(void) { return 1; }' >lib/symbol.c
compile symbol
refused symbol "it exports no table \`yoke_library\`"

begin no_units
echo '#include <yoke/registry.h>
const yoke_library_table yoke_library = {YOKE_LIBRARY_HEAD, .text = "empty"};' >lib/empty.c
compile empty
sed 's|own_library.so, model: my.lag|empty.so|' systems/lag.yaml >systems/empty.yaml
yoke_ends 2 check systems/empty.yaml
err_has "it holds no units"

begin other_version
echo '#include <yoke/registry.h>
const yoke_library_table yoke_library = {sizeof(yoke_library_table), 9999, .text = "new"};' >lib/version.c
compile version
refused version "the table of a library was made for version 9999 of the contract"

begin unit_of_other_version
sed 's/YOKE_UNIT_HEAD, .name = "my.gain"/.table_size = sizeof(yoke_unit_ops), .table_version = 7, .name = "my.gain"/' lib/two.c >lib/oldunit.c
compile oldunit
refused oldunit "the table of a unit was made for version 7 of the contract"

begin bad_tables
sed 's/.name = "my.gain"/.name = NULL/' lib/two.c >lib/noname.c
compile noname
refused noname "the table of unit '' has no name"
sed 's/.step = step, .refresh = refresh}/.create = NULL}/' lib/two.c >lib/nostep.c
compile nostep
refused nostep "the table of unit 'my.gain' has no step"
sed 's/my.falls/my.gain/' lib/two.c >lib/twice.c
compile twice
refused twice "there is a unit 'my.gain' already"
sed 's/my.falls/gain/' lib/two.c >lib/taken.c
compile taken
refused taken "there is a unit 'gain' already"
sed 's/offsetof(gain, k)/4000/' lib/two.c >lib/outside.c
compile outside
refused outside "the description of 'my.gain' is wrong: variable 'k' lies outside of the unit's struct"
sed 's/.units = units, .n_units = 2/.n_units = 2/' lib/two.c >lib/unlisted.c
compile unlisted
refused unlisted "its table counts 2 units but does not list them"
sed 's/{&doubler, &falls}/{\&doubler, (const yoke_unit_ops*)16}/' lib/two.c >lib/wild.c
compile wild
refused wild "it crashes while it is loaded (segmentation fault)"

begin shorter_table
# headers before `results` came in: what lies behind is not read
sed 's/{YOKE_LIBRARY_HEAD, /{.table_size = offsetof(yoke_library_table, couplings), .table_version = YOKE_CONTRACT_VERSION, .couplings = (void*)16, .n_couplings = 77, /' lib/two.c >lib/older.c
compile older
yoke_ends 0 run systems/lag.yaml --set units.twice.library=../lib/older.so --out older
cmp -s plain/results.csv older/results.csv || bad "other results with a shorter table"

# ---- coupling methods

begin coupling
# the method of the example, with a table in place of its program
{ sed '/^static void print_message/,$d' "$source/examples/own_coupling.c"
  cat <<'END'
static const yoke_coupling_ops unusable = {YOKE_COUPLING_HEAD, .name = "my.half", .size = ramp_size};
static const yoke_coupling_ops* const methods[] = {&ramp_ops, &unusable};
const yoke_library_table yoke_library = {YOKE_LIBRARY_HEAD, .couplings = methods, .n_couplings = 2};
END
} >lib/ramp.c
compile ramp
cat >systems/ramp.yaml <<'END'
yoke: 1
inputs: start
calls: 1
time: {stop: 1, step: 0.01}
units:
  left: {model: oscillator.force, with: {m: 1, k: 10, kc: 100, cc: 0.1}, start: {v: 1}, step: 1e-4}
  right: {model: oscillator.mass, with: {m: 1, k: 1000}, start: {v: -1}, step: 1e-4}
connections: [right.x -> left.x_other, right.v -> left.v_other, left.f -> right.f]
couplings:
  loop: {library: ../lib/ramp.so, method: my.ramp, members: [left, right], limit: 1e5}
END
yoke_ends 0 run systems/ramp.yaml --out ramp --quiet
yoke_ends 0 run systems/ramp.yaml --out held --quiet --set couplings.loop.limit=0 --no-verdict
sed '/^couplings/,$d' systems/ramp.yaml >systems/hold.yaml
yoke_ends 0 run systems/hold.yaml --out hold --quiet --no-verdict
# without a slope it is the built-in hold, bit for bit; with one it is another
cmp -s held/results.csv hold/results.csv || bad "a slope of 0 is not the hold"
cmp -s ramp/results.csv hold/results.csv && bad "the method has no effect"
yoke_ends 0 check systems/ramp.yaml
out_has my.ramp
yoke_ends 2 export systems/ramp.yaml --ssp -o ramp.ssp
err_has "ramp.yaml:10:43: error: coupling 'loop': method 'my.ramp' is one of a shared library, which an SSP cannot carry"

# refused_coupling CHANGE PATTERN: the entry on line 10 with a change
refused_coupling() {
  sed "10s|$1" systems/ramp.yaml >systems/wrong.yaml
  yoke_ends 2 check systems/wrong.yaml
  err_has "systems/wrong.yaml:10:$2"
}
begin coupling_refused
refused_coupling '../lib/ramp.so|nowhere.so|' "19: error: library 'systems/nowhere.so': there is no such file"
refused_coupling '../lib/ramp.so|.|' "19: error: library 'systems/.': it is a folder"
refused_coupling '../lib/ramp.so|[a]|' "19: error: 'library': expected the name of a file"
refused_coupling '../lib/ramp.so|../lib/two.so|' "19: error: library 'systems/../lib/two.so': it holds no coupling methods"
refused_coupling 'my.ramp|my.ramb|' "43: error: library 'systems/../lib/ramp.so': it has no coupling method 'my.ramb'; did you mean 'my.ramp'?"
refused_coupling 'my.ramp|my.half|' "19: error: library 'systems/../lib/ramp.so': the table of coupling method 'my.half' lacks what every method needs"
refused_coupling 'limit|limits|' "76: error: method 'my.ramp' has no parameter 'limits'; did you mean 'limit'?"
refused_coupling 'limit: 1e5|limit: -1|' "83: error: 'limit': expected a number from 0 to"
refused_coupling 'method: my.ramp, ||' "3: error: 'loop' has no 'method'"
sed 's/{YOKE_LIBRARY_HEAD/{.table_size = sizeof(yoke_library_table), .table_version = 77/' lib/ramp.c >lib/newer.c
compile newer
refused_coupling 'ramp.so|newer.so|' "19: error: library 'systems/../lib/newer.so': the table of a library was made for version 77"

begin coupling_of_bond
sed '8,$d' systems/ramp.yaml >systems/bond.yaml
cat >>systems/bond.yaml <<'END'
connections: [right.x -> left.x_other]
bonds:
  spring: {action: left.f -> right.f, rate: right.v -> left.v_other, coupling: {method: my.ramp, library: ../lib/ramp.so}}
END
yoke_ends 0 run systems/bond.yaml --out bond --quiet --no-verdict
yoke_ends 2 check systems/bond.yaml --set bonds.spring.coupling.library=none.so
err_has "--set bonds.spring.coupling.library: error: library 'systems/none.so': there is no such file"

begin folder_as_library
yoke_ends 2 check systems/lag.yaml --set units.lag.library=.
err_has "--set units.lag.library: error: unit 'lag': library 'systems/.': it is a folder"

begin export_of_a_library
yoke_ends 2 export ./lib/own_library.so --fmi 2
err_has "yoke export: './lib/own_library.so' is a shared library: export its unit from a system file that names it, with --unit"

begin law_in_units
sed 's/.step = step, .refresh = refresh}/.refresh = refresh}/' lib/two.c >lib/law.c
compile law
yoke_ends 2 check systems/lag.yaml --set units.twice.library=../lib/law.so
err_has "'my.gain' cannot be stepped; list it under 'laws'"

begin constructor_crashes
constructor crash '*(volatile int*)0 = 1;'
refused crash "it crashes while it is loaded (segmentation fault)"

begin constructor_aborts
constructor aborts 'abort();'
refused aborts "it crashes while it is loaded (abort)"

begin constructor_exits
constructor exits 'exit(0);'
refused exits "it ends the program while it is loaded (exit status 0)"
[ ! -s out ] || bad "something was printed twice"

begin destructor_aborts
constructor unloads 'abort();'
sed -i 's/((constructor)) static void at_load/((destructor)) static void at_end/' lib/unloads.c
compile unloads
refused unloads "it crashes while it is unloaded (abort)"

begin constructor_hangs
wait $hanging
read -r status took <hangs.end
cp hangs.err err
[ "$status" = 2 ] || bad "status $status, expected 2"
err_has "hangs.yaml:7:18: error: unit 'lag': library 'systems/../lib/hangs.so': it hangs while it is loaded"
err_has "hangs.yaml:8:20: error: unit 'twice': library 'systems/../lib/hangs.so': it hangs while it is loaded"
# named twice, tried once
[ "$took" -lt 19 ] || bad "it was tried more than once: $took s"

finish
echo "$n_passed passed, $n_failed failed"
ls tmp/* >/dev/null 2>&1 && { echo "FAILED: files left in TMPDIR: $(ls tmp)"; exit 1; }
[ "$n_failed" -eq 0 ]
