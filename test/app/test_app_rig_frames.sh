#!/usr/bin/env bash
# The rig behind a port that carries the frames of the bus (`protocol: frames`). In lock-step the bench has the bytes of the run in
# one process, and so has the rig at its own end, whatever link and faults do (B-14, B-23); who follows the clock needs one.
set -u
. "${YOKE_SOURCE_DIR:?path of the source tree}/test/support/run_cases.sh"
rig=
trap 'kill -KILL $rig 2>/dev/null; rm -rf "$work"' EXIT
file=$source/scenarios/rig/inertia.yaml
common='--set record.every=1 --set time.stop=0.7'
quick='--trust none --no-verdict --quiet'

# play OPTIONS: the other end, which records; $address and $rig afterwards
play() {
  rm -f rig.out
  "$yoke" rig "$file" $common "$@" --bind 127.0.0.1:0 --out truth >rig.out 2>rig.err &
  rig=$!
  for _ in $(seq 600); do
    address=$(sed -n 's/^listening at //p' rig.out 2>/dev/null)
    [ -z "$address" ] || return 0
    sleep 0.05
  done
  bad 'the rig does not listen'
}
end_rig() {
  kill -TERM $rig 2>/dev/null
  wait $rig
  rig=
}

# shared LEFT RIGHT PATTERN: the columns of LEFT whose names fit are in RIGHT, with the same text in every row; at least three
shared() {
  if awk -F, -v pattern="$3" 'FNR == 1 { file++ }
    file == 1 && FNR == 1 { for (i = 1; i <= NF; i++) if ($i ~ pattern) name[i] = $i; next }
    file == 1 { for (i in name) value[FNR, name[i]] = $i; rows = FNR; next }
    FNR == 1 { for (i = 1; i <= NF; i++) for (k in name) if (name[k] == $i) { place[i] = $i; n++ } next }
    { for (i in place) if (value[FNR, place[i]] != $i) { print "row " FNR ", " place[i] ": " $i; n_other++; exit } }
    END { if (n < 3 || FNR != rows || n_other) exit 1 }' "$1/results.csv" "$2/results.csv" >out; then
    pass
  else
    bad "$1 and $2 differ in columns that both have"
  fi
}

# compare OPTIONS of both ends
compare() {
  run 0 run "$file" $quick $common "$@" --out here
  play --set units.rig.port=udp --set units.rig.protocol=frames "$@"
  run 0 run "$file" $quick $common --set units.rig.port=udp --set units.rig.protocol=frames "$@" --set units.rig.peer="$address" --out there
  end_rig
  shared there here .
  # what the bench cannot see
  shared truth here '^(time|rig.(shaft|n_held|n_clipped|U_dc|P_supply|T_mut|T_lm|E_supply|E_residual|error_shaft|error_max))$'
}
compare --set units.rig.with.latency=1
compare --set units.rig.with.latency=0 --set units.rig.with.cell_noise=5e-3
compare --set units.rig.with.loss_out=0.02 --set units.rig.with.loss_in=0.02
compare --set units.rig.with.duplicate_out=0.3 --set units.rig.with.duplicate_in=0.3
compare --set units.rig.with.reorder_out=0.1 --set units.rig.with.reorder_in=0.1
compare --set units.rig.with.delay_out=2e-3 --set units.rig.with.delay_in=1e-3 --set units.rig.with.jitter_in=2e-3
for fault in 'trip lm 0 0' 'drop-out mut 0 0' 'runaway lm 0.5 0' 'overheat mut 1e6 0' 'offset mut 0.05 0.1' 'freeze mut 0 0.1' \
  'bus-loss both 0 0' 'bus-loss out 0 0.01' 'delay in 0.01 0' 'jitter both 0.003 0' 'reorder both 0.5 0' 'loss both 0.2 0.1'; do
  compare --set "units.rig.with.faults=[\"0.5 $fault\"]"
done

# ---- who follows the clock needs one; the peer hears nothing of it
rm -rf truth
play --set units.rig.port=udp
for protocol in signals frames; do
  run 2 run "$file" $quick --set units.rig.port=udp --set units.rig.clock=paced --set units.rig.protocol=$protocol \
    --set units.rig.peer="$address" --out never
  says 'realtime'
done
end_rig
says '0 steps' rig.out
if [ -e truth ]; then bad 'the peer was contacted'; else pass; fi
finish
