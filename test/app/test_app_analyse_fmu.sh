#!/usr/bin/env bash
# yoke analyse and yoke analyse --run: the same limits, radii and exponents for native units and for the FMUs exported from
# them, and where the internal step of an FMU comes from.
set -u
export LC_ALL=C
yoke=${YOKE_PROGRAM:?set YOKE_PROGRAM to the program}
source=${YOKE_SOURCE_DIR:?path of the source tree}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
mkdir tmp
export TMPDIR=$work/tmp
mass=$source/scenarios/dual-mass

command=analyse limit=120
. "$source/test/support/study_cases.sh"
command -v unzip >/dev/null || { echo "skipped: unzip is missing"; exit 77; }

# figures FILE: a text without the names of models and files
figures() { sed -E 's/^(.{15})(state_space|dual_mass\.[a-z]*|helicopter\.[a-z]*|rotor\.[a-z]*|[a-z]*\.fmu) +/\1/' "$1"; }
# same WHAT: the text in `out` has the figures of the text in `want`
same() {
  figures out >out.figures
  is "$1: same figures as native" cmp -s want.figures out.figures
  diff want.figures out.figures
}

# ---- the same figures

# state spaces by explicit Euler; models that are linear by their parameters; one that is not; one exact, one by Euler
cat >shaft.yaml <<'YAML'
yoke: 1
name: two inertias
time: {stop: 40, step: 0.1}
units:
  shaft: {model: rotor.shaft, start: {phi: 0.1}}
  load: {model: rotor.load, with: {solver: euler, micro_steps: 4}}
connections: [load.omega -> shaft.omega_other, shaft.tau -> load.tau]
couplings: {loop: {method: mpsm, members: [shaft, load], learning: 100, switching: 1, form: published, level: end}}
YAML
for pair in "$mass/mpsm.yaml 0.3" "$mass/pulsed-mpsm.yaml 0.2" "$mass/nonlinear-mpsm.yaml 0.35" "shaft.yaml 40"; do
  read -r system stop <<<"$pair"
  name=$(basename "$system" .yaml)
  # one method of each form, on a coarse grid
  ends 0 "$system" --methods hold,nepce,mpsm,mbcorr,file --resolution 5e-4 --largest 4e-3
  figures out >"$name.limits"
  "$yoke" run "$system" --set time.stop="$stop" --trust none --quiet --out "$name-native" >out 2>err
  ends 0 --run "$name-native"
  cp out "$name.native"
  figures out >"$name.run"
  for fmi in 2 3; do
    "$yoke" export "$system" --ssp --fmi $fmi -o "$name-$fmi.ssp" >out 2>err
    is "export of $name with FMI $fmi" test -s "$name-$fmi.ssp"
    ends 0 "$name-$fmi.ssp" --methods hold,nepce,mpsm,mbcorr,file --resolution 5e-4 --largest 4e-3
    cp "$name.limits" want.figures
    same "$name, limits, FMI $fmi"
    "$yoke" run "$name-$fmi.ssp" --set time.stop="$stop" --trust none --quiet --out "$name-fmu$fmi" >out 2>err
    ends 0 --run "$name-fmu$fmi"
    cp "$name.run" want.figures
    same "$name, --run, FMI $fmi"
  done
done
# the exponents that were asked for
has mpsm.native '    25        55  0.967529'
has mpsm.native '    50        30  0.954027'
is 'two own models' test "$(grep -c 'its own linear model, solver: explicit Euler, 1e-05 s' mpsm.native)" -eq 2
has nonlinear-mpsm.native 'right            the identified model replaces it'
has shaft.native 'shaft            its own linear model, solver: exact'
has shaft.native 'load             its own linear model, solver: explicit Euler, 0.025 s'

# parameters of the FMU count, not what it was exported with
ends 0 "$mass/pulsed-mpsm.yaml" --set units.left.with.micro_steps=50 --set units.right.with.micro_steps=50 --methods hold
figures out >want.figures
ends 0 pulsed-mpsm-3.ssp --set units.left.values.micro_steps=50 --set units.right.values.micro_steps=50 --methods hold
has out 'explicit Euler, 2e-05 s'
same 'other internal steps'
"$yoke" run pulsed-mpsm-2.ssp --set time.stop=0.2 --set units.right.values.kc_exponent=0.5 --trust none --quiet --out bent >out 2>err
ends 0 --run bent --set units.right.values.kc_exponent=0.5
has out 'left             its own linear model'
has out 'right            the identified model replaces it'

