#!/usr/bin/env bash
# Typed values of FMUs through whole systems: every width, texts, enumerations by name, arrays with structural parameters,
# single elements, tunable parameters that are connected; what does not fit is refused by name.
set -u
yoke=${YOKE_PROGRAM:?set YOKE_PROGRAM to the program}
source_dir=${YOKE_SOURCE_DIR:?set YOKE_SOURCE_DIR to the source folder}
fmus=${YOKE_FMUS:?set YOKE_FMUS to the folder of the test FMUs}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
# shellcheck source=test/support/output_cases.sh
. "$source_dir/test/support/output_cases.sh"

# last FOLDER COLUMN: the value in the last row; quotes protect commas
last() {
  awk -v want="$2" '
    function cut(line, to,   n, i, c, is_quoted) {
      n = 1; to[1] = ""; is_quoted = 0
      for (i = 1; i <= length(line); i++) {
        c = substr(line, i, 1)
        if (c == "\"") is_quoted = !is_quoted
        else if (c == "," && !is_quoted) to[++n] = ""
        else to[n] = to[n] c
      }
      return n
    }
    NR == 1 { n = cut($0, names); for (i = 1; i <= n; i++) if (names[i] == want) k = i }
    { cut($0, values) }
    END { print k == 0 ? "no column " want : values[k] }' "$1/results.csv"
}
is() {
  local got
  got=$(last "$1" "$2")
  n_checks=$((n_checks + 1))
  [ "$got" = "$3" ] || fail "$2 is '$got', expected '$3'"
}

# ---- all types from one FMU to another, here and isolated
for isolate in '' ', isolate: process'; do
  cat >all.yaml <<EOF
yoke: 1
inputs: start
calls: 1
time: {start: 0, stop: 0.03, step: 0.01}
units:
  a:
    fmu: $fmus/feedthrough3.fmu
    start: {Float64_in: 1.25, Float32_in: 0.1, Int8_in: -128, UInt8_in: 255, Int16_in: -32768, UInt16_in: 65535, Int32_in: -2147483648, UInt32_in: 4294967295,
      Int64_in: -9223372036854775808, UInt64_in: 9223372036854775807, Boolean_in: true, String_in: "grün; \"zwei\"", Enumeration_in: high,
      Float64_array_in: [[1, 2, 3], [4, 5, 6]], Int32_array_in: [1, 2, 3], Boolean_array_in: [true, false], String_array_in: [x, y], Enumeration_array_in: [low, high]}
  b: {fmu: $fmus/feedthrough3.fmu$isolate}
connections:
$(for v in Float64 Float32 Int8 UInt8 Int16 UInt16 Int32 UInt32 Int64 UInt64 Boolean String Binary Enumeration Int32_array Boolean_array String_array Binary_array Enumeration_array; do
    echo "  - a.${v}_out -> b.${v}_in"
  done)
  - a.Float64_array_out[4] -> b.Float64_array_in[0]
  - "a.Float64_array_out[1,2] -> b.Float64_array_in[1]"
  - a.Float64_out -> b.bias
record: {signals: ["*", b.bias, b.Int16_in, b.time]}
EOF
  run 0 run all.yaml --out all --quiet
  is all b.Float64_out 2.5
  is all b.Float32_out 0.10000000149011612
  is all b.Int8_out -128
  is all b.UInt8_out 255
  is all b.Int16_out -32768
  is all b.UInt16_out 65535
  is all b.Int32_out -2147483648
  is all b.UInt32_out 4294967295
  is all b.Int64_out -9223372036854775808
  is all b.UInt64_out 9223372036854775807
  is all b.Boolean_out 1
  is all b.Enumeration_out 10
  is all 'b.Float64_array_out[0,0]' 5
  is all 'b.Float64_array_out[0,1]' 6
  is all 'b.Float64_array_out[0,2]' 0
  is all 'b.Int32_array_out[2]' 3
  is all 'b.Boolean_array_out[0]' 1
  is all 'b.Boolean_array_out[1]' 0
  is all 'b.String_array_out[1]' y
  is all 'b.Enumeration_array_out[1]' 10
  is all b.bias 1.25
  is all b.Int16_in -32768
  is all b.time 0.03
  n_checks=$((n_checks + 1))
  grep -q '"grün; ""zwei""",.*"grün; ""zwei"""' all/results.csv || fail "the text did not arrive"
