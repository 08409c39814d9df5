#!/usr/bin/env bash
# SSP on the command line: run, check, info and --set on .ssp and .ssd files with real FMUs, the numbers of the native system
# from a nested one with parameters and units of its own, export and back, and refusals that leave nothing behind.
set -u
yoke=${YOKE_PROGRAM:?set YOKE_PROGRAM to the program}
fmus=${YOKE_FMUS:?set YOKE_FMUS to the folder of the test FMUs}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
mkdir tmp
export TMPDIR=$work/tmp
n_failed=0
n_checks=0
if [ ! -f "$fmus/oscillator_force2.fmu" ]; then
  echo "skipped: no test FMUs in $fmus"
  exit 77
fi
for tool in zip python3; do
  if ! command -v $tool >/dev/null; then
    echo "skipped: $tool is missing"
    exit 77
  fi
done

check() {
  n_checks=$((n_checks + 1))
  [ "$1" -eq 0 ] && return
  echo "FAILED: $2"
  echo "--- stdout:"; head -c 2000 out
  echo "--- stderr:"; head -c 2000 err
  n_failed=$((n_failed + 1))
}

# clean: nothing is left in the temporary folder, a moment after the end of the process that used it
clean() {
  for ((i = 0; i < 600; i++)); do
    [ -z "$(ls -A tmp)" ] && return
    sleep 0.05
  done
  return 1
}

# run STATUS ARGUMENTS...
run() {
  local want=$1 status
  shift
  "$yoke" "$@" >out 2>err
  status=$?
  check "$([ $status -eq "$want" ]; echo $?)" "yoke $*: status $status, expected $want"
  check "$(clean; echo $?)" "yoke $*: left behind in the temporary folder: $(ls -A tmp)"
}
out_has() { check "$(grep -qE -- "$1" out; echo $?)" "stdout lacks: $1"; }
err_has() { check "$(grep -qF -- "$1" err; echo $?)" "stderr lacks: $1"; }

# same FILE FILE TOLERANCE: the columns of the first are in the second, with the same numbers; names without their prefix
same() {
  python3 - "$@" <<'END' >>out 2>&1
import csv, sys
def read(path):
    rows = list(csv.reader(open(path)))
    return {n: [r[i] for r in rows[1:]] for i, n in enumerate(rows[0])}
a, b, tolerance = read(sys.argv[1]), read(sys.argv[2]), float(sys.argv[3])
worst, n = 0.0, 0
for name, values in a.items():
    if name.startswith("bond."):
        continue
    other = b.get(name) or b["plant_" + name]
    assert len(values) == len(other), (name, len(values), len(other))
    for x, y in zip(values, other):
        worst = max(worst, abs(float(x) - float(y)) / max(1, abs(float(x))))
        n += 1
print(f"{n} values, off by {worst}")
sys.exit(not (n > 1000 and worst <= tolerance))
END
  check $? "$1 and $2 differ"
}

names='xmlns:ssd="http://ssp-standard.org/SSP1/SystemStructureDescription"
  xmlns:ssc="http://ssp-standard.org/SSP1/SystemStructureCommon"
  xmlns:ssv="http://ssp-standard.org/SSP1/SystemStructureParameterValues"'

# ---- the oscillator of two FMUs, native
cat >native.yaml <<'END'
yoke: 1
inputs: start
calls: 1
time: {stop: 2, step: 1e-3}
units:
  left: {model: oscillator.force, with: {m: 1, k: 10, kc: 100}, start: {x: 0, v: 100}}
  right: {model: oscillator.mass, with: {m: 1, k: 1000}, start: {x: 0, v: -100}}
connections: [right.x -> left.x_other, right.v -> left.v_other, left.f -> right.f]
END
run 0 run native.yaml --out native --quiet

