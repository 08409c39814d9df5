#!/usr/bin/env bash
# yoke synth as people run it: the ready-made system, its printed advice followed literally, the files it writes, and messages
# of bad input.
set -u
export LC_ALL=C
yoke=${YOKE_PROGRAM:?set YOKE_PROGRAM to the program}
source=${YOKE_SOURCE_DIR:?path of the source tree}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
command=synth limit=120
. "$source/test/support/study_cases.sh"

# near VALUE WANTED TOLERANCE
near() { awk -v x="$1" -v y="$2" -v d="$3" 'BEGIN { exit !(x != "" && x - y <= d && y - x <= d) }'; }
# percent PATTERN COLUMN: of the row of the runs that begins so
percent() { awk -v p="$1" -v c="$2" '/^run to/ { on = 1 } on && index($0, p) == 1 { print $(NF - 3 + 2 * c); exit }' out; }

cp -r "$source/scenarios/coupling-element" ready
chmod -R u+w ready

# ---- the ready-made system: the element that is there, and the table of its page

mv ready/masses-joint.json want.json
ends 0 ready/masses.yaml --bond joint
is 'nothing on stderr' test ! -s err
is 'the same element as in the scenario' cmp want.json ready/masses-joint.json
has out 'exchange every 0.05 s, calls every 0.001 s, delay 0 s'
has out 'recipe T, f2 100 Hz, a 300 rad/s, order 4, band 3 Hz'
has out 'nearest with the steps: order 1 up to 1.79 Hz, element above'
has out 'nearest without them: element at all frequencies that an exchange can carry'
is "hold: $(percent hold 1)" near "$(percent hold 1)" 14.1 0.05
is "order 1: $(percent 'order 1' 1)" near "$(percent 'order 1' 1)" 8.01 0.005
is "element: $(percent element 1)" near "$(percent element 1)" 7.6 0.05
has out 'the element is best'
ends 0 ready/masses.yaml --bond joint --set units.drive.with.frequency=1 --output slow.json
has out '`coupling: {method: hold, order: 1}` is best; the error of the worst signal, left.f, is 1.08 % of its range; with the element it is 2.92 %'
ends 0 ready/masses.yaml --bond joint --set exchange=stale
has out 'at the top:  exchange: fresh'
is "element, stale: $(percent element 0)" near "$(percent element 0)" 23.5 0.05

# ---- a file without a coupling: what is printed is followed, as a file and as a command

sed 's/, coupling: {[^}]*}//; /^exchange: fresh/d' ready/masses.yaml >masses.yaml
ends 0 masses.yaml --bond joint --out figures
has out 'to use it, write in masses.yaml'
is 'figure and table' test -s figures/synth.svg -a -s figures/synth.csv
is 'the table has a row per frequency' test "$(lines figures/synth.csv)" -eq 241
has out 'Better still is the file as it is, '
# the line for a bond, inserted behind its rate; the other at the top
line=$(sed -n 's/^  under bonds.joint:  //p' out)
top=$(sed -n 's/^  at the top:  //p' out)
is 'two lines' test -n "$line" -a -n "$top"
{ sed "s|rate: right.v -> left.v|&, $line|" masses.yaml; echo "$top"; } >followed.yaml
"$yoke" run followed.yaml --trust none --quiet --out by-file >run.out 2>err
is 'the file as advised runs' test $? -eq 0
printed=$(sed -n 's/^or: yoke //p' out)
eval "\"\$yoke\" $printed --trust none --quiet --out by-command" >run.out 2>err
is 'the command as advised runs' test $? -eq 0
is 'both are the same run' cmp by-file/results.csv by-command/results.csv
is 'it is served by hinf' grep -q '"gamma"' by-file/summary.json
# one connection, a name of its own, from another folder
ends 0 ready/../masses.yaml --bond joint --no-run --output "$work/own name.json"
has out "--set 'bonds.joint.coupling={method: hinf, element: '\\''$work/own name.json'\\''}'"
printed=$(sed -n 's/^or: yoke //p' out)
eval "\"\$yoke\" $printed --trust none --quiet --out named" >run.out 2>err
is 'a name with a blank is followed' test $? -eq 0
ends 0 masses.yaml --bond joint --no-run -o short.json
is '-o is --output' test -s short.json
ends 0 masses.yaml --bond joint --no-run --json
is 'JSON' python3 -c 'import json,sys; d=json.load(open("out")); assert d["format"] == "yoke-synth" and d["design"]["recipe"] == "T" and len(d["loop"]) == 6'

