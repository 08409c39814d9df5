#!/usr/bin/env bash
# A file that names nothing, beside other units: what serves a loop does not depend on its neighbours.
set -u
. "${YOKE_SOURCE_DIR:?path of the source tree}/test/support/run_cases.sh"

# a mass and a mass with the joint, which returns the force: feedthrough
cat >loop.yaml <<'END'
yoke: 1
time: {stop: 3, step: 0.02}
units:
  a: {model: state_space, with: {A: [[0,1],[-50,-0.5]], B: [0,0.5], inputs: [f], outputs: [x,v], x0: [1,0]}}
  b:
    model: state_space
    with: {A: [[0,1],[-330,-2.3]], B: [[0,0],[300,2]], C: [[1,0],[0,1],[300,2]], D: [[0,0],[0,0],[-300,-2]],
           inputs: [x,v], outputs: [xb,vb,f], x0: [0,0]}
record: {signals: [a.x, a.v, b.f]}
connections: [a.x -> b.x, a.v -> b.v, b.f -> a.f]
END
# beside UNITS CONNECTIONS: the loop and others that it hears nothing of
beside() { sed -e "s/^record:/$1\n&/" -e "s/b.f -> a.f\]/b.f -> a.f, $2]/" loop.yaml; }

# ---- units that are called more often than the loop do not take its feedthrough away
run 0 run loop.yaml --trust none --quiet --set calls=2 --out two
beside '  c: {model: sine, calls: 10}\n  d: {model: integrator, calls: 10}' 'c.y -> d.u' >two.yaml
run 0 run two.yaml --trust none --quiet --set units.a.calls=2 --set units.b.calls=2 --out two-beside
same two two-beside
run 0 check two.yaml --set units.a.calls=2 --set units.b.calls=2
says 'b.f          known: derivatives at the start'
# ... nor does a macro step at which they do not exchange
run 0 run loop.yaml --trust none --quiet --set units.a.step=0.02 --set units.b.step=0.02 --out long
run 0 run loop.yaml --trust none --quiet --set units.a.step=0.02 --set units.b.step=0.02 --set time.step=0.01 --set record.every=2 --out short
same long short

# ... nor does a tap that names an order take its calls away
beside '  c: {model: state_space, with: {A: [[-1]], B: [1]}}' '{from: a.x, to: c.u1, order: 1}' >tap.yaml
run 0 run loop.yaml --trust none --quiet --out alone
run 0 run tap.yaml --trust none --quiet --out tap
same alone tap

# ---- calls: a mode whose modulus the loop leaves alone counts if its damping changes
cat >damper.yaml <<'END'
yoke: 1
time: {stop: 1, step: 0.03}
units:
  a: {model: state_space, with: {A: [[0,1],[-1e6,0]], B: [0,1], inputs: [f], outputs: [x,v], x0: [1,0]}}
  b: {model: gain, with: {k: -100}}
connections: [a.v -> b.u, b.y -> a.f]
END
run 0 check damper.yaml
says '(76 calls: the fastest mode of the loops is 1e+03 1/s)'
# they divide the step of a unit that has one
run 0 check loop.yaml --set time.step=0.3 --set units.a.step=0.01
says 'b            state_space, step 0.01 s (30 calls'
says 'a.x -> b.x, every 0.01 s'
# a number that does not fit a delay is replaced by one that does
beside '  c: {model: state_space, with: {A: [[-1]], B: [1]}}' '{from: a.x, to: c.u1, delay: 0.3}' >delay.yaml
run 0 check delay.yaml --set time.step=1
says 'a            state_space, step 0.016666666666666666 s (60 calls'
silent warning
# a loop without models is left out, not all of them
beside '  p: {model: state_space, with: {A: [[-1]], B: [1]}}\n  d: {model: delay1}' 'p.y1 -> d.u, d.y -> p.u1' >other.yaml
run 0 check other.yaml --set time.step=1
says 'a            state_space, step 0.017857142857142856 s (56 calls'
# with calls in the file as with calls: auto
for calls in auto 20; do
  run 0 check loop.yaml --set calls=$calls --set units.b.step=0.001
  says 'a.x -> b.x, every 0.00'
