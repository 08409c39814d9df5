#!/usr/bin/env bash
# yoke sweep: the same table for any number of jobs, after a kill, an interrupt and a full disk; messages of bad input;
# failed points are marked and have no numbers (TE-12).
set -u
export LC_ALL=C
yoke=${YOKE_PROGRAM:?set YOKE_PROGRAM to the program}
source=${YOKE_SOURCE_DIR:?path of the source tree}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
cp "$source/scenarios/linear-oscillator/jacobi.yaml" osc.yaml
cp "$source/scenarios/linear-oscillator/reference.csv" .

command=sweep limit=120
. "$source/test/support/study_cases.sh"

# ---- a grid, with any number of jobs

grid=(osc.yaml --vary time.step=1e-3:1e-1:5:log --vary scheme=jacobi,gauss-seidel
  --measure end:left.x,ter,rter:spring --measure steps --limit 'maxabs:right.v<=1000')
for jobs in 1 2 3; do
  ends 0 "${grid[@]}" --jobs $jobs --out "jobs$jobs"
  is 'nothing on stderr in a script' test ! -s err
  has out '10 points:'
  is "same bytes with $jobs jobs" cmp jobs1/sweep.csv "jobs$jobs/sweep.csv"
  is 'one line per point' test "$(lines "jobs$jobs/journal.csv")" -eq 12
done
is 'header' test "$(head -n 1 jobs1/sweep.csv)" = \
  'time.step,scheme,status,t_reached,end:left.x,ter,rter:spring,steps,reason'
# in the order of the grid, the last axis fastest
is 'order' test "$(cut -d, -f1,2 jobs1/sweep.csv | sed -n '2,5p' | tr '\n' ' ')" = \
  '0.001,jacobi 0.001,gauss-seidel 0.00316,jacobi 0.00316,gauss-seidel '
# the published energy error has its residual: CS-05 at 1 ms, left.x = -4.442803702 after 10 s
is 'left.x of the specification' awk -F, '$1 == 0.001 && $2 == "jacobi" { d = $5 + 4.442803702; ok = d < 5e-8 && d > -5e-8 } END { exit !ok }' jobs1/sweep.csv
# failed points: marked, with a reason, without numbers
is 'failed points' awk -F, 'NR > 1 && $3 != "done" { n++; if ($3 != "limit" || $5 $6 $7 $8 != "" || $9 == "") exit 1 } END { exit !(n > 0) }' jobs1/sweep.csv
is 'good points' awk -F, 'NR > 1 && $3 == "done" { n++; if ($5 == "" || $6 == "" || $9 != "") exit 1 } END { exit !(n > 0) }' jobs1/sweep.csv

# the same number as yoke compare
"$yoke" run osc.yaml --quiet --out run >out 2>err
want=$("$yoke" compare run reference.csv --signal right.x --measure nrmse --json 2>err | sed -n 's/.*"nrmse": \([^,]*\),*$/\1/p')
ends 0 osc.yaml --vary time.step=1e-3 --measure nrmse:right.x --reference reference.csv --out nrmse --json
has out "\"nrmse:right.x\": $want"
has out '"status": "done"'

# ---- nothing is done twice

ends 0 "${grid[@]}" --out jobs1
has out '10 runs were in the journal already'
is 'the journal does not grow' test "$(lines jobs1/journal.csv)" -eq 12
is 'the table is the same' cmp jobs1/sweep.csv jobs2/sweep.csv

# ---- killed, interrupted, out of disk