# ---- the same as SSP: nested, parameters in grams and by a file, connectors of the system in other units
mkdir -p pack/resources
cp "$fmus/oscillator_force2.fmu" "$fmus/oscillator_mass3.fmu" pack/resources
cat >pack/resources/right.ssv <<END
<ssv:ParameterSet $names version="1.0" name="right">
  <ssv:Parameters>
    <ssv:Parameter name="m"><ssv:Real value="1000" unit="g"/></ssv:Parameter>
    <ssv:Parameter name="k"><ssv:Real value="1000"/></ssv:Parameter>
    <ssv:Parameter name="v"><ssv:Real value="-100"/></ssv:Parameter>
    <ssv:Parameter name="meant for another"><ssv:Real value="1"/></ssv:Parameter>
  </ssv:Parameters>
  <ssv:Units><ssc:Unit name="g"><ssc:BaseUnit kg="1" factor="0.001"/></ssc:Unit></ssv:Units>
</ssv:ParameterSet>
END
cat >pack/SystemStructure.ssd <<END
<?xml version="1.0" encoding="UTF-8"?>
<ssd:SystemStructureDescription $names version="1.0" name="oscillator">
  <ssd:System name="root">
    <ssd:ParameterBindings>
      <ssd:ParameterBinding prefix="right." source="resources/right.ssv"/>
      <ssd:ParameterBinding><ssd:ParameterValues><ssv:ParameterSet version="1.0" name="left"><ssv:Parameters>
        <ssv:Parameter name="plant.left.k"><ssv:Real value="10"/></ssv:Parameter>
        <ssv:Parameter name="plant.left.kc"><ssv:Real value="100"/></ssv:Parameter>
        <ssv:Parameter name="plant.left.v"><ssv:Real value="100"/></ssv:Parameter>
      </ssv:Parameters></ssv:ParameterSet></ssd:ParameterValues></ssd:ParameterBinding>
    </ssd:ParameterBindings>
    <ssd:Elements>
      <ssd:System name="plant">
        <ssd:Connectors>
          <ssd:Connector name="position" kind="input"><ssc:Real unit="mm"/></ssd:Connector>
          <ssd:Connector name="speed" kind="input"><ssc:Real/></ssd:Connector>
          <ssd:Connector name="force" kind="output"><ssc:Real unit="N"/></ssd:Connector>
        </ssd:Connectors>
        <ssd:Elements>
          <ssd:Component name="left" source="resources/oscillator_force2.fmu">
            <ssd:Connectors>
              <ssd:Connector name="x_other" kind="input"><ssc:Real/></ssd:Connector>
              <ssd:Connector name="v_other" kind="input"><ssc:Real/></ssd:Connector>
              <ssd:Connector name="f" kind="output"><ssc:Real/></ssd:Connector>
            </ssd:Connectors>
          </ssd:Component>
        </ssd:Elements>
        <ssd:Connections>
          <ssd:Connection startConnector="position" endElement="left" endConnector="x_other"/>
          <ssd:Connection startConnector="speed" endElement="left" endConnector="v_other"/>
          <ssd:Connection startElement="left" startConnector="f" endConnector="force"/>
        </ssd:Connections>
      </ssd:System>
      <ssd:Component name="right" source="resources/oscillator_mass3.fmu" implementation="CoSimulation">
        <ssd:Connectors>
          <ssd:Connector name="f" kind="input"><ssc:Real unit="N"/></ssd:Connector>
          <ssd:Connector name="x" kind="output"><ssc:Real/></ssd:Connector>
          <ssd:Connector name="v" kind="output"><ssc:Real/></ssd:Connector>
        </ssd:Connectors>
      </ssd:Component>
    </ssd:Elements>
    <ssd:Connections>
      <ssd:Connection startElement="right" startConnector="x" endElement="plant" endConnector="position"/>
      <ssd:Connection startElement="right" startConnector="v" endElement="plant" endConnector="speed"/>
      <ssd:Connection startElement="plant" startConnector="force" endElement="right" endConnector="f"/>
    </ssd:Connections>
  </ssd:System>
  <ssd:Units>
    <ssc:Unit name="mm"><ssc:BaseUnit m="1" factor="0.001"/></ssc:Unit>
    <ssc:Unit name="N"><ssc:BaseUnit kg="1" m="1" s="-2"/></ssc:Unit>
  </ssd:Units>
  <ssd:DefaultExperiment startTime="0" stopTime="2"/>
</ssd:SystemStructureDescription>
END
(cd pack && zip -q -r ../car.ssp .)

