#!/usr/bin/env bash
# Playback of every type into FMUs of both versions: values, steps at repeated times, here and isolated; the same unit exported as
# an FMU and the system as SSP give the same bytes; yoke check shows the types; cells that do not fit are refused with their place.
set -u
yoke=${YOKE_PROGRAM:?set YOKE_PROGRAM to the program}
source_dir=${YOKE_SOURCE_DIR:?set YOKE_SOURCE_DIR to the source folder}
fmus=${YOKE_FMUS:?set YOKE_FMUS to the folder of the test FMUs}
[ -f "$fmus/feedthrough2.fmu" ] || { echo "skipped: no test FMUs in $fmus"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
# shellcheck source=test/support/output_cases.sh
. "$source_dir/test/support/output_cases.sh"

same() {
  n_checks=$((n_checks + 1))
  cmp "$1/results.csv" "$2/results.csv" >out 2>err || fail "$1 and $2 differ"
}

cat >drive.csv <<'EOF'
time,gear,on,mode,note,u
0,1,true,low,"start, now",0
0.5,2,false,high,,10
0.5,3,1,high,"b ""q""",20
1,4,0,middle,end,30
EOF
with='file: drive.csv, integers: [gear], booleans: [on], enumerations: [mode], items: [low, middle, high], strings: [note], gaps: hold'
# system NAME UNIT FMU [MORE]: the unit `drive` and a feedthrough of its signals
system() {
  cat >"$1.yaml" <<EOF
yoke: 1
inputs: start
calls: 1
time: {stop: 1.2, step: 0.1}
units:
  drive: $2
  a: {fmu: $fmus/$3.fmu${4:-}}
connections: [drive.gear -> a.Int32_in, drive.on -> a.Boolean_in, drive.mode -> a.Enumeration_in, drive.note -> a.String_in, drive.u -> a.Float64_in]
record: {signals: [drive.gear, drive.on, drive.mode, drive.note, drive.u, a.Int32_out, a.Boolean_out, a.Enumeration_out, a.String_out, a.Float64_out]}
EOF
}

# ---- values: the feedthrough is a step behind, and shows the numbers of the items
cat >want.csv <<'EOF'
time,drive.gear,drive.on,drive.mode,drive.note,drive.u,a.Float64_out,a.Int32_out,a.Boolean_out,a.String_out,a.Enumeration_out
0,1,1,0,"start, now",0,0,1,1,"start, now",1
0.4,1,1,0,"start, now",8,6,1,1,"start, now",1
0.5,3,1,2,"b ""q""",20,8,1,1,"start, now",1
0.6,3,1,2,"b ""q""",22,20,3,1,"b ""q""",10
1,4,0,1,end,30,28,3,1,"b ""q""",10
1.1,4,0,1,end,30,30,4,0,end,4
EOF
for fmi in 2 3; do
  system native-$fmi "{model: playback, with: {$with}}" feedthrough$fmi
  run 0 run native-$fmi.yaml --out native-$fmi --quiet
  # 0.3 * 20 is rounded up in its last digit
  sed 's/6\.000000000000001/6/' native-$fmi/results.csv | grep -E '^(time|0|0\.4|0\.5|0\.6|1|1\.1),' >got.csv
  n_checks=$((n_checks + 1))
  diff want.csv got.csv >out 2>err || fail "other values with FMI $fmi"
done
same native-2 native-3

# ---- isolated, either unit
system isolated "{model: playback, with: {$with}, isolate: process}" feedthrough3 ', isolate: process'
run 0 run isolated.yaml --out isolated --quiet
same native-3 isolated

# ---- as an FMU, and as an SSP
for fmi in 2 3; do
  run 0 export native-$fmi.yaml --unit drive --fmi $fmi -o drive-$fmi.fmu
  system fmu-$fmi "{fmu: drive-$fmi.fmu}" feedthrough$fmi
  run 0 run fmu-$fmi.yaml --out fmu-$fmi --quiet
  same native-$fmi fmu-$fmi
  run 0 export native-$fmi.yaml --ssp --fmi $fmi -o system-$fmi.ssp
  run 0 run system-$fmi.ssp --out system-$fmi --quiet
  same native-$fmi system-$fmi
done

# ---- yoke check
run 0 check native-2.yaml
out_has 'out  gear \(integer\), on \(boolean\), mode \(enumeration\), note \(string\), u'
out_has 'Enumeration_in \(enumeration\)'

# ---- what does not fit
refused() {
  sed "$1" drive.csv >bad.csv
  sed 's/drive.csv/bad.csv/' native-2.yaml >bad.yaml
  run 2 check bad.yaml
  err_has "$2"
}
refused 's/^1,4,/1,4.5,/' "bad.csv:5: error: unit 'drive': the cell of column 'gear' is '4.5'; expected a whole number"
refused 's/^1,4,0,/1,4,off,/' "bad.csv:5: error: unit 'drive': the cell of column 'on' is 'off'; expected true, false, 1 or 0"
refused 's/^0,1,true,low/0,1,true,lowest/' "bad.csv:2: error: unit 'drive': the cell of column 'mode' is 'lowest'; expected one of 'items': low, middle, high"
refused 's/^1,4,/0.2,4,/' "bad.csv:5: error: unit 'drive': time 0.2 is before 0.5 of the row before"
refused 's/""q""/"q"/' 'bad.csv:4:'
sed 's/items: \[low, middle, high\]/items: [low, high, middle]/' native-2.yaml >bad.yaml
run 2 check bad.yaml
err_has 'enumerations drive.mode and a.Enumeration_in have different items'
sed 's/integers: \[gear\], //' native-2.yaml >bad.yaml
run 2 check bad.yaml
err_has 'drive.gear is real, a.Int32_in is integer'

echo "$n_checks checks, $n_failed failed, $n_skipped skipped"
[ "$n_failed" -eq 0 ]