long=(osc.yaml --set time.stop=200 --vary units.left.with.kc=20:200:24 --measure end:left.x,ter --limit 'maxabs:right.v<=1e300')
ends 0 "${long[@]}" --out whole --jobs 2 --quiet
is '--quiet is quiet' test ! -s out -a ! -s err
signals=(env --default-signal=INT)
# start FOLDER: in the background, until three points are done; then it stands still, so that the rest of the points is
# left on a busy machine too. With nearly all done once more.
start() {
  for attempt in 1 2 3 4 5; do
    rm -rf "$1"
    "${signals[@]}" "$yoke" sweep "${long[@]}" --out "$1" --jobs 2 >out 2>err &
    pid=$!
    for ((i = 0; i < 12000; i++)); do
      [ -f "$1/journal.csv" ] && [ "$(lines "$1/journal.csv")" -ge 5 ] && break
      sleep 0.01
    done
    kill -STOP "$pid" 2>/dev/null && [ "$(lines "$1/journal.csv")" -lt 20 ] && return
    { kill -KILL "$pid"; wait "$pid"; } 2>/dev/null
  done
  bad "no sweep could be stopped in the middle ($attempt tries)"
}
# interrupt: the signal is there when the sweep goes on
interrupt() {
  kill -INT "$pid"
  kill -CONT "$pid"
  wait "$pid"
}
start killed
{ kill -KILL "$pid" && wait "$pid"; } 2>/dev/null
n=$(($(lines killed/journal.csv) - 2))
is "killed in the middle, after $n points" test "$n" -lt 24
is 'no table yet' test ! -e killed/sweep.csv
printf '23,0,200,done,4' >>killed/journal.csv # as if the kill had torn a line
ends 0 "${long[@]}" --out killed --jobs 2
has out "$n run"
is 'finished points are not run again' test "$(lines killed/journal.csv)" -eq 26
is 'every point once' test "$(sed 1,2d killed/journal.csv | cut -d, -f1 | sort -n | uniq | wc -l)" -eq 24
is 'the same table as in one go' cmp whole/sweep.csv killed/sweep.csv

start interrupted
interrupt
is 'interrupted: status 130' test $? -eq 130
has out 'the same command continues there'
is 'an interrupt is no error' test ! -s err
n=$(($(lines interrupted/journal.csv) - 2))
is "interrupted in the middle, after $n points" test "$n" -lt 24
ends 0 "${long[@]}" --out interrupted
is 'the same table after an interrupt' cmp whole/sweep.csv interrupted/sweep.csv
is 'no line twice after an interrupt' test "$(lines interrupted/journal.csv)" -eq 26

start taken
timeout 60 "$yoke" sweep "${long[@]}" --out taken >out 2>err
is 'a folder in use' test $? -eq 1
has err 'taken: error: another process is writing to this folder'
interrupt

(
  ulimit -f 1
  exec "$yoke" sweep "${long[@]}" --out full >out 2>err
)
is 'a full disk: status 1' test $? -eq 1
has err 'full/journal.csv: error: cannot be written: File too large'
ends 0 "${long[@]}" --out full
is 'the same table after a full disk' cmp whole/sweep.csv full/sweep.csv

# ---- another study

sed 's/kc: 100/kc: 101/' osc.yaml >changed.yaml
cp -r jobs1 mine
ends 2 changed.yaml "${grid[@]:1}" --out mine
has err 'mine/journal.csv: error: the journal belongs to another study: the system file has changed'
ends 2 "${grid[@]}" --measure rho --out mine
has err 'the measures are different'
is 'nothing was touched' cmp mine/journal.csv jobs1/journal.csv
ends 0 "${grid[@]}" --measure rho --out mine --restart
is 'begun anew' test "$(lines mine/journal.csv)" -eq 12

# ---- files that the system names belong to the study: a table that is played back, models of a coupling, a netlist with
# what it includes; named in the file, by --set or by --vary

changes='a file that the system names (FMU, netlist, table, models) has changed'
# holds NAME FILE ARGUMENTS...: goes on, then not after FILE was touched by a space, then again after --restart
holds() {
  local name=$1 file=$2
  shift 2
  ends 0 "$@" --out "named-$name"
  ends 0 "$@" --out "named-$name"
  cp "$file" before
  printf '\n' >>"$file"
  ends 2 "$@" --out "named-$name"
  has err "named-$name/journal.csv: error: the journal belongs to another study: $changes"
  ends 0 "$@" --out "named-$name" --restart
  cp before "$file"
  ends 2 "$@" --out "named-$name"
  has err "$changes"
}
printf 'time,a\n0,1\n1,3\n' >table.csv
cp table.csv other.csv
cat >plays.yaml <<'YAML'
yoke: 1
inputs: start
calls: 1
time: {stop: 1, step: 0.1}
units:
  p: {model: playback, with: {file: table.csv, columns: [a]}}
  i: {model: integrator, start: {u: 0}}