done

# ---- what a sampled unit sends is held: a control loop is that of plain holding
cat >sampled.yaml <<'END'
yoke: 1
time: {stop: 10, step: 0.1}
units:
  p: {model: state_space, with: {A: [[0,1],[-10,-1]], B: [0,1], C: [[1,0]], x0: [1,0], outputs: [x]}}
  d: {model: delay1}
connections: [{from: p.x, to: d.u, gain: -8}, d.y -> p.u1]
END
run 0 run sampled.yaml --trust none --quiet --no-verdict --out sampled
run 0 run sampled.yaml --trust none --quiet --no-verdict --set inputs=start --set calls=10 --out plain
same sampled plain
run 0 check sampled.yaml
says 'p.x -> d.u, every 0.1 s, order 0, gain -8'
says 'd.y -> p.u1, every 0.1 s, order 0, mean'
# ... also in an FMU, which is called once per step then
for fmi in 2 3; do
  run 0 export delay1 --fmi $fmi -o d$fmi.fmu
  sed "s/model: delay1/fmu: d$fmi.fmu/" sampled.yaml >sampled-$fmi.yaml
  run 0 run sampled-$fmi.yaml --trust none --quiet --no-verdict --out sampled-$fmi
  same sampled sampled-$fmi
done
# ... and an output of an FMU that is declared discrete, where the unit itself is not sampled
run 0 export integrator --fmi 2 -o i.fmu
mkdir i && (cd i && unzip -q ../i.fmu && sed -i '/name="y"/s/"continuous"/"discrete"/' modelDescription.xml)
for fmu in i.fmu i; do
  printf 'yoke: 1\ntime: {stop: 1, step: 0.1}\nunits: {s: {model: sine}, i: {fmu: %s}, o: {model: integrator}}\nconnections: [s.y -> i.u, i.y -> o.u]\n' $fmu >discrete.yaml
  run 0 check discrete.yaml
  if [ $fmu = i ]; then says 'i.y -> o.u, every 0.01 s, order 0, mean'; else says 'i.y -> o.u, every 0.01 s, order 2, method auto, mean'; fi
done

# ---- the ledger alone does not condemn a good run: its samples are no means
sed -e 's/, a.v -> b.v, b.f -> a.f\]/]/' loop.yaml >bond.yaml
echo 'bonds: {s: {action: b.f -> a.f, rate: a.v -> b.v}}' >>bond.yaml
run 0 run bond.yaml --trust none --set time.step=0.2 --out bond
says 'bond s: doubtful'

# ---- an order that auto does not have
sed 's/a.x -> b.x,/{from: a.x, to: b.x, method: auto, order: 3},/' loop.yaml >three.yaml
run 0 check three.yaml
says "'order: 3' has no effect: auto goes up to order 2"

# ---- advice of `analyse` helps who follows it
cat >advised.yaml <<'END'
yoke: 1
inputs: start
calls: 4
time: {stop: 48, step: 0.24}
units:
  a: {model: state_space, with: {A: [[0, 1], [-70, -1]], B: [[0, 0], [40, 0.6]], C: [[40, 0.6]], D: [[-40, -0.6]], x0: [1, 0]}}
  b: {model: state_space, with: {A: [[0, 1], [-5, -0.1]], B: [[0], [0.5]], C: [[1, 0], [0, 1]], x0: [0, 0.5]}}
connections: [a.y1 -> b.u1, b.y1 -> a.u1, b.y2 -> a.u2]
END
run 3 run advised.yaml --trust none --quiet --out lost
run 0 analyse advised.yaml
says 'write `inputs: mean` without a method or an order, with `calls: 4` as now'
run 0 run advised.yaml --trust none --quiet --set inputs=mean --out advised

# ---- a copy goes into a system file only
run 2 run loop.yaml --trust none --quiet --out pinned --pin results.csv
says 'expected a name that ends in .yaml or .yml'
finish
