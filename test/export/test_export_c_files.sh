#!/usr/bin/env bash
# yoke export --c: the files compile freestanding without a warning and without a call, give what the solver gives, are
# the same every time; wrong command lines and netlists are refused with names.
set -u
yoke=${YOKE_PROGRAM:?set YOKE_PROGRAM to the program}
source_dir=${YOKE_SOURCE_DIR:?set YOKE_SOURCE_DIR to the source folder}
cc=${YOKE_CC:-cc}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
. "$source_dir/test/export/export_c_cases.sh"
n_failed=0

check() {
  [ "$1" -eq 0 ] && return
  echo "FAILED: $2"
  echo "--- stdout:"; head -c 2000 out
  echo "--- stderr:"; head -c 2000 err
  n_failed=$((n_failed + 1))
}
# run STATUS ARGUMENTS...
run() {
  local want=$1 status
  shift
  "$yoke" "$@" >out 2>err
  status=$?
  check "$([ $status -eq "$want" ]; echo $?)" "yoke $*: status $status, expected $want"
}
out_has() { check "$(grep -qF -- "$1" out; echo $?)" "stdout lacks: $1"; }
err_has() { check "$(grep -qF -- "$1" err; echo $?)" "stderr lacks: $1"; }

write_netlists
strict="-std=c11 -ffreestanding -Wall -Wextra -Wpedantic -Werror -Wconversion -Wdouble-promotion -Wmissing-prototypes -ffp-contract=off"

# ---- compiled: no warning, no call of anything; then against the solver
# host NAME OPTIONS RAMP TOLERANCE INPUT...
host() {
  local name=$1 options=$2 ramp=$3 tolerance=$4 type=double
  shift 4
  [[ $options == *--float* ]] && type=float
  rm -rf c && run 0 export $name.cir --c $options -o c
  for level in -O0 -O2 -O3; do
    $cc $strict $level -c c/$name.c -o $name.o >out 2>err
    check $? "$name $options $level does not compile without warnings"
    wanted=$(nm -u $name.o | grep -v GLOBAL_OFFSET_TABLE)
    check "$([ -z "$wanted" ]; echo $?)" "$name $options $level calls $wanted"
  done
  write_driver $name $type "$ramp" "$@"
  cat >main.c <<C
#include <stdio.h>
#include "drive.h"
static void put($type value) { printf("%.17g\n", (double)value); }
int main(void) { drive(); return 0; }
C
  $cc -std=c11 -O2 -ffp-contract=off -Ic main.c c/$name.c -o main >out 2>err && ./main >numbers
  check $? "$name $options does not run"
  # 101 rows of outputs, beside those of the solver; its first one is found by a very small step, not exactly
  n=$(head -1 results/$name.csv | tr ',' '\n' | wc -l)
  paste -d' ' - - - <numbers >mine
  tail -n +2 results/$name.csv | tr ',' ' ' | paste -d' ' - mine |
    awk -v n="$n" -v tolerance="$tolerance" '
      NR > 1 { for (i = 2; i <= n; i++) { d = $i - $(n + i - 1); d = d < 0 ? -d : d; s = $i < 0 ? -$i : $i
          if (d / (1 + s) > worst) worst = d / (1 + s) } }
      { rows++ }
      END { printf "%d rows, largest difference %.3g\n", rows, worst; exit !(rows == 101 && worst <= tolerance) }' >out 2>err
  check $? "$name $options differs from the solver: $(cat out)"
  echo "$name $options: $(cat out)"
}
mkdir results
for name in warm rlc ladder; do
  run 0 run $name.cir --set "record.signals=['*.*']" --out r-$name --quiet
  cp r-$name/results.csv results/$name.csv
  # only what .output names
  python3 - "$name" <<'PY' || exit 1
import csv, sys
name = sys.argv[1]
rows = list(csv.reader(open(f"results/{name}.csv")))
want = {"warm": ["t(core)", "t(case)", "into_water"], "rlc": ["v(3)", "i(l1)", "i(c1)"],
        "ladder": ["v(4)", "i(l1)", "v(42)"]}[name]