connections: [p.a -> i.u]
YAML
holds table table.csv plays.yaml --vary time.step=0.1,0.2 --measure end:i.y
holds axis other.csv plays.yaml --vary units.p.with.file=table.csv,other.csv --measure end:i.y
holds set other.csv plays.yaml --set units.p.with.file=other.csv --vary time.step=0.1,0.2 --measure end:i.y
"$yoke" run "$source/scenarios/dual-mass/pulsed-mpsm.yaml" --set time.stop=0.2 --quiet --out learnt >out 2>err
cp "$source/scenarios/dual-mass/pulsed-mpsm.yaml" starts.yaml
cp learnt/loop.models.json kept.json
holds models kept.json starts.yaml --set couplings.loop.models=kept.json --set time.stop=0.05 --vary couplings.loop.learning=20,30 --measure end:left.x
printf '* a divider\nV1 in 0 10\n.include "load.inc"\n.tran 1m 10m\n.end\n' >divider.cir
printf 'R1 in out 1k\nR2 out 0 1k\n' >load.inc
holds include load.inc divider.cir --vary time.stop=0.005,0.01 --measure status

# ---- roughness, the published measure of stability (MPSM specification 10.4): a slow sine with white noise of 0.1 has about
# 0.0992 in 2000 samples, whatever the trend; a smooth signal has next to none

awk 'BEGIN {
  srand(7); pi = atan2(0, -1); print "time,a,b"
  for (i = 0; i < 2000; i++) {
    x = cos(2 * pi * (i + 0.5) / 2000)
    printf "%.12g,%.12g,%.12g\n", i * 1e-3, x + 0.1 * sqrt(-2 * log(1 - rand())) * cos(2 * pi * rand()), x
  }
}' >noisy.csv
awk -F, 'BEGIN { print "time,p.a,p.b" } NR > 1 { print $1 ",0,0" }' noisy.csv >zero.csv
cat >noisy.yaml <<'YAML'
yoke: 1
inputs: start
calls: 1
time: {stop: 1.999, step: 1e-3}
units:
  p: {model: playback, with: {file: noisy.csv, columns: [a, b]}}
  i: {model: integrator, start: {u: 0}}
connections: [p.a -> i.u]
YAML
ends 0 noisy.yaml --vary units.i.start.u=0,1 --measure roughness:p.a,roughness:p.b,roughness --reference zero.csv --out rough
read -r rough smooth both < <(sed -n 2p rough/sweep.csv | tr ',' ' ' | cut -d' ' -f4-6)
is "noise of 0.1: $rough" awk -v x="$rough" 'BEGIN { exit !(x > 0.094 && x < 0.106) }'
is "no noise: $smooth" awk -v x="$smooth" 'BEGIN { exit !(x >= 0 && x < 1e-4) }'
is "the mean of the unit: $both" awk -v x="$both" -v a="$rough" -v b="$smooth" 'BEGIN { d = x - (a + b) / 2; exit !(d < 1e-12 && d > -1e-12) }'
# the same by yoke compare
"$yoke" run noisy.yaml --quiet --out noisy >out 2>err
"$yoke" compare noisy zero.csv --measure error,roughness --json >out 2>err
is 'roughness of compare' test "$(awk '$1 == "\"roughness\":" { sub(/,$/, "", $2); print $2; exit }' out)" = "$rough"
ends 2 noisy.yaml --vary units.i.start.u=0,1 --measure roughness --out unrough
has err 'roughness needs a reference: --reference FILE, or of a sweep --reference-set PATH=VALUE'

# ---- a map of accuracy over a step and a parameter, with a reference at every point, in one command

