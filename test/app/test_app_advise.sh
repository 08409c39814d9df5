#!/usr/bin/env bash
# yoke advise: the table and its command, a copy of the file with the settings in it, yoke run --within, the hint after a
# doubtful run, and bad input.
set -u
export LC_ALL=C
yoke=${YOKE_PROGRAM:?set YOKE_PROGRAM to the program}
source=${YOKE_SOURCE_DIR:?path of the source tree}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
mkdir bin && ln -s "$yoke" bin/yoke && PATH=$work/bin:$PATH

command=advise limit=280
. "$source/test/support/study_cases.sh"

json() { python3 -c "import json, sys; d = json.load(open('$1')); print($2)"; }

# Two units with comments between their lines, in blocks and in braces.
cat >loop.yaml <<'YAML'
# a loop
yoke: 1
inputs: start
calls: 1
time: {stop: 8, step: 0.1}   # coarse on purpose
units:
  one:                       # an oscillator
    model: state_space
    step: 0.025              # four calls
    with: {A: [[0, 1], [-4, -0.2]], B: [[0], [1]], C: [[1, 0]], inputs: [u], outputs: [x], x0: [1, 0]}
  two: {model: state_space, step: 0.025, with: {A: [[-1]], B: [[1]], inputs: [u], outputs: [x], x0: [0]}}
connections:
  - two.x -> one.u           # back
  - one.x -> two.u

# the end
YAML

# ---- the table

ends 0 loop.yaml
has out '  as given '
# off the exact solution of the loop by 1.3e-4, nepce by 7.0e-3, for the same number of calls
has out '> auto '
has out '  nepce '
has out 'trustworthy'
has out 'instead of'
has out 'no effect: '
is 'its command' grep -qx -- '  yoke run loop.yaml --set inputs=mean --set calls=auto' out
is 'figures in a folder of their own' test -f results/loop/advise/advise.json
is 'no results' test ! -e results/loop/results.csv
is 'sorted by score' python3 -c '
import json
d = json.load(open("results/loop/advise/advise.json"))
s = [x for x in d["settings"] if "score" in x]
assert len(s) >= 5 and sum(x["chosen"] for x in s) == 1 and s[0]["given"]
assert all(x["cost"] > 0 for x in s) and d["spent"] <= 24
best = min(x["score"] for x in s if x["status"] == "judged")
assert [x["score"] for x in s if x["chosen"]][0] <= 1.5 * best
'

# results of a run are left alone
"$yoke" run loop.yaml --quiet
cp -r results/loop before
ends 0 loop.yaml --quiet
is 'quiet' test ! -s out
for name in results.csv summary.json; do
  is "$name is left alone" cmp before/$name results/loop/$name
done
ends 0 loop.yaml --json
is 'the file and what is printed' cmp out results/loop/advise/advise.json

# TR-18: every command that is printed, pasted into a shell, is accepted and has the same band
cat >paste.py <<'PY'
import json, subprocess, sys
n = 0
for s in json.load(open(sys.argv[1]))["settings"]:
    if s["status"] != "judged":
        continue
    line = s["command"] + ("" if "--trust" in s["command"] else " --trust both")
    run = subprocess.run(line + " --json --no-verdict --out pasted", shell=True, capture_output=True, text=True)
    assert run.returncode == 0, (line, run.stderr)
    trust = json.loads(run.stdout)["trust"]
    assert trust["verdict"] == s["verdict"], line
    signal = [x for x in trust["signals"] if x["name"] == s["signal"]][0]
    for key in ("band", "band_max", "relative"):
        assert abs(signal[key] - s[key]) <= 1e-12 * abs(s[key]), (line, key, signal[key], s[key])
    n += 1
assert n >= int(sys.argv[2]), n
PY
ends 0 loop.yaml --json --budget 60 --out searched
is 'TR-18' python3 paste.py out 3
ends 0 loop.yaml --json --budget 400 --set trust.limit=1e-6 --out searched
is 'TR-18 with smaller steps' python3 paste.py out 6

# ---- signals, limits, settings