columns = [0] + [next(i for i, c in enumerate(rows[0]) if c.split(".", 1)[-1] == w) for w in want]
rows = [[row[i] for i in columns] for row in rows][:102]
csv.writer(open(f"results/{name}.csv", "w"), lineterminator="\n").writerows(rows)
PY
done
# the solver with steps of a hundredth: below 1e-9; single precision: 350 K is rounded to 1.5e-5 K in every step
host warm "" no 1e-9 50 290
host warm "--hold first" yes 1e-9 50 290
host warm "--float" no 5e-5 50 290
host rlc "" no 1e-9 2
host rlc "--float --hold first" yes 1e-5 2
host ladder "" no 1e-9 1
# bound 1e-4 of each gain, start at rest
host ladder "--reduce 1e-4" no 1e-4 1
host ladder "--order 12" no 1e-2 1
host ladder "--reduce 1e-4 --float" no 1.1e-4 1

# ---- in C++ too
if command -v c++ >/dev/null; then
  echo '#include "warm.h"' >header.cpp
  run 0 export warm.cir --c -o c
  c++ -Wall -Wextra -Werror -Ic -fsyntax-only header.cpp >out 2>err
  check $? "the header is no C++"
fi

# ---- what it says; the same bytes twice; nothing of this machine
run 0 export ladder.cir --c --reduce 1e-3 -o one
out_has "reduced from 40 states"
out_has "error bound"
run 0 export ladder.cir --c --reduce 1e-3 -o two
cmp one/ladder.c two/ladder.c >out 2>err && cmp one/ladder.h two/ladder.h >out 2>err
check $? "two exports differ"
check "$(grep -rnF "$work" one >out; [ $? -eq 1 ]; echo $?)" "a path of this machine"
grep -q "balanced truncation" one/ladder.c && grep -q "Made by Yoke .* from ladder.cir with --reduce 1e-3" one/ladder.h
check $? "the comment lacks its provenance"
grep -q "LADDER_STEP 0.01" one/ladder.h
check $? "the step is missing"
sed 's/core 20 J/core {c_core} J/; 2i .param c_core=20' warm.cir >param.cir
run 0 export param.cir --c -o p20; run 0 export param.cir --c --with c_core=20 -o p20-again; run 0 export param.cir --c --with c_core=40 -o p40
cmp -s <(grep -v Made p20/param.c) <(grep -v Made p20-again/param.c)
check $? "the same parameter gives another model"
cmp -s <(grep -v Made p20/param.c) <(grep -v Made p40/param.c)
check "$([ $? -eq 1 ]; echo $?)" "another parameter gives the same model"
run 2 export param.cir --c --with c_cor=3; err_has "no parameter 'c_cor'"
run 2 export param.cir --c --with c_core=much; err_has "expected a number"
run 0 export "$source_dir/scenarios/circuits/rlc.cir" --c -o scen
out_has "2 states, 1 input, 2 outputs"

# ---- refused
printf 'd\nV1 a 0 1\nR1 a b 1\nD1 b 0 x\n.model x D\n.tran 1m 1\n.end\n' >diode.cir
run 2 export diode.cir --c; err_has "diode.cir:4: error: 'D1' is a diode"
check "$([ ! -e diode.c ]; echo $?)" "a file in spite of the error"
run 2 export "$source_dir/scenarios/circuits/pmsm.cir" --c; err_has "'Rgap' has a value that changes"
printf 'n\nV1 a 0 1\nR1 a 0 1\n.end\n' >nostep.cir
run 2 export nostep.cir --c; err_has "--step"
run 2 export warm.cir --c --step -1; err_has "--step -1: expected a number above 0"
run 2 export warm.cir --c --step x; err_has "--step x"
run 2 export warm.cir --c --reduce 0; err_has "--reduce 0"
run 2 export warm.cir --c --order 1.5; err_has "--order"
run 2 export warm.cir --c --order 3 --reduce 1e-3; err_has "one of them"
run 2 export warm.cir --c --hold second; err_has "hold"
run 2 export warm.cir --c --fmi 2; err_has "do not go together"
run 2 export gain --c; err_has "--c goes with a netlist"
run 2 export warm.cir --fmi 2 --float; err_has "--float goes with --c"
run 2 export missing.cir --c; err_has "missing.cir"
echo file >plain
run 1 export warm.cir --c -o plain/below

[ $n_failed -eq 0 ] || { echo "$n_failed checks failed"; exit 1; }
echo "all checks passed"