# connections instead of a bond
sed 's/^bonds:/  - left.f -> right.f\n  - {from: right.v, to: left.v, order: 1}/; /^  joint:/d' masses.yaml >plain.yaml
ends 0 plain.yaml --connection 'left.f->right.f' --connection 'right.v -> left.v' --output plain.json
has out '  under connections[1]:  coupling: {method: hinf, element: plain.json}'
is "order 1 of a connection with an order: $(percent 'order 1' 0)" near "$(percent 'order 1' 0)" 7.88 0.005
printed=$(sed -n 's/^or: yoke //p' out)
eval "\"\$yoke\" $printed --trust none --quiet --out plain" >run.out 2>err
is 'the command for connections runs' test $? -eq 0

# a delay makes recipe L, and the loop tells that it is unstable
sed 's/order: 1/delay: 0.1/; s/left.f -> right.f/{from: left.f, to: right.f, delay: 0.1}/' plain.yaml >late.yaml
ends 0 late.yaml --connection 'left.f->right.f' --connection 'right.v->left.v' --output late.json
has out 'recipe L'
has out 'delay 0.1 s'
has out 'times the signal itself: use a smaller --band, or shorten the delay'
ends 0 late.yaml --connection 'left.f->right.f' --connection 'right.v->left.v' --output late.json --band 0.5
is 'which helps' test "$(grep -c 'as no signal' out)" -eq 0
ends 0 late.yaml --connection 'left.f->right.f' --connection 'right.v->left.v' --output late.json
is 'the element is unstable there' test "$(grep -c '^element .* unstable .* unstable' out)" -eq 1
# a unit without a linear model: the element all the same, and what is missing
cat >nonlinear.yaml <<'YAML'
yoke: 1
time: {stop: 1, step: 0.01}
units:
  a: {model: state_space, step: 0.001, with: {A: [[-1]], B: [[1]]}}
  b: {model: delay1, step: 0.001}
connections: [a.y1 -> b.u, b.y -> a.u1]
YAML
ends 2 nonlinear.yaml --connection 'a.y1 -> b.u'
has err 'called once per exchange, every 0.001 s, and an element works between exchanges: write `exchange: 0.01` at the connection'
sed 's/a.y1 -> b.u,/{from: a.y1, to: b.u, exchange: 0.01},/' nonlinear.yaml >slower.yaml
ends 0 slower.yaml --connection 'a.y1 -> b.u' --output n.json
has out "the loop is not judged: a unit has no linear model"
# the radii of hold are those of yoke analyse, which builds its matrices otherwise: stale its hold, fresh its mean
mass=$source/scenarios/dual-mass
ends 0 "$mass/released.yaml" --connection 'left.x->right.x' --connection 'left.v->right.v' --connection 'right.f->left.f' \
  --no-run --output mass.json --json
mv out synth.out
"$yoke" analyse "$mass/held.yaml" --step 1e-3 --methods hold,mean --json >out 2>err
is 'radii of hold' python3 -c 'import json
mine = {r["exchange"]: r["radius"] for r in json.load(open("synth.out"))["loop"] if r["path"] == "hold"}
theirs = {r["name"]: r["radius"] for r in json.load(open("out"))["methods"]}
assert abs(mine["stale"] - theirs["hold"]) < 1e-8 and abs(mine["fresh"] - theirs["mean"]) < 1e-8, (mine, theirs)'
# a system that takes no element is told so, and not told to use it
cat >direct.yaml <<'YAML'
yoke: 1
time: {stop: 1, step: 0.02}
units:
  a: {model: state_space, step: 0.001, with: {A: [[-1]], B: [[1]], C: [[1]], D: [[0.3]], inputs: [u], outputs: [y], x0: [1]}}
  b: {model: state_space, step: 0.001, with: {A: [[-2]], B: [[1]], C: [[-1]], D: [[0.3]], inputs: [u], outputs: [y]}}
bonds:
  j: {action: a.y -> b.u, rate: b.y -> a.u}
