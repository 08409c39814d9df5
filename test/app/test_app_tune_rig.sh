#!/usr/bin/env bash
# TE-12 on a machine: the engine bench of scenarios/engine-test-bench/rig.yaml is tuned in this process and behind a UDP port.
# Every point begins in SAFE and ends there, also if it is aborted; a tuning that was killed goes on; figures of TE-10.
set -u
. "${YOKE_SOURCE_DIR:?path of the source tree}/test/support/run_cases.sh"
bench=$source/scenarios/engine-test-bench/rig.yaml
rig= tuning=
trap 'kill -KILL $rig $tuning 2>/dev/null; rm -rf "$work"' EXIT

# play [ADDRESS]: the other end of the port; $udp are the settings that lead to it, $rig is its process
play() {
  rm -f rig.out
  "$yoke" rig "$bench" --set units.bench.port=udp --bind "${1:-127.0.0.1:0}" >rig.out 2>rig.err &
  rig=$!
  for _ in $(seq 600); do
    address=$(sed -n 's/^listening at //p' rig.out)
    udp="--set units.bench.port=udp --set units.bench.peer=$address"
    [ -z "$address" ] || return 0
    sleep 0.05
  done
  bad 'the rig does not listen'
}
# ends the rig; $n_steps: all that it was asked for
end_rig() {
  kill -TERM "$rig" && wait "$rig"
  n_steps=$(sed -n 's/ steps$//p' rig.out)
}
lines() { wc -l <"$1"; }
# waits until FILE has N lines
await_lines() {
  for _ in $(seq 3000); do
    [ -f "$1" ] && [ "$(lines "$1")" -ge "$2" ] && return 0
    sleep 0.01
  done
  bad "$1 has no $2 lines"
}
ticks() { awk '{ sub(/.*\) /, ""); print $12 + $13 }' "/proc/$1/stat" 2>/dev/null || echo 0; }
# waits until the tuning in folder $1 is in the middle of its first point: it has worked for 0.1 s since the journal was opened
await_work() {
  await_lines "$1/journal.csv" 2
  local begin
  begin=$(ticks $tuning)
  for _ in $(seq 3000); do
    [ "$(ticks $tuning)" -lt $((begin + 10)) ] || return 0
    sleep 0.01
  done
  bad 'the tuning does not work'
}
# the runs of a journal: status, state before, state after, each with its number
states() {
  awk -F, 'NR == 2 { for (i = 1; i <= NF; i++) if ($i == "status") at = i }
    NR > 2 { n[$at " " $(NF - 2) " " $(NF - 1)]++ } END { for (i in n) print n[i], i }' "$1/journal.csv" | sort
}
have_states() { if [ "$(states "$1")" = "$2" ]; then pass; else bad "$1: $(states "$1"), expected $2"; fi; }
same_map() { if cmp -s "$1/map.csv" "$2/map.csv"; then pass; else bad "the maps of $1 and $2 differ"; fi; }

gains='--vary units.bench.with.K_P=10:25:2 --vary units.bench.with.T_I=0.15:0.25:2 --minimise end:meter.ter
  --current units.bench.with.K_P=14 --current units.bench.with.T_I=0.22'
# 3000 steps of a point and 700 of the safe actions; the pulse comes at 0.05 s
short='--set units.throttle.with.offset=-0.95 --set time.stop=0.3 --set safe[0].over=0.02 --set safe[1].over=0.05'

# ---- TE-10 in this process: corners of the map and the current setting, with the meter of the spec, within 0.2 %
run 0 tune "$bench" $gains --out whole
says 'change to units.bench.with.K_P=25, units.bench.with.T_I=0.15'
says '5 runs ended in SAFE'
have_states whole '5 done  SAFE'
for row in 0:8777 1:8567 2:6832 3:6997 4:7809; do
  ter=$(awk -F, -v point="${row%:*}" 'NR > 2 && $1 == point { print $7 }' whole/journal.csv)
  holds "$ter > 0.998 * ${row#*:} && $ter < 1.002 * ${row#*:}"
