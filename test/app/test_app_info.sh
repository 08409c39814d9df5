#!/usr/bin/env bash
# yoke info: the list of models, one model, and a system file, each for people and as JSON.
set -u
yoke=${YOKE_PROGRAM:?set YOKE_PROGRAM to the program}
source_dir=${YOKE_SOURCE_DIR:?set YOKE_SOURCE_DIR to the source folder}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
n_failed=0
n_checks=0
n_skipped=0

check() {
  n_checks=$((n_checks + 1))
  [ "$1" -eq 0 ] && return
  echo "FAILED: $2"
  echo "--- stdout:"; head -c 2000 out
  echo "--- stderr:"; head -c 2000 err
  n_failed=$((n_failed + 1))
}

# info STATUS ARGUMENTS...: messages appear if and only if it is refused, a result if not, or with --json
info() {
  local want=$1 status has_document=0
  shift
  "$yoke" info "$@" >out 2>err
  status=$?
  check "$([ $status -eq "$want" ]; echo $?)" "yoke info $*: status $status, expected $want"
  [ "$want" -eq 0 ] || case " $* " in *' --json '*) has_document=1 ;; esac
  check "$(if [ "$want" -eq 0 ]; then [ -s out ] && [ ! -s err ]
    elif [ $has_document -eq 1 ]; then grep -q '"format": "yoke-failure"' out && [ -s err ]
    else [ ! -s out ] && [ -s err ]; fi; echo $?)" \
    "yoke info $*: result or messages at the wrong place"
}
out_has() { check "$(grep -qE -- "$1" out; echo $?)" "stdout lacks: $1"; }
err_has() { check "$(grep -qF -- "$1" err; echo $?)" "stderr lacks: $1"; }

# json EXPRESSION: holds for the document d
json() {
  if command -v python3 >/dev/null; then
    check "$(python3 -c 'import json, sys; d = json.load(open("out")); sys.exit(not eval(sys.argv[1]))' "$1" 2>>err
      echo $?)" "JSON: not true: $1"
  elif [ $n_skipped -eq 0 ]; then
    echo "skipped: content of the JSON: python3 is missing"
    n_skipped=1
  fi
}

# ---- models
info 0
out_has '^oscillator\.force +[a-z]'
n_models=$(sed '/^$/,$d' out | wc -l)
info 0 --json
json "len(d['models']) == $n_models and all(set(m) == {'name', 'text'} for m in d['models'])"
json "'oscillator.force' in [m['name'] for m in d['models']]"

# every model can be shown in both ways
for model in $("$yoke" info | sed '/^$/,$d' | awk '{ print $1 }'); do
  info 0 "$model"
  out_has "^$model: "
  info 0 "$model" --json
done

# force of the spring: kc (x - x_other) + ..., so f lets x_other through
info 0 oscillator.force
out_has '^ +input +x_other +real +m '
out_has '^feedthrough .*f <- x_other'
info 0 oscillator.force --json
json "{'output': 'f', 'input': 'x_other'} in d['feedthrough']"
json "[v['start'] for v in d['variables'] if v['name'] == 'm'] == [1]"

# ---- a system file, by any name
cat >two.yaml <<'END'
yoke: 1
inputs: start
calls: 1
name: two masses
time: {stop: 1, step: 1e-3}
units:
  left: {model: oscillator.force, with: {k: 10}}
  right: {model: oscillator.mass}
laws: {spring: {law: spring_damper, start: {v1: 0, x2: 0, v2: 0}}}
connections: [right.x -> left.x_other, right.v -> left.v_other, left.f -> right.f, left.x -> spring.x1]
END
cp two.yaml two
cp two.yaml two.txt
for file in two.yaml ./two two two.txt; do
  info 0 $file
  out_has '^two masses: 2 units, 1 laws?, 4 connections, 1 bonds$'
  out_has '^  left +oscillator\.force$'
  out_has '^  spring +spring_damper$'
  info 0 $file --json
  json "d['name'] == 'two masses' and len(d['units']) >= 2"
done
info 0 two.yaml --set name=other
out_has '^other: '
for file in "$source_dir"/scenarios/*/*.yaml; do
  info 0 "$file"
  info 0 --json "$file"
done

# ---- coupling methods
info 0
out_has '^mpsm +model-based'
for method in hold energy nepce interpolate mpsm mbcorr; do
  info 0 $method
  out_has "^$method: "
  out_has '^  order +0 '
  info 0 $method --json
  json "d['name'] == '$method' and isinstance(d['settings'], list)"
done
info 0 mpsm
out_has '^  jacobians +rls +rls, moesp, provided '
out_has '^  form +auto +auto, published, memory '
out_has '^  level +auto +auto, end, mean '
out_has '^  models +- +a file '
check "$([ "$(sed '1,/^  setting /d' out | grep -c '^  [a-z]')" -le 14 ]; echo $?)" 'mpsm has more than 14 settings'

# ---- what is refused
info 2 mpms
err_has "; did you mean 'mpsm'?"
info 2 oscillator.forse
err_has "'oscillator.forse' is neither a model nor a coupling method nor a system file nor an FMU; did you mean 'oscillator.force'?"
info 2 nowhere.yaml
err_has 'nowhere.yaml: error: cannot open the file: No such file or directory'
mkdir folder
info 2 folder
err_has "'folder' is neither a model nor a coupling method nor a system file nor an FMU"
sed 's/oscillator.mass/oscillator.mas/' two.yaml >wrong.yaml
info 2 wrong.yaml
err_has "did you mean 'oscillator.mass'?"
info 2 wrong.yaml --json
info 2 two.yaml --set units.lft.with.k=1
err_has "did you mean 'left'?"
info 2 two.yaml more

# the order that acts: that of a coupling reaches the connections of a bond, and what has no effect is named
cat >orders.yaml <<'END'
yoke: 1
inputs: start
calls: 1
time: {stop: 1, step: 1e-2}
units:
  left: {model: oscillator.force}
  right: {model: oscillator.mass, step: 1e-3}
connections: [{from: right.x, to: left.x_other, order: 0}]
bonds: {spring: {action: left.f -> right.f, rate: right.v -> left.v_other}}
couplings: {loop: {method: hold, order: 2, members: [left, right]}}
END
"$yoke" check orders.yaml >out 2>err
out_has '^  right\.x -> left\.x_other, every 0\.01 s, order 0$'
out_has '^  left\.f -> right\.f, every 0\.01 s, order 2$'
out_has '^  right\.v -> left\.v_other, every 0\.01 s, order 0 \(the unit is called once per exchange; order 2 does not act\)$'
"$yoke" check orders.yaml --json >out 2>err
json '[(c["order"], c["acting_order"], c["order_because"] != "") for c in d["connections"]] == [(0, 0, False), (2, 2, False), (2, 0, True)]'

echo "$n_checks checks, $n_failed failed, $n_skipped skipped"
[ "$n_failed" -eq 0 ]