# ---- where the internal step comes from

for fmi in 2 3; do
  for unit in left right; do
    "$yoke" export "$mass/held.yaml" --unit $unit --fmi $fmi -o $unit.fmu >out 2>err
    unzip -q $unit.fmu -d $unit-$fmi
    # as somebody else would have made it
    sed -i '/<\(Vendor\)\{0,1\}Annotations>/,/<\/\(Vendor\)\{0,1\}Annotations>/d' $unit-$fmi/modelDescription.xml
    is "no annotation of $unit is left" test "$(grep -c YokeUnit $unit-$fmi/modelDescription.xml)" -eq 0
  done
  sed "s/model: state_space/fmu: DIR-$fmi/; /with:/,/micro_steps/d" "$mass/held.yaml" >plain-$fmi.yaml
  sed -i "0,/DIR/s//left/; 0,/DIR/s//right/" plain-$fmi.yaml
done
ends 0 "$mass/held.yaml" --methods hold,mpsm
figures out | grep -v '^left\|^right' >native.figures
# tail of `out` against that of native units
as_native() { figures out | grep -v '^left\|^right' | cmp -s native.figures -; }

ends 0 plain-2.yaml --methods hold,mpsm
has out "note: unit 'left' is treated as exact: its internal step is unknown; give it with \`internal_step\`"
has out "note: unit 'right' is treated as exact: its internal step is unknown; give it with \`internal_step\`"
is 'exact is not what runs' test "$(grep -c '1.05574182' out)" -eq 0
ends 0 plain-2.yaml --methods hold,mpsm --set units.left.internal_step=1e-5 --set units.right.internal_step=1e-5
is 'two steps from the file' test "$(grep -c 'explicit Euler assumed, 1e-05 s' out)" -eq 2
is 'as native' as_native
ends 0 plain-2.yaml --methods hold --set units.left.internal_step=0 --set units.right.internal_step=1e-5
has out 'yes   exact'
is 'no note' test "$(grep -c 'treated as exact' out)" -eq 0
# FMI 3.0 has an attribute
sed -i 's/<CoSimulation /&fixedInternalStepSize="1e-05" /' left-3/modelDescription.xml right-3/modelDescription.xml
ends 0 plain-3.yaml --methods hold,mpsm
is 'two steps from the attribute' test "$(grep -c 'explicit Euler assumed, 1e-05 s' out)" -eq 2
is 'as native' as_native
# the file comes first
ends 0 plain-3.yaml --methods hold --set units.left.internal_step=3e-5 --set units.left.isolate=process
has out 'explicit Euler assumed, 3e-05 s'
# then our annotation, which says more than the attribute
unzip -q -o left.fmu -d left-3
sed -i 's/<CoSimulation /&fixedInternalStepSize="0.5" /' left-3/modelDescription.xml
ends 0 plain-3.yaml --methods hold
has out 'explicit Euler, 1e-05 s'
has out 'explicit Euler assumed, 1e-05 s'
# an annotation that contradicts itself says nothing
sed -i 's/micro_steps"\/>/no_such_variable"\/>/; s/ fixedInternalStepSize="0.5"//' left-3/modelDescription.xml
is 'broken annotation' grep -q no_such_variable left-3/modelDescription.xml
ends 0 plain-3.yaml --methods hold
has out "note: unit 'left' is treated as exact"

# ---- FMUs that neither say anything about their slopes nor can go back

# without FILE...: the attributes that offer it
without() {
  sed -i -E 's/ (canGetAndSetFMUstate|canSerializeFMUstate|canGetAndSetFMUState|canSerializeFMUState|providesDirectionalDerivatives?)="true"//g' "$@"
}
for fmi in 2 3; do
  for unit in force mass; do
    "$yoke" export "oscillator.$unit" --fmi $fmi -o "$unit.fmu" >out 2>err
    unzip -q -o "$unit.fmu" -d "$unit-kept-$fmi"
    unzip -q -o "$unit.fmu" -d "$unit-bare-$fmi"
    sed -i -E 's/ providesDirectionalDerivatives?="true"//' "$unit-kept-$fmi/modelDescription.xml"
    without "$unit-bare-$fmi/modelDescription.xml"
  done
  for kind in kept bare; do
    cat >$kind.yaml <<YAML
