#!/usr/bin/env bash
# The words of netlists at the command line and in system files: names without regard to case, numbers with suffixes, the
# line of what a message is about, warnings of changed parameters, steps that are shortened, and what export, info and
# bench make of a netlist.
set -u
yoke=${YOKE_PROGRAM:?set YOKE_PROGRAM to the program}
source_dir=${YOKE_SOURCE_DIR:?set YOKE_SOURCE_DIR to the source folder}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
# shellcheck source=test/support/output_cases.sh
. "$source_dir/test/support/output_cases.sh"

err_is() { n_checks=$((n_checks + 1)); grep -qE -- "$1" err || fail "stderr lacks: $1"; }
err_lacks() { n_checks=$((n_checks + 1)); if grep -qE -- "$1" err; then fail "stderr has: $1"; fi; }
file_has() { n_checks=$((n_checks + 1)); grep -qE -- "$2" "$1" || fail "$1 lacks: $2"; }
same() { n_checks=$((n_checks + 1)); cmp -s "$1" "$2" || fail "$1 and $2 differ"; }
differ() { n_checks=$((n_checks + 1)); if cmp -s "$1" "$2"; then fail "$1 and $2 are the same"; fi; }
# said_once PATTERN: in one line of stderr
said_once() { n_checks=$((n_checks + 1)); [ "$(grep -cE -- "$1" err)" -eq 1 ] || fail "not said once: $1"; }
last_row() { tail -n 1 "$1" | tr -d '\r'; }

# ---- a parameter with capital letters is set by any spelling
cat >load.cir <<'END'
RC with names as people write them
.param Rload=1k Cap=1u
.input Vs=1 V
V1 In 0 {Vs}
R1 In Out {RLOAD}
C1 Out 0 {Cap} IC=0
.output v(Out)
.tran 10u 1m uic
.end
END
sed 's/Rload=1k/Rload=2k/' load.cir >twice.cir
run 0 circuit twice.cir --out want --quiet
run 0 circuit load.cir --out plain --quiet
differ plain/results.csv want/results.csv
for name in Rload rload RLOAD; do
  run 0 circuit load.cir --set $name=2k --out "set_$name" --quiet
  err_empty
  same want/results.csv "set_$name/results.csv"
done
run 2 circuit load.cir --set Rlod=2k --out bad
err_is "^--set Rlod: error: 'load\.cir' has no parameter 'rlod'; did you mean '[Rr]load'"
run 0 run load.cir --set units.load.with.RLoad=2k --out run --quiet
n_checks=$((n_checks + 1))
[ "$(last_row run/results.csv)" = "$(last_row want/results.csv)" ] || fail 'run --set units.load.with.RLoad'

# ---- the same in a system file: parameters, start values, connections, record
cat >sys.yaml <<'END'
yoke: 1
inputs: start
calls: 1
time: {stop: 1e-3, step: 1e-5}
units:
  a: {circuit: load.cir, with: {Rload: 2k}, start: {V(OUT): 250m}}
  b: {circuit: load.cir}
connections:
  - {from: "a.V(Out)", to: b.Vs}
record: {signals: ["a.V(OUT)", "b.I(R1)"]}
END
sed 's/Rload: 2k/rload: 2000/; s/V(OUT): 250m/v(out): 0.25/; s/V(Out)/v(out)/; s/V(OUT)/v(out)/; s/I(R1)/i(r1)/' sys.yaml >small.yaml
run 0 run sys.yaml --out sys --quiet
run 0 run small.yaml --out small --quiet
same sys/results.csv small/results.csv
file_has sys/results.csv '^time,a\.v\(out\),b\.i\(r1\)'
# --set goes before the file, however it is spelled
run 0 run small.yaml --set units.a.with.RLOAD=4k --out set --quiet
differ set/results.csv small/results.csv
run 0 run sys.yaml --set units.a.with.rload=4k --out again --quiet
same set/results.csv again/results.csv
# trust
run 0 check sys.yaml --set 'trust.signals=[a.V(Out)]' --set 'trust.limits.a.V(OUT)=1e-3'
out_has '^  decided by a\.v\(out\)$'
out_has '^  limit of a\.v\(out\): 0\.001$'
sed 's/{Rload: 2k}/{Rload: 2k, RLOAD: 3k}/' sys.yaml >both.yaml
run 2 check both.yaml
err_is "^both\.yaml:6:[0-9]+: error: 'rload' is given twice: names of a netlist ignore case"
# ends of bonds
cat >bond.yaml <<'END'
yoke: 1
inputs: start
calls: 1
time: {stop: 1e-3, step: 1e-5}
units:
  a: {circuit: source.cir}
  b: {circuit: sink.cir}
bonds:
  wire: {action: "a.V(N) -> b.u", rate: "b.I(R1) -> a.j"}
