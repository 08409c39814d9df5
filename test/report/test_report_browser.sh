#!/usr/bin/env bash
# The page in a real browser: pages of runs made here, looked at by test_report_browser.mjs in headless Chromium. Needs
# Chromium and Node 18; no package of either. With YOKE_SCREENSHOTS=DIR the pictures stay there.
set -u
yoke=${YOKE_PROGRAM:?set YOKE_PROGRAM to the program}
source=${YOKE_SOURCE_DIR:?set YOKE_SOURCE_DIR to the source tree}

browser=
for candidate in chromium chromium-browser google-chrome; do
  browser=${browser:-$(command -v $candidate)}
done
if [ -z "$browser" ]; then
  echo "Chromium is missing (Debian package chromium)"
  exit 77
fi
if ! command -v node >/dev/null || [ "$(node -p 'parseInt(process.versions.node)')" -lt 18 ]; then
  echo "Node 18 or later is missing (Debian package nodejs)"
  exit 77
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/pictures"

# run STATUS NAME FILE [ARGUMENTS]: a page in $work/NAME; other exit statuses end the test
run() {
  local expected=$1 name=$2 file=$3
  shift 3
  "$yoke" run "$file" --report --quiet --out "$work/$name" "$@" >"$work/log" 2>&1
  local status=$?
  if [ $status -ne "$expected" ] || [ ! -s "$work/$name/report.html" ]; then
    echo "yoke run $file: status $status, expected $expected and a page:"
    cat "$work/log"
    exit 1
  fi
}

# net N: N oscillators, each pulled by two before it
net() {
  local i inputs
  echo "yoke: 1"
  echo "name: net of $1"
  echo "time: {stop: 0.2, step: 1e-3}"
  echo "units:"
  for ((i = 0; i < $1; i++)); do
    inputs=$([ "$i" -eq 0 ] && echo 'b' || echo 'a, b')
    echo "  unit_$i: {model: state_space, with: {A: [[0, 1], [-40, -1]], B: $([ "$i" -eq 0 ] && echo '[[0], [1]]' || echo '[[0, 0], [1, 1]]'), inputs: [$inputs], outputs: [x, v]}, start: {b: 1}}"
  done
  echo "connections:"
  for ((i = 1; i < $1; i++)); do
    echo "  - unit_$((i / 3)).x -> unit_$i.a"
  done
  for ((i = 4; i < $1; i += 5)); do
    echo "  - unit_$((i - 3)).x -> unit_$i.b"
  done
}

scenarios=$source/scenarios
run 0 chain "$scenarios/three-rate-chain/chain.yaml" --set record.every=10 --trust both
run 0 crane "$scenarios/hydraulic-crane/crane.yaml" --trust both
run 0 long "$scenarios/linear-oscillator/jacobi.yaml" --set time.stop=100 --set record.every=1 --trust none
run 0 typed "$scenarios/typed-signals/typed.yaml" --trust none
run 0 evil "$scenarios/linear-oscillator/jacobi.yaml" --trust none \
  --set 'name="</script><script>alert(1)</script><img src=x onerror=alert(2)><!--<script>"' --set time.stop=1
run 1 failed "$scenarios/linear-oscillator/jacobi.yaml" --set time.step=0.5 --set time.stop=5000 --set record.every=1 --trust none
net 30 >"$work/net30.yaml"
run 0 net30 "$work/net30.yaml" --trust none
net 70 >"$work/net70.yaml"
run 0 net70 "$work/net70.yaml" --trust none

# error bands of a known coupling, whatever the scenario becomes; the same at half the step; and unusual ones
cat >"$work/crane.yaml" <<'END'
yoke: 1
inputs: start
calls: 1
name: hydraulic crane
time: {stop: 10, step: 10e-3}
units:
  arm: {model: crane.arm}
  oil: {model: crane.hydraulics, step: 0.25e-3}
connections:
  - arm.s -> oil.s
bonds:
  piston: {action: oil.f_h -> arm.f_h, rate: arm.v -> oil.v, energy: 1.7e3}
END
run 3 trust "$work/crane.yaml" --trust both
run 0 half "$work/crane.yaml" --set time.step=5e-3 --set units.oil.step=1.25e-4 --trust none
node "$source/test/report/vary_trust.mjs" "$work/trust" "$work" || exit 1
for name in old old-bad zero many hostile nulls diverged unjudged loops; do
  "$yoke" report "$work/$name" >/dev/null || exit 1
done
cp -r "$work/trust" "$work/tabs"
cp "$scenarios/hydraulic-crane/reference.csv" "$work"
(cd "$work" && "$yoke" report tabs --reference reference.csv --before half >/dev/null) || exit 1

node "$source/test/report/test_report_browser.mjs" "$browser" "$work" "${YOKE_SCREENSHOTS:-$work/pictures}"