mass=$source/scenarios/dual-mass/pulsed-mpsm.yaml
map=("$mass" --set couplings={} --set time.stop=0.1 --vary units.right.with.kc=1e4,1e5 --vary time.step=1e-3,2e-3)
ends 0 "${map[@]}" --reference-set time.step=1e-4 --measure error,roughness:left.x --figure --out accuracy
has out 'error over two axes in accuracy/error.svg'
is 'a drawing' grep -q '</svg>' accuracy/error.svg
is 'another drawing' grep -q '</svg>' accuracy/roughness-left.x.svg
is 'the error grows with the step' awk -F, 'NR > 1 { e[NR] = $5 } END { exit !(NR == 5 && e[2] > 0 && e[3] > e[2] && e[5] > e[4]) }' accuracy/sweep.csv
# the same bits as against a file with its rows
"$yoke" run "$mass" --set couplings={} --set time.stop=0.1 --set time.step=1e-4 --set units.right.with.kc=1e5 --quiet --out fine >out 2>err
ends 0 "$mass" --set couplings={} --set time.stop=0.1 --vary units.right.with.kc=1e4,1e5 --vary time.step=1e-3,2e-3 --reference fine --measure error,roughness:left.x --out byfile
# and by yoke compare
"$yoke" run "$mass" --set couplings={} --set time.stop=0.1 --set units.right.with.kc=1e5 --quiet --out coarse >out 2>err
"$yoke" compare coarse fine --signal left.x --measure error,roughness --json >out 2>err
is 'roughness of compare' test "$(awk '$1 == "\"roughness\":" { sub(/,$/, "", $2); print $2; exit }' out)" = "$(sed -n 4p byfile/sweep.csv | cut -d, -f6)"
is 'the same error as against a file' cmp <(sed -n 4,5p accuracy/sweep.csv) <(sed -n 4,5p byfile/sweep.csv)

# rows that do not fall together with those of the reference: it is a polygon between its own, as that of a file
cat >pair.yaml <<'YAML'
yoke: 1
inputs: start
calls: 1
time: {stop: 8, step: 0.1}
units:
  a: {model: state_space, with: {A: [[0, 1], [-2, -0.6]], B: [[0], [1]], C: [[1, 0]], inputs: [u], outputs: [y], x0: [1, 0], solver: exact}}
  b: {model: state_space, with: {A: [[-1, 0.5], [-0.5, -1.2]], B: [[1], [0.5]], C: [[1, 0.3]], inputs: [u], outputs: [y], x0: [0.2, -0.5], solver: exact}}
connections: [a.y -> b.u, {from: b.y, to: a.u, gain: -1}]
YAML
judged=(--measure error,roughness,nrmse:a.y,error:b.y)
for fine in 1e-3 0.07; do
  "$yoke" run pair.yaml --set time.step=$fine --quiet --out pair-$fine >out 2>err
  for steps in 0.05:0.2:5:log 0.1,0.2,0.3; do
    ends 0 pair.yaml --vary time.step=$steps --reference pair-$fine "${judged[@]}" --out "pair-file-$fine-$steps"
    ends 0 pair.yaml --vary time.step=$steps --reference-set time.step=$fine "${judged[@]}" --out "pair-set-$fine-$steps"
    is "reference of $fine s, steps $steps: as by file" cmp "pair-file-$fine-$steps/sweep.csv" "pair-set-$fine-$steps/sweep.csv"
  done
