#!/usr/bin/env bash
# Netlists at the command line: yoke circuit, and netlists where run, check, info and sweep expect a system; bad netlists
# with the line of each fault. Numbers of the methods are for other tests.
set -u
yoke=${YOKE_PROGRAM:?set YOKE_PROGRAM to the program}
source_dir=${YOKE_SOURCE_DIR:?set YOKE_SOURCE_DIR to the source folder}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
# shellcheck source=test/support/output_cases.sh
. "$source_dir/test/support/output_cases.sh"

err_is() { n_checks=$((n_checks + 1)); grep -qE -- "$1" err || fail "stderr lacks: $1"; }
head_is() { n_checks=$((n_checks + 1)); [ "$(head -n 1 "$1" | tr -d '\r')" = "$2" ] || fail "$1 begins with $(head -n 1 "$1")"; }
rows_are() { n_checks=$((n_checks + 1)); [ "$(($(wc -l <"$1") - 1))" -eq "$2" ] || fail "$1 has $(($(wc -l <"$1") - 1)) rows, expected $2"; }
file_has() { n_checks=$((n_checks + 1)); grep -qE -- "$2" "$1" || fail "$1 lacks: $2"; }
# cell FILE COLUMN TIME
cell() {
  awk -F, -v signal="$2" -v time="$3" '{ sub(/\r$/, "") }
    NR == 1 { for (i = 1; i <= NF; i++) if ($i == signal) column = i; next }
    column && ($1 - time)^2 < 1e-18 { print $column; exit }' "$1"
}
# near FILE COLUMN TIME VALUE TOLERANCE
near() {
  local got
  n_checks=$((n_checks + 1))
  got=$(cell "$1" "$2" "$3")
  awk -v a="$got" -v b="$4" -v t="$5" 'BEGIN { d = a - b; exit !(a ~ /^[-+0-9.]/ && d <= t && -d <= t) }' ||
    fail "$1: $2 at $3 is '$got', expected $4 +- $5"
}

# ---- what is named is recorded, at multiples of .tran's step, from its start on
cat >rc.cir <<'END'
RC behind a source
.param r=1k c=1u
V1 in 0 2
R1 in out {r}
C1 out 0 {c} IC=0
.print tran v(out) i(r1)
.tran 0.1m 5m 1m uic
.end
END
run 0 circuit rc.cir
err_empty
out_has '^rc\.cir: done, 50 steps to t = 0\.005 s'
out_has '^circuit rc: nodal, trbdf2, 50 steps of 0\.0001 s'
head_is results/rc/results.csv 'time,v(out),i(r1)'
rows_are results/rc/results.csv 41
near results/rc/results.csv 'v(out)' 0.001 1.2642411 2e-3
near results/rc/results.csv 'i(r1)' 0.005 1.3476e-5 1e-6
for key in '"real_time_factor"' '"step_time"' '"circuit": \{' '"structural_rank": 6' '"iterations_worst"' '"refactors"' '"switchings"'; do
  file_has results/rc/summary.json "$key"
done

# ---- options: methods, steps below the rows, parameters as netlists write them
run 0 circuit rc.cir --method bdf2 --step 10u --out fine --quiet
out_lacks .
rows_are fine/results.csv 41
file_has fine/summary.json '"step": (1e-5|0\.00001)'
near fine/results.csv 'v(out)' 0.001 1.2642411 1e-4
run 0 circuit rc.cir --formulation dae --method tr --out dae --quiet
file_has dae/summary.json '"formulation": "dae"'
run 0 circuit rc.cir --set r=2k --step 10u --out slow --quiet
near slow/results.csv 'v(out)' 0.002 1.2642411 1e-4
run 0 circuit rc.cir --step 1m --stop 10m --out coarse --quiet
rows_are coarse/results.csv 10
run 0 circuit rc.cir --json --out json
out_has '"circuit": \{'
n_checks=$((n_checks + 1))
cmp -s out json/summary.json || fail '--json does not print summary.json'
run 0 circuit rc.cir --report --format csv,hdf5 --out report --quiet
n_checks=$((n_checks + 1))
[ -s report/report.html ] || fail 'no report'

# ---- nothing is named: every node voltage and element current, and no parts that the reader made
cat >diode.cir <<'END'
Half wave
V1 in 0 SIN(0 5 50)
D1 in out dm
R1 out 0 100
.model dm D(IS=1e-12 RS=0.1)
.tran 0.1m 20m uic
END
run 0 circuit diode.cir --quiet
head_is results/diode/results.csv 'time,v(in),v(out),i(v1),i(d1),i(r1)'
run 0 circuit diode.cir --iterations 4 --out fixed --quiet
file_has fixed/summary.json '"fixed_iterations": 4'
file_has fixed/summary.json '"iterations_mean": 4'

