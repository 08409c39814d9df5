#!/bin/bash
# Every ready-made system runs and shows what its first lines say. The first line is for people; every further line that
# starts with # must be one of these (comments elsewhere in the file are indented or stand behind something):
#   # expect: 0                       exit status of yoke run
#   # verdict: trustworthy            verdict with both companions
#   # reference: reference.csv        what the compare and energy lines refer to; this is the default
#   # compare: arm.s max=1e-3..2e-3   a measure of yoke compare and the range it must lie in
#   # energy: 2.0243                  energy at the end over that of the reference, masses of the oscillators with
#   # energy-root: 1.0872             a linear or a square-root coupling spring of 100; +- 0.0001, last digit printed
#   # value: right.v 10 -169.06 1e-2  a signal at a time, and the tolerance
#   # text: name.text 1 middle        the same for a signal that is no number
# The numbers are those of the specification (CS-05, CS-07, CS-08, CS-09, CS-21, CS-24, CS-26) or bounds from theory.
set -u
export LC_ALL=C
program=${YOKE_PROGRAM:?path of the yoke program}
source=${YOKE_SOURCE_DIR:?path of the source tree}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
n_checks=0
n_bad=0

pass() { n_checks=$((n_checks + 1)); }
bad() {
  n_checks=$((n_checks + 1))
  n_bad=$((n_bad + 1))
  echo "FAILED: $*"
}

# cell FILE SIGNAL TIME: the cell of a result in the row of that time
cell() {
  awk -F, -v signal="$2" -v time="$3" '
    { sub(/\r$/, "") }
    NR == 1 { for (i = 1; i <= NF; i++) if ($i == signal) column = i; next }
    column && ($1 - time)^2 < 1e-18 { print $column; exit }' "$1"
}

# is_between VALUE LOW HIGH; anything that is no number is not
is_between() {
  awk -v x="$1" -v low="$2" -v high="$3" 'BEGIN { exit !(x ~ /^[-+0-9.]/ && x + 0 >= low + 0 && x + 0 <= high + 0) }'
}

# energy FILE KIND: of two unit masses on springs of 10 and 1000 with a coupling spring of 100, in the last row
energy() {
  awk -F, -v kind="$2" '
    function stored(k, e) { if (e < 0) e = -e; return kind == "root" ? 2 / 3 * k * e ^ 1.5 : k * e * e / 2 }
    { sub(/\r$/, "") }
    NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
    END { x = $at["left.x"]; v = $at["left.v"]; y = $at["right.x"]; w = $at["right.v"]
          printf "%.12g\n", (v * v + w * w) / 2 + stored(10, x) + stored(1000, y) + stored(100, x - y) }' "$1"
}

# check_compare RESULT REFERENCE SIGNAL MEASURE=LOW..HIGH
check_compare() {
  local measure=${4%%=*} range=${4#*=} value
  value=$("$program" compare "$1" "$2" --signal "$3" --measure "$measure" 2>&1 |
    awk -v signal="$3" '$1 == signal { print $2 }')
  if is_between "$value" "${range%..*}" "${range#*..}"; then
    pass
  else
    bad "$name: $3: $measure is '$value', expected $range"
  fi
}

check_energy() {
  local kind=$1 want=$2 result=$3 reference=$4 ratio
  ratio=$(awk -v a="$(energy "$result" "$kind")" -v b="$(energy "$reference" "$kind")" 'BEGIN { printf "%.6f", a / b }')
  if awk -v a="$ratio" -v b="$want" 'BEGIN { d = a - b; exit !(d * d <= 1e-8) }'; then
    pass
  else
    bad "$name: energy is $ratio times that of the reference, expected $want"
  fi
}

# is_promise LINE: one of the lines explained above, without "# "
is_promise() {
  local number='[-+]?[0-9][0-9.]*([eE][-+]?[0-9]+)?'
  [[ $1 =~ ^expect:\ [0-9]+$ || $1 =~ ^verdict:\ (trustworthy|doubtful|wrong)$ ||
    $1 =~ ^reference:\ [^\ ]+$ || $1 =~ ^energy(-root)?:\ $number$ ||
    $1 =~ ^compare:\ [^\ ]+\ (nrmse|rmse|max|end)=$number\.\.$number$ ||
    $1 =~ ^value:\ [^\ ]+\ $number\ $number\ $number$ || $1 =~ ^text:\ [^\ ]+\ $number\ [^\ ]+$ ]]
}

# check_lines SYSTEM RESULT: what the comments of a system file promise
check_lines() {
  local system=$1 result=$2 line words reference got
  reference=$(sed -n 's/^# reference: //p' "$system")
  reference=$(dirname "$system")/${reference:-reference.csv}
  while read -r line; do
    if ! is_promise "$line"; then
      bad "$name: '# $line' is none of the lines that are checked"
      continue
    fi
    read -ra words <<<"$line"
    case $line in
    'compare: '*) check_compare "$result" "$reference" "${words[1]}" "${words[2]}" ;;
    'energy: '*) check_energy linear "${words[1]}" "$result" "$reference" ;;
    'energy-root: '*) check_energy root "${words[1]}" "$result" "$reference" ;;
    'value: '*)
      got=$(cell "$result" "${words[1]}" "${words[2]}")
      if awk -v a="$got" -v b="${words[3]}" -v t="${words[4]}" \
        'BEGIN { d = a - b; exit !(a ~ /^[-+0-9.]/ && d <= t + 0 && -d <= t + 0) }'; then
        pass
      else
        bad "$name: ${words[1]} is '$got' at ${words[2]} s, expected ${words[3]} +- ${words[4]}"
      fi
      ;;
    'text: '*)
      got=$(cell "$result" "${words[1]}" "${words[2]}")
      if [ "$got" = "${words[3]}" ]; then pass; else
        bad "$name: ${words[1]} is '$got' at ${words[2]} s, expected '${words[3]}'"
      fi
      ;;
    esac
  done < <(sed -n '2,$s/^# \{0,1\}//p' "$system")
}

