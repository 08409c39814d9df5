#!/usr/bin/env bash
# A unit behind a port, played by another process over UDP on loopback or shared memory: the bytes of the run in one process (B-23), and what happens
# when the other end is missing, different, or dies.
set -u
. "${YOKE_SOURCE_DIR:?path of the source tree}/test/support/run_cases.sh"

# play FILE OPTIONS: the other end, on a port of its own or at $bind; $address and $rig afterwards
bind=127.0.0.1:0
memory=/yoke-test-$$
play() {
  rm -f rig.out
  "$yoke" rig "$@" --bind "$bind" >rig.out 2>rig.err &
  rig=$!
  for _ in $(seq 600); do
    address=$(sed -n 's/^listening at //p' rig.out 2>/dev/null)
    [ -z "$address" ] || return 0
    sleep 0.05
  done
  bad 'the rig does not listen'
}
rig= alone=
end_rig() { kill -TERM "$rig" 2>/dev/null && wait "$rig"; }
trap 'kill -KILL "$rig" "$alone" 2>/dev/null; rm -rf "$work" "/dev/shm$memory"' EXIT

cat >loop.yaml <<'END'
yoke: 1
inputs: start
calls: 1
time: {stop: 2, step: 0.01}
units:
  a: {model: oscillator.force, with: {m: 1, k: 10, kc: 100, c: 0.2}, start: {v: 1}}
  b: {model: oscillator.mass, with: {m: 1, k: 100}, start: {x: 0.1}, port: udp, peer: "127.0.0.1:1"}
connections: [b.x -> a.x_other, b.v -> a.v_other, a.f -> b.f]
END
quick='--trust none --no-verdict --quiet'

# ---- nobody there: that it waits is said while it waits, ten seconds in which the rest is checked
: >out
"$yoke" run loop.yaml --trust none --no-verdict --out never >alone.out 2>&1 &
alone=$!
for _ in $(seq 600); do
  ! grep -q 'note: unit .b.: waiting for the other end of the port at 127.0.0.1:1' alone.out || break
  kill -0 $alone 2>/dev/null || break
  sleep 0.05
done
if kill -0 $alone 2>/dev/null; then pass; else bad 'it is over when it says that it waits'; fi
says 'waiting for the other end of the port at 127.0.0.1:1' alone.out

# ---- the same bytes in process and over UDP, run after run against the same process
run 0 run loop.yaml $quick --set units.b.port=none --out here
play loop.yaml
for i in 1 2; do
  run 0 run loop.yaml $quick --set units.b.peer="$address" --out there
  same here there
done
# stop times that are no sums of doubles
for stop in 0.3 0.58 0.7; do
  run 0 run loop.yaml $quick --set time.stop=$stop --set units.b.peer="$address" --out odd
done
# the bench may be silent for longer than the rig waits for another one
"$yoke" run loop.yaml $quick --realtime --set time.stop=1 --set units.b.peer="$address" --out silent >out 2>&1 &
bench=$!
sleep 0.5
kill -STOP $bench
sleep 2.5
kill -CONT $bench
wait $bench
case $? in 0 | 4) pass ;; *) bad 'a bench that was silent' ;; esac
# safe actions behind the stop time go through the port as well
printf 'safe: [{set: b.f, to: 0, over: 0.1}]\n' | cat loop.yaml - >safe.yaml
"$yoke" run safe.yaml $quick --realtime=5 --set units.b.peer="$address" --out safe >out 2>&1
case $? in 0 | 4) pass ;; *) bad 'safe actions through a port' ;; esac
# with other times than the file's
run 0 run loop.yaml $quick --set units.b.port=none --set time.stop=1 --out here1
run 0 run loop.yaml $quick --set units.b.peer="$address" --set time.stop=1 --out there1
same here1 there1