# ---- with uic from start values, without from the operating point
sed 's/ uic//; s/ IC=0//' rc.cir >op.cir
run 0 circuit op.cir --quiet
near results/op/results.csv 'v(out)' 0.001 2 1e-9

# ---- where a system is expected
run 0 run rc.cir --out as_run --quiet
head_is as_run/results.csv 'time,rc.v(out),rc.i(r1)'
run 0 check rc.cir
out_has '^  rc +rc\.cir, step 0\.0001 s'
run 0 run rc.cir --set units.rc.with.r=500 --set time.stop=2e-3 --out set --quiet
run 2 run rc.cir --set units.rc.with.rr=500 --out set
err_is "^--set units\.rc\.with\.rr: error: 'rc\.cir' has no parameter 'rr'; did you mean 'r'"
run 0 sweep rc.cir --vary units.rc.with.r=500,1000,2000 --measure 'end:rc.v(out)' --out sweep --quiet
rows_are sweep/sweep.csv 3
run 0 info rc.cir
out_has '^rc\.cir: RC behind a source$'
out_has '^  elements +3: 1 resistor, 1 capacitor, 1 voltage source$'
out_has '^  sizes +n = 6, m = 5, p = 1'
out_has '^  parameters +r = 1k, c = 1u$'
out_has '^  \.tran +step 0\.0001 s, stop 0\.005 s, recorded from 0\.001 s, from start values'
run 0 info rc.cir --json
out_has '"structural_rank": 6'
for command in circuit check info run; do
  run 2 $command nowhere.cir
  err_is '^nowhere\.cir: error: .*No such file'
done

# ---- circuits in a system, with their solver named there
cat >two.yaml <<'END'
yoke: 1
time: {stop: 1e-2, step: 1e-4}
units:
  source: {circuit: source.cir, solver: {method: bdf2, step: 1e-5, formulation: dae}}
  load: {circuit: load.cir, step: 1e-3, start: {v(c1): 0.5}}
bonds:
  cable: {action: source.v -> load.v, rate: load.i -> source.i}
END
printf 'source\n.input i=0 A\nV1 a 0 1\nR1 a b 1\nC1 b 0 1m IC=0\nI1 b 0 {i}\n.output v(b) name=v\n.tran 10u 1 uic\n' >source.cir
printf 'load\n.input v=0 V\nV1 a 0 {v}\nR1 a b 10\nC1 b 0 1m IC=0\n.output i(r1) name=i\n.tran 10u 1 uic\n' >load.cir
run 0 run two.yaml --out two --quiet --no-verdict
file_has two/summary.json '"circuits": \['
file_has two/summary.json '"formulation": "dae"'
near two/results.csv load.i 0 -0.05 1e-9
run 0 run two.yaml --set units.load.isolate=process --out isolated --quiet --no-verdict
n_checks=$((n_checks + 1))
cmp -s two/results.csv isolated/results.csv || fail 'a process of its own gives other numbers'
run 2 run two.yaml --set units.load.circuit=none.cir --out bad
err_is "^--set units\.load\.circuit: error: unit 'load': there is no file 'none\.cir'"
run 2 run two.yaml --set units.load.solver.method=cvode --out bad
err_is "^--set units\.load\.solver\.method: error: .*expected trbdf2"

# ---- the end of a run by a signal: complete files, 130
sed 's/^\.tran.*/.tran 1u 1000 uic/' rc.cir >long.cir
n_checks=$((n_checks + 1))
env --default-signal=INT "$yoke" circuit long.cir --out long --quiet >out 2>err &
pid=$!
for ((i = 0; i < 3000; i++)); do
  [ -s long/results.csv.part ] && break
  sleep 0.02
done
kill -INT "$pid"
wait "$pid"
status=$?
if [ $status -ne 130 ]; then fail "interrupted: status $status"; fi
file_has long/summary.json '"status": "interrupted"'
n_checks=$((n_checks + 1))
[ -s long/results.csv ] || fail 'interrupted: no results'

