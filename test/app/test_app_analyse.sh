#!/usr/bin/env bash
# yoke analyse: limits of the step against the published ones (MP-06), areas of stability, agreement with runs, Bohl
# exponents of a recorded run (MP-13), and messages of bad input.
set -u
export LC_ALL=C
yoke=${YOKE_PROGRAM:?set YOKE_PROGRAM to the program}
source=${YOKE_SOURCE_DIR:?path of the source tree}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
mass=$source/scenarios/dual-mass

command=analyse limit=120
. "$source/test/support/study_cases.sh"

# value FILE NAME KEY: of the method NAME in JSON
value() { awk -v name="\"$2\"," -v key="\"$3\":" '$1 == "\"name\":" { here = $2 == name } here && $1 == key { sub(/,$/, "", $2); print $2; exit }' "$1"; }
# near VALUE WANTED TOLERANCE
near() { awk -v x="$1" -v y="$2" -v d="$3" 'BEGIN { exit !(x != "" && x - y <= d + 1e-12 && y - x <= d + 1e-12) }'; }

# ---- MP-06: first unstable steps of the dual mass oscillator, 1e5 N/m and 1e3 N s/m, resolution 0.05 ms

for file in held mpsm; do
  ends 0 "$mass/$file.yaml" --largest 12e-3 --resolution 5e-5 --json
  is 'nothing on stderr' test ! -s err
  while read -r name want; do
    is "$file: limit of $name is $(value out "$name" first_unstable_step)" near "$(value out "$name" first_unstable_step)" "$want" 5e-5
  done <<'TABLE'
hold 2.30e-3
hold-1 2.75e-3
nepce 2.75e-3
mpsm 9.65e-3
mpsm-modified 9.95e-3
mpsm-ramp 9.95e-3
mbcorr 4.35e-3
TABLE
  is "$file: no limit of mpsm-ede" test "$(value out mpsm-ede first_unstable_step)" = null
done
# the table for people has the same, and says what to do
ends 0 "$mass/held.yaml"
has out 'explicit Euler, 1e-05 s'
has out "The file's coupling (hold, order 0) is unstable at 0.003 s (first unstable step 0.0023 s). mean is stable at this step"
has out 'write `inputs: mean` and, in connections and in the `coupling` of bonds, `method: hold`; or use a smaller step'
has out 'This is about stability. For accuracy: yoke advise FILE'
is 'no row is stable again' test "$(grep -c 'may be stable again' out)" = 0
ends 0 "$source/scenarios/linear-oscillator/corrected.yaml" --methods energy,hold
has out 'a step above the first unstable one may be stable again'
# radii of the specification at 1 ms; the internal steps stay as they are
ends 0 "$mass/held.yaml" --step 1e-3 --methods hold,mpsm --json
is 'radius of held signals' near "$(value out hold radius)" 0.96165562 1e-6
is 'radius of mpsm' near "$(value out mpsm radius)" 0.95589697 1e-6
is 'no other method' test -z "$(value out nepce radius)"

# little damping: the internal steps themselves grow (below about 98 N s/m, specification 10.1)
ends 0 "$mass/pulsed-mpsm.yaml" --set units.right.with.cc=90
has out 'explicit Euler with steps of 1e-05 s makes the coupled system unstable with any coupling'
ends 0 "$mass/pulsed-mpsm.yaml" --set units.right.with.cc=105
is 'no such note' test "$(grep -c 'explicit Euler with steps' out)" -eq 0

# a unit without state: mpsm keeps for ever what its output misses, and round-off must not decide about that radius of 1
cat >static.yaml <<'YAML'
yoke: 1
time: {stop: 1, step: 0.01}
units:
  a: {model: state_space, with: {A: [[-1]], B: [[1]]}}
  b: {model: gain, with: {k: -2}}
