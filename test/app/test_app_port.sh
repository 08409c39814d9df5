#!/usr/bin/env bash
# Signals behind a port without a model: the example programs in C and Python play a machine, saturation and numbers that are not
# finite are counted, and what the file says wrongly is told with its place.
set -u
. "${YOKE_SOURCE_DIR:?path of the source tree}/test/support/run_cases.sh"

# play PROGRAM...: the machine; $address and $machine afterwards. It ends with the run.
play() {
  rm -f machine.out
  "$@" 0 >machine.out 2>machine.err &
  machine=$!
  for _ in $(seq 600); do
    address=$(sed -n 's/^listening at //p' machine.out 2>/dev/null)
    [ -z "$address" ] || return 0
    sleep 0.05
  done
  bad 'the machine does not listen'
}
trap 'kill -KILL "${machine:-}" 2>/dev/null; rm -rf "$work"' EXIT
ended() {
  wait $machine
  holds "$? == 0"
}
file=$source/examples/port_plant.yaml
quick='--trust none --no-verdict --quiet'
last() { tail -n 1 "$1/results.csv" | cut -d, -f3; }
count() { sed -n "/\"ports\"/,\$s/.*\"$2\": \([0-9]*\).*/\1/p" "$1/summary.json" | head -n 1; }

# ---- the example with nothing but libc and the documented layout: omega = T/d (1 - (1 - h d/J)^k), as a 32-bit number
"$YOKE_CC" -std=c11 -O1 -o plant "$source/examples/port_plant.c" >out 2>&1 && pass || bad 'the example does not compile'
play ./plant
run 0 run "$file" $quick --set units.rig.peer="$address" --out c
ended
holds "$(last c) - 10 * (1 - 0.995^1000) < 5e-7 && 10 * (1 - 0.995^1000) - $(last c) < 5e-7"
holds "$(count c sent) == 1001 && $(count c received) == 1001 && $(count c lost) == 0 && $(count c clipped) == 0"
python=$(command -v python3 || true)
if [ -n "$python" ]; then
  play "$python" "$source/examples/port_plant.py"
  run 0 run "$file" $quick --set units.rig.peer="$address" --out python
  ended
  same c python
else
  echo 'skipped: there is no python3'
fi

# ---- 50 N.m do not fit: 32.767 are sent in each of 1000 steps (the hello has start values); a boolean keeps the machine still
play ./plant
run 0 run "$file" --trust none --no-verdict --set units.rig.peer="$address" --set units.motor.with.value=50 --out much
ended
says "1000 values were outside of 'limits' or of their types on the wire, and sent as these allow"
holds "$(count much clipped) == 1000"
holds "$(last much) / (32.767 / 0.05 * (1 - 0.995^1000)) - 1 < 1e-7 && $(last much) / (32.767 / 0.05 * (1 - 0.995^1000)) - 1 > -1e-7"
play ./plant
run 0 run "$file" $quick --set units.rig.peer="$address" --set units.rig.inputs.enable.start=0 --out still
ended
holds "$(last still) == 0"
# rounded to whole counts: 0.1234 N.m are 123
play ./plant
run 0 run "$file" $quick --set units.rig.peer="$address" --set units.motor.with.value=0.1234 --out round
ended
holds "$(last round) / (0.123 / 0.05 * (1 - 0.995^1000)) - 1 < 1e-7 && $(last round) / (0.123 / 0.05 * (1 - 0.995^1000)) - 1 > -1e-7"
# limits hold as well
sed 's/^    inputs:/    limits: {torque: {max: 0.2}}\n&/' "$file" >limits.yaml
play ./plant
run 0 run limits.yaml $quick --set units.rig.peer="$address" --out limits
ended
holds "$(last limits) / (4 * (1 - 0.995^1000)) - 1 < 1e-7 && $(count limits clipped) == 1000"

# ---- a machine that expects other signals says so
sed 's/^    outputs:/      mode: {type: integer, as: i32, start: 3}\n&/' "$file" >other.yaml
play ./plant
run 2 run other.yaml $quick --set units.rig.peer="$address" --out never
says 'the other end says: expected a torque and enable'
kill -TERM $machine 2>/dev/null
wait $machine 2>/dev/null