# ---- wrong command lines
run 2 circuit
run 2 circuit rc.cir --method trapez
err_has "--method: unknown 'trapez'; known: trbdf2, tr"
run 2 circuit rc.cir --step=-1
err_has "--step: expected a time above 0"
run 2 circuit rc.cir --set r
err_has "--set: expected NAME=VALUE, found 'r'"
run 2 circuit rc.cir --set r=big
err_has "--set r: expected a number, found 'big'"
run 2 circuit rc.cir --iterations 0
run 2 circuit rc.cir --method tr,bdf1
err_has '--method: expected one'
run 2 circuit rc.cir --method rk4 --formulation dae
err_has "belong together"

# ---- messages are in the words of the netlist and of the options, not of the system inside
err_lacks() { n_checks=$((n_checks + 1)); if grep -qE -- "$1" err; then fail "stderr has: $1"; fi; }
run 2 circuit rc.cir --set rr=500
err_is "^--set rr: error: 'rc\.cir' has no parameter 'rr'; did you mean 'r'"
run 2 circuit rc.cir --set r=0
err_is "^rc\.cir:4: error: 'R1'"
run 2 circuit rc.cir --step 1e-30
err_is "^rc\.cir: error: the solver's step 1e-30 s is too small for .* every 0\.0001 s"
run 2 circuit rc.cir --step 1
err_is '^rc\.cir: error: the step of 1 s is longer than the whole run'
run 2 circuit rc.cir --stop 1e30
err_is '^rc\.cir: error: a run to 1e30 s in steps of 0\.0001 s has more steps'
run 2 circuit rc.cir --stop 0.5m
err_is '^rc\.cir: error: the run ends at 0\.0005 s, before the start 0\.001 s'
printf 't\nI1 0 a 1\nR1 a 0 1\nR2 b 0 1\nC3 b 0 1u\nRx a b {1/v(b)}\n.tran 1m 10m\n' >start.cir
run 2 circuit start.cir
err_is '^start\.cir:[0-9]+: error: '
err_lacks "unit '|units\.|macro"
# while it runs
printf 't\nV1 a 0 SIN(0 1 50)\nR1 a b 1\nC1 b 0 1u IC=1\nB2 d 0 I=exp(v(d)+1000*v(a))\nR4 d 0 1\n.tran 1m 20m uic\n' >blows.cir
run 1 circuit blows.cir --quiet
err_is '^blows\.cir(:5)?: error: at t = '
err_lacks "unit '"

# ---- a stop time between two rows is reached, with a note; from .tran, from --stop, below the rows' interval
sed 's/^\.tran.*/.tran 0.1m 0.95m uic/' rc.cir >odd.cir
run 0 circuit odd.cir
err_is '^odd\.cir: note: the stop time 0\.00095 s is no multiple of the step 0\.0001 s: the run goes on to 0\.001 s'
out_has 'done, 10 steps to t = 0\.001 s'
near results/odd/results.csv 'v(out)' 0.001 1.2642411 2e-3
run 0 run odd.cir --out odd --quiet
rows_are odd/results.csv 11
run 0 circuit rc.cir --stop 1.05m --out odd --quiet
err_empty
rows_are odd/results.csv 2
# a third of a millisecond has more digits than are written; three of them are still one
run 0 circuit rc.cir --step 0.333333333333333m --stop 1m --out thirds
err_lacks 'no multiple'

# ---- the explicit formulation has a method of its own
run 0 circuit rc.cir --formulation ode --step 10u --out ode
out_has '^circuit rc: ode, rk4, '
near ode/results.csv 'v(out)' 0.001 1.2642411 1e-6
run 0 circuit rc.cir --formulation ode --method euler --out ode --quiet
file_has ode/summary.json '"method": "euler"'

# ---- remarks on the netlist: at every look at it, in a run only when asked for
cat >bridge.cir <<'END'
Bridge
V1 p n SIN(0 10 50)
RG n 0 1
D1 p a dm
D2 n a dm
D3 b p dm
D4 b n dm
R1 a b 100
.model dm D(IS=1e-12)
.tran 0.1m 20m uic
END
run 0 circuit bridge.cir
err_empty
run 0 circuit bridge.cir -v
err_is '^bridge\.cir:4: note: only junctions'
run 0 circuit bridge.cir --verbose --quiet
err_empty
run 0 run bridge.cir --out bridge
err_empty
run 0 info bridge.cir
out_has 'note: only junctions'
run 0 check bridge.cir
err_is 'note: only junctions'

# ---- one of a thing is not several
printf 'one\nV1 a 0 1\nR1 a 0 1\n.yoke iterations=1\n.tran 1m 1m uic\n.print tran v(a)\n' >one.cir
run 0 circuit one.cir
out_has 'done, 1 step to'
out_has ' of 1 signal$'
out_has ', 1 step of 0\.001 s, .* 1 iteration per stage'
run 0 info one.cir
out_has ', 1 iteration in every stage'