done

# ---- the same numbers through the port, one point at a time, each from SAFE
run 0 tune "$bench" $gains $short --jobs 2 --out here
play
run 0 tune "$bench" $gains $short $udp --jobs 3 --out there
says "unit 'bench' is a real machine: its points are run one at a time, not 3 at once"
says "unit 'bench', one point at a time, each from SAFE: 5 runs ended in SAFE"
same_map here there
have_states there '5 done SAFE SAFE'
says '"ended_in": "SAFE"' there/tune.json
# nothing is left to do, and nobody is asked to move
run 0 tune "$bench" $gains $short $udp --out there
says '5 runs were in the journal already'
end_rig
# once to SAFE, since nothing was known of the machine; then every point with the way to SAFE
holds "$n_steps == 700 + 5 * (3000 + 700)"

# results of a single run as well
play
run 0 run "$bench" $short --trust none --no-verdict --quiet --out alone
run 0 run "$bench" $short --trust none --no-verdict --quiet $udp --out apart
same alone apart
end_rig

# ---- a limit aborts a point at once, and the machine is led to SAFE before the point counts as ended
play
run 1 tune "$bench" $gains $short $udp --limit 'max:bench.omega<=158' --out limited
says 'no setting is advised'
have_states limited '5 limit SAFE SAFE'
end_rig
t_all=$(awk -F, 'NR > 2 { if ($7 != "" || $6 >= 0.3) exit 1; t += $6 } END { printf "%.0f", t / 1e-4 }' limited/journal.csv)
holds "$t_all > 0 && $n_steps == 700 + $t_all + 5 * 700"
# the same in this process
run 1 tune "$bench" $gains $short --limit 'max:bench.omega<=158' --out limited-here
have_states limited-here '5 limit  SAFE'
same_map limited limited-here

# ---- Ctrl-C or SIGTERM in the middle of a point: led to SAFE, noted, and run again
play
"$yoke" tune "$bench" $gains $short --set time.stop=1000 $udp --out cut >out 2>&1 &
tuning=$!
await_work cut
kill -TERM $tuning
wait $tuning
holds "$? == 130"
says 'interrupted: 0 of 5 runs are done'
have_states cut '1 interrupted SAFE SAFE'
end_rig

# ---- SIGKILL in the middle of a point: what was done is kept, the rest is done from SAFE
play
"$yoke" tune "$bench" $gains $short $udp --out killed >out 2>&1 &
tuning=$!
await_lines killed/journal.csv 4
{ kill -KILL $tuning && wait $tuning; } 2>/dev/null
n_before=$(($(lines killed/journal.csv) - 2))
holds "$n_before >= 2 && $n_before < 5"
cp killed/journal.csv before.csv
run 0 tune "$bench" $gains $short $udp --out killed
says "$n_before runs were in the journal already"
have_states killed '5 done SAFE SAFE'
if cmp -s <(head -n $((n_before + 2)) killed/journal.csv) before.csv; then pass; else bad 'finished points were repeated'; fi
same_map here killed

# ---- the machine dies: FAULT, and no other point begins; once it is back the tuning goes on with that one
long="--vary units.bench.with.K_P=25 --minimise end:meter.ter $short --set time.stop=3 --set units.bench.timeout=0.1 $udp"
"$yoke" tune "$bench" $long --out dead >out 2>&1 &
tuning=$!
await_work dead
{ kill -KILL "$rig" && wait "$rig"; } 2>/dev/null
wait $tuning
holds "$? == 1"
says 'the machine is in FAULT'
says 'has not answered 3 times in a row'
have_states dead '1 failed SAFE FAULT'
play "$address"
run 0 tune "$bench" $long --out dead
have_states dead '1 failed SAFE FAULT
2 done SAFE SAFE'
end_rig
finish