done

# ---- numbers into numbers: FMI 2.0, gain and offset
cat >mixed.yaml <<EOF
yoke: 1
inputs: start
calls: 1
time: {start: 0, stop: 0.03, step: 0.01}
units:
  a: {fmu: $fmus/feedthrough2.fmu, start: {Int32_in: 7, Boolean_in: true}}
  b: {fmu: $fmus/feedthrough2.fmu}
  c: {fmu: $fmus/feedthrough3.fmu}
connections:
  - {from: a.Int32_out, to: b.Float64_in}
  - {from: a.Boolean_out, to: c.Float64_in, gain: 3, offset: 1}
  - a.Boolean_out -> b.Int32_in
  - a.Int32_out -> c.Int8_in
EOF
run 0 run mixed.yaml --out mixed --quiet
is mixed b.Float64_out 7
is mixed c.Float64_out 4
is mixed b.Int32_out 1
is mixed c.Int8_out 7

# ---- an enumeration is the value of its item (low 1, middle 4, high 10) in files, integers and reals
cat >values.yaml <<EOF
yoke: 1
inputs: start
calls: 1
time: {start: 0, stop: 0.03, step: 0.01}
units:
  a: {fmu: $fmus/feedthrough2.fmu, start: {Enumeration_in: high, Int32_in: 4}}
  b: {fmu: $fmus/feedthrough3.fmu}
  c: {fmu: $fmus/feedthrough3.fmu}
connections:
  - a.Enumeration_out -> b.Int32_in
  - a.Int32_out -> b.Enumeration_in
  - a.Enumeration_out -> c.Enumeration_in
  - a.Enumeration_out -> c.Float64_in
record: {signals: [a.Enumeration_out, b.Int32_out, b.Enumeration_out, c.Enumeration_out, c.Float64_out]}
EOF
run 0 run values.yaml --out values
is values a.Enumeration_out 10
is values b.Int32_out 10
is values b.Enumeration_out 4
is values c.Enumeration_out 10
is values c.Float64_out 10
run 2 run values.yaml --set units.a.start.Int32_in=5 --out values
err_has "'Enumeration_in' refused the value it received"

# ---- what does not fit
run 2 run mixed.yaml --set units.a.start.Int32_in=300 --out bad
err_has "300 does not fit Int8 of 'Int8_in'"
cp -r "$fmus/feedthrough2" other
sed -i 's/name="middle"/name="centre"/' other/modelDescription.xml
cat >items.yaml <<EOF
yoke: 1
inputs: start
calls: 1
time: {start: 0, stop: 0.03, step: 0.01}
units:
  a: {fmu: $fmus/feedthrough2.fmu}
  b: {fmu: other}
connections:
  - a.Enumeration_out -> b.Enumeration_in
EOF
run 2 run items.yaml --out bad
err_has 'items.yaml:9:5: error: enumerations a.Enumeration_out and b.Enumeration_in have different items'

# ---- arrays whose sizes the system file gives: x' = A x + B u by Euler steps of the FMU
cat >arrays.yaml <<EOF
yoke: 1
inputs: start
calls: 1
time: {start: 0, stop: 0.02, step: 0.01}
units:
  b: {fmu: $fmus/arrays3.fmu, with: {n: 2, m: 2, r: 2, A: [[-1, 0], [0, -2]], B: [[1, 0], [0, 1]], C: [[1, 0], [0, 1]], D: [[0, 0], [0, 0]], x0: [1, 2]}}
  c: {fmu: $fmus/arrays3.fmu, with: {m: 2, r: 4}}
connections:
  - b.y[1] -> c.u[0]
  - b.y[0] -> b.u[1]
record: {signals: ["*", b.A, b.u]}
EOF
run 0 run arrays.yaml --out arrays --quiet
is arrays 'b.y[0]' 0.9801
is arrays 'b.y[1]' 1.9405
is arrays 'c.y[0]' 1.0196
is arrays 'c.y[3]' 0
is arrays 'b.A[1,1]' -2
run 2 run arrays.yaml --set units.b.with.n=-1 --out bad
err_has "'n' = -1 is no size"

echo "$n_checks checks, $n_failed failed, $n_skipped skipped"
[ "$n_failed" -eq 0 ]