connections: [a.y1 -> b.u, b.y -> a.u1]
YAML
ends 0 static.yaml --methods mpsm,mpsm-ede --expect stable
is 'no limit' test "$(grep -c 'stable    none' out)" -eq 2
has out 'note: a radius of exactly 1 is a constant offset that neither grows nor decays'
has out '(a unit without state, or with fewer outputs than states)'
sed 's/state_space, with.*/gain, with: {k: 0.5}}/; s/a.y1/a.y/; s/a.u1/a.u/' static.yaml >statics.yaml
ends 0 statics.yaml --methods hold
has out 'coupled exactly: no states'

# ---- two free integrators: runs at 0.66 s stay bounded, and so do their multipliers

ends 0 "$source/scenarios/dual-mass-cuts/dd-velocity.yaml" --set time.step=0.66 --json
is "two free integrators: no limit of hold" test "$(value out hold first_unstable_step)" = null
ends 0 "$source/scenarios/dual-mass-cuts/fd-velocity.yaml" --set time.step=0.2 --json
limit_of_hold=$(value out hold first_unstable_step)
is "one free integrator: limit of hold is $limit_of_hold" near "$limit_of_hold" 0.2633 1e-2

# ---- many units (64 with YOKE_FULL=1): looked at in two passes; the same first unstable step as in one

n_units=32
[ "${YOKE_FULL:-0}" = 0 ] || n_units=64
awk -v n=$n_units 'BEGIN {
  print "yoke: 1\ntime: {stop: 1, step: 5e-3}\nunits:"
  for (i = 0; i < n; i++) {
    last = i == n - 1; first = i == 0
    printf "  m%d: {model: state_space, with: {A: [[0, 1], [%d, -2]], B: [[%s], [%s]], C: [[1, 0]], inputs: [%s], outputs: [x]}}\n", i,
      -1000 * (first || last ? 2 : 3) - 300 * (i % 5), first || last ? "0" : "0, 0", first || last ? "1000" : "1000, 1000", first ? "b" : last ? "a" : "a, b"
  }
  print "connections:"
  for (i = 0; i < n - 1; i++) printf "  - m%d.x -> m%d.a\n  - m%d.x -> m%d.b\n", i, i + 1, i + 1, i
}' >chain.yaml
limit=60
ends 0 chain.yaml
has out '(a large system; --resolution analyses all steps)'
is 'a row per method' test "$(grep -c 'stable  ' out)" -ge 10
ends 0 chain.yaml --methods hold --json
coarse=$(value out hold first_unstable_step)
ends 0 chain.yaml --methods hold --resolution "$(awk 'BEGIN { printf "%.17g", 0.02 / 240 }')" --json
is "first unstable step in two passes $coarse, in one $(value out hold first_unstable_step)" near "$coarse" "$(value out hold first_unstable_step)" 1e-12
limit=120

# ---- what runs is what was said: the energy of a run grows above the limit and falls below it

for pair in '0.0022 less' '0.0024 more'; do
  read -r step want <<<"$pair"
  # whole internal steps of 0.01 ms, 300 exchanges
  n=$(awk -v h="$step" 'BEGIN { print int(h / 1e-5 + 0.5) }')
  stop=$(awk -v h="$step" 'BEGIN { print 300 * h }')
  "$yoke" run "$mass/held.yaml" --set time.step="$step" --set time.stop="$stop" --set units.left.with.micro_steps="$n" \
    --set units.right.with.micro_steps="$n" --trust none --quiet --out "run-$step" >out 2>err
  is "run at $step" awk -F, -v want="$want" '
    NR > 1 { x = $2 < 0 ? -$2 : $2; if (NR < 61 && x > early) early = x; if (NR > 241 && x > late) late = x }
    END { exit !(want == "more" ? late > early : late < early) }' "run-$step/results.csv"
done

# ---- --expect stable

ends 0 "$mass/mpsm.yaml" --expect stable --quiet
is 'quiet' test ! -s out
ends 3 "$mass/held.yaml" --expect stable --quiet
has err 'file is not stable at 0.003 s'
ends 0 "$mass/held.yaml" --expect stable --methods mpsm --quiet
ends 3 "$source/scenarios/linear-oscillator/gauss-seidel.yaml" --expect stable --quiet
has err 'file is not stable at 0.001 s'
ends 3 "$mass/held.yaml" --expect stable --methods hinf --quiet
has err 'nothing is known about hinf: a unit is called once per exchange'

