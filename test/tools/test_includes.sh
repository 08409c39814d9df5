#!/bin/bash
# The include check itself: it must find what points up, sideways and out of a model, and nothing else.
set -eu
check=$YOKE_SOURCE_DIR/tools/check_includes
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work"/{include/yoke,src/{base,ode,linalg,unit/fmu,couple,record,report,master},models/{crane,playback,rotor},app}

# put FILE INCLUDE...: a file with these includes
put() {
  local file=$work/$1
  shift
  printf '#include "%s"\n' "$@" >"$file"
}
# wrong PATTERN: the check must fail and say so
wrong() {
  if "$check" "$work" >"$work/out" 2>&1 || ! grep -q "$1" "$work/out"; then
    echo "expected a complaint: $1; got:" >&2
    cat "$work/out" >&2
    exit 1
  fi
}
right() { "$check" "$work" >"$work/out" 2>&1 || { cat "$work/out" >&2 && exit 1; }; }

# all of these are fine
put include/yoke/unit.h yoke/status.h
put src/base/base_os.c base/base_os.h yoke/status.h
put src/linalg/linalg_lu.c base/base_check.h linalg/linalg_dense.h
put src/unit/unit.c models/models.h yoke/unit.h
put src/unit/fmu/fmu.c unit/unit.h base/base_os.h
put src/master/master.c couple/couple.h unit/unit.h
put src/report/report.c base/base_os.h record/record.h yoke/status.h report/report.h quality/quality_measure.h
put app/main.c report/report.h base/base_os.h yoke/status.h
put models/models.c models/crane/crane.h
put models/crane/crane.c yoke/unit.h ode/ode.h linalg/linalg_dense.h models/crane/crane.h crane.h models/models.h
put models/playback/playback.c base/base_csv.h playback/playback.h
right
grep -q '^master .*couple(1)' "$work/out"

# each of these is not
put src/base/base_up.c linalg/linalg_dense.h && wrong 'points up' && rm "$work/src/base/base_up.c"
put src/couple/couple_x.c unit/unit.h && wrong 'points sideways' && rm "$work/src/couple/couple_x.c"
put src/ode/ode_x.c linalg/linalg_dense.h && wrong 'points sideways' && rm "$work/src/ode/ode_x.c"
put include/yoke/x.h base/base_os.h && wrong 'points up' && rm "$work/include/yoke/x.h"
put models/rotor/rotor.c base/base_os.h && wrong 'a model includes only' && rm "$work/models/rotor/rotor.c"
put models/rotor/rotor.c crane/crane.h && wrong 'a model includes only' && rm "$work/models/rotor/rotor.c"
put src/report/r.c couple/couple.h && wrong 'the report includes only' && rm "$work/src/report/r.c"
put src/report/r.c quality/quality_ledger.h && wrong 'the report includes only' && rm "$work/src/report/r.c"
put app/a.c master/master.h && wrong 'the command includes only' && rm "$work/app/a.c"
put src/master/m.c nowhere/x.h && wrong 'no such folder' && rm "$work/src/master/m.c"
put src/master/m.c ../base/base_os.h && wrong 'hides where' && rm "$work/src/master/m.c"
right
