#!/usr/bin/env bash
# FMUs and SSP where a system file is expected, as a newcomer meets them: folders, times that nobody gives, messages that
# name what was typed, libraries that are cut short. What is in a result is for other tests.
set -u
yoke=${YOKE_PROGRAM:?set YOKE_PROGRAM to the program}
source_dir=${YOKE_SOURCE_DIR:?set YOKE_SOURCE_DIR to the source folder}
fmus=${YOKE_FMUS:?set YOKE_FMUS to the folder of the test FMUs}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
# shellcheck source=test/support/output_cases.sh
. "$source_dir/test/support/output_cases.sh"
mkdir tmp
export TMPDIR=$work/tmp

err_is() { n_checks=$((n_checks + 1)); grep -qE -- "$1" err || fail "stderr lacks: $1"; }
clean() { n_checks=$((n_checks + 1)); [ -z "$(ls tmp)" ] || fail "left behind: $(ls tmp)"; }
same() { n_checks=$((n_checks + 1)); cmp -s "$1" "$2" || fail "$1 and $2 differ"; }

# changed NAME SED: an unpacked ball with another description
changed() {
  rm -rf "$1"
  cp -r "$fmus/ball2" "$1"
  sed "$2" "$fmus/ball2/modelDescription.xml" >"$1/modelDescription.xml"
  ! cmp -s "$1/modelDescription.xml" "$fmus/ball2/modelDescription.xml" || fail "sed changed nothing: $2"
}

# ---- a file, a folder, a folder with a slash behind it: the same run
run 0 run "$fmus/ball2.fmu" --out file --quiet
run 0 run "$fmus/ball2" --out folder --quiet
run 0 run "$fmus/ball2/" --out slash
out_has '^ball2|^system|^fmu'
same file/results.csv folder/results.csv
n_checks=$((n_checks + 1))
cmp -s <(sed 1d file/results.csv) <(sed 1d slash/results.csv) || fail "the folder with a slash gives other numbers"
run 0 check "$fmus/ball2"
clean

# ---- an FMU has no lines: messages do not name any
run 2 run "$fmus/lacking2.fmu" --out bad
err_is "lacking2\.fmu: error: unit 'lacking2': lacking\.so lacks functions"
run 2 check "$fmus/ball2.fmu" --set units.ball2.with.gg=1
err_is "^--set units\.ball2\.with\.gg: error: .*did you mean 'g'"

# ---- a file that is not there is named with the line that wants it
printf 'yoke: 1\ntime: {stop: 1, step: 0.1}\nunits:\n  a: {fmu: sub/none.fmu}\n' >none.yaml
run 2 run none.yaml --out bad
err_is "^none\.yaml:4:12: error: unit 'a': there is no file 'sub/none\.fmu'$"

# ---- times that are missing, senseless, or written with all digits of a double
changed no_times '/<DefaultExperiment/d'
run 0 run no_times --out times
err_is 'neither a stop time nor a step: the default is one second in steps of 1e-3 s'
run 0 run no_times --out times --quiet
err_empty
changed third 's|<DefaultExperiment[^>]*>|<DefaultExperiment stopTime="10" stepSize="0.03333333333333333"/>|'
run 0 run third --out times
err_is 'a step with too many digits'
n_checks=$((n_checks + 1))
[ "$(wc -l <times/results.csv)" -eq 302 ] || fail "300 steps of a thirtieth: $(wc -l <times/results.csv) lines"
run 0 run third --set time.stop=100 --out times --quiet
changed far 's|<DefaultExperiment[^>]*>|<DefaultExperiment startTime="1e300"/>|'
run 0 run far --out times --quiet

# ---- --strict, for check as for run
run 0 check "$fmus/imperfect2.fmu"
run 2 check "$fmus/imperfect2.fmu" --strict
err_is '^yoke check: [0-9]+ warnings, and --strict was given$'
run 0 check "$fmus/ball2.fmu" --strict