# ---- files of one system

ends 0 "$mass/held.yaml" --methods hold,mpsm --out one
is 'rows of the scan' test "$(lines one/radius.csv)" -eq 241
is 'columns of the scan' test "$(head -n 1 one/radius.csv)" = 'step,hold,mpsm'
is 'a drawing' grep -q '</svg>' one/radius.svg
for figure in radius nyquist bode; do
  is "$figure on the page" grep -q "<img src=\"$figure.svg\"" one/analysis.html
done
is 'G is drawn' grep -q 'distortion G' one/bode.svg
is 'methods on the page' grep -q '<td>hold</td>.*<td>unstable</td>' one/analysis.html

# ---- maps: areas by spectral radius on the grid of the specification (9.3): cells of a quarter decade by 0.5 ms that
# hang together with the smallest step. Printed: hold 8.2, hold-1 and nepce 11.9, mpsm 52.5, modified 52.0, ramp 49.8

ends 0 "$mass/pulsed-mpsm.yaml" --map units.right.with.kc=1e3,2e3,5e3,1e4,2e4,5e4,1e5,2e5 \
  --map units.right.with.cc=10,20,50,100,200,500,1e3,2e3,5e3,1e4,2e4,5e4,1e5 --steps 5e-4:1e-2:20 \
  --methods hold,hold-1,nepce,mpsm,mpsm-modified,mpsm-ramp --out plane
is 'a row per point and step' test "$(lines plane/map.csv)" -eq 2081
is 'a row per point' test "$(lines plane/limits.csv)" -eq 105
is 'a drawing' grep -q '</svg>' plane/map.svg
area() { # COLUMN
  awk -F, -v column="$1" '
    NR > 1 { c = int((log($1 / $2) / log(10) + 2.125) / 0.25 + 100) - 100; k = int($3 / 5e-4 + 0.5); if ($column < 1) good[c "," k] = 1 }
    END {
      for (c = 0; c < 40; c++) if (good[c ",1"]) { part[c ",1"] = 1; n++ }
      do {
        has_grown = 0
        for (x in good) if (good[x] && !part[x]) {
          split(x, at, ","); c = at[1]; k = at[2]
          if (part[(c - 1) "," k] || part[(c + 1) "," k] || part[c "," (k - 1)] || part[c "," (k + 1)]) { part[x] = 1; n++; has_grown = 1 }
        }
      } while (has_grown)
      print n * 0.25 * 0.5
    }' plane/map.csv
}
for pair in '4 8.2' '5 11.9' '6 11.9' '7 52.5' '8 52.0' '9 49.8'; do
  read -r column want <<<"$pair"
  # one cell is 0.125, and the figures are rounded to 0.1
  is "area of column $column: $(area "$column") instead of $want" near "$(area "$column")" "$want" 0.175
done
# one axis, with the step up
ends 0 "$mass/pulsed-mpsm.yaml" --map units.right.with.cc=100:1e4:5:log --steps 1e-3:9e-3:5 --methods hold,mpsm --out line --json
is 'points and steps' test "$(grep -c first_unstable_steps out)" -eq 2
is 'a drawing' grep -q '</svg>' line/map.svg
ends 3 "$mass/pulsed-mpsm.yaml" --map units.right.with.cc=100:1e4:5:log --steps 1e-3:9e-3:5 --methods hold --expect stable
# a point that cannot be built is left out, all of them are a mistake
ends 0 "$mass/pulsed-mpsm.yaml" --map units.right.with.m=0,10 --steps 1e-3:2e-3:2 --methods hold --out gap
has out '1 point could not be analysed'
is 'an empty cell' test "$(sed -n 2p gap/limits.csv)" = '0,'
ends 2 "$mass/pulsed-mpsm.yaml" --map units.right.with.mm=1,10 --steps 1e-3:2e-3:2
has err "mm"