# ---- factors that exist only at an operating point; a circuit that has none is still described
printf 't\nV1 a 0 SIN(0 1 50)\nR1 a b {1+v(b)*v(b)}\nC1 b 0 1u\nR2 b 0 {2+v(b)}\n.tran 1m 20m uic\n' >law.cir
run 0 info law.cir
out_has '^  solved +[1-9][0-9]* unknowns?, [0-9]+ nonzeros?, [1-9][0-9]* in the factors; not linear'
run 0 info start.cir
out_has '^  solved +2 unknowns, 4 nonzeros; not linear'
out_has '^start\.cir:6: warning: '
run 0 info start.cir --json
out_has '"factors": null'

# ---- numbers with suffixes wherever something is given to a netlist
cat >filter.cir <<'END'
Filter
.param r=1k
.input u=1 V
V1 in 0 {u}
R1 in out {r}
C1 out 0 1u IC=0
.output v(out) name=y
.tran 10u 2m uic
END
cat >filter.yaml <<'END'
yoke: 1
time: {stop: 2e-3, step: 1e-4}
units:
  f: {circuit: filter.cir, with: {r: 2kOhm}, start: {u: 500m}}
END
run 0 run filter.yaml --out filter --quiet
near filter/results.csv f.y 0.002 0.31606028 1e-4
run 0 run filter.yaml --set units.f.with.r=0.5k --out filter --quiet
near filter/results.csv f.y 0.001 0.43233236 1e-4
run 2 run filter.yaml --set units.f.with.r=1k1 --out filter
err_is '^--set units\.f\.with\.r: error: .*expected a number'
run 0 export filter.cir --fmi 2 --with r=2.2k -o filter.fmu
out_has ', 1 input, 1 output, 1 parameter, 1 state, [0-9]+ more variables to read$'
if command -v unzip >/dev/null; then
  n_checks=$((n_checks + 1))
  unzip -p filter.fmu modelDescription.xml | grep -A1 'name="r"' | grep -q 'start="2200"' || fail 'export --with r=2.2k'
fi
run 0 export filter.cir --c --step 10u --with r=2k -o c
out_has '1 state, 1 input, 1 output, step 1e-05 s'
run 2 export filter.cir --c --step u -o c

# ---- the page of a circuit: its title, its solver, nothing of units and bonds
run 0 circuit bridge.cir --report --out page --quiet
file_has page/report.html '"circuit": ?\{'
file_has page/report.html '"title": ?"Bridge"'
file_has page/report.html 'content="A circuit, run to 0\.02 s\."'

# ---- bad netlists: bad LINE PATTERN, the netlist on stdin; every command says the same
bad() {
  cat >bad.cir
  rm -rf results/bad
  run 2 circuit bad.cir
  err_is "^bad\.cir:$1:([0-9]+:)? error: .*$2"
  run 2 check bad.cir
  err_is "^bad\.cir:$1:([0-9]+:)? error: .*$2"
  n_checks=$((n_checks + 1))
  [ ! -e results/bad ] || fail 'a netlist with errors leaves results'
}
bad 2 '' <<<$'t\nY1 a 0 1\nR1 a 0 1\n.tran 1m 1\n'
bad 2 'nothing' <<<$'t\nD1 a 0 nothing\nR1 a 0 1\nV1 a 0 1\n.tran 1m 1\n'
bad 2 '' <<<$'t\nR1 a\nV1 a 0 1\n.tran 1m 1\n'
bad 2 '' <<<$'t\nR1 a 0\nV1 a 0 1\n.tran 1m 1\n'
bad 2 '' <<<$'t\nR1 a 0 0\nV1 a 0 1\n.tran 1m 1\n'
bad 2 '' <<<$'t\nC1 a 0 -1u\nV1 b 0 1\nR1 a b 1\n.tran 1m 1\n'
bad 2 '' <<<$'t\nL1 a 0 -1u\nV1 b 0 1\nR1 a b 1\n.tran 1m 1\n'
bad '[0-9]+' '(a|b)' <<<$'t\nV1 x 0 1\nR1 x 0 1\nR2 a b 1\nR3 b a 2\n.tran 1m 1\n'
bad '[23]' 'V[12]' <<<$'t\nV1 a 0 1\nV2 a 0 2\nR1 a 0 1\n.tran 1m 1\n'
bad '[23]' 'I[12]' <<<$'t\nI1 0 a 1\nI2 a 0 2\nR1 b 0 1\nV1 b 0 1\n.tran 1m 1\n'
bad '[0-9]+' 'loop' <<<$'t\n.subckt loop a b\nX1 a b loop\n.ends\nX1 a 0 loop\nV1 a 0 1\n.tran 1m 1\n'
bad '[23]' '' <<<$'t\n.param x={1/0}\nR1 a 0 {x}\nV1 a 0 1\n.tran 1m 1\n'
bad 3 'nowhere' <<<$'t\nV1 a 0 1\n.print tran v(nowhere)\nR1 a 0 1\n.tran 1m 1\n'