done
# all four grow with the step, also where it is no multiple of that of the reference (0.0707 s)
is 'measures over a logarithmic step' awk -F, 'NR > 1 { for (i = 4; i <= 7; i++) { if ($i == "" || $i + 0 <= last[i]) exit 1; last[i] = $i + 0 } if ($8 != "") exit 1 } END { exit NR != 6 }' pair-set-1e-3-0.05:0.2:5:log/sweep.csv
# as yoke compare: one signal at 0.0707 s
"$yoke" run pair.yaml --set time.step=0.0707 --quiet --out pair-run >out 2>err
"$yoke" compare pair-run pair-1e-3 --signal b.y --measure error --json >out 2>err
is 'error of compare' awk -v x="$(awk '$1 == "\"error\":" { sub(/,$/, "", $2); print $2; exit }' out)" -F, '$1 == "0.0707" { d = $7 / x - 1; ok = d < 1e-9 && d > -1e-9 } END { exit !ok }' pair-set-1e-3-0.05:0.2:5:log/sweep.csv
# a reference that is coarser than the rows is not interpolated: few rows count, and that is said
ends 0 pair.yaml --vary time.step=0.05 --reference-set time.step=0.07 --measure error,roughness --out coarser
has coarser/sweep.csv "error: only 22 of 160 rows of 'a.y' have a reference; expected samples no farther apart than the rows"
has coarser/sweep.csv "roughness: only 23 of 161 rows of 'a.y' have a reference, not one behind the other"
is 'no roughness of every seventh row' awk -F, 'NR == 2 { exit !($4 != "" && $5 == "") }' coarser/sweep.csv
ends 0 pair.yaml --vary time.step=0.1,4 --reference-set time.step=0.07 --measure roughness --out few
has few/sweep.csv "4,done,8,,roughness: 2 of 3 rows of 'a.y' have a reference; expected at least 3 in a row"
printf 'time,a.y\n9,0\n10,1\n' >later.csv
ends 0 pair.yaml --vary time.step=0.1,0.2 --reference later.csv --measure nrmse:a.y --out later
has later/sweep.csv '0.1,done,8,,"nrmse:a.y: the time ranges do not overlap: result 0 .. 8 s, reference 9 .. 10 s'
# more than fits
ends 2 pair.yaml --vary time.step=0.1,0.2 --reference-set time.step=1e-7 --measure error --out toomuch
has err '--reference-set: error: the reference of this point has 80000001 rows of 2 outputs, 1.92 GB; expected at most 0.537 GB. Keep fewer rows, for example --reference-set record.every=4'
# what is wrong in the settings of the reference is said of them
ends 2 pair.yaml --vary time.step=0.1,0.2 --reference-set time.stp=0.07 --measure error --out unmade
has err "--reference-set time.stp: error: 'stp' not found in 'time'"
ends 2 pair.yaml --vary time.step=0.1,0.2 --reference-set time.step=-1 --measure error --out unmade
has err "--reference-set time.step: error: 'step': expected a number greater than 0, found -1"
ends 2 pair.yaml --vary time.step=0.1,0.2 --reference-set time.step=1e-3 --measure end:a.y --out unmade
has err '--reference-set time.step=1e-3: no measure or limit compares with a reference; expected nrmse, error or roughness among them'
ends 0 pair.yaml --vary time.step=0.1,0.2 --reference-set time.step=1e-3 --measure end:a.y --limit 'nrmse:a.y<=1' --out limited
ends 2 "${map[@]}" --reference-set time.step=2e-4 --measure error,roughness:left.x --out accuracy
has err 'the reference has changed'
ends 2 "${map[@]}" --reference-set time.step=1e-4 --reference fine --measure error
has err '--reference and --reference-set: expected one of them'
ends 2 "${map[@]}" --reference-set time.stepp=1e-4 --measure error --out unmade
has err 'stepp'
ends 2 "${map[@]}" --vary scheme=jacobi --reference-set time.step=1e-4 --measure error --figure --out cube
has err '--figure: expected a measure that is a number, and one or two axes'

# ---- points that cannot be built are results, a mistake in the command line is not

ends 0 osc.yaml --vary time.step=1e-3,-1 --measure status --out corner
has corner/sweep.csv '-1,refused,,'
ends 0 osc.yaml --vary time.step=-1,1e-3 --measure status --out corner2
has corner2/sweep.csv '-1,refused,,'
ends 1 osc.yaml --vary time.step=1e-3,2e-3 --measure end:left.x --limit 'max:left.x<=-1' --out none
has err 'no point ran to its end; the first failure: max:left.x is 0 at t = 0 s; limit max:left.x<=-1'

