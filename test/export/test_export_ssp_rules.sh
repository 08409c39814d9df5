#!/usr/bin/env bash
# yoke export --ssp against the schemas of SSP (check_ssp.py, written apart from exporter and importer): Yoke's own is one element
# inside ssc:Annotation. What is read back gives the bytes of the original; and the rules find files that break them.
set -u
yoke=${YOKE_PROGRAM:?set YOKE_PROGRAM to the program}
source_dir=${YOKE_SOURCE_DIR:?set YOKE_SOURCE_DIR to the source folder}
rules=$source_dir/test/export/check_ssp.py
command -v python3 >/dev/null || { echo "python3 is missing"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1

# bonds, laws, typed signals, arrays, files of couplings, a twin, a netlist
for fmi in 2 3; do
  for name in linear-oscillator/corrected-multirate two-pendula/lagrangian typed-signals/typed blocks/blocks \
    steering/delayed-hinf twin-circuit/disturbed electric-drive/drive; do
    "$yoke" export "$source_dir/scenarios/$name.yaml" --ssp --fmi $fmi -o "$(basename $name)-$fmi.ssp" >out 2>&1 ||
      { echo "FAILED: yoke export $name.yaml --ssp --fmi $fmi:"; cat out; exit 1; }
  done
done
python3 "$rules" ./*.ssp || { echo "FAILED: the rules of SSP"; exit 1; }
python3 "$rules" --self-test typed-2.ssp typed-3.ssp || { echo "FAILED: the rules miss faults"; exit 1; }

# what is inside of the annotation is found again: rates and corrections are nowhere else
native=$source_dir/scenarios/linear-oscillator/corrected-multirate.yaml
"$yoke" run "$native" --out native --quiet >out 2>&1 || { echo "FAILED: the native system"; cat out; exit 1; }
for fmi in 2 3; do
  "$yoke" run corrected-multirate-$fmi.ssp --out back-$fmi --quiet >out 2>&1 ||
    { echo "FAILED: the exported system, FMI $fmi:"; cat out; exit 1; }
  cmp native/results.csv back-$fmi/results.csv || { echo "FAILED: other results, FMI $fmi"; exit 1; }
done

# text straight inside ssc:Annotation is read too: as SSP 2.0 allows it, and as Yoke wrote it once
python3 - corrected-multirate-2.ssp old.ssp <<'END' || exit 1
import re, sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as old, zipfile.ZipFile(sys.argv[2], "w") as new:
    for name in old.namelist():
        data = old.read(name)
        if name.endswith(".ssd"):
            data, n = re.subn(rb"\s*</?yoke:System[^>]*>\s*?(\n)?", rb"\1", data)
            assert n == 2, n
        new.writestr(name, data)
END
"$yoke" run old.ssp --out old --quiet >out 2>&1 || { echo "FAILED: an annotation of text:"; cat out; exit 1; }
cmp native/results.csv old/results.csv || { echo "FAILED: an annotation of text gives other results"; exit 1; }
echo "all checks passed"
