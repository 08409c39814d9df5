#!/usr/bin/env bash
# Every native model as FMU 2.0 and 3.0 against the rules of the standards (check_description.py), which were written
# apart from exporter and importer; and the rules against descriptions that break them.
set -u
yoke=${YOKE_PROGRAM:?set YOKE_PROGRAM to the program}
source_dir=${YOKE_SOURCE_DIR:?set YOKE_SOURCE_DIR to the source folder}
rules=$source_dir/test/export/check_description.py
command -v python3 >/dev/null || { echo "python3 is missing"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
printf 'time,a,b c,n,on,mode,note\n0,1,2,3,true,<low>,"a, b"\n1,2,3,4,0,high,c\n' >table.csv

# what models cannot do without, and what makes them show more of themselves
arguments() {
  case $1 in
    state_space) echo 'A=[[0,1],[-4,0]]|B=[[0,1],[1,0]]|C=[[1,0],[0,1]]|D=[[0,0],[1,0]]|inputs=["a & b", c]' ;;
    playback) echo 'file=table.csv|integers=[n]|booleans=[on]|enumerations=[mode]|items=["<low>", high]|strings=[note]' ;;
    driver) echo 'points=[[0,0],[1,2]]' ;;
    label) echo 'labels=["<cold>", "warm", "warm"]|input=enumeration' ;;
    channel | meter | select) echo 'n=3' ;;
    sum) echo 'signs=[1,-1,0.5]' ;;
  esac
}

n_models=0
for model in $("$yoke" info --json | python3 -c 'import json, sys; print(*[m["name"] for m in json.load(sys.stdin)["models"]])'); do
  n_models=$((n_models + 1))
  with=()
  while IFS= read -r -d '|' one; do with+=(--with "$one"); done <<<"$(arguments "$model")|"
  [ "${with[1]:-}" = "" ] && with=()
  for fmi in 2 3; do
    "$yoke" export "$model" --fmi $fmi "${with[@]}" -o "$model-$fmi.fmu" >out 2>&1 ||
      { echo "FAILED: yoke export $model --fmi $fmi:"; cat out; exit 1; }
  done
done
[ $n_models -ge 30 ] || { echo "FAILED: only $n_models models"; exit 1; }

# netlists, with inputs and parameters
for fmi in 2 3; do
  for name in electric-drive/motor electric-drive/buck circuits/pmsm; do
    "$yoke" export "$source_dir/scenarios/$name.cir" --fmi $fmi -o "$(basename $name)-$fmi.fmu" >out 2>&1 ||
      { echo "FAILED: yoke export $name.cir --fmi $fmi:"; cat out; exit 1; }
  done
done

# twins
for fmi in 2 3; do
  for name in resistors disturbed; do
    "$yoke" export "$source_dir/scenarios/twin-circuit/$name.yaml" --unit twin --fmi $fmi -o "$name-$fmi.fmu" >out 2>&1 ||
      { echo "FAILED: yoke export of the twin in $name.yaml --fmi $fmi:"; cat out; exit 1; }
  done
done

# with an experiment, from a system
"$yoke" export "$source_dir/scenarios/hydraulic-crane/crane.yaml" --unit arm --fmi 2 -o arm-2.fmu >out 2>&1 &&
  "$yoke" export "$source_dir/scenarios/hydraulic-crane/crane.yaml" --unit arm --fmi 3 -o arm-3.fmu >out 2>&1 ||
  { echo "FAILED: the arm of the crane:"; cat out; exit 1; }
python3 -c 'import zipfile; print(zipfile.ZipFile("arm-2.fmu").read("modelDescription.xml").decode())' |
  grep '<DefaultExperiment startTime="0" stopTime="[0-9.]*" stepSize="[0-9.e-]*"' >out ||
  { echo "FAILED: no experiment in arm-2.fmu"; exit 1; }

python3 "$rules" ./*.fmu || { echo "FAILED: rules of the standards"; exit 1; }
python3 "$rules" --self-test oscillator.force-2.fmu oscillator.force-3.fmu || { echo "FAILED: the rules miss faults"; exit 1; }