# wrong TEXT ARGUMENTS...: status 2, that message, no folder
wrong() {
  local want=$1
  shift
  rm -rf wrong
  ends 2 "$@" --out wrong
  has err "$want"
  is 'nothing on stdout' test ! -s out
  is 'no folder' test ! -e wrong
}
wrong '--vary is missing' osc.yaml --measure ter
wrong '--measure is missing' osc.yaml --vary time.step=1e-3
wrong "--vary: error: 'time.step=1:2': expected path=from:to:n" osc.yaml --vary time.step=1:2 --measure ter
wrong "unknown measure 'tre'; did you mean 'ter'?" osc.yaml --vary time.step=1e-3 --measure tre
wrong "--measure end:lefft.x: error: signal: unknown unit 'lefft'; did you mean 'left'?" osc.yaml --vary time.step=1e-3 --measure end:lefft.x
wrong "--measure ter:sprig: error: unknown bond 'sprig'; did you mean 'spring'?" osc.yaml --vary time.step=1e-3 --measure ter:sprig
wrong "did you mean 'step'?" osc.yaml --vary time.stpe=1e-3 --measure ter
wrong 'the first point of the grid cannot be run: time.stpe=0.001' osc.yaml --vary time.stpe=1e-3 --measure ter
wrong 'such as max:unit.variable<=10' osc.yaml --vary time.step=1e-3 --measure ter --limit left.x
wrong 'nrmse needs a reference' osc.yaml --vary time.step=1e-3 --measure nrmse:left.x
wrong 'cannot open nothing.yaml' nothing.yaml --vary time.step=1e-3 --measure ter
wrong '--jobs: expected an integer from 1 to 256' osc.yaml --vary time.step=1e-3 --measure ter --jobs 0

# ---- verdicts and error bands: companions run only where a measure or a limit asks for them

cat >loop.yaml <<'END'
yoke: 1
inputs: start
calls: 1
time: {stop: 10, step: 0.1}
units:
  one: {model: state_space, with: {A: [[-1]], B: [[-4]], inputs: [u], outputs: [x], x0: [1]}}
  two: {model: state_space, with: {A: [[-2]], B: [[1]], inputs: [u], outputs: [x], x0: [0]}}
connections: [two.x -> one.u, one.x -> two.u]
END
trusted=(loop.yaml --vary time.step=0.005,0.025,0.1 --measure verdict,band:one.x,relative:two.x,end:one.x)
for jobs in 1 2; do
  ends 0 "${trusted[@]}" --jobs $jobs --out "trust$jobs"
  is "trust: same bytes with $jobs jobs" cmp trust1/sweep.csv "trust$jobs/sweep.csv"
done
is 'verdicts' test "$(cut -d, -f4 trust1/sweep.csv | tr '\n' ' ')" = 'verdict 0 1 2 '
is 'reasons of the verdict' awk -F, 'NR == 2 && $8 != "" || NR == 3 && $8 !~ /^doubtful: two.x may be off by up to / || NR == 4 && $8 !~ /^wrong: two.x is off by up to / { exit 1 }' trust1/sweep.csv
# the numbers of the run alone, and those of `yoke run`
ends 0 loop.yaml --vary time.step=0.005,0.025,0.1 --measure end:one.x --out untrusted
is 'companions do not change a run' test "$(cut -d, -f7 trust1/sweep.csv)" = "$(cut -d, -f4 untrusted/sweep.csv)"
"$yoke" run loop.yaml --set time.step=0.025 --trust both --quiet --out judged >out 2>err
for figure in band_max:5:one.x relative:6:two.x; do
  IFS=: read -r key column signal <<<"$figure"
  want=$(awk -v name="\"name\": \"$signal\"" -v key="\"$key\":" 'index($0, name) { is_it = 1 } is_it && index($0, key) { gsub(/[",]/, ""); print $2; exit }' judged/summary.json)
  is "$key as yoke run has it ($want)" test "$(sed -n 3p trust1/sweep.csv | cut -d, -f"$column")" = "$want"
done
# A alone where the file says so; a sweep without such a measure has no companions
ends 0 "${trusted[@]}" --set trust.companions=half --out half
is 'half' test "$(sed -n 2p half/sweep.csv | cut -d, -f5)" != "$(sed -n 2p trust1/sweep.csv | cut -d, -f5)"
# as a limit
ends 0 loop.yaml --vary time.step=0.005,0.025,0.1 --measure end:one.x --limit 'verdict<=0' --out limited-trust
is 'limited by the verdict' test "$(cut -d, -f2 limited-trust/sweep.csv | tr '\n' ' ')" = 'status done limit limit '
has limited-trust/sweep.csv 'verdict is 1 at t = 10 s; limit verdict<=0'
# a plant that is unstable by itself: "diverged" unless companions say that it is right
sed 's/\[\[-1\]\]/[[0.3]]/; s/\[\[-4\]\]/[[0.4]]/; s/\[\[-2\]\]/[[0.1]]/; s/\[\[1\]\]/[[0.3]]/; s/stop: 10/stop: 20/' loop.yaml >grows.yaml
ends 1 grows.yaml --vary time.step=0.01 --measure end:one.x --out grows
has grows/sweep.csv '0.01,diverged,'
ends 0 grows.yaml --vary time.step=0.01 --measure verdict --out grows-trust
has grows-trust/sweep.csv '0.01,done,20,0,'
# mistakes
ends 2 loop.yaml --vary time.step=0.1 --measure band --out mistake
has err 'expected the name of a signal, band:unit.variable'
ends 2 loop.yaml --vary time.step=0.1 --measure verdict:one.x --out mistake
has err "'verdict' takes no name behind it"
ends 2 loop.yaml --vary time.step=0.1 --measure band:one.u --out mistake
has err "'one.u' is not exchanged, so it is not judged"