if [ -n "$python" ]; then
  # a speed that is not finite is refused, as if there were no answer
  sed 's/omega += \(.*\)$/omega = omega + \1 if sequence < 10 else float("nan")/' "$source/examples/port_plant.py" >nan.py
  play "$python" nan.py
  run 1 run "$file" --trust none --no-verdict --set units.rig.peer="$address" --set units.rig.timeout=0.2 --out nan
  says 'has not answered 3 times in a row'
  holds "$(count nan refused) == 3 && $(count nan lost) == 3"
  kill -TERM $machine 2>/dev/null
  wait $machine 2>/dev/null
  # the fingerprint may be left out, not be wrong
  sed 's/echo, signals, len/echo, 0, len/' "$source/examples/port_plant.py" >zero.py
  play "$python" zero.py
  run 0 run "$file" $quick --set units.rig.peer="$address" --out zero
  ended
  same c zero
  sed 's/echo, signals, len/echo, 1, len/' "$source/examples/port_plant.py" >wrong.py
  play "$python" wrong.py
  run 1 run "$file" --no-verdict --set units.rig.peer="$address" --out never
  says 'a machine or a program of yours is expected there'
  kill -TERM $machine 2>/dev/null
  wait $machine 2>/dev/null
fi

# ---- it is a unit like others
run 2 rig "$file"
says "port_plant.yaml:7:3: error: unit 'rig' has no model to run here"
run 2 rig "$file" --unit rig
says "has no model to run here"
run 0 info "$file"
says 'rig              port'
play ./plant
run 0 check "$file" --set units.rig.peer="$address"
says 'in   torque [N.m], enable'
says 'out  omega [rad/s]'
kill -TERM $machine 2>/dev/null
wait $machine 2>/dev/null

# ---- mistakes, with their places
# wrong LINE:COLUMN TEXT: what system.yaml says at that place, with the lines of `rig` from stdin
wrong() {
  {
    printf 'yoke: 1\ntime: {stop: 1, step: 0.01}\nunits:\n  rig:\n    port: udp\n    peer: "127.0.0.1:1"\n'
    cat
  } >system.yaml
  run 2 check system.yaml
  says "system.yaml:$1: error: $2"
}
wrong 8:22 "unknown key 'scal' in signal 'a'; did you mean 'scale'?" <<'END_OF_FILE'
    inputs:
      a: {unit: N.m, scal: 2, start: 0}
END_OF_FILE
wrong 8:18 "'scale': expected a number that is not 0" <<'END_OF_FILE'
    inputs:
      a: {scale: 0}
END_OF_FILE
wrong 8:18 "'scale': expected a number, found the text 'much'" <<'END_OF_FILE'
    inputs:
      a: {scale: much}
END_OF_FILE
wrong 8:15 "'as': expected f64, f32, i8, u8, i16, u16, i32, u32 or i64, found the text 'i17'; did you mean 'i16'?" <<'END_OF_FILE'
    inputs:
      a: {as: i17}
END_OF_FILE
wrong 8:32 "'as' of 'a': integers and booleans travel as i8, u8, i16, u16, i32, u32 or i64" <<'END_OF_FILE'
    inputs:
      a: {type: boolean, as:   f32}
END_OF_FILE
wrong 8:26 "'offset' of 'a' is for reals" <<'END_OF_FILE'
    inputs:
      a: {type: integer, offset: 2}
END_OF_FILE
wrong 8:17 "'unit': expected a physical unit such as N.m or rad/s, found the text 'foo'" <<'END_OF_FILE'
    outputs:
      a: {unit: foo}
END_OF_FILE
wrong 8:33 "'start' of 'a': expected a whole number" <<'END_OF_FILE'
    inputs:
      a: {type: integer, start: 1.5}
END_OF_FILE
wrong 9:7 "the key 'a' was given before at line 8, column 7" <<'END_OF_FILE'
    inputs:
      a: {}
      a: {}
END_OF_FILE
wrong 10:7 "'a' is an input of this unit already" <<'END_OF_FILE'
    inputs:
      a: {start: 0}
    outputs:
      a: {}
END_OF_FILE
wrong 7:5 "unit 'rig': 'inputs': expected at least one signal, found none" <<'END_OF_FILE'
    inputs: {}
END_OF_FILE
wrong 8:5 "unit 'rig': 'inputs' is for a port without a model; this unit's signals are those of its 'model'" <<'END_OF_FILE'
    model: integrator
    inputs: {a: {}}
END_OF_FILE
wrong 4:3 "unit 'rig' has no kind: expected the key 'model', 'fmu', 'circuit' or 'library', or the signals" <<'END_OF_FILE'
    timeout: 1
END_OF_FILE
{
  echo '    outputs:'
  for i in $(seq 1001); do echo "      s$i: {as: u8}"; done
} >many
wrong 1008:7 "'outputs': more than 1000 numbers cannot go through a port" <many
run 2 check "$file" --set units.rig.port=none
says "port_plant.yaml:10:5: error: unit 'rig': 'inputs' without a model is for a machine or another program"
finish
