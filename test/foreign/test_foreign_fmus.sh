#!/usr/bin/env bash
# Foreign FMUs: every FMU below the folder that YOKE_FOREIGN_FMUS names is run in isolation and compared with its
# reference. The driver itself is tried on a folder of our own first.
set -u
: "${YOKE_PROGRAM:?set YOKE_PROGRAM to the program}" "${YOKE_FMUS:?set YOKE_FMUS to the folder of the test FMUs}"
driver=${YOKE_SOURCE_DIR:?set YOKE_SOURCE_DIR to the source tree}/test/foreign/run_folder.py
command -v python3 >/dev/null || { echo "skipped: python3 is missing" && exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# one that runs and is right (x' = -x), one that deviates from a false reference, one whose library is missing, one that
# crashes, one that is no FMU
cp "$YOKE_FMUS/dahlquist2.fmu" "$work/right.fmu"
cp "$YOKE_FMUS/dahlquist2.fmu" "$work/wrong.fmu"
cp "$YOKE_FMUS/needs_library2.fmu" "$YOKE_FMUS/imperfect2.fmu" "$work"
echo "no archive" >"$work/broken.fmu"
awk 'BEGIN { print "time,x"; for (i = 0; i <= 100; i++) printf "%g,%.15g\n", i / 20, exp(-i / 20) }' >"$work/right_ref.csv"
awk 'BEGIN { print "time,x"; for (i = 0; i <= 100; i++) printf "%g,%.15g\n", i / 20, 1 - i / 100 }' >"$work/wrong_ref.csv"
printf 'StartTime,0\nStopTime,5\nStepSize,0.01\n' | tee "$work/right_ref.opt" >"$work/wrong_ref.opt"
python3 "$driver" "$work" >"$work/table" || { cat "$work/table"; echo "FAILED: the driver" && exit 1; }
cat "$work/table"
status=0
expect() { grep -qE "$1" "$work/table" || { echo "FAILED: no line '$1'" && status=1; }; }
expect '^right\.fmu +run +x: nrmse'
expect '^wrong\.fmu +deviates +x: nrmse'
expect '^needs_library2\.fmu +refused .*libmissing_yoke_part\.so'
expect '^broken\.fmu +refused '
expect '^imperfect2\.fmu +run '
expect '^2 run, 2 refused, 1 deviate, 0 failed$'

if [ -z "${YOKE_FOREIGN_FMUS:-}" ]; then
  echo "skipped: foreign FMUs: YOKE_FOREIGN_FMUS names no folder"
else
  python3 "$driver" "$YOKE_FOREIGN_FMUS" || status=1
fi
exit $status