ends 0 loop.yaml --signals one.x --limit one.x=1e-3 --set time.stop=4 --out limited
has out "trust.signals=[one.x]"
has out "trust.limits.one.x=1e-3"
has out "time.stop=4"
is 'the wanted signal decides' python3 -c '
import json
assert all(x["signal"] == "one.x" for x in json.load(open("limited/advise/advise.json"))["settings"] if "signal" in x)'
ends 0 loop.yaml --budget 30s --out timed
ends 0 loop.yaml --budget 3 --out short
has out 'a larger --budget tries more'
ends 0 loop.yaml --budget 1 --out short
has out '; the given run and its companions alone exceed the budget; a larger --budget tries more'

# nothing better
ends 0 loop.yaml --set inputs=mean --set calls=auto --out best --write none.yaml
has out 'no setting tried is better by a factor of 1.5; the smallest band is '
has out 'none.yaml is not written'
is 'no file' test ! -e none.yaml

# ---- a copy of the file

ends 0 loop.yaml --write good.yaml --out copied
has out 'yoke run good.yaml'
is 'two lines are changed' cmp good.yaml <(sed 's/^inputs: start/inputs: mean/; s/^calls: 1/calls: auto/' loop.yaml)
"$yoke" run loop.yaml --set inputs=mean --set calls=auto --quiet --out by_set
"$yoke" run good.yaml --quiet --out by_file
is 'the same results' cmp by_set/results.csv by_file/results.csv
# units that are called once: ten calls are beyond a budget that is named
sed '/^    step:/d; s/step: 0.025, //' loop.yaml >once.yaml
ends 0 once.yaml --budget 24 --write added.yaml --out added
is 'auto is beyond the budget' grep -q '^not tried: auto;' out
has out "  yoke run once.yaml --set 'couplings={loop: {method: nepce, members: [one, two]}}'"
diff once.yaml added.yaml >difference
is 'one line is added, none is changed' test "$(grep -c '^[<>]' difference)" -eq 1
is 'it is the coupling' grep -q '^> couplings: {loop: {method: nepce, members: \[one, two\]}}$' difference
"$yoke" run once.yaml --set 'couplings={loop: {method: nepce, members: [one, two]}}' --quiet --out by_set
"$yoke" run added.yaml --quiet --out by_file
is 'the same results with a coupling' cmp by_set/results.csv by_file/results.csv
# with the user's own settings and smaller steps
ends 0 loop.yaml --limit one.x=1e-3 --signals one.x --set time.stop=4 --budget 60 --write fine.yaml --out fine
line=$(grep '^  yoke run' out)
eval "$line --quiet --out by_set --no-verdict"
"$yoke" run fine.yaml --quiet --out by_file --no-verdict
is 'the same results with smaller steps' cmp by_set/results.csv by_file/results.csv
is 'comments are kept' test "$(grep -c '#' fine.yaml)" -eq "$(grep -c '#' loop.yaml)"

# ---- yoke run --within

command=run
ends 0 loop.yaml --within 3% --out within
has out 'within: auto: --set inputs=mean --set calls=auto'
has out 'trust: trustworthy'
ends 0 loop.yaml --within 3% --out within --json
is 'met' test "$(json out 'd["within"]["met"]')" = True
is 'in the file too' test "$(json within/summary.json 'd["within"]["setting"]')" = auto
is 'verdict' test "$(json out 'd["trust"]["verdict"]')" = trustworthy
"$yoke" run loop.yaml --set inputs=mean --set calls=auto --quiet --out by_set
is 'the same results as by hand' cmp within/results.csv by_set/results.csv
ends 0 loop.yaml --within one.x=5e-2 --out cheap --json
is 'the cheapest that is good enough' test "$(json out 'd["within"]["met"]')" = True
ends 0 loop.yaml --within 1e-9 --out missed
has out '--within is not met: '
has out ' times the allowed error; '
is 'a command to try' grep -q ': yoke advise loop.yaml --set trust.limit=1e-9 --budget [0-9]*$' out
# missed, and surely so: the verdict is wrong
ends 3 loop.yaml --within one.x=1e-9 --within two.x=1e-9 --out missed --json
is 'missed' test "$(json out 'd["within"]["met"]')" = False
for wish in 0% -1% 100% abc '' one.x= one.x=0 one.x=-1 =1; do
  ends 2 loop.yaml --within "$wish" --out never
  has err '--within: expected'
