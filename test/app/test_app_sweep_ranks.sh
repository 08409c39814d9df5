#!/usr/bin/env bash
# yoke sweep started by mpirun: the ranks share the points. Same bytes with 1, 2 and 3 ranks as without, also after a
# rank or all of them were killed (all three ways with YOKE_FULL=1, else one); one message, not one per rank; nothing is done several times without the companion.
set -u
export LC_ALL=C
yoke=${YOKE_PROGRAM:?set YOKE_PROGRAM to the program}
source=${YOKE_SOURCE_DIR:?path of the source tree}
command -v mpirun >/dev/null || {
  echo 'skipped: mpirun is missing (Debian package openmpi-bin)'
  exit 77
}
if [ ! -e "${YOKE_MPI:-}" ]; then
  echo 'skipped: yoke-mpi.so was not built (Debian package libopenmpi-dev)'
  exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
cp "$source/scenarios/linear-oscillator/jacobi.yaml" osc.yaml
command=sweep limit=120
. "$source/test/support/study_cases.sh"

# this machine alone, as whoever runs the test; folders of Open MPI go with ours
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 TMPDIR=$work
# MPI keeps memory to the end of the process
export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0
mpi=(mpirun --oversubscribe --bind-to none --mca btl self,vader --mca oob_tcp_if_include lo)
if ! timeout 60 "${mpi[@]}" -n 2 true >out 2>err; then
  echo "skipped: mpirun does not work here: $(head -n 3 err)"
  exit 77
fi
# shared STATUS RANKS ARGUMENTS...
shared() {
  local want=$1 n=$2 status
  shift 2
  timeout "$limit" "${mpi[@]}" -n "$n" "$yoke" sweep "$@" >out 2>err
  status=$?
  is "$n ranks: yoke sweep $*: status $status" test "$status" -eq "$want"
}

# ---- same bytes; points over a limit and points that cannot be built have their reasons

grid=(osc.yaml --vary time.step=1e-3,2e-3,1e-2,3e-2,-1,1e-1 --vary scheme=jacobi,gauss-seidel --vary units.left.with.kc=80,100
  --measure end:left.x,ter --limit 'maxabs:right.v<=1000' --analyse anova,best --missing 1)
ends 0 "${grid[@]}" --out alone
cp out alone.out
for n in 1 2 3; do
  shared 0 $n "${grid[@]}" --out "ranks$n"
  is "same table with $n ranks" cmp alone/sweep.csv "ranks$n/sweep.csv"
  is "same analysis with $n ranks" cmp alone/anova.csv "ranks$n/anova.csv"
  is "same words with $n ranks, once" diff <(sed "s/alone/ranks$n/" alone.out) out
  is 'one line per point' test "$(lines "ranks$n/journal.csv")" -eq 26
done
has ranks3/sweep.csv 'expected a number greater than 0, found -1'
shared 0 2 "${grid[@]}" --out jobs --jobs 2
is 'same table with 2 ranks and 2 jobs' cmp alone/sweep.csv jobs/sweep.csv

# beside the program, without a variable that names it
(
  unset YOKE_MPI
  timeout "$limit" "${mpi[@]}" -n 2 "$yoke" sweep "${grid[@]}" --out found >out 2>err
)
is 'the companion is found' test $? -eq 0
is 'same table' cmp alone/sweep.csv found/sweep.csv
# nobody else loads MPI
LD_DEBUG=libs "$yoke" sweep "${grid[@]}" --out unloaded >out 2>loaded
is 'no MPI without mpirun' test "$(grep -c 'libmpi\|yoke-mpi' loaded)" -eq 0

# ---- killed: one rank, or mpirun itself is told to end

