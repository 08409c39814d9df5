#!/usr/bin/env bash
# Damaged results.h5 given to every command that reads results: a message and status 1 or 2, or the numbers; never a crash.
set -u
yoke=${YOKE_PROGRAM:?set YOKE_PROGRAM to the program}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1

cat >system.yaml <<'END'
yoke: 1
time: {stop: 0.05, step: 1e-3}
trust: {status: false}
units:
  left:  {model: oscillator.force, with: {m: 1, k: 10, kc: 100}, start: {x: 0, v: 100}}
  right: {model: oscillator.mass, with: {m: 1, k: 1000}, start: {x: 0, v: -100}}
connections:
  - right.x -> left.x_other
bonds:
  spring: {action: left.f -> right.f, rate: right.v -> left.v_other}
END
"$yoke" run system.yaml --format hdf5 --quiet --out good >out 2>err || { cat err; exit 1; }
[ -f good/results.h5 ] || { echo "skipped: this build lacks HDF5"; exit 77; }
"$yoke" run system.yaml --format csv --quiet --out csv
"$yoke" run "${YOKE_SOURCE_DIR:?}/scenarios/dual-mass/mpsm.yaml" --set time.stop=0.3 --format hdf5 --quiet --out mpsm

n=0 n_failed=0 n_refused=0
try_all() {
  try compare bad csv
  try compare csv bad/results.h5
  try meter bad --effort-in left.f --effort-out left.f --flow-in right.v --flow-out right.v
  try report bad
}

# try ARGUMENTS...
try() {
  timeout 300 "$yoke" "$@" >out 2>err
  status=$?
  n=$((n + 1))
  case $status in
  0 | 3) return ;;
  1 | 2) n_refused=$((n_refused + 1)) ;;
  *) n_failed=$((n_failed + 1)); echo "FAILED: $damage: yoke $*: status $status" ;;
  esac
  [ "$status" -eq 0 ] || [ "$status" -eq 3 ] || [ -s err ] || {
    n_failed=$((n_failed + 1))
    echo "FAILED: $damage: yoke $*: no message"
  }
}
# overwrite AT BYTES
overwrite() { printf "$2" | dd of=bad/results.h5 bs=1 seek="$1" conv=notrunc status=none; }

# undamaged, all of them are content
damage=none
cp -r good bad
try_all
try analyse --run mpsm --quiet
[ "$n_refused" -eq 0 ] || { echo "FAILED: the undamaged file is refused"; cat err; n_failed=$((n_failed + 1)); }

size=$(stat -c %s good/results.h5)
cp mpsm/results.h5 mpsm.h5
for damage in "superblock 8 \377\377\377\377" "superblock 20 \000\000\377\377" "root 96 \377\377\377\377\377\377" "heap 680 \377\377\377\377\377\377\377\377" \
  "tree 800 \377\377\377" "object 1200 \000\000\000\000\377\377" "object 2048 \377\377\377\377\377\377\377\377" "object 4096 \001\002\003\004"; do
  set -- $damage
  cp good/results.h5 bad/results.h5
  overwrite "$2" "$3"
  try_all
  cp mpsm.h5 mpsm/results.h5
  printf "$3" | dd of=mpsm/results.h5 bs=1 seek="$2" conv=notrunc status=none
  try analyse --run mpsm --quiet
done
for part in 0 7 100 1000 4000 $((size / 2)) $((size - 1)); do
  damage="cut to $part bytes"
  head -c "$part" good/results.h5 >bad/results.h5
  try_all
done
damage="not HDF5"
printf 'time,x\n0,1\n' >bad/results.h5
try_all
damage="a sweep's reference"
cp good/results.h5 bad/results.h5
overwrite 96 '\377\377\377\377\377\377'
try sweep system.yaml --vary time.step=1e-3,2e-3 --measure error:left.x --reference bad/results.h5 --out swept

# a pipe has no writer to wait for, a folder is told from a file that is missing
# refused NAME MESSAGE
refused() {
  try compare "$1" csv
  [ "$status" -eq 2 ] && grep -qF "$1: error: $2" err || {
    n_failed=$((n_failed + 1))
    echo "FAILED: $damage: status $status, $(cat err)"
  }
}
damage="a pipe"
mkfifo pipe.h5
refused pipe.h5 "this is not a regular file"
damage="a folder"
mkdir folder.h5
refused folder.h5 "the folder holds no results.csv or results.h5"

echo "$n commands, $n_refused refused, $n_failed failed"
[ "$n_failed" -eq 0 ] && [ "$n_refused" -gt 0 ]
