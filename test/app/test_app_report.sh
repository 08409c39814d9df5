#!/usr/bin/env bash
# yoke report: the page from the files of a result, the same bytes as --report, wherever the folder stands; a reference and a
# second run beside it; and what it says of folders that hold no result.
set -u
export LC_ALL=C
yoke=${YOKE_PROGRAM:?set YOKE_PROGRAM to the program}
source=${YOKE_SOURCE_DIR:?path of the source tree}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
n_failed=0

fail() {
  echo "FAILED: $1"
  n_failed=$((n_failed + 1))
}
# run STATUS ARGUMENTS...: stdout in out, stderr in err
run() {
  local expected=$1
  shift
  "$yoke" "$@" >out 2>err </dev/null
  local status=$?
  [ $status -eq "$expected" ] || { fail "yoke $*: status $status, expected $expected"; cat err; }
}
err_has() { grep -qE -- "$1" err || { fail "stderr lacks '$1'"; cat err; }; }
page_has() { grep -qF -- "$2" "$1/report.html" || fail "$1/report.html lacks '$2'"; }

# same FOLDER: yoke report makes the page that is there, byte by byte, also from a copy of the folder
same() {
  rm -rf copy
  mkdir copy
  cp -r "$1" copy/elsewhere
  rm copy/elsewhere/report.html
  run 0 report copy/elsewhere
  [ "$(cat out)" = copy/elsewhere/report.html ] || fail "yoke report does not print the page's name: $(cat out)"
  [ -s err ] && { fail 'yoke report has something to say'; cat err; }
  cmp "$1/report.html" copy/elsewhere/report.html || fail "the page of $1 and that of yoke report differ"
}

cp "$source/scenarios/linear-oscillator/jacobi.yaml" system.yaml
cat >rc.cir <<'END'
RC behind a source
V1 in 0 2
R1 in out 1k
C1 out 0 1u IC=0
.tran 0.1m 5m 1m uic
.end
END

# ---- the same page
run 0 run system.yaml --report --quiet --out csv --set 'name=a "b" <c>' --set time.stop=1
same csv
page_has csv '"command": "yoke run system.yaml --report --quiet --out csv --set'
page_has csv '"file_text": "'
if "$yoke" run system.yaml --format hdf5 --report --quiet --out hdf5 >/dev/null 2>&1; then
  same hdf5
fi
run 0 run "$source/scenarios/dual-mass/pulsed-mpsm.yaml" --report --quiet --out mass
same mass
page_has mass '"method": "mpsm"'
run 0 run "$source/scenarios/typed-signals/typed.yaml" --report --quiet --out typed
same typed
run 0 circuit rc.cir --report --quiet --out rc
same rc
page_has rc '"circuit": {'
page_has rc 'RC behind a source'
# after the run, without --report, and with the system file gone
run 0 run system.yaml --quiet --out later --set time.stop=1
[ -e later/report.html ] && fail 'a page without --report'
mv system.yaml gone.yaml
run 0 report later/
[ -s later/report.html ] || fail 'no page afterwards'
page_has later '"file_text": "'
mv gone.yaml system.yaml
# the page of an earlier run is not left beside other results, and that is said
run 0 run system.yaml --out later --set time.stop=1
[ -e later/report.html ] && fail 'the page of the earlier run is still there'
grep -qF "note: removed later/report.html, which showed the results of an earlier run; 'yoke report later' writes" err ||
  fail "nothing is said of the removed page: $(cat err)"
run 0 run system.yaml --out later --set time.stop=1
grep -qF 'removed' err && fail 'a page was removed that was not there'

# ---- a run that failed has its message on the page
run 1 run system.yaml --report --quiet --out failed --set time.step=0.5 --set time.stop=5000
same failed
page_has failed 'content="The run failed: unit '
page_has failed '"status": "failed"'
sed -n '/"messages": \[/,/^  \]/p' failed/report.html | grep -q 'became inf' || fail 'no message of the failed run'