# refused points are counted, and the first one says why
ends 0 loop.yaml --vary time.step=0.1,-1,-2,0.05 --measure end:one.x --out refused
has out '4 points: 2 done, 2 refused'
has out 'the first refused point, time.step=-1: --vary time.step: error: '
ends 2 loop.yaml --vary time.stp=0.1,0.2 --measure end:one.x --out refused2
has err "--vary time.stp: error: 'stp' not found in 'time'; did you mean 'stop'?"

# ---- analyses

axes=(osc.yaml --vary time.step=1e-3,2e-3,4e-3 --vary scheme=jacobi,gauss-seidel --vary units.left.with.kc=80,100,120
  --set time.stop=1)
ends 0 "${axes[@]}" --measure maxabs:left.x,rms:right.v --analyse anova,best --best-least 4 --out analysed
has out 'analysis of variance of maxabs:left.x, 18 runs (mean '
has out 'best by rms:right.v: '
is 'header' test "$(head -n 1 analysed/anova.csv)" = 'measure,a,b,ss,dof,ms,share'
# three axes: 3 main effects, 3 pairs, rest and total, for both measures
is 'effects' test "$(lines analysed/anova.csv)" -eq 17
# the sums of squares again, from the table of points, by the formulas of the books
is 'sums of squares' awk -F, '
  FNR == 1 { n_file++; next }
  n_file == 1 { n++; y = $6; T += y; Q += y * y; for (i = 1; i <= 3; i++) { M[i, $i] += y; for (j = i + 1; j <= 3; j++) P[i, j, $i, $j] += y } next }
  $1 == "maxabs:left.x" { got[$2, $3] = $4; dof[$2, $3] = $5 }
  function near(a, b) { d = a - b; return d < 1e-9 * total && d > -1e-9 * total }
  END {
    total = Q - T * T / n
    name[1] = "time.step"; name[2] = "scheme"; name[3] = "units.left.with.kc"; size[1] = 3; size[2] = 2; size[3] = 3
    for (k in M) { split(k, part, SUBSEP); SS[part[1]] += M[k] * M[k] / (n / size[part[1]]) }
    for (k in P) { split(k, part, SUBSEP); i = part[1]; j = part[2]; SP[i, j] += P[k] * P[k] / (n / (size[i] * size[j])) }
    rest = total
    for (i = 1; i <= 3; i++) { SS[i] -= T * T / n; rest -= SS[i]; if (!near(SS[i], got[name[i], ""]) || dof[name[i], ""] != size[i] - 1) bad = 1 }
    for (i = 1; i <= 3; i++) for (j = i + 1; j <= 3; j++) { x = SP[i, j] - T * T / n - SS[i] - SS[j]; rest -= x; if (!near(x, got[name[i], name[j]])) bad = 1 }
    if (!near(total, got["(total)", ""]) || !near(rest, got["(rest)", ""])) bad = 1
    exit bad
  }' analysed/sweep.csv analysed/anova.csv
