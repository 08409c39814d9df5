#!/usr/bin/env bash
# yoke info of FMUs: what a person reads, what a script reads, what is refused, and that nothing is left behind.
set -u
yoke=${YOKE_PROGRAM:?set YOKE_PROGRAM to the program}
source_dir=${YOKE_SOURCE_DIR:?set YOKE_SOURCE_DIR to the source folder}
fmus=${YOKE_FMUS:?set YOKE_FMUS to the folder of the test FMUs}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
# shellcheck source=test/support/output_cases.sh
. "$source_dir/test/support/output_cases.sh"
mkdir tmp
export TMPDIR=$work/tmp

clean() { n_checks=$((n_checks + 1)); [ -z "$(ls tmp)" ] || fail "left behind: $(ls tmp)"; }
narrow() { n_checks=$((n_checks + 1)); [ "$(LC_ALL=C.UTF-8 wc -L <out)" -le 100 ] || fail "a line is longer than 100"; }

# json EXPRESSION: holds for the document d, in which v maps names to variables
json() {
  if command -v python3 >/dev/null; then
    n_checks=$((n_checks + 1))
    python3 -c 'import json, sys; d = json.load(open("out")); v = {x["name"]: x for x in d["variables"]}
sys.exit(not eval(sys.argv[1]))' "$1" 2>>err || fail "JSON: not true: $1"
  elif [ $n_skipped -eq 0 ]; then
    skip "content of the JSON: python3 is missing"
  fi
}

# ---- every test FMU in both ways; those without faults have no remarks
for file in "$fmus"/*.fmu; do
  run 0 info "$file"
  err_empty
  cp "$file" short.fmu
  run 0 info short.fmu
  narrow
  out_has '^What Yoke uses$'
  case $file in
    */imperfect2.fmu) out_has '^Remarks about the file$' ;;
    *) out_lacks 'Remarks about the file' ;;
  esac
  run 0 info --json "$file"
  json "d['kind'] == 'fmu' and len(d['variables']) > 0 and d['this_platform'] in d['platforms']"
  clean
done

# ---- both interfaces, states, events
run 0 info "$fmus/ball3.fmu"
out_has '^ball  \(FMI 3\.0\)$'
out_has '^  platforms +[a-z0-9_]+-linux \(this machine\)$'
out_has '^  co-simulation +steps of variable length; state can be saved, also to a file; no derivatives$'
out_has '^  model exchange +2 continuous states, 1 event indicator; '
out_has '^  experiment +0 s to 3 s; step 0\.01 s$'
out_has '^  interface +co-simulation, binaries/.*/ball\.so$'
out_has '^  rollback +yes'
out_has '^Outputs \(3\) +type +unit +start$'
out_has '^  h +Float64 +m +1 +height$'
out_has '^Local variables: 4 \(--all shows them\)$'
out_lacks 'der\(h\)'
run 0 info --all "$fmus/ball3.fmu"
out_has '^  der\(h\) +Float64 +m/s +-$'
run 0 info --json "$fmus/ball3.fmu"
json "v['h']['is_state'] and v['der(h)']['derivative_of'] == 'h' and d['states'] == 2 and d['event_indicators'] == 1"
json "d['use']['interface'] == 'co-simulation' and d['use']['can_be_run'] and d['use']['rollback']"
json "d['interfaces']['co_simulation']['variable_step'] and 'scheduled_execution' not in d['interfaces']"

# ---- model exchange alone: a solver
run 0 info "$fmus/dahlquist2.fmu"
out_has '^  interface +model exchange, '
out_has '^  solver +dopri5, and cvode once the model proves to be stiff, with the tolerance '
out_has '^  events +state and time events are located$'

# ---- scheduled execution: the clocks
run 0 info "$fmus/partitions3.fmu"
out_has '^  interface +scheduled execution, '
out_has '^Clocks \(7\)$'
out_has '^  mid +input, constant, every 0.02 s, priority 0; k, mixed, n_mid$'
out_has '^  slow +input, fixed, every 0.05 s, priority 2; n_slow$'
out_has '^  alarm +output, triggered; n_alarms$'
run 0 info --json "$fmus/partitions3.fmu"
json "d['use']['interface'] == 'scheduled execution' and d['use']['can_be_run'] and len(d['clocks']) == 7"
json "d['clocks'][3] == {'name': 'delayed', 'causality': 'input', 'ticks': 'countdown', 'priority': 3, 'variables': ['n_delayed']}"

# ---- all types, enumerations, feedthrough
run 0 info "$fmus/feedthrough3.fmu"
out_has '^  Enumeration_in +Enumeration +low$'
out_has '^  Float64_array_in +Float64\[2,3\] '
out_has '^  Option +low = 1; middle = 4; high = 10$'
out_has '^  Int8_out <- Int8_in$'
run 0 info "$fmus/feedthrough2.fmu"
out_has '^  Int32_in +Integer '
out_lacks ' (Float64|Int32) '
run 0 info --json "$fmus/feedthrough3.fmu"
json "{'output': 'Int8_out', 'is_known': True, 'inputs': ['Int8_in']} in d['feedthrough']"
json "v['Enumeration_in']['start_item'] == 'low' and v['Float64_array_in']['dimensions'] == [2, 3]"

# ---- sizes by structural parameters
run 0 info "$fmus/arrays3.fmu"
out_has '^  A +Float64\[n,n\] '
run 0 info --json "$fmus/arrays3.fmu"
json "v['A']['dimensions'] == ['n', 'n']"