# ---- --run: the models of a run found again; MP-13: exponents below 1 for K = 25 and more

for ede in '' -ede; do
  "$yoke" run "$mass/nonlinear-mpsm$ede.yaml" --trust none --quiet --out "bohl$ede" >out 2>err
  ends 0 --run "bohl$ede" --out "bohl$ede/analysis" --expect stable
  has out 'exponentially stable: all exponents are below 1'
  has out 'right            the identified model replaces it'
  has out 'judged: 775 steps from 0.225 s on'
  has out '768 full, 7 modified, 0 extrapolated'
  is 'K, windows, exponents' awk -F, 'NR > 1 { n++; if ($2 != 776 - $1 || !($3 < 1) || !($3 > 0.5)) exit 1 } END { exit n != 5 }' "bohl$ede/analysis/bohl.csv"
  is 'a row per step' test "$(lines "bohl$ede/analysis/steps.csv")" -eq 776
done
# linear units enter with their own models; their exponents cannot be below those of the monolithic motion, e^(-49.6 s^-1 1 ms)
"$yoke" run "$mass/pulsed-mpsm.yaml" --trust none --quiet --out linear >out 2>err
ends 0 --run linear --cluster loop --json
is 'own models' test "$(grep -c '"model": "own"' out)" -eq 2
is 'stable' grep -q '"is_stable": true' out
is 'exponent of the longest window' near "$(grep '"value"' out | tail -n 1 | tr -dc '0-9.')" 0.96 0.03
# other settings than those of the run are noticed
ends 2 --run linear --set couplings.loop.learning=40
has err 'n_learn of coupling'
ends 2 --run linear --set couplings.loop.forgetting=0.9
has err 'give the same --set as for the run'
# subspace models are found again too
"$yoke" run "$mass/pulsed-mpsm.yaml" --set couplings.loop.jacobians=moesp \
  --set couplings.loop.learning=300 --trust none --quiet --out moesp >out 2>err
ends 0 --run moesp --set couplings.loop.jacobians=moesp --set couplings.loop.learning=300
has out 'exchanges every 0.001 s'

# ---- bad input: what, where, what was expected