END
printf 'a\n.input j=0 A\nV1 m 0 1\nR1 m n 1\nC1 n 0 1m IC=0\nI1 n 0 {j}\n.output v(n)\n.tran 10u 1 uic\n' >source.cir
printf 'b\n.input u=0 V\nV1 k 0 {u}\nR1 k 0 10\n.output i(r1)\n.tran 10u 1 uic\n' >sink.cir
run 0 run bond.yaml --out bond --quiet
sed 's/V(N)/v(n)/; s/I(R1)/i(r1)/' bond.yaml >bond2.yaml
run 0 run bond2.yaml --out bond2 --quiet
same bond/results.csv bond2/results.csv

# ---- numbers with suffixes: the solver's step, ranges of a sweep
sed 's/b: {circuit: load.cir}/b: {circuit: load.cir, solver: {step: 5u}}/' sys.yaml >step.yaml
run 0 run step.yaml --out step --quiet
file_has step/summary.json '"step": (5e-6|0\.000005)'
run 2 run step.yaml --set units.b.solver.step=5x5 --out bad
err_is "^--set units\.b\.solver\.step: error: 'step': expected a number greater than 0"
run 2 run step.yaml --set units.b.solver.step=-5u --out bad
run 0 sweep load.cir --vary units.load.with.Rload=1k:10k:3 --measure 'end:load.V(Out)' --out sweep --quiet
n_checks=$((n_checks + 1))
[ "$(cut -d, -f1 sweep/sweep.csv | tr -d '\r' | tr '\n' ' ')" = 'units.load.with.Rload 1000 5500 10000 ' ] || fail "sweep: $(cat sweep/sweep.csv)"
run 2 sweep load.cir --vary time.step=1u:10u:3 --measure 'end:load.v(out)' --out sweep2
err_has 'the ends of a range must be numbers'

# ---- a step that does not divide the distance of the rows is shortened, and a note says so
run 0 circuit load.cir --step 3u --out short
err_is '^load\.cir: note: the step 3e-06 s does not divide the distance of the rows, 0\.00001 s: 2\.5e-06 s is used$'
out_has ' 400 steps of 2\.5e-06 s'
run 0 circuit load.cir --step 3u --out short --quiet
err_empty
run 0 circuit load.cir --step 2.5u --out short
err_empty
run 0 circuit --help
out_has 'shortened'

# ---- warnings that only a changed parameter causes
run 0 circuit load.cir --set rload=-2k --stop 50u --out negative --quiet
said_once "^load\.cir:5: warning: 'R1': resistance -2000 is negative"
said_once warning
run 2 circuit load.cir --set rload=-2k --strict --out negative
# what the file says anyway is said once
sed 's/Rload=1k/Rload=-1k/' load.cir >minus.cir
run 0 circuit minus.cir --set cap=2u --stop 50u --out negative --quiet
said_once 'is negative'
run 0 check load.cir --set units.load.with.rload=-2k
said_once 'is negative'

# ---- info with --set
run 0 info load.cir --set RLOAD=-3k
out_has '^  parameters   [Rr]load = -3000, [Cc]ap = 1u'
out_has "^load\.cir:5: warning: 'R1': resistance -3000 is negative"
run 0 info load.cir --set units.load.with.cap=2n --json
out_has '"value": "2e-9"'
run 2 info load.cir --set rlod=3
err_is "^yoke info: --set rlod: 'load\.cir' has no parameter 'rlod'; did you mean '[Rr]load'"
run 2 info load.cir --set rload=x
err_has 'expected a number'
run 2 info load.cir --set rload
err_has 'expected NAME=VALUE'
run 2 info load.cir --set rload=0
err_is "^load\.cir:5: error: 'R1'"

# ---- the line of what a message is about, not of what its law mentions
law() { printf 't\nV1 a 0 SIN(0 1 1k)\nR0 a b 100\nR1 b 0 {%s}\n.tran 10u 2m uic\n' "$2" >"$1"; }
law zero.cir '100*abs(v(a))'
run 2 circuit zero.cir --formulation dae --quiet
err_is "^zero\.cir:4: error: .*'R1'"
law time.cir '0*time'
run 2 circuit time.cir --quiet
err_is "^time\.cir:4: error: .*'R1'"
law passes.cir '100*(0.5+v(a))'
for formulation in nodal dae; do
  run 1 circuit passes.cir --formulation $formulation --out passes --quiet
  err_is "^passes\.cir:4: error: at t = 0\.00059 s: the resistance of 'R1'"
  err_lacks "unit '"
  file_has passes/summary.json '"message": "passes\.cir:4: error: at t = '
  file_has passes/summary.json '"line": 4'
done
run 1 run passes.cir --out passes --quiet
err_is "^passes\.cir:4: error: at t = 0\.00059 s: the resistance of 'R1'"
err_lacks "unit '"
mkdir -p sub
sed 's/passes/sub/' passes.cir >sub/law.cir
printf 'yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 2e-3, step: 1e-5}\nunits: {u: {circuit: sub/law.cir}}\n' >law.yaml
run 1 run law.yaml --out passes --quiet
err_is "^sub/law\.cir:4: error: unit 'u' at t = 0\.00059 s: the resistance of 'R1'"
# start values that contradict each other
printf 't\nV1 a 0 1\nR1 a b 1\nC1 b 0 1u IC=2\nC2 b 0 1u IC=3\n.tran 10u 1m uic\n' >starts.cir
run 0 circuit starts.cir --out starts --quiet
err_is '^starts\.cir:[45]: warning: .*cannot start at'

