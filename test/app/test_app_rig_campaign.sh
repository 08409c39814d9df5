#!/usr/bin/env bash
# The fault campaign of the test rig (B-14, B-16, B-22, CS-29): every fault ends as docs/rig_faults.md says, within the cycles that it says,
# with every row recorded. All of it with YOKE_FULL; otherwise without what waits longest.
set -u
source=${YOKE_SOURCE_DIR:?path of the source tree}
yoke=${YOKE_PROGRAM:?set YOKE_PROGRAM to the program}
quick=--quick
[ -z "${YOKE_FULL:-}" ] || quick=
# shellcheck disable=SC2086
"$source/tools/rig_campaign" $quick "$yoke"