YAML
ends 0 direct.yaml --bond j
has out 'no fresh exchange: feedthrough closes an algebraic loop'
has out '; the element is refused.'
is 'nothing to write' test "$(grep -c 'to use it' out)" -eq 0
# the best of a short run is unstable in the long one: two units whose loop swings for ever
cat >swing.yaml <<'YAML'
yoke: 1
time: {stop: 2, step: 0.02}
units:
  a: {model: state_space, step: 0.001, with: {A: [[-1, 2], [-2, -1]], B: [[1, 0], [0, 1]], x0: [1, 0]}}
  b: {model: channel, step: 0.001, with: {n: 2}}
  c: {model: channel, step: 0.001, with: {n: 2}}
connections:
  - {from: b.y, to: c.u, exchange: 0.02}
  - {from: a.y1, to: 'b.u[0]', exchange: 0.001}
  - {from: a.y2, to: 'b.u[1]', exchange: 0.001}
  - {from: 'c.y[0]', to: a.u1, exchange: 0.001}
  - {from: 'c.y[1]', to: a.u2, exchange: 0.001}
YAML
ends 0 swing.yaml --connection 'b.y -> c.u'
has out 'the element with `exchange: fresh` is best'
has out 'But its loop is unstable, radius 1.00019: a longer run may diverge; use one that is stable.'
# custom numbers; times of another system are designed for, and not advised
ends 0 masses.yaml --bond joint --pole 200 --no-run
has out 'recipe custom, f2 100 Hz, a 200 rad/s'
ends 0 masses.yaml --bond joint --interval 0.02
has out 'the system has 0.05 s, 0.001 s and 0 s and refuses it'
is 'no lines to write' test "$(grep -c 'to use it' out)" -eq 0

# ---- recipe general: HINF 7.3 by its defaults, the file, the run, a trust band, analysis

ends 0 ready/masses.yaml --bond joint --recipe general --output ready/general.json
is 'nothing on stderr' test ! -s err
has out 'recipe general, f2 100 Hz, poles right of -500 rad/s, order 6, band 3 Hz'
has out 'gamma 0.02265 (largest weighted error)'
has out 'optimum for a model of the hold: gamma 0.01127, lowest pole at Re = -49'
has out 'with 6 states and gain 1 at frequency 0: 0.01389'
has out 'a slow signal arrives 0.292 ms late'
is "general: $(percent element 1)" near "$(percent element 1)" 7.17 0.005
printed=$(sed -n 's/^or: yoke //p' out)
eval "\"\$yoke\" $printed --trust none --quiet --out general" >run.out 2>err
is 'the command as advised runs' test $? -eq 0
is 'the element of the file' grep -q '"gamma": 0.0226' general/summary.json
ends 0 ready/masses.yaml --bond joint --recipe general --no-run --output again.json --json
is 'the same file again' cmp ready/general.json again.json
is 'JSON' python3 -c 'import json
d = json.load(open("out"))["design"]; e = json.load(open("again.json"))
assert d["recipe"] == "general" and d["optimum"]["gamma"] < 0.0119 and abs(d["net_delay"] - 2.92e-4) < 1e-6
assert d["gamma"] == e["gamma"] and d["model_gamma"] == e["model_gamma"] and len(e["A"]) == e["order"] == 6'
"$yoke" run ready/masses.yaml --set bonds.joint.coupling.element=general.json --trust half --out half >run.out 2>err
is 'a companion at half the steps redesigns it' grep -q 'compared with half the steps alone' run.out
mv out synth.out
"$yoke" analyse ready/masses.yaml --set bonds.joint.coupling.element=general.json --methods file --json >out 2>err
is 'the radius is that of the analysis, which runs the method' python3 -c 'import json
mine = [r["next_radius"] for r in json.load(open("synth.out"))["loop"] if r["path"] == "element" and r["exchange"] == "fresh"]
theirs = [r["radius"] for r in json.load(open("out"))["methods"] if r["name"] == "file"]
assert abs(mine[0] - theirs[0]) < 1e-8 and len(theirs) == 1, (mine, theirs)'
# calls every 0.1 ms: hardly anything of a jump passes, and this loop has feedthrough
ends 0 ready/masses.yaml --bond joint --recipe general --output fine.json --set units.left.step=1e-4 \
  --set units.right.step=1e-4 --set units.drive.step=1e-4 --set 'connections[0].exchange=1e-4'