done
ends 2 loop.yaml --within on.x=1 --out never
has err "did you mean 'one.x'?"
is 'nothing is written' test ! -e never

# ---- the hint

ends 0 loop.yaml --trust both --out hinted
is 'hint' grep -qE '^yoke advise loop.yaml would try [0-9]+ settings, about [0-9.e-]+ s$' out
n=$(sed -n 's/.* would try \([0-9]*\) settings.*/\1/p' out)
is 'as many settings as there are' test "$n" -ge 6 -a "$n" -le 15
ends 0 loop.yaml --trust both --set 'couplings={loop: {method: nepce, members: [one, two]}}' --out hinted
is 'no hint where it is trustworthy' test "$(grep -c 'yoke advise' out)" -eq 0
ends 0 loop.yaml --trust both --quiet --out hinted
is 'quiet' test ! -s out
# a file that begins like an option, in all commands that are printed
cp loop.yaml -- -dash.yaml
"$yoke" run --trust both --out hinted -- -dash.yaml >out 2>err
has out 'yoke advise ./-dash.yaml would try '
"$yoke" advise --out hinted --write ./-good.yaml -- -dash.yaml >out 2>err
has out '  yoke run ./-dash.yaml --set '
eval "$(grep '^  yoke run' out) --quiet --out by_dash"
is 'the printed command runs' test -f by_dash/results.csv

# ---- bad input

command=advise
for budget in 0 -1 0s x '' 1h nan inf; do
  ends 2 loop.yaml --budget "$budget" --out never
  has err '--budget: expected'
done
ends 2 loop.yaml --signals one.y --out never
has err "did you mean 'one.x'?"
ends 2 loop.yaml --signals , --out never
has err '--signals: expected'
ends 2 loop.yaml --limit one.x --out never
has err '--limit: expected'
ends 2 loop.yaml --limit on.x=1 --out never
has err "did you mean 'one.x'?"
ends 2 loop.yaml --write missing/folder/out.yaml --out never
has err "--write: 'missing/folder/out.yaml' cannot be written"
ends 2 loop.yaml --write . --out never
has err "cannot be written"
ends 2 "$source/scenarios/electric-drive/drive.yaml" --write here.yaml --out never
has err 'write it into the folder of'
ends 2 loop.yaml --out ''
ends 2 missing.yaml
ends 2
printf 'yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 1, step: 0.1}\nunits:\n  one: {model: gain, start: {u: 1}}\n' >alone.yaml
ends 2 alone.yaml --out never
has err 'nothing to advise'
printf 'yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 1, step: 0.1}\nunits:\n  one: {model: gian}\n' >wrong.yaml
ends 2 wrong.yaml --out never
has err "did you mean 'gain'?"
is 'nothing is written' test ! -e never
# a plant that leaves all numbers behind, whatever the coupling
cat >wild.yaml <<'YAML'
yoke: 1
inputs: start
calls: 1
time: {stop: 400, step: 1}
units:
  a: {model: gain, with: {k: 1e-3}}
  c: {model: state_space, with: {A: [[10]], B: [[1]], inputs: [u], outputs: [x], x0: [1]}}
connections: [c.x -> a.u, a.y -> c.u]
YAML
ends 1 wild.yaml --out wild
has err 'no setting is usable'
"$yoke" run wild.yaml --within 1% --out wild >out 2>err
is 'status of a search for nothing' test $? -eq 1
is 'a command to try' grep -q -- '--within: no setting is usable: .*: yoke advise wild.yaml --set trust.limit=0.01 --budget [0-9]*$' err

# ---- auto

# pasted COPY: the command in `out` and the file that was written give the same bytes
pasted() {
  rm -rf by_set by_file
  eval "$(grep '^  yoke run' out) --quiet --no-verdict --out by_set"
  "$yoke" run "$1" --quiet --no-verdict --out by_file
  is "$1: the same results" cmp by_set/results.csv by_file/results.csv
}
# the crane: its piston is within 0.13 mm of the truth in place of 1.97 mm
ends 0 "$source/scenarios/hydraulic-crane/crane.yaml" --out crane --write crane.yaml
is 'auto is chosen' grep -q '^> auto  *0.01 s .* trustworthy  *1.22$' out
is 'a known system' grep -q '^inputs: mean$' crane.yaml
pasted crane.yaml