# the archive and the unpacked folder give the numbers of the native system; the step is that of the FMUs
run 0 run car.ssp --out ssp --set inputs=start --set calls=1
err_has 'the step 0.001 is the shortest that the FMUs propose'
err_has "1 parameter of this binding matches nothing and is left out: 'right.meant for another'"
same native/results.csv ssp/results.csv 1e-12
run 0 run pack/SystemStructure.ssd --out ssd --quiet --set inputs=start --set calls=1
check "$(cmp -s ssp/results.csv ssd/results.csv; echo $?)" 'the archive and its folder give different results'

# ---- all commands take it
run 0 check car.ssp
out_has 'plant_left'
run 0 check car.ssp --json
run 0 info car.ssp
out_has '^oscillator: 2 units, 0 laws, 3 connections'
run 0 info pack/SystemStructure.ssd --json
run 0 run car.ssp --set time.stop=0.01 --set time.step=5e-3 --set units.plant_left.values.kc=50 --out set --quiet --no-verdict
check "$([ "$(wc -l <set/results.csv)" -eq 4 ]; echo $?)" '--set time.stop and time.step had no effect'
run 2 run car.ssp --set units.plant_lft.step=1
err_has "did you mean 'plant_left'?"
run 0 sweep car.ssp --vary units.right.values.k=500,1000 --set time.stop=0.05 --measure max:right.x --out swept --quiet

# a second system in the archive
sed 's/name="oscillator"/name="variant"/' pack/SystemStructure.ssd >pack/Variant.ssd
(cd pack && zip -q ../car.ssp Variant.ssd)
run 0 check car.ssp#Variant.ssd
out_has 'variant'
run 2 check car.ssp#None.ssd
err_has "the archive has no 'None.ssd'; there is '"

# any name does, since the content says what it is; also through a pipe
cp car.ssp car.dat
run 0 check car.dat
"$yoke" check <(cat native.yaml) >out 2>err
check $? 'a system file out of a pipe is not read'

# ---- empty startElement, endElement and source are as good as none
sed 's|startConnector="position"|startElement="" &|; s|endConnector="force"|endElement="" &|
  s|<ssd:ParameterBinding><ssd:ParameterValues>|<ssd:ParameterBinding source=""><ssd:ParameterValues>|' pack/SystemStructure.ssd >pack/Empty.ssd
check "$([ "$(diff pack/SystemStructure.ssd pack/Empty.ssd | grep -c '^>')" -eq 3 ]; echo $?)" 'no three empty attributes'
run 0 run pack/Empty.ssd --out empty --quiet --set inputs=start --set calls=1
check "$(cmp -s ssp/results.csv empty/results.csv; echo $?)" 'empty attributes give other results'

# ---- parameters of every type, out of a file, into FMUs of both versions; exported and back
mkdir -p typed/resources
cp "$fmus/feedthrough2.fmu" "$fmus/feedthrough3.fmu" typed/resources
cat >typed/resources/all.ssv <<END
<ssv:ParameterSet $names version="1.0" name="all">
  <ssv:Parameters>
    <ssv:Parameter name="Int32_in"><ssv:Integer value="-7"/></ssv:Parameter>
    <ssv:Parameter name="Boolean_in"><ssv:Boolean value="1"/></ssv:Parameter>
    <ssv:Parameter name="String_in"><ssv:String value="one, &quot;two&quot; "/></ssv:Parameter>
    <ssv:Parameter name="Enumeration_in"><ssv:Enumeration value="high"/></ssv:Parameter>
  </ssv:Parameters>
</ssv:ParameterSet>
END
cat >typed/SystemStructure.ssd <<END
<ssd:SystemStructureDescription $names version="1.0" name="typed">
  <ssd:System name="root">
    <ssd:ParameterBindings>
      <ssd:ParameterBinding prefix="a." source="resources/all.ssv"/>
      <ssd:ParameterBinding prefix="b." source="resources/all.ssv"/>
    </ssd:ParameterBindings>
    <ssd:Elements>
      <ssd:Component name="a" source="resources/feedthrough2.fmu"/>
      <ssd:Component name="b" source="resources/feedthrough3.fmu"/>
    </ssd:Elements>
  </ssd:System>
  <ssd:DefaultExperiment stopTime="0.1"/>