# mpirun takes a while to end its ranks: the points must last longer than that
n_points=24
[ "${YOKE_FULL:-0}" = 0 ] || n_points=240
long=(osc.yaml --set time.stop=400 --vary units.left.with.kc=20:200:$n_points --measure end:left.x,ter --limit 'maxabs:right.v<=1e300')
ends 0 "${long[@]}" --out whole --quiet
# start FOLDER: three ranks in the background, until three points are done
start() {
  "${mpi[@]}" -n 3 "$yoke" sweep "${long[@]}" --out "$1" >out 2>err &
  pid=$!
  for ((i = 0; i < 12000; i++)); do
    [ -f "$1/journal.csv" ] && [ "$(lines "$1/journal.csv")" -ge 5 ] && return
    sleep 0.01
  done
  bad 'no point was finished within two minutes'
}
# the ranks of our mpirun, by the variable that Open MPI gives them
rank_of() {
  local child
  for child in $(cat /proc/"$pid"/task/*/children 2>/dev/null); do
    tr '\0' '\n' <"/proc/$child/environ" 2>/dev/null | grep -qx "OMPI_COMM_WORLD_RANK=$1" && echo "$child" && return
  done
}
# strike VICTIM: starts, kills, waits for the end; n: points that were done
strike() {
  start "$1"
  case $1 in
  rank*) kill -KILL "$(rank_of "${1#rank}")" 2>/dev/null ;;
  *) kill -TERM "$pid" 2>/dev/null ;;
  esac
  for ((i = 0; i < 600; i++)); do
    kill -0 "$pid" 2>/dev/null || break
    sleep 0.1
  done
  { wait "$pid"; } 2>/dev/null
  status=$?
  n=$(($(lines "$1/journal.csv") - 2))
}
victims=rank2
[ "${YOKE_FULL:-0}" = 0 ] || victims='rank0 rank2 mpirun'
for victim in $victims; do
  # on a busy machine the sweep may be done before the signal comes: then once more
  for attempt in 1 2 3 4 5; do
    rm -rf $victim
    strike $victim
    [ "$n" -ge $n_points ] || break
  done
  is "$victim killed: the others end too" test "$i" -lt 600
  is "$victim killed: no success" test $status -ne 0
  is "$victim killed in the middle, after $n points ($attempt tries)" test "$n" -lt $n_points
  shared 0 2 "${long[@]}" --out $victim
  has out 'in the journal already'
  is "$victim killed: the same table" cmp whole/sweep.csv $victim/sweep.csv
done

# ---- one message

shared 2 3 "${grid[@]}" --out wrong --vary nothing
is 'one message' test "$(grep -c ': error: ' err)" -eq 1
is 'no folder' test ! -e wrong
shared 0 3 --help
is 'help once' test "$(grep -c '^Usage: ' out)" -eq 1

# ---- a rank that sees another file

mkdir a b
cp osc.yaml a
sed 's/kc: 100/kc: 101/' osc.yaml >b/osc.yaml
"${mpi[@]}" -n 1 --wdir "$work/a" "$yoke" sweep "${long[@]}" --out "$work/odd" : \
  -n 1 --wdir "$work/b" "$yoke" sweep "${long[@]}" --out "$work/odd" >out 2>err
is 'another file: status' test $? -eq 2
has err 'has another study: the system file has changed'
is 'no table' test ! -e odd/sweep.csv

# ---- without the companion, and commands that do not share

YOKE_MPI=$work/nothing.so shared 2 3 "${grid[@]}" --out none
has err 'YOKE_MPI does not name a usable file'
is 'no folder' test ! -e none
timeout 60 "${mpi[@]}" -n 2 "$yoke" tune osc.yaml --vary time.step=1e-3,2e-3 --minimise ter --out tuned >out 2>err
is 'tune: status' test $? -eq 2
has err 'yoke tune: this command cannot share its runs: start it without mpirun'
is 'no folder' test ! -e tuned
# one rank needs nothing
YOKE_MPI=$work/nothing.so shared 0 1 "${grid[@]}" --out one
is 'same table with one rank and no companion' cmp alone/sweep.csv one/sweep.csv

echo "$n_checks checks, $n_failed failed"
[ "$n_failed" -eq 0 ]