# ---- both ends must mean the same unit
run 1 run loop.yaml $quick --set units.b.peer="$address" --set time.step=0.02 --out never
says 'a step of 0.02 s is asked for, the file says 0.01 s'
run 2 run loop.yaml $quick --set units.b.peer="$address" --set units.b.with.k=7 --out never
says 'the parameters of both ends differ'
run 2 run loop.yaml $quick --set units.b.peer="$address" --set units.b.clock=paced --realtime --out never
says 'or their clock or protocol'
# a run that begins behind the stop time of the rig's file
run 0 run loop.yaml $quick --set units.b.peer="$address" --set time.start=5 --set time.stop=5.5 --out later
run 2 check loop.yaml --set units.b.calls=4
says "a unit behind a port is called once per step: leave out 'calls'"
run 2 run loop.yaml $quick --set time.pace.overrun=skip --set units.b.peer="$address" --out never
says 'overrun: skip is not possible here'
run 2 advise loop.yaml
says "unit 'b' is a real machine and is not run repeatedly"
# a machine is not called by reading its file, nor moved by a study that was not told to
run 2 analyse loop.yaml
says "unit 'b' is a real machine and cannot be linearised"
run 0 check loop.yaml
says "note: unit 'b': the other end of its port at 127.0.0.1:1 is not called: values at the start were not computed"
run 0 check loop.yaml --set units.b.peer="$address"
run 0 analyse loop.yaml --set units.b.port=none
vary='--vary units.a.with.k=9,10 --measure end:b.x --quiet'
run 2 sweep loop.yaml $vary --set units.b.peer="$address" --out swept
says "unit 'b' is a real machine, which this grid would move 2 times"
run 2 sweep loop.yaml $vary --vary units.b.port=none,udp --set units.b.peer="$address" --out swept
says "unit 'b' is a real machine, which this grid would move 4 times"
run 2 sweep loop.yaml $vary --machine --jobs 2 --set units.b.peer="$address" --out swept
says '--machine: one run at a time; leave out --jobs'
run 0 sweep loop.yaml $vary --machine --set units.b.peer="$address" --out swept
run 0 sweep loop.yaml $vary --set units.b.port=none --out modelled
if cmp -s swept/sweep.csv modelled/sweep.csv; then pass; else bad 'a sweep over a port gives other numbers'; fi
# what is at the other end of a port cannot be exported, and that is the reason that is given
run 2 export loop.yaml --ssp -o never.ssp
says "loop.yaml:7:70: error: unit 'b' is at the other end of a port, which cannot be exported; with \`port: none\` the model"
run 2 export loop.yaml --unit b --fmi 2 -o never.fmu
says "unit 'b' is at the other end of a port, which cannot be exported"
run 0 export loop.yaml --unit b --fmi 2 --set units.b.port=none -o b.fmu
run 0 export loop.yaml --ssp --set units.b.port=none -o loop.ssp
run 1 rig loop.yaml --bind "$address"
says "cannot listen at '$address'"
end_rig
holds "$? == 0"

# ---- an FMU, a circuit and typed values go through a port as well
run 0 export integrator --fmi 2 -o integrator.fmu
cat >rc.cir <<'END'
* branch
.input v=1 V
v1 in 0 {v}
r1 in n 1
c1 n 0 0.5 ic=0
.probe v(n)
.tran 1e-3 1 uic
.end
END
cat >kinds.yaml <<'END'
yoke: 1
inputs: start
calls: 1
time: {stop: 1, step: 0.01}
units:
  s: {model: sine, with: {frequency: 2}}
  c: {circuit: rc.cir, port: udp, peer: "127.0.0.1:1"}
  i: {model: integrator}
connections: [s.y -> c.v, "c.v(n) -> i.u"]
END
sed -e 's/circuit: rc.cir/fmu: integrator.fmu/' -e 's/c\.v(n)/c.y/' -e 's/s\.y -> c\.v/s.y -> c.u/' kinds.yaml >fmu.yaml
for file in kinds.yaml fmu.yaml; do
  run 0 run $file $quick --set units.c.port=none --out here
  play $file
  run 0 run $file $quick --set units.c.peer="$address" --out there
  same here there
  end_rig