# check_verdict SYSTEM RESULT: the verdict of the run; a system that is wrong and ends with 0 gives the reason
check_verdict() {
  local system=$1 result=$2 want got
  want=$(sed -n 's/^# verdict: //p' "$system")
  got=$(sed -n '/^  "trust": {/,/^  }/s/^    "verdict": "\(.*\)",$/\1/p' "$result/summary.json")
  if [ -n "$want" ] && [ "$got" = "$want" ]; then pass; else
    bad "$name: the verdict is '$got', expected '$want'"
  fi
  if [ "$want" = wrong ] && [ "$expected" -eq 0 ] && ! grep -q '^trust: {status: false}  *# ' "$system"; then
    bad "$name: is wrong and ends with 0: expected 'trust: {status: false}  # REASON'"
  fi
}

# run SYSTEM OUT [ARGUMENTS]: status of the run; what it said is shown when it is not the one expected
run() {
  local system=$1 out=$2 status
  shift 2
  "$program" run "$system" --quiet --strict --out "$out" "$@" >"$work/log" 2>&1
  status=$?
  if [ $status -eq "$expected" ]; then
    pass
  else
    bad "$name: yoke run ended with $status, expected $expected"
    cat "$work/log"
  fi
}

n_systems=0
for system in "$source"/scenarios/*/*.yaml; do
  [ -f "$system" ] || continue
  n_systems=$((n_systems + 1))
  name=${system#"$source"/scenarios/}
  out=$work/${name%.yaml}
  mkdir -p "$out"

  # the first line says what the system shows, the second how it ends
  expected=$(sed -n 's/^# expect: //p' "$system")
  if [[ $(head -n 1 "$system") != '# '* || ! $expected =~ ^[0-9]+$ ]]; then
    bad "$name: the first line must be a comment that says what it shows, and one, once, must say '# expect: STATUS'"
    continue
  fi
  if "$program" check "$system" >"$work/log" 2>&1; then pass; else
    bad "$name: yoke check"
    cat "$work/log"
  fi
  run "$system" "$out/first" --trust both
  check_verdict "$system" "$out/first"
  # the first system of each folder also shows that the number of threads does not matter; none, that companions do not
  threads=1
  [ "$(dirname "$name")" = "${folder:-}" ] || threads=2
  folder=$(dirname "$name")
  run "$system" "$out/second" --threads $threads --trust none --no-verdict
  if cmp -s "$out/first/results.csv" "$out/second/results.csv"; then pass; else
    bad "$name: two runs, the second with $threads threads and no companions, gave different bytes"
  fi
  check_lines "$system" "$out/first/results.csv"
done

# a comparison must be able to fail
name='the checks themselves'
crane=$source/scenarios/hydraulic-crane
before=$n_bad
{
  check_compare "$work/hydraulic-crane/crane/first" "$crane/reference.csv" arm.s max=0..1e-3
  check_compare "$work/hydraulic-crane/crane/first" "$crane/reference.csv" arm.nothing max=0..1
  check_energy linear 2.0 "$work/linear-oscillator/jacobi/first/results.csv" \
    "$source/scenarios/linear-oscillator/reference.csv"
} >"$work/log"
if [ $((n_bad - before)) -eq 3 ]; then n_bad=$before; else bad "$name: wrong numbers passed"; fi
for line in 'compare arm.s max=0..1' 'compare: arm.s max=0.1' 'compare: arm.s' 'compare: arm.s mxa=0..1' 'energy 2.0' \
  'energy: two' 'value: a.x 1 2' 'text: a.x 1' 'expect 0' 'expect:0' 'verdict: good' 'reference:' 'a remark' ''; do
  if is_promise "$line"; then bad "$name: '# $line' passes for a line that is checked"; else pass; fi
done

# couplings without feedthrough, fresh exchange and converged iteration are the same numbers (CS-07, CS-08)
name='equal numbers'
expected=0
for other in fresh displacement iterative; do
  check_compare "$work/linear-oscillator/$other/first" "$work/linear-oscillator/force/first" right.x max=0..1e-8
done
run "$source/scenarios/linear-oscillator/spring-unit.yaml" "$work/spring-fresh" --set exchange=fresh --trust none --no-verdict
check_compare "$work/spring-fresh" "$work/linear-oscillator/force/first" right.x max=0..1e-12

# mean inputs are of second order: halving the step quarters the error (TR-11)
name='order of the iteration with mean inputs'
mean=$source/scenarios/linear-oscillator
run "$mean/iterative-mean.yaml" "$work/mean-half" --set time.step=5e-4 --set record.every=20 --trust none --no-verdict
mean_error() {
  "$program" compare "$1" "$mean/reference.csv" --signal right.x --measure rmse | awk '$1 == "right.x" { print $2 }'
}
ratio=$(awk -v a="$(mean_error "$work/linear-oscillator/iterative-mean/first")" -v b="$(mean_error "$work/mean-half")" \
  'BEGIN { printf "%.4f", a / b }')
if is_between "$ratio" 3.5 4.5; then pass; else bad "$name: errors have the ratio $ratio, expected 3.5..4.5"; fi

# an iteration with inputs at the start of one call per exchange is Jacobi, and says so (TR-11)
name='iteration with start values'
run "$mean/displacement.yaml" "$work/start-values" --set scheme=iterative-jacobi --set iteration.mode=interpolate \
  --trust none --no-verdict
check_compare "$work/start-values" "$work/linear-oscillator/displacement/first" right.x max=0..0
if grep -q '"effective": false' "$work/start-values/summary.json" &&
  grep -q 'iteration: the inputs did not change: the result is that of scheme: jacobi' "$work/start-values/summary.json"; then
  pass
else
  bad "$name: nothing is said about it"
fi
if "$program" check "$mean/displacement.yaml" --set scheme=iterative-jacobi --set iteration.mode=interpolate |
  grep -q '^iteration   mode interpolate, .*; no input changes: .*as in scheme: jacobi$' &&
  "$program" check "$mean/iterative-mean.yaml" | grep -q '^iteration   mode mean, update fixed-point, tolerance 1e-12, at most 50$'; then
  pass
else
  bad "$name: check says something else"
fi

# halving every step halves the error of the chain: the coupling and two of the solvers are of first order
name='order of the three-rate chain'
chain=$source/scenarios/three-rate-chain
run "$chain/chain.yaml" "$work/half" --set time.step=5e-5 --set units.left.step=5e-4 --set units.middle.step=2.5e-4 \
  --set units.right.step=5e-5 --set record.every=200 --trust none --no-verdict
error_of() {
  "$program" compare "$1" "$chain/reference.csv" --signal right.x --measure rmse | awk '$1 == "right.x" { print $2 }'
}
ratio=$(awk -v a="$(error_of "$work/three-rate-chain/chain/first")" -v b="$(error_of "$work/half")" \
  'BEGIN { printf "%.4f", a / b }')
if is_between "$ratio" 1.8 2.2; then pass; else bad "$name: errors have the ratio $ratio, expected 1.8..2.2"; fi

# every folder explains itself
for folder in "$source"/scenarios/*/; do
  if [ -s "$folder/README.md" ]; then pass; else bad "$folder has no README.md"; fi
  for system in "$folder"*.yaml; do
    [ -f "$system" ] || continue
    if grep -q -F "$(basename "$system")" "$folder/README.md" 2>/dev/null; then pass; else
      bad "$folder/README.md does not mention $(basename "$system")"
    fi
  done
done
if [ $n_systems -eq 0 ]; then bad "there are no systems under scenarios/"; fi

echo "$n_systems systems, $n_checks checks, $n_bad failed (chain: error ratio $ratio per halving)"
[ $n_bad -eq 0 ]