ends 2
has err 'expected a SYSTEM, or --run RESULT'
ends 2 missing.yaml
has err 'missing.yaml'
ends 2 "$mass/held.yaml" --methods hold,zoh
has err 'zoh'
ends 2 "$mass/held.yaml" --step 0
has err '--step: expected a number of seconds above 0'
ends 2 "$mass/held.yaml" --largest x
has err '--largest'
ends 2 "$mass/held.yaml" --resolution 1
has err '--resolution'
ends 2 "$mass/held.yaml" --expect wonders
has err 'wonders'
ends 2 "$mass/held.yaml" --map units.left.with.k=1:2:3
has err '--map needs --steps'
ends 2 "$mass/held.yaml" --steps 1:2:3
has err '--steps needs --map'
ends 2 "$mass/pulsed-mpsm.yaml" --map units.right.with.cc=1:2:3 --steps 2:1:3
has err '--steps: expected numbers above 0 that rise'
ends 2 "$mass/pulsed-mpsm.yaml" --map a=1,2 --map b=1,2 --map c=1,2 --steps 1:2:3
has err 'at most 2'
ends 2 "$mass/pulsed-mpsm.yaml" --map units.right.with.cc=1:2:100000 --steps 1:2:1000
has err 'radii; expected at most'
ends 2 "$mass/held.yaml" --cluster loop
has err '--cluster is for --run only'
ends 2 --run nowhere
has err "there is no 'nowhere'; expected the folder that yoke run wrote, or results.csv in it"
ends 2 --run ''
has err '--run: no name given; expected the folder'
mkdir bare
ends 2 --run bare
has err 'bare: error: the folder holds no results.csv or results.h5'
ends 2 --run linear/summary.json
has err 'is no table of results; expected the folder'
ends 0 --run linear/results.csv --quiet
# changed NAME SED: a copy of the results with other text in the table
changed() { rm -rf "$1" && cp -r linear "$1" && sed -i "$2" "$1/results.csv"; }
changed cut '500,$d'
ends 2 --run cut
has err 'cut: the table has 498 rows, but the run wrote 1001 (cut/summary.json): it was cut or replaced'
changed torn '$s/,[^,]*,[^,]*$//'
ends 2 --run torn
has err 'torn/results.csv:1002: error: 12 cells, but the header has 14'
changed none '2,$d'
ends 2 --run none
has err 'the table has 0 rows, but the run wrote 1001'
rm none/summary.json
ends 2 "$mass/pulsed-mpsm.yaml" --run none
has err 'none: error: the recording has 0 rows; expected more than 26'
: >none/results.csv
ends 2 "$mass/pulsed-mpsm.yaml" --run none
has err 'the text is empty'
changed column '1s/left.v/left.w/'
ends 2 --run column
has err "column: error: the recording lacks 'left.v'"
changed text '50s/^\([^,]*\),[^,]*/\1,abc/'
ends 2 --run text
has err "text: error: the column 'left.x' holds text; expected numbers"
changed gap '50s/^\([^,]*\),[^,]*/\1,/'
ends 2 --run gap
has err "'left.x' is empty at 0.048 s; expected a number at every exchange"
changed gap '50s/^\([^,]*\),[^,]*/\1,nan/'
ends 2 --run gap
has err "'left.x' is not finite at 0.048 s"
changed twice '1s/left.v/left.x/'
ends 2 --run twice
has err "two columns are named 'left.x'"
# told FROM TO: a copy of the results with another summary
told() { rm -rf told && cp -r linear told && sed -i "s|$1|$2|" told/summary.json; }
told '"status": "done"' '"status": "failed"'
ends 2 --run told
has err 'told: the run failed at 1 s'
told '"lost": 0' '"lost": 3'
ends 2 --run told
has err '3 rows were lost while recording'
told '"clusters"' '"couplings"'
sed -i 's/"yoke": "[^"]*"/"yoke": "0.0.1"/' told/summary.json
ends 2 --run told
has err "told/summary.json has no coupling 'loop'"
has err 'another version of yoke (0.0.1; this is'
told '"file": "[^"]*"' '"file": "gone.yaml"'
ends 2 --run told
has err "gone.yaml' is the system file named in told/summary.json"
echo '{' >told/summary.json
ends 2 --run told
has err "told/summary.json:2: error: string or '}' expected near end of file"
ends 2 "$mass/nonlinear-mpsm.yaml" --run linear
has err 'give the same --set as for the run (system: '
ends 2 --run linear --step 1
has err '--step does not go with --run'
ends 2 --run linear --cluster pool
has err "no coupling 'pool'; there is: loop"
"$yoke" run "$mass/held.yaml" --quiet --out held >out 2>err
ends 2 --run held
has err 'held.yaml has no coupling over a cluster; expected one with method mpsm'
is 'the command names the file' grep -q 'is judged by: yoke analyse .*held\.yaml$' err
rm held/summary.json
ends 2 --run held
has err 'name it: yoke analyse SYSTEM --run RESULT'
"$yoke" run "$mass/pulsed-mpsm.yaml" --set 'record.signals=[left.x]' --quiet --out few >out 2>err
ends 2 --run few --set 'record.signals=[left.x]'
has err "lacks 'left.v'"
has err "lacks 'right.f'"
"$yoke" run "$mass/pulsed-mpsm.yaml" --set record.every=2 --quiet --out rare >out 2>err
ends 2 --run rare --set record.every=2
has err 'a row at every exchange'
"$yoke" run "$mass/pulsed-mpsm.yaml" --set time.stop=0.03 --quiet --out short >out 2>err
ends 2 --run short --set time.stop=0.03
has err 'expected at least 25'
"$yoke" run "$mass/pulsed-mpsm.yaml" --set couplings.loop.jacobians=provided --quiet --out provided >out 2>err
ends 2 --run provided --set couplings.loop.jacobians=provided
has err 'the units provided the models'
# held connections inside of the cluster, from a member and from a law, and what remembers more than a step
cat >three.yaml <<'YAML'
yoke: 1
time: {stop: 8, step: 0.1}
units:
  a: {model: state_space, with: {A: [[0, 1], [-2, -0.6]], B: [[0, 0.2], [1, 0]], C: [[1, 0], [0, 1]], inputs: [u, w], outputs: [y, v], x0: [1, 0], solver: exact}}
  b: {model: state_space, with: {A: [[-1, 0.5], [-0.5, -1.2]], B: [[1], [0.5]], C: [[1, 0.3]], inputs: [u], outputs: [y], x0: [0.2, -0.5], solver: exact}}
  c: {model: state_space, with: {A: [[-0.7]], B: [[0.5, -0.4]], C: [[1], [0.5]], inputs: [u, w], outputs: [y, z], x0: [0.3], solver: exact}}