</ssd:SystemStructureDescription>
END
columns='record={signals: [a.Int32_out, a.Boolean_out, a.String_out, a.Enumeration_out, b.Int32_out, b.Boolean_out, b.String_out, b.Enumeration_out]}'
(cd typed && zip -q -r ../typed.ssp .)
run 0 run typed.ssp --out typed-run --quiet --set time.step=0.05 --set "$columns"
printf '%s' '-7,1,"one, ""two"" ",10,-7,1,"one, ""two"" ",10' >out
check "$([ "$(tail -n 1 typed-run/results.csv | cut -d, -f2-)" = "$(cat out)" ]; echo $?)" \
  "typed parameters: $(tail -n 1 typed-run/results.csv)"
run 0 export typed.ssp --ssp --set time.step=0.05 --set "$columns" -o typed-again.ssp
run 0 run typed-again.ssp --out typed-again --quiet
check "$(cmp -s typed-run/results.csv typed-again/results.csv; echo $?)" 'typed parameters are lost by the export'
sed -i 's|Integer value="-7"|Integer value="7.5"|' typed/resources/all.ssv
run 2 check typed/SystemStructure.ssd
err_has 'resources/all.ssv:5: error:'

# ---- isolated, by the annotation
sed 's|</ssd:SystemStructureDescription>|<ssd:Annotations><ssc:Annotation type="org.yoke.system">\
    time: {step: 1e-3}\
    units:\
      right: {isolate: process}\
  </ssc:Annotation></ssd:Annotations>&|' pack/SystemStructure.ssd >pack/Isolated.ssd
run 0 run pack/Isolated.ssd --out isolated --quiet --set inputs=start --set calls=1
same native/results.csv isolated/results.csv 1e-12

# ---- refused, with nothing left behind
head -c 5000 car.ssp >cut.ssp
run 2 run cut.ssp
sed 's|resources/oscillator_mass3.fmu|resources/none.fmu|' pack/SystemStructure.ssd >none.ssd
mkdir -p bad && cp none.ssd bad/SystemStructure.ssd && (cd bad && zip -q -r ../none.ssp .)
run 2 run none.ssp
err_has 'SystemStructure.ssd'
sed 's|resources/oscillator_mass3.fmu|../../../etc/passwd|' pack/SystemStructure.ssd >bad/SystemStructure.ssd
(cd bad && zip -q -r ../escape.ssp .)
run 2 run escape.ssp
err_has "escape.ssp/SystemStructure.ssd:36: error: '../../../etc/passwd' leads out of the archive"
ln -s /etc/passwd bad/link.fmu
(cd bad && zip -q -y -r ../link.ssp .)
run 2 run link.ssp
sed 's|endConnector="f"/>|endConnector="q"/>|' pack/SystemStructure.ssd >bad.ssd
run 2 check bad.ssd
err_has "'right' has no connector 'q'"

# a run that is killed leaves no folder behind for long
"$yoke" run car.ssp --set time.stop=1e6 --out killed --quiet >out 2>err &
pid=$!
for ((i = 0; i < 600; i++)); do [ -n "$(ls -A tmp)" ] && break; sleep 0.05; done
kill -9 $pid
wait $pid 2>/dev/null
check "$(clean; echo $?)" "left behind after a kill: $(ls -A tmp)"

# ---- export and back
if "$yoke" export --help 2>/dev/null | grep -q -- '--ssp'; then
  run 0 export native.yaml --ssp -o back.ssp
  run 0 run back.ssp --out back --quiet
  check "$([ ! -s err ]; echo $?)" 'the exported system has warnings'
  check "$(cmp -s native/results.csv back/results.csv; echo $?)" 'the exported system gives other results'
  run 0 export car.ssp --ssp -o again.ssp
  run 0 run again.ssp --out again --quiet --set inputs=start --set calls=1
  check "$(cmp -s ssp/results.csv again/results.csv; echo $?)" 'an SSP that is exported again gives other results'
  run 0 export native.yaml --ssp
  check "$([ -f native.ssp ]; echo $?)" 'the default name is not native.ssp'
else
  echo 'skipped: yoke export --ssp is not there'
fi

echo "$n_checks checks, $n_failed failed"
[ "$n_failed" -eq 0 ]