# ---- faults of the file, and libraries that are missing
run 0 info "$fmus/imperfect2.fmu"
out_has '^  x\[1\]\.y <- all inputs \(not declared\)$'
out_has '^  line [0-9]+ +warning: '
for id in fmi-output-unlisted fmi-start-missing fmi-unit-unknown fmi-type-unknown; do
  n_checks=$((n_checks + 1))
  tr -s ' \n' '  ' <out | grep -qF "[$id]" || fail "stdout lacks: $id"
done
run 0 info --json "$fmus/imperfect2.fmu"
json "len(d['messages']) == 4 and all(m['line'] > 0 and m['severity'] == 'warning' for m in d['messages'])"
run 0 info "$fmus/needs_library2.fmu"
out_has '^  cannot be run +it needs libmissing_yoke_part\.so, which this machine lacks$'
run 0 info --json "$fmus/needs_library2.fmu"
json "not d['use']['can_be_run'] and d['use']['missing_libraries'] == ['libmissing_yoke_part.so']"
# all of them at once, also those of a library beside the binary; a run stops at the first, and no code of theirs runs here
cp -r "$fmus/needs_library2" needy
binary=$(echo needy/binaries/*/needs_library.so)
place=${binary%/*}
part() { # part NAME OPTION...: a library of that name
  "${YOKE_CC:-cc}" -shared -fPIC -o "$place/$1" part.c -Wl,--no-as-needed -L"$place" "${@:2}" 2>>err ||
    fail "cannot build $1: $(tail -n 1 err)"
}
echo '#include <stdlib.h>
__attribute__((constructor)) static void run(void) { abort(); }' >part.c
part libgone_one.so
part libgone_two.so
part libbeside.so -lgone_two
part needs_library.so -lgone_one -lbeside -Wl,-rpath-link,"$place"
rm "$place"/libgone_*
run 0 info --json needy
json "sorted(d['use']['missing_libraries']) == ['libgone_one.so', 'libgone_two.so'] and not d['use']['can_be_run']"
run 0 info --json "$fmus/ships_library2"
json "d['use']['missing_libraries'] == [] and d['use']['can_be_run']"
rm -r needy

run 0 info "$fmus/needs_tool2.fmu"
out_has 'asks for the tool'
run 0 info "$fmus/only_once2.fmu"
out_has "^  isolation +'isolate: process' is needed to use it more than once"
clean

# ---- an unpacked FMU is used where it is
run 0 info "$fmus/trivial2"
out_has '^  file +.*trivial2, an unpacked folder$'

# ---- hundreds of variables: all of them in a file
run 0 info "$fmus/wide2.fmu"
n_rows=$(sed -n '/^Inputs/,/^$/p' out | grep -c '^  ')
n_checks=$((n_checks + 1))
[ "$n_rows" -ge 64 ] || fail "$n_rows inputs are listed"

# ---- what is refused, with status 2
refused() {
  run 2 info "$1"
  err_has "$2"
  n_checks=$((n_checks + 1))
  [ ! -s out ] || fail "something was printed"
  clean
}
refused nowhere.fmu 'nowhere.fmu: error: there is no such file'
: >empty.fmu
refused empty.fmu 'empty.fmu: error: '
head -c 600 "$fmus/trivial2.fmu" >cut.fmu
refused cut.fmu 'cut.fmu: error: '
if command -v zip >/dev/null; then
  # pack NAME: the folder NAME as NAME.fmu
  pack() { (cd "$1" && zip -q -r "../$1.fmu" .); }
  mkdir nothing broken bare windows nested hurt
  echo text >nothing/a.txt
  pack nothing
  refused nothing.fmu 'nothing.fmu: error: no modelDescription.xml in it: this is no FMU'
  printf '<fmiModelDescription fmiVersion="2.0">\n<CoSimulation>' >broken/modelDescription.xml
  pack broken
  refused broken.fmu 'broken.fmu/modelDescription.xml:2:'
  echo '<fmiModelDescription fmiVersion="2.0" modelName="m" guid="g"/>' >bare/modelDescription.xml
  pack bare
  refused bare.fmu '[fmi-interface-none]'
  mkdir nested/m
  cp "$fmus/trivial2/modelDescription.xml" nested/m
  pack nested
  refused nested.fmu 'its content lies one folder too deep'

  # a binary for another machine can be looked at, but not run
  cp "$fmus/trivial2/modelDescription.xml" windows
  mkdir -p windows/binaries/win64
  echo MZ >windows/binaries/win64/trivial.dll
  pack windows
  run 0 info windows.fmu
  out_has '^  platforms +win64; not this machine'
  out_has '^  cannot be run +no binary for this machine'
  run 0 info --json windows.fmu
  json "not d['use']['can_be_run'] and d['use']['binary'] is None"

  # names and texts of strangers move no cursor
  mkdir -p hurt/binaries
  printf '%s\n' '<fmiModelDescription fmiVersion="2.0" modelName="a&#x9b;31mb" guid="g" description="x&#10;y&#x85;z">' \
    '<CoSimulation modelIdentifier="m"/></fmiModelDescription>' >hurt/modelDescription.xml
  pack hurt
  run 0 info hurt.fmu
  out_has '^a 31mb  \(FMI 2\.0\)$'
  n_checks=$((n_checks + 1))
  ! LC_ALL=C grep -q "$(printf '\302[\200-\237]')" out || fail "control characters got through"
else
  skip "archives made by hand: zip is missing"
fi

# ---- a terminal shows forty of each kind
if script -qec true /dev/null </dev/null >/dev/null 2>&1; then
  script -qec "'$yoke' info '$fmus/wide2.fmu'" /dev/null </dev/null >out 2>err
  status=$?
  out_has '\.\.\. and [0-9]+ more \(--all shows them\)'
else
  skip "output on a terminal: script is missing"
fi
clean

echo "$n_checks checks, $n_failed failed, $n_skipped skipped"
[ "$n_failed" -eq 0 ]