has out '`coupling: {method: hold, order: 1}` is best'
is "general at 0.1 ms: $(percent element 1)" near "$(percent element 1)" 23.0 0.05
# the steering at 20 ms, where straight lines diverge: as good as T in its band with a tenth of the noise, unstable with a slow smoother
cp -r "$source/scenarios/steering" steering
chmod -R u+w steering
sed -i '/^couplings:/,$d' steering/hinf.yaml
for case in '2.51 general' '2.29 general --band 3' '2.29 T' '2.04 L'; do
  read -r wanted recipe options <<<"$case"
  ends 0 steering/hinf.yaml --connection 'epas.v_rack->car.v_rack' --connection 'car.F_rod->epas.F_rod' \
    --output tie-rod.json --recipe $recipe $options
  is "steering, $recipe $options: $(percent element 1)" near "$(percent element 1)" "$wanted" 0.005
done
ends 0 steering/hinf.yaml --connection 'epas.v_rack->car.v_rack' --connection 'car.F_rod->epas.F_rod' \
  --output tie-rod.json --recipe general --band 3 --smoother 50
has out 'with the element the run diverges'
is 'the loop tells' test "$(grep -c '^element .* unstable .* unstable' out)" -eq 1
# fewer states
ends 0 ready/masses.yaml --bond joint --recipe general --order 4 --output four.json
has out 'poles right of -500 rad/s, order 4'
has out 'with 4 states and gain 1 at frequency 0: 0.0139'
is "order 4: $(percent element 1)" near "$(percent element 1)" 7.15 0.005

# ---- the element at run time: what a run warns of, and what it refuses

runs() { "$yoke" run "$@" --trust none --out run >out 2>err; }
# a noisy sensor behind the lead of recipe T; the noise has a deviation of 0.02, the sine one of 0.7
awk 'BEGIN { srand(3); print "time,y"; for (i = 0; i <= 5000; i++) printf "%g,%.9f\n", i * 0.001,
  sin(6.2832 * 0.5 * i * 0.001) + 0.04 * (rand() + rand() + rand() - 1.5) }' >noise.csv
cat >noisy.yaml <<'YAML'
yoke: 1
time: {stop: 5, step: 0.05}
units:
  sensor: {model: playback, step: 0.001, with: {file: noise.csv}}
  act: {model: state_space, step: 0.001, with: {A: [[-5]], B: [[1]], inputs: [u], outputs: [y]}}
connections:
  - {from: sensor.y, to: act.u, exchange: 0.05, coupling: {method: hinf}}
YAML
runs noisy.yaml
has err "warning: unit 'act': sensor.y -> act.u: method 'hinf': the lead makes "
has err 'take `recipe: L`, or a method without a lead'
runs noisy.yaml --set 'connections[0].coupling.recipe=L'
is 'recipe L is followed, nothing is warned of' test ! -s err
runs noisy.yaml --set 'connections[0].coupling.recipe=T' --set units.sensor.model=sine --set 'units.sensor.with={frequency: 0.5}'
is 'a clean signal is not warned of' test ! -s err
# more than the receiver takes
sed 's/outputs: \[v\], solver: euler}/&\n    port: none\n    limits: {f: {min: -100, max: 100}}/' ready/masses.yaml >ready/limited.yaml
runs ready/limited.yaml
has err "warning: unit 'right': bond 'joint': method 'hinf': 52 of 100 samples of a signal are beyond what its receiver takes, -100 to 100"
is 'and counted' grep -q '"saturated": 52' run/summary.json
runs ready/masses.yaml
is 'no limits, no warning' test ! -s err
# one call per exchange: what is advised is followed
sed 's/model: playback, step: 0.001/model: playback, step: 0.05/; s/step: 0.001, with: {A/step: 0.05, with: {A/' noisy.yaml >single.yaml
runs single.yaml
has err "'act' is called only once per exchange of sensor.y; give it a smaller step, such as \`step: 0.005\`, or"
runs single.yaml --set units.act.step=0.005
has err 'write `step: 0.005` there'
runs single.yaml --set units.act.step=0.005 --set units.sensor.step=0.005
is 'both steps as advised' test -s run/summary.json -a "$(grep -c error err)" -eq 0
# other times than those of the file
runs ready/masses.yaml --set time.step=0.1
has err 'the element is for an exchange every 0.05 s, here it is every 0.1 s: design one for it with yoke synth'
runs ready/masses.yaml --set units.left.step=0.002 --set units.right.step=0.002 --set 'connections[0].exchange=0.002'
has err 'called every 0.001 s, it is called every 0.002 s: write `step: 0.001` there, or design one for 0.002 s with yoke synth'