yoke: 1
name: two masses
inputs: start
calls: 1
time: {stop: 10, step: 0.05}
units:
  left: {fmu: force-$kind-$fmi, step: 0.001, with: {m: 1, k: 10, c: 0.5, kc: 100, cc: 1}, start: {v: 1}}
  right: {fmu: mass-$kind-$fmi, step: 0.001, with: {m: 1, k: 100, c: 0.5}, start: {v: -1}}
connections: [right.x -> left.x_other, right.v -> left.v_other, left.f -> right.f]
YAML
    ends 0 $kind.yaml --methods hold,nepce,file --at 0.5
    grep -E '^(hold|nepce|file|coupled exactly:) ' out >$kind.rows
    has out "$([ $kind = bare ] && echo 'identified from ' || echo 'by differences of calls of 0.001 s')"
  done
  # shaken on their way and tried at a point: the same table
  is "four rows each, FMI $fmi" test "$(lines kept.rows) $(lines bare.rows)" = '4 4'
  is "the same without saved states, FMI $fmi" awk '
    NR == FNR { radius[$1] = $2; first[$1] = $4; next }
    /^coupled/ { next }
    { d = $2 - radius[$1]; if (d > 1e-6 || d < -1e-6 || $4 != first[$1]) bad = 1 }
    END { exit bad }' kept.rows bare.rows
done
# a motion of 94 1/s beside exchanges every 50 ms, where it would look like one of 33 1/s
"$yoke" export state_space --fmi 2 --with 'A=[[0, 1], [-8836, -9.4]]' --with 'B=[[0], [8836]]' -o fast.fmu >out 2>err
for kind in kept bare; do
  unzip -q -o fast.fmu -d fast-$kind
  sed -i -E 's/ providesDirectionalDerivatives?="true"//' fast-$kind/modelDescription.xml
  cat >fast-$kind.yaml <<YAML
yoke: 1
inputs: start
calls: 1
time: {stop: 1, step: 0.05}
units:
  plant: {fmu: fast-$kind, step: 0.001}
  filter: {model: state_space, with: {solver: exact, A: [[-40]], B: [[-10]]}}
connections: [{from: plant.y1, to: filter.u1, order: 1}, {from: filter.y1, to: plant.u1, order: 1}]
YAML
done
without fast-bare/modelDescription.xml
for kind in kept bare; do
  ends 0 fast-$kind.yaml --methods file
  has out '94 to 94'
done
# noise follows from no equation; a unit that does not answer has no motion
"$yoke" export channel --fmi 2 -o channel.fmu >out 2>err
unzip -q -o channel.fmu -d channel
without channel/modelDescription.xml
cat >noisy.yaml <<'YAML'
yoke: 1
inputs: start
calls: 1
time: {stop: 10, step: 0.05}
units:
  link: {fmu: channel, with: {noise: 1}}
  back: {model: state_space, with: {A: [[-1]], B: [[1]]}}
connections: ["link.y[0] -> back.u1", "back.y1 -> link.u[0]"]
YAML
ends 2 noisy.yaml --methods hold
has err 'it cannot restore its state, and its outputs under perturbed inputs do not fit a linear model'
ends 0 noisy.yaml --methods hold --set units.link.with.noise=0
has out 'identified from '

# ---- bad input

ends 2 plain-2.yaml --set units.left.internal_step=-1
has err 'internal_step'
ends 2 "$mass/held.yaml" --set units.left.internal_step=1e-5
has err "'internal_step' is for FMUs"
if [ -n "${YOKE_FMUS:-}" ] && [ -f "$YOKE_FMUS/sine_me2.fmu" ]; then
  printf 'yoke: 1\ntime: {stop: 1, step: 0.1}\nunits: {a: {fmu: %s, internal_step: 0.1}}\n' "$YOKE_FMUS/sine_me2.fmu" >me.yaml
  ends 2 me.yaml
  has err 'is for co-simulation'
fi

echo "$n_checks checks, $n_failed failed"
[ "$n_failed" -eq 0 ]