laws:
  s: {law: sum, with: {signs: [-1, 1]}}
  k: {law: gain, with: {k: 0.5}}
connections: [a.y -> b.u, a.v -> c.u, b.y -> s.u1, c.y -> s.u2, s.y -> a.u, c.z -> k.u,
  {from: k.y, to: a.w},
  {from: b.y, to: c.w}]
couplings:
  loop: {method: mpsm, members: [a, b, c, s, k], learning: 40, switching: 1, form: published, level: end}
YAML
sed 's/to: c.w/&, method: hold/' three.yaml >three-held.yaml
sed 's/to: a.w/&, method: hold/' three.yaml >three-law.yaml
for file in three three-held three-law; do
  "$yoke" run $file.yaml --quiet --out $file >out 2>err
done
ends 0 --run three
ends 2 --run three-held
has err "coupling 'loop': the connection b.y -> c.w inside the cluster has \`method: hold\`, so the loop through it is not stabilised"
is 'not told to be made a member' test "$(grep -c 'add it to .members' err)" -eq 0
ends 2 --run three-law
has err "coupling 'loop': the connection k.y -> a.w inside the cluster has \`method: hold\`, so the loop through it is not stabilised"
is 'not told to be made a member' test "$(grep -c 'add it to .members' err)" -eq 0
"$yoke" run three.yaml --set couplings.loop.level=mean --quiet --out three-mean >out 2>err
ends 2 --run three-mean --set couplings.loop.level=mean
has err 'runs with form: memory or level: mean are not supported'
ends 0 three.yaml --set couplings.loop.level=mean --methods file
is 'the file is run' grep -q '^file .*stable .*(run)' out

# ---- what no matrix is made for is run: units without a linear model, intervals, fresh exchange, Gauss-Seidel

ends 0 "$source/scenarios/two-pendula/minimal.yaml" --methods file
has out 'by differences of calls of 0.001 s'
has out 'coupled exactly: 4 states, stable'
ends 0 "$source/scenarios/three-rate-chain/chain.yaml" --methods file
has out 'several exchange intervals: the loops were simulated with the linear models'
ends 0 "$source/scenarios/three-rate-chain/chain.yaml" --methods file --step 2e-4
for file in fresh gauss-seidel; do
  ends 0 "$source/scenarios/rotational-oscillator/$file.yaml" --methods file,mpsm
  has out 'note: 1 free integrator'
  is 'its energy is not kept' test "$(grep -c 'conserves energy' out)" -eq 0
  is 'mpsm is not for this' grep -q '^mpsm .*unknown' out
done
ends 0 "$source/scenarios/blocks/blocks.yaml"
has out 'There is no closed loop of connections'
ends 0 --help
has out 'spectral radius'

echo "$n_checks checks, $n_failed failed"
[ "$n_failed" -eq 0 ]