# ---- bad input, one message each

wrong() {
  local words=$1
  shift
  ends 2 "$@"
  has err "$words"
  is "one message: $words" test "$(lines err)" -eq 1
}
wrong 'expected --bond NAME or --connection' masses.yaml
wrong "no bond 'joimt'; did you mean 'joint'?" masses.yaml --bond joimt
wrong "no bond 'x', nor any other: name connections with --connection" plain.yaml --bond x
wrong "did you mean 'left.f -> right.f'?" masses.yaml --connection 'left.g -> right.f'
wrong 'is an arrow of a bond: name the bond with --bond' masses.yaml --connection 'left.f -> right.f'
wrong "--recipe: expected T, L, custom or general, found 'X'" masses.yaml --bond joint --recipe X
wrong 'expected a delay of 0 or more [s], found -1' masses.yaml --bond joint --delay=-1
wrong 'the exchange interval Dt = 0.0505 s is not a multiple of the step h = 0.001 s' masses.yaml --bond joint --interval 0.0505
wrong 'an element needs 2 to 1000000 steps in an exchange interval' masses.yaml --bond joint --step 0.05
wrong "write \`step: 0.001\` at 'right'" plain.yaml --connection 'left.f -> right.f' --set units.right.step=0.005 --set 'connections[0].exchange=0.005'
wrong ' and a delay of 1e+09 s: ' masses.yaml --bond joint --delay 1e9
wrong 'expected an integer from 1 to 8' masses.yaml --bond joint --order 9
wrong 'recipe T has the pole a = 300 rad/s' masses.yaml --bond joint --recipe T --pole 30
wrong 'recipe general does not support a delay, found 0.1 s: use recipe L' masses.yaml --bond joint --recipe general --delay 0.1
wrong 'expected an integer from 1 to 8' masses.yaml --bond joint --recipe general --order 0
wrong 'expected an integer from 1 to 8' masses.yaml --bond joint --recipe general --order 99
wrong 'expected an order n from 1 to 6, found 8' masses.yaml --bond joint --recipe general --order 8
wrong 'with 5 states the lead has a pole at Re = -611' masses.yaml --bond joint --recipe general --order 5
wrong 'the smoother at f2 = 100 Hz has poles at Re = -444.284, left of -P = -400 rad/s' masses.yaml --bond joint --recipe general --pole 400
wrong 'expected the pole region P above 0 [rad/s], found -5' masses.yaml --bond joint --recipe general --pole=-5
wrong 'carries frequencies below 10 Hz only: expected a band f_w below that, found 12 Hz' masses.yaml --bond joint --recipe general --band 12
wrong 'more than 6 steps h per exchange interval Dt' masses.yaml --bond joint --recipe general --interval 0.005
wrong 'write `scheme: jacobi`' masses.yaml --bond joint --set scheme=gauss-seidel --set exchange=stale
wrong 'has its own `method`' plain.yaml --connection 'left.f -> right.f' --set 'connections[1].method=hold'
wrong "unknown option '--bnd'" masses.yaml --bnd joint
# a single call per exchange: what is advised is accepted
sed 's/step: 0.001/step: 0.05/; s/exchange: 0.001/exchange: 0.05/' masses.yaml >once.yaml
wrong 'are called once per exchange, every 0.05 s' once.yaml --bond joint
step=$(sed -n 's/.*write `step: \([^`]*\)` at both.*/\1/p' err)
is 'a step is advised' test -n "$step"
sed "s/step: 0.05$/step: $step/; s/drive: {model: sine, step: 0.05/drive: {model: sine, step: $step/" once.yaml >often.yaml
ends 0 often.yaml --bond joint
has out "exchange every 0.05 s, calls every $step s"
# what cannot be written
ends 1 masses.yaml --bond joint --no-run --output no/such/folder/e.json
has err 'cannot write no/such/folder/e.json'
ends 2 nowhere.yaml --bond joint
has err 'nowhere.yaml'

echo "$((n_checks - n_failed)) passed, $n_failed failed"
exit "$((n_failed > 0))"