done

# ---- B-23: the virtual rig twice, then in a process of its own, then by the clock: the same bytes
for name in inertia car; do
  file=$source/scenarios/rig/$name.yaml
  for i in 1 2; do
    run 0 run "$file" $quick --set time.stop=0.5 --out rig$i
  done
  same rig1 rig2
  play "$file" --set units.rig.port=udp
  run 0 run "$file" $quick --set time.stop=0.5 --set units.rig.port=udp --set units.rig.peer="$address" --out apart
  same rig1 apart
  # a busy machine may be late: that is said, and changes nothing
  "$yoke" run "$file" $quick --set time.stop=0.5 --realtime --set units.rig.port=udp --set units.rig.peer="$address" \
    --out paced >out 2>&1
  case $? in 0 | 4) pass ;; *) bad 'paced run' ;; esac
  same rig1 paced
  end_rig
  bind=$memory
  play "$file" --set units.rig.port=shm
  for i in 1 2; do
    run 0 run "$file" $quick --set time.stop=0.5 --set units.rig.port=shm --set units.rig.peer="$memory" --out memory
    same rig1 memory
  done
  end_rig
  bind=127.0.0.1:0
done
for carrier in apart memory; do
  printf 'round trips, %s: ' $carrier
  tr -d ' \n' <$carrier/summary.json | sed 's/.*"round_trip_s":\({[^}]*}\).*/\1/'
  echo
done

# ---- shared memory: one owner, one bench, nothing left behind, what was left behind is replaced
bind=$memory
shm="--set units.b.port=shm --set units.b.peer=$memory"
run 0 run loop.yaml $quick --set units.b.port=none --out here
for signal in TERM INT; do
  set -m  # with job control a process in the background does not ignore SIGINT
  "$yoke" rig loop.yaml $shm --quiet >rig.out 2>rig.err &
  rig=$!
  set +m
  for _ in $(seq 600); do
    [ -s "/dev/shm$memory" ] && break
    sleep 0.05
  done
  run 0 run loop.yaml $quick $shm --out there
  same here there
  kill -$signal $rig
  wait $rig
  holds "$? == 0"
  if [ -e "/dev/shm$memory" ]; then bad "$signal leaves the segment"; else pass; fi
done
play loop.yaml --set units.b.port=shm
holds "$(stat -c %a "/dev/shm$memory") == 600"
run 1 rig loop.yaml $shm
says "shared memory '$memory' is in use: another process listens there"
"$yoke" run loop.yaml $quick $shm --realtime --set time.stop=100000 --out first >/dev/null 2>&1 &
bench=$!
for _ in $(seq 600); do
  [ -z "$(find first -type f -size +1k 2>/dev/null)" ] || break
  sleep 0.05
done
run 1 run loop.yaml $quick $shm --out never
says "nobody answers at $memory: another run is attached to it"
kill -KILL $bench
wait $bench 2>/dev/null
run 0 run loop.yaml $quick $shm --out there
same here there
kill -KILL "$rig"
wait "$rig" 2>/dev/null
play loop.yaml --set units.b.port=shm
run 0 run loop.yaml $quick $shm --out there
same here there
end_rig
bind=127.0.0.1:0
run 2 check loop.yaml --set units.b.port=shm
says "'127.0.0.1:1': expected a name of shared memory such as /yoke-rig"
run 2 check loop.yaml $shm --set units.b.bind=/yoke-other
says "shared memory has one name for both ends: leave out 'bind'"

