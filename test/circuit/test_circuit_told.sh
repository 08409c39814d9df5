#!/usr/bin/env bash
# What a run of a netlist tells its user of start values and of the choice of methods, through the unit and the command.
set -u
yoke=${YOKE_PROGRAM:?set YOKE_PROGRAM to the program}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
n_failed=0

fail() {
  echo "FAILED: $1"
  head -c 2000 err
  n_failed=$((n_failed + 1))
}

# run STATUS ARGUMENTS...
run() {
  local want=$1 status
  shift
  "$yoke" "$@" >out 2>err
  status=$?
  [ $status -eq "$want" ] || fail "yoke $*: status $status, expected $want"
}

# says TEXT: a line of the messages holds it, once
says() {
  [ "$(grep -c -F -- "$1" err)" = 1 ] || fail "expected once: $1"
}

cat >both.cir <<'END'
two values for one voltage
V1 a 0 1
R1 a b 1
C1 b 0 1u IC=2
C2 b 0 1u IC=3
.tran 1u 10u uic
.end
END
for formulation in nodal dae; do
  run 0 circuit both.cir --formulation $formulation --out o --quiet
  says "'C2' cannot start at 3: the rest of the circuit makes it 2"
  grep -q 'both.cir.*5' err || fail "the line of C2 is missing"
done

cat >level.cir <<'END'
a start value that nothing depends on
V1 a 0 1
R1 a b 1k
R2 b 0 1k
C1 a 0 1u
.ic v(b)=1
.tran 1u 10u
.end
END
run 0 circuit level.cir --out o --quiet
says ".ic v(b)=1 has no effect"
grep -q 'level.cir.*6' err || fail "the line of .ic is missing"

# in a system, after the inputs have changed the start: told once
cat >system.yaml <<'END'
yoke: 1
name: two values
time: {start: 0, stop: 1e-5, step: 1e-6}
units:
  rc: {circuit: both.cir}
END
run 0 run system.yaml --out o --quiet
says "'C2' cannot start at 3"

# a method of the command line decides over a formulation of the netlist
cat >ode.cir <<'END'
rc
V1 a 0 1
R1 a b 1k
C1 b 0 1u
.tran 10u 1m
.yoke formulation=ode
.end
END
run 0 circuit ode.cir --out o
grep -q 'ode, rk4' out || fail "formulation=ode alone: $(cat out)"
run 0 circuit ode.cir --method tr --out o
grep -q 'nodal, tr,' out || fail "--method tr: $(cat out)"
run 0 circuit ode.cir --method euler --out o
grep -q 'ode, euler' out || fail "--method euler: $(cat out)"
run 2 circuit ode.cir --method tr --formulation ode --out o
says "belong together"

[ $n_failed -eq 0 ] && echo "all passed"
exit $((n_failed > 0))