# several faults in one go
printf 't\nR1 a 0\nD1 a 0 none\nV1 a 0 1\nQ9 a 0\n.tran 1m 1\n' >many.cir
run 2 circuit many.cir
for line in 2 3 5; do err_is "^many\.cir:$line:"; done

# an operating point that does not exist because of a loop of coils and a source is no crash
printf 't\nV1 a 0 1\nL1 a 0 1m\nR1 a 0 1\n.tran 1m 10m\n' >coil.cir
"$yoke" circuit coil.cir --quiet >out 2>err
status=$?
n_checks=$((n_checks + 1))
[ $status -eq 0 ] || [ $status -eq 2 ] || fail "coil across a source: status $status"

# ---- a netlist and what it includes are read once: a pipe has nothing to give to a second reader
sed 's/^\.param.*/.include part.inc/' rc.cir >plain.cir
echo '.param r=1k c=1u' >part.inc
for command in 'run --set units.plain.with.r=2k --set units.plain.solver.step=10u' 'circuit --set r=2k --step 10u' \
  'export --c --with r=2k' 'check'; do
  read -r -a words <<<"$command"
  out=()
  [ "${words[0]}" = check ] || out=(--out "whole-${words[0]}")
  run 0 "${words[0]}" plain.cir "${words[@]:1}" "${out[@]}"
  mkdir pipes && mkfifo pipes/plain.cir pipes/part.inc
  timeout 20 sh -c 'cat plain.cir >pipes/plain.cir' &
  timeout 20 sh -c 'cat part.inc >pipes/part.inc' &
  [ "${words[0]}" = check ] || out=(--out "piped-${words[0]}")
  n_checks=$((n_checks + 1))
  timeout 20 "$yoke" "${words[0]}" pipes/plain.cir "${words[@]:1}" "${out[@]}" >out 2>err ||
    fail "yoke ${words[0]}: status $?: the netlist is read more than once"
  wait
  rm -r pipes
done
n_checks=$((n_checks + 2))
cmp -s whole-run/results.csv piped-run/results.csv || fail 'other results from a pipe: run'
cmp -s whole-circuit/results.csv piped-circuit/results.csv || fail 'other results from a pipe: circuit'
# two units of a system with parameters of their own share it
cat >two.yaml <<'END'
yoke: 1
time: {stop: 1e-3, step: 1e-4}
units:
  a: {circuit: pipes/plain.cir, with: {r: 2k}}
  b: {circuit: pipes/plain.cir, with: {r: 3k}}
END
mkdir pipes && mkfifo pipes/plain.cir pipes/part.inc
timeout 20 sh -c 'cat plain.cir >pipes/plain.cir' &
timeout 20 sh -c 'cat part.inc >pipes/part.inc' &
n_checks=$((n_checks + 1))
timeout 20 "$yoke" run two.yaml --quiet --out two >out 2>err || fail "two units: status $?: the netlist is read more than once"
wait
rm -r pipes

# ---- what is wrong with a file that two units use is said once, and so are warnings
mkdir pipes
printf 't\nV1 a 0 1\nR1 a\n.tran 1m 1\n' >pipes/plain.cir
run 2 check two.yaml
n_checks=$((n_checks + 1))
[ "$(grep -c 'plain\.cir:3' err)" -eq 1 ] || fail 'the error of a netlist is said twice'
printf 't\n.param r=1\nV1 a 0 1\nR1 a b {r}\nC1 b 0 1u ic=1\n.tran 1m 1\n' >pipes/plain.cir
run 2 check two.yaml --strict
n_checks=$((n_checks + 1))
[ "$(grep -c 'plain\.cir:5: warning' err)" -eq 1 ] || fail 'the warning of a netlist is said twice'
err_is '^yoke check: 1 warning, and --strict'

echo "$n_checks checks, $n_failed failed, $n_skipped skipped"
[ "$n_failed" -eq 0 ]