# ---- what is sent stays inside of limits, and that is said
sed 's/peer: "127.0.0.1:1"/&, limits: {f: {min: -2, max: 3, slope: 200}}/' loop.yaml >limits.yaml
play limits.yaml
run 0 run limits.yaml --trust none --no-verdict --set units.b.peer="$address" --out limits
says "values were outside of 'limits' and sent as these allow"
holds "$(sed -n 's/.*"clipped": \([0-9]*\).*/\1/p' limits/summary.json) > 10"
end_rig
sed 's/limits: {f:/limits: {g:/' limits.yaml >no-input.yaml
run 2 check no-input.yaml
says "'limits': 'g' is no real input of the unit"
run 2 check limits.yaml --set units.b.limits.f.min=5
says "'limits' of 'f': 'min' is above 'max'"

# ---- nobody there; a wrong address; keys without a port
wait $alone
holds "$? == 1"
alone=
cp alone.out out
says "nobody answers at 127.0.0.1:1; \`yoke rig\` with the same file plays the other end"
run 2 check loop.yaml --set units.b.peer=here
says "'here': expected an address of numbers such as 127.0.0.1:47001"
run 2 check loop.yaml --set units.a.peer=127.0.0.1:5
says "'peer' belongs to a port: write port: udp"
sed 's/, peer: "127.0.0.1:1"//' loop.yaml >no-peer.yaml
run 2 check no-peer.yaml
says "'port' needs 'peer'"
run 2 rig loop.yaml --set units.b.port=none
says 'no unit has a port'
run 2 rig loop.yaml --unit a
says "unit 'a' has no port"
# what is wrong with the unit is said before it listens: its model, its parameters, its values at the start
run 2 rig loop.yaml --set units.b.model=oscilator.mass --bind 127.0.0.1:0
says "--set units.b.model: error: unknown model 'oscilator.mass'"
silent 'listening'
run 2 rig loop.yaml --set units.b.with.kk=7 --bind 127.0.0.1:0
says "has no parameter 'kk'"
silent 'listening'
run 2 rig "$source/scenarios/rig/inertia.yaml" --set units.rig.port=udp --set units.rig.with.latency=9 --bind 127.0.0.1:0
says 'latency is a number of cycles from 0 to 2'
silent 'listening'

# ---- the other end is killed: the run ends within the steps that the file allows, with all rows before
play loop.yaml
"$yoke" run loop.yaml --trust none --no-verdict --set time.stop=1000 --set units.b.timeout=0.2 --set units.b.lost=2 \
  --set units.b.peer="$address" --out killed >out 2>&1 &
bench=$!
for _ in $(seq 600); do
  [ -z "$(find killed -type f -size +1k 2>/dev/null)" ] || break
  sleep 0.05
done
kill -KILL "$rig"
wait "$bench"
holds "$? == 1"
says 'has not answered 2 times in a row'
holds "$(tail -n 1 killed/results.csv | cut -d, -f1) > 0.05"

# ---- steps far apart by the clock: the rig ends when it is told to, before its first step and between two
bind=$memory
slow="--set units.b.port=shm --set units.b.peer=$memory --set units.b.clock=paced --set time.step=600 --set time.stop=6000"
play loop.yaml $slow
"$yoke" run loop.yaml $quick $slow --realtime --out slow >out 2>&1 &
bench=$!
for _ in $(seq 600); do
  [ ! -s slow/results.csv ] || break
  sleep 0.05
done
end_rig
holds "$? == 0"
if [ -e "/dev/shm$memory" ]; then bad 'the segment is left behind'; else pass; fi
kill -KILL $bench
wait $bench 2>/dev/null
bind=127.0.0.1:0

# ---- the bench is killed: the rig takes the next one
play loop.yaml
"$yoke" run loop.yaml $quick --set time.stop=100000 --set units.b.peer="$address" --out gone >out 2>&1 &
bench=$!
for _ in $(seq 600); do
  [ -z "$(find gone -type f -size +1k 2>/dev/null)" ] || break
  sleep 0.05
done
kill -KILL $bench
wait $bench 2>/dev/null
run 0 run loop.yaml $quick --set units.b.port=none --out here
run 0 run loop.yaml $quick --set units.b.peer="$address" --out after
same here after
end_rig
finish