# a method that the file names is given back to auto; its cost counts all of its calls
units='units:
  a:
    model: state_space
    with: {A: [[0, 1], [-70, -1]], B: [[0, 0], [40, 0.6]], C: [[40, 0.6]], D: [[-40, -0.6]], x0: [1, 0]}
  b: {model: state_space, with: {A: [[0, 1], [-5, -0.1]], B: [[0], [0.5]], x0: [0, 0.5]}}'
printf '%s\n' 'yoke: 1' 'time: {stop: 10, step: 0.05}' "$units" 'connections:' \
  '  - a.y1 -> b.u1' '  - b.y1 -> a.u1' '  - b.y2 -> a.u2' >plain.yaml
{
  sed 's/^units:/inputs: start\ncalls: 1\n&/' plain.yaml
  echo 'couplings: {loop: {method: nepce, members: [a, b]}}'
} >named.yaml
ends 0 named.yaml --write left.yaml --out named
is 'auto is chosen' grep -q '^> auto .* trustworthy *10$' out
is 'its command' grep -qF -- '--set couplings.loop.method=auto --set inputs=mean --set calls=auto' out
is 'in the file' grep -q 'method: auto, members' left.yaml
pasted left.yaml
"$yoke" run plain.yaml --quiet --out plain
is 'as if nothing were named' cmp plain/results.csv by_set/results.csv
is 'TR-18 of auto' python3 paste.py named/advise/advise.json 2
# the same where orders, a connection and a coupling of another kind are named
printf '%s\n' 'yoke: 1' 'time: {stop: 10, step: 0.05}' 'exchange: fresh' "$units" 'connections:' \
  '  - {from: a.y1, to: b.u1, method: hold}' '  - {from: b.y1, to: a.u1, order: 1}' '  - b.y2 -> a.u2' \
  'couplings: {loop: {method: hold, order: 1, members: [a, b]}}' >orders.yaml
ends 0 orders.yaml --write left.yaml --out orders
is 'auto is chosen' grep -q '^> auto ' out
pasted left.yaml
is 'as if nothing were named' cmp plain/results.csv by_set/results.csv
# and in a bond
printf '%s\n' 'yoke: 1' 'time: {stop: 10, step: 0.05}' "$units" 'connections: [b.y1 -> a.u1]' \
  'bonds: {spring: {action: a.y1 -> b.u1, rate: b.y2 -> a.u2}}' >bond.yaml
sed 's/u2}}$/u2, coupling: {method: energy}}}/; s/^units:/inputs: start\n&/' bond.yaml >energy.yaml
ends 0 energy.yaml --write left.yaml --out energy
is 'auto is chosen' grep -q '^> auto ' out
is 'its command' grep -qF -- '--set bonds.spring.coupling.method=auto' out
pasted left.yaml
"$yoke" run bond.yaml --quiet --out bond
is 'as if nothing were named' cmp bond/results.csv by_set/results.csv

# a file that names nothing: smaller steps before other methods
ends 0 plain.yaml --set trust.limit=1e-4 --out halved
is 'the order' test "$(json halved/advise/advise.json '[s["name"] for s in d["settings"]][1]')" = 'as given, steps / 2'
is 'auto is there already' test "$(json halved/advise/advise.json '"auto" in [s["name"] for s in d["settings"]]')" = False

# an FMU whose calls are expensive: a run would make two of them, the search makes ten, and so does its command
cp "${YOKE_FMUS:?folder of the test FMUs}/heavy2.fmu" .
printf '%s\n' 'yoke: 1' 'inputs: start' 'calls: 1' 'time: {stop: 1, step: 0.1}' 'units:' \
  '  dear: {fmu: heavy2.fmu, with: {each: 100000}}' '  b: {model: state_space, with: {A: [[-3]], B: [[1]], x0: [1]}}' \
  'connections: [dear.y -> b.u1, b.y1 -> dear.u]' >heavy.yaml
ends 0 heavy.yaml --write left.yaml --out heavy
is 'its command' grep -qF -- '--set inputs=mean --set calls=auto --set units.dear.calls=10' out
pasted left.yaml
is 'TR-18 of an FMU' python3 paste.py heavy/advise/advise.json 2

echo "$n_checks checks, $n_failed failed"
exit $((n_failed > 0))