# ---- a library that is cut short ends in a message, not in a signal
library=$(cd "$fmus/ball2" && ls binaries/*/ball.so)
for n in 10 100 3000 12000; do
  changed cut 's/description="[^"]*"/description="cut"/'
  head -c $n "$fmus/ball2/$library" >cut/"$library"
  run 2 run cut --out bad
  err_is 'ball\.so does not run on this machine: it is (cut short or damaged|no shared library)$'
  run 0 info cut
  out_has '^  cannot be run +its binary cannot be loaded here'
done
clean

# ---- SSP: a name that promises an archive; two ways of a variable; items by number; other alphabets; the step
: >empty.ssp
run 2 run empty.ssp --out bad
err_is '^empty\.ssp: error: not a zip archive'
run 0 export gain --fmi 2 -o gain.fmu
run 0 export constant --fmi 2 -o constant.fmu
run 0 export oscillator.mass --fmi 2 -o mass.fmu
cat >ways.ssd <<'END'
<?xml version="1.0" encoding="UTF-8"?>
<SystemStructureDescription version="1.0" name="ways"><System name="s"><ParameterBindings><ParameterBinding>
<ParameterValues><ParameterSet version="1.0" name="p"><Parameters>
<Parameter name="c.value"><Real value="5"/></Parameter><Parameter name="g.k"><Real value="3"/></Parameter>
<Parameter name="m.x"><Real value="1"/></Parameter><Parameter name="m.k"><Real value="9"/></Parameter>
<Parameter name="m.solver"><Integer value="2"/></Parameter>
</Parameters></ParameterSet></ParameterValues></ParameterBinding></ParameterBindings>
<Elements><Component name="c" source="constant.fmu"><Connectors><Connector name="y" kind="inout"/></Connectors></Component>
<Component name="g" source="gain.fmu"><Connectors><Connector name="u" kind="inout"/></Connectors></Component>
<Component name="m" source="mass.fmu"/></Elements>
<Connections><Connection startElement="g" startConnector="u" endElement="c" endConnector="y"/></Connections>
</System></SystemStructureDescription>
END
run 2 run ways.ssd --out bad
err_is 'neither a DefaultExperiment nor an FMU gives a stop time: set it with --set time\.stop='
run 0 run ways.ssd --set time.stop=2 --out ways
err_is 'no step is given: 2e-3, a thousandth of the run'
n_checks=$((n_checks + 1))
[ "$(wc -l <ways/results.csv)" -eq 1002 ] || fail "1000 steps: $(wc -l <ways/results.csv) lines"
n_checks=$((n_checks + 1))
[ "$(head -1 ways/results.csv | tr , '\n' | grep -n '^g\.y$' | cut -d: -f1 | xargs -I{} cut -d, -f{} ways/results.csv | tail -1)" = 15 ] ||
  fail "g.y is not 15: $(tail -1 ways/results.csv)"
run 0 check ways.ssd --set time.stop=2 --set units.c.values.value=6
out_has '^    set  value = 6$'
out_has "^    set  x = 1, k = 9, solver = 'rk4'$"
sed 's|<Integer value="2"/>|<Enumeration value="rk4"/>|' ways.ssd >named.ssd
sed 's|<Integer value="2"/>|<Integer value="0"/>|' ways.ssd >euler.ssd
run 0 run named.ssd --set time.stop=2 --out named --quiet
same ways/results.csv named/results.csv
run 0 run euler.ssd --set time.stop=2 --out euler --quiet
n_checks=$((n_checks + 1))
! cmp -s ways/results.csv euler/results.csv || fail "the number of an item has no effect"
sed 's|<Integer value="2"/>|<Integer value="9"/>|' ways.ssd >ninth.ssd
run 2 run ninth.ssd --set time.stop=2 --out bad
err_is "parameter 'solver' of 'm': expected euler, .*, found 9"
if command -v iconv >/dev/null; then
  sed 's/UTF-8/UTF-16/' ways.ssd | iconv -f UTF-8 -t UTF-16 >wide.ssd
  run 0 run wide.ssd --set time.stop=2 --set time.step=2e-3 --out wide --quiet
  same ways/results.csv wide/results.csv
else
  skip "UTF-16: iconv is missing"
fi
sed 's/source="gain.fmu"/source="lost.fmu"/' ways.ssd >lost.ssd
run 2 run lost.ssd --set time.stop=2 --out bad
err_is "^lost\.ssd:9: error: .*there is no file 'lost\.fmu'$"
clean

# ---- export names what was typed
run 2 export gain --fmi 2 --with k=abc -o bad.fmu
err_is "^--with k: error: parameter 'k' of 'gain': expected a number"
for text in k k= =3; do
  run 2 export gain --fmi 2 --with "$text" -o bad.fmu
  err_is "^yoke export: --with $text: expected NAME=VALUE"
done
run 2 export label --fmi 2 -o bad.fmu
err_is "^label: error: labels: expected a list"
n_checks=$((n_checks + 1))
[ ! -e bad.fmu ] || fail "a refused export left a file"

# ---- what rollback alone does not give to iterative schemes
run 0 info "$fmus/oscillator_force2.fmu"
out_has '^  rollback +yes: iterative schemes can repeat its steps; outputs that depend directly on'
out_has 'corrected by its derivatives$'
out_has '^  exchange +stale or fresh, by trial steps$'
run 0 info "$fmus/oscillator_mass2.fmu"
out_has '^  rollback +yes: iterative schemes'
out_has '^  exchange +stale or fresh$'
run 0 info "$fmus/reread2.fmu"
out_has 'read again by trial steps$'
run 0 info "$fmus/reread_fixed2.fmu"
out_has 'of the last call, which leaves'
out_has '^  exchange +stale; fresh is not possible$'
run 0 info "$fmus/reread_plain3.fmu"
out_has '^  rollback +no: '
out_has '^  exchange +stale; fresh is not possible$'
run 0 info "$fmus/reread_both2.fmu"
out_has '^  exchange +stale; fresh with interface: model-exchange$'
run 0 info "$fmus/reread_events3.fmu"
out_has '^  exchange +stale or fresh$'

# ---- what an FMU logs while it fails to start
run 2 check "$fmus/faulty2.fmu" --set units.faulty2.with.what=error --set units.faulty2.with.where=initialise
err_is "^error: unit 'faulty2': logStatusError: told to fail at 0 s$"
err_is "faulty2\.fmu: error: unit 'faulty2': fmi2ExitInitializationMode returned error"

echo "$n_checks checks, $n_failed failed, $n_skipped skipped"
[ "$n_failed" -eq 0 ]