is 'by mean square' awk -F, '$1 == last && $2 !~ /^\(/ && $6 > ms { bad = 1 } { last = $1; ms = $6 } END { exit bad }' analysed/anova.csv
is 'all runs are ranked' test "$(lines analysed/best.csv)" -eq 37
is 'ascending' awk -F, 'NR > 1 { if ($1 == last && $4 < value) bad = 1; last = $1; value = $4 } END { exit bad }' analysed/best.csv
is 'at least four' awk -F, '$1 == "rms:right.v" && $3 == "yes" { n++ } END { exit !(n >= 4) }' analysed/best.csv
cp analysed/anova.csv first.csv
ends 0 "${axes[@]}" --measure maxabs:left.x,rms:right.v --analyse anova --analyse best --best-least 4 --out analysed --json --jobs 1
has out '"anova": ['
has out '"best": ['
is 'json for a program' python3 -c 'import json
d = json.load(open("out"))
e = d["anova"][0]["effects"]
assert len(d["points"]) == 18 and len(e) == 6 and abs(sum(x["share"] for x in e) - 1) < 1e-12
assert d["best"][1]["kept"] == len(d["best"][1]["order"]) >= 4'
is 'the same numbers again' cmp first.csv analysed/anova.csv
ends 0 "${axes[@]}" --measure maxabs:left.x,rms:right.v --analyse anova --out analysed --quiet
is '--quiet is quiet' test ! -s out -a ! -s err

# runs without a value
holes=(osc.yaml --vary time.step=1e-3,-1,2e-3 --vary scheme=jacobi,gauss-seidel --set time.stop=1 --measure maxabs:left.x --out holes)
ends 2 "${holes[@]}" --analyse anova,best
has err '--analyse anova needs a value at every point: maxabs:left.x is missing at 2 of 6'
has err '--missing VALUE'
has out 'best by maxabs:left.x: '
has out '2 without a value left out'
is 'no table of an incomplete array' test ! -e holes/anova.csv
is 'without a rank' test "$(grep -c '^maxabs:left.x,,no,,-1,' holes/best.csv)" -eq 2
ends 0 "${holes[@]}" --analyse anova --missing 1000 --clip 100
has out '2 without a value count as 1000'
is 'a share of everything' awk -F, '$2 == "time.step" && $3 == "" { ok = $7 > 0.99 } END { exit !ok }' holes/anova.csv

# settings of a coupling method as axes: names, booleans, numbers
cp "$source/scenarios/dual-mass/mpsm.yaml" .
ends 0 mpsm.yaml --vary couplings.loop.ede=off,on --vary couplings.loop.learning=20,30 --vary couplings.loop.forgetting=0.95:1:2 \
  --measure rms:left.x --analyse anova,best --clip 1 --out loop
has out '8 points: 8 done'
is 'names and numbers' test "$(sed -n 2p loop/sweep.csv | cut -d, -f1-3)" = off,20,0.95
has loop/anova.csv 'rms:left.x,couplings.loop.ede,couplings.loop.learning,'

wrong '--analyse needs a measure that is a number' osc.yaml --vary time.step=1e-3 --measure status --analyse anova
wrong '--missing has no effect without --analyse' osc.yaml --vary time.step=1e-3 --measure ter --missing 1
wrong '--best-least has no effect without --analyse best' osc.yaml --vary time.step=1e-3 --measure ter --analyse anova --best-least 5
wrong "--analyse: unknown 'anvoa'; did you mean 'anova'?" osc.yaml --vary time.step=1e-3 --measure ter --analyse anvoa
wrong "--clip: expected a number, found 'x'" osc.yaml --vary time.step=1e-3 --measure ter --analyse best --clip x
wrong "--best-within: expected a number from 0 on, found '-1'" osc.yaml --vary time.step=1e-3 --measure ter --analyse best --best-within=-1

# ---- a progress line on a terminal only
if script -qec true /dev/null >/dev/null 2>&1; then
  script -qec "'$yoke' sweep osc.yaml --set time.stop=200 --vary units.left.with.kc=20:200:24 --measure end:left.x --limit 'maxabs:right.v<=1e300' --out terminal --jobs 1" typescript >out 2>err
  if [ "$(stat -c %s typescript)" -gt 0 ] && ! grep -q ' of 24 runs' typescript; then
    echo 'skipped: progress line: the runs ended too soon'
  else
    pass
  fi
else
  echo 'skipped: progress line: script is missing'
fi

echo "$n_checks checks, $n_failed failed"
[ "$n_failed" -eq 0 ]