# ---- what a circuit says of its run stands on the page, too
printf 't\nheat_capacity C1 a 10 J/K T0=300\nheat_source Q1 a -1000\nthermal_resistance R1 a b 1\ntemperature_source T1 b 300\n.tran 0.1 10\n' >cold.cir
run 0 circuit cold.cir --report --out cold --quiet
err_has 'below 0 K'
file_has cold/summary.json 'below 0 K'
file_has cold/report.html 'below 0 K'
run 0 circuit load.cir --report --out calm --quiet
file_has calm/report.html '"messages": ?\[\]'

# ---- export: a netlist without .tran is not run, and --step is that of the solver inside the FMU
sed '/^\.tran/d' load.cir >free.cir
run 0 export free.cir --fmi 2 -o free.fmu
err_is '^free\.cir: note: no \.tran: the FMU proposes to be run to 1 s in steps of 0\.001 s; its solver.s step is 0\.001 s'
err_lacks ' is run'
run 0 export load.cir --fmi 2 --with CAP=2u --step 1u -o load.fmu
err_empty
run 0 export load.cir --fmi 3 --step 3u -o short.fmu
err_is '^load\.cir: note: the step 3e-06 s does not divide the step of 1e-05 s that the FMU proposes: 2\.5e-06 s is used'
if command -v unzip >/dev/null; then
  unzip -p load.fmu resources/yoke.txt >config
  file_has config '^circuit circuit\.cir [^ ]* [^ ]* (1e-6|0\.000001) '
  unzip -p load.fmu modelDescription.xml >description
  file_has description 'start="(2e-6|2e-06|0\.000002)"'
else
  skip 'unzip is missing: contents of the FMU'
fi
sed 's/Cap=1u/Cap=2u/' load.cir >two.cir
run 0 circuit two.cir --step 1u --out two --quiet
run 0 run load.fmu --out fmu --quiet
n_checks=$((n_checks + 1))
[ "$(last_row fmu/results.csv | cut -d, -f2)" = "$(last_row two/results.csv | cut -d, -f2)" ] ||
  fail "the FMU ends with $(last_row fmu/results.csv), the circuit with $(last_row two/results.csv)"
run 2 export load.cir --fmi 2 --step 0 -o bad.fmu
run 2 export load.cir --fmi 2 --step 1e-20 -o bad.fmu
err_has 'too small'
run 2 export oscillator.force --fmi 2 --step 1u -o bad.fmu
err_has "--step goes with a netlist; 'oscillator.force' is a model"
run 2 export sys.yaml --ssp --step 1u -o bad.ssp
err_has '--step goes with --c, or with --fmi of one circuit'
run 0 export sys.yaml --fmi 2 --unit b --step 1u -o unit.fmu

# ---- bench: limits without regard to case, long references, the formulation of the netlist, the source of a message
awk 'BEGIN { print "time,V(OUT)"; for (i = 1; i <= 3; i++) printf "%.17g,%.17g\n", i * 1e-4, 1 - exp(-i * 0.1) }' >load.csv
run 0 bench --netlist load.cir --reference load.csv --limit 'V(Out)=1m' --method tr --step 10u --quick
out_has ' kept '
# 300000 rows, as doubles, and with ten digits where no decimal is exact
awk 'BEGIN { print "time,v(out)"; for (i = 1; i <= 300000; i++) printf "%.17g,%.9g\n", i * 1e-5, 1 - exp(-i * 0.01) }' >long.csv
awk 'BEGIN { print "time,v(out)"; for (i = 1; i <= 300000; i++) printf "%.10g,%.9g\n", i * 1e-5 / 3, 1 - exp(-i * 0.01 / 3) }' >digits.csv
for reference in long digits; do
  run 0 bench --netlist load.cir --reference $reference.csv --method tr --level 1u
done
# on no grid: said, not run
printf 'time,v(out)\n1e-4,0\n2.3e-4,0\n3e-4,0\n' >uneven.csv
run 1 bench --netlist load.cir --reference uneven.csv --method tr --step 100u --quick
err_has 'does not divide the distance of the samples'
sed 's/^\.tran/.yoke formulation=ode\n.tran/' load.cir >ode.cir
run 0 bench --netlist ode.cir --reference load.csv --step 10u --quick
out_has '^ *ode +rk4 '
out_lacks 'nodal'
run 0 bench --netlist ode.cir --reference load.csv --step 10u --method tr --quick
out_has '^ *nodal +tr '
run 0 bench --netlist ode.cir --reference load.csv --step 10u --formulation dae --quick
out_has '^ *dae +tr '
printf 'time,a.V(OUT)\n1e-3,0.5\n' >sys.csv
run 0 bench --system sys.yaml --reference sys.csv --step 1e-5 --quick
run 2 bench --netlist load.cir --reference nosuch.csv
err_is '^nosuch\.csv: error: cannot open the file: No such file'

echo "$n_checks checks, $n_failed failed, $n_skipped skipped"
[ "$n_failed" -eq 0 ]