# ---- another result beside it: from a folder or a file, and the same page without
run 0 run system.yaml --quiet --out fine --set time.stop=1 --set time.step=5e-4
cp -r csv beside
run 0 report beside --reference fine --before fine
[ "$(cat out)" = beside/report.html ] || fail "no name of the page: $(cat out)"
page_has beside 'id="reference"'
page_has beside '"path": "fine"'
page_has beside 'id="reference-before"'
page_has beside 'id="data-before"'
# the largest difference is the one of yoke compare
run 0 compare csv fine --signal left.x --measure max --json
max=$(tr ',' '\n' <out | sed -n 's/.*"max": //p' | head -1)
[ -n "$max" ] || fail 'yoke compare prints no difference'
sed -n '/id="reference"/,/<\/script>/p' beside/report.html | grep -A1 '"name": "left.x"' | head -2 | grep -qF "\"max\": $max" ||
  fail "the page has another difference than yoke compare, $max"
run 0 report beside --reference fine/results.csv
page_has beside '"path": "fine/results.csv"'
grep -qF 'id="data-before"' beside/report.html && fail 'a tab that nobody asked for'
run 0 report beside
cmp csv/report.html beside/report.html || fail 'the page alone is another one'
rm beside/report.html
run 2 report beside --reference nowhere
err_has "^error: there is no reference 'nowhere': neither a file nor a folder\$"
run 2 report beside --before nowhere
err_has "'nowhere' is no folder: a report needs the folder of a result"
run 2 report beside --reference rc
err_has "^rc: error: the reference has no signal in common with 'beside'\$"
mkdir bare
run 2 report beside --before bare
err_has '^bare: error: there is no summary.json in this folder: it holds no result of Yoke$'
run 2 report beside --reference bare
err_has '^bare: error: '
[ -e beside/report.html ] && fail 'a page in spite of an error'

# ---- what is no result
run 2 report nowhere
err_has "'nowhere' is no folder"
run 2 report rc.cir
err_has "'rc.cir' is no folder"
run 2 report
err_has 'RESULT'
mkdir empty
run 2 report empty
err_has '^empty: error: there is no summary.json in this folder: it holds no result of Yoke$'
mkdir other
printf '{"format": "yoke-sweep", "version": 1}\n' >other/summary.json
run 2 report other
err_has '^other/summary.json: error: this is no summary of a run of Yoke$'
printf '{"format": \n' >other/summary.json
run 2 report other
err_has '^other/summary.json:2: error: '
# versions that this program does not know
sed '0,/"version": 1/s//"version": 99/' csv/summary.json >other/summary.json
run 2 report other
err_has '^other/summary.json: error: this summary has version 99, this Yoke reads version 1$'
sed '0,/"version": 1,/s///' csv/summary.json >other/summary.json
run 2 report other
err_has '^other/summary.json: error: this summary has version 0, this Yoke reads version 1$'
sed 's/"messages": \[\]/"messages": 3/' csv/summary.json >other/summary.json
cmp -s csv/summary.json other/summary.json && fail 'the summary has no empty list of messages'
run 2 report other
err_has '^other/summary.json: error: this summary is not valid: Expected array, got real$'
cp csv/summary.json other
run 2 report other
err_has '^other: error: there is no results.csv or results.h5 in this folder; '
for folder in empty other; do
  [ -e $folder/report.html ] && fail "a page in $folder"
done
if [ "$(id -u)" -ne 0 ]; then
  chmod a-w later
  rm -f later/report.html
  run 1 report later
  chmod u+w later
fi

# ---- results that are cut: the same status whatever their format
for folder in csv hdf5; do
  [ -e $folder/report.html ] || { echo "skipped: HDF5 is not part of this build" && continue; }
  for file in $folder/results.csv $folder/results.h5; do
    [ -e $file ] && truncate -s -$(($(stat -c %s $file) / 3)) $file
  done
  run 2 report $folder
  err_has "^$folder/results\\.(csv|h5)(:[0-9]+)?: error: "
done

[ $n_failed -eq 0 ] || exit 1
