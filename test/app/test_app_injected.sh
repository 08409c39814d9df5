#!/usr/bin/env bash
# The n-th call of a kind fails: allocations over sweep (with resume) and advise; open, write, rename, sync and mkdir over run,
# sweep (with resume) and export, with ENOSPC, EIO and EMFILE. Asked for at every site: no false success (status 0 means the
# same bytes as without the failure), a message that names the failure, status 1, nothing lost that was
# flushed, no temporary folder left. A spread of the sites here; all of them in test_app_injected_slow.sh.
set -u
yoke=${YOKE_PROGRAM:?set YOKE_PROGRAM to the program}
source=${YOKE_SOURCE_DIR:?set YOKE_SOURCE_DIR to the tree}
fmus=${YOKE_FMUS:?set YOKE_FMUS to the folder of the test FMUs}
is_full=${YOKE_FULL:-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
export TMPDIR=$work/tmp
mkdir tmp

case ${YOKE_SANITIZE:-} in
"") has_alloc=true flags= ;;
*address*)
  # the sanitizer's own allocator cannot be made to fail, and it wants to be loaded first
  has_alloc=false flags=-DINJECT_WITHOUT_ALLOC
  export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0"
  ;;
*)
  echo "skipped: preloading does not go with $YOKE_SANITIZE"
  exit 77
  ;;
esac
"${YOKE_CC:-cc}" -shared -fPIC -O1 $flags -o inject.so "$source/test/app/inject/inject.c" -ldl || {
  echo "skipped: the library to preload cannot be built"
  exit 77
}

# ---- the systems

cat >system.yaml <<'END'
yoke: 1
time: {stop: 0.02, step: 1e-3}
trust: {status: false, bands: true}
units:
  left:  {model: oscillator.force, with: {m: 1, k: 10, kc: 100}, start: {x: 0, v: 100}}
  right: {model: oscillator.mass, with: {m: 1, k: 1000}, start: {x: 0, v: -100}}
connections:
  - right.x -> left.x_other
bonds:
  spring: {action: left.f -> right.f, rate: right.v -> left.v_other}
END
cat >part.inc <<'END'
c1 out 0 {cap} ic=1
END
cat >filter.cir <<'END'
a filter
.param cap=1u
r1 in out 1k
.include part.inc
v1 in 0 dc 1
.tran 10u 1m uic
.end
END
# the solver by name: SUNDIALS 6 itself crashes where memory for its logger is refused
cat >mixed.yaml <<END
yoke: 1
time: {stop: 0.01, step: 1e-3}
trust: {status: false}
units:
  tank: {fmu: $fmus/dahlquist2.fmu, solver: dopri5}
  net: {circuit: filter.cir}
END

# ---- one site

n_failed=0
n_sites=0 n_named=0 n_kept=0 n_same=0  # of a table's row
bad() {
  n_failed=$((n_failed + 1))
  echo "FAILED: $what: $*"
  echo "--- stderr:"; head -c 1000 err
}

# inject WHAT ARGUMENTS...: yoke with that call failing
inject() {
  local injected=$1
  shift
  timeout 300 env INJECT="$injected" LD_PRELOAD="$work/inject.so" "$yoke" "$@" >out 2>err
  status=$?
}

# counts ARGUMENTS...: how often each kind is called without a failure, into calls[]
declare -A calls
counts() {
  rm -f counts
  timeout 300 env INJECT= INJECT_COUNTS="$work/counts" LD_PRELOAD="$work/inject.so" "$yoke" "$@" >out 2>err
  status=$?
  [ "$status" -eq 0 ] || bad "status $status without any failure"
  while read -r kind n; do calls[$kind]=$n; done <counts
}

# sites KIND N_QUICK: which calls fail
sites() {
  local n=${calls[$1]} most=$2
  [ -z "$is_full" ] || most=${3:-100000}
  [ "$n" -gt 0 ] || return 0
  if [ "$n" -le "$most" ]; then seq 1 "$n"; else seq 1 $((n / most + 1)) "$n"; fi
}

# The folder for temporary files is empty; a watcher may need a moment to clean up.
is_clean() {
  for ((i = 0; i < 100; i++)); do
    [ -n "$(ls -A tmp)" ] || return 0
    sleep 0.05
  done
  bad "left over in the temporary folder: $(ls -A tmp)"
  rm -rf tmp/*
}

# A failure with a name. CODE: what was injected
is_named() {
  [ "$status" -eq 1 ] || bad "status $status"
  [ -s err ] || bad "no message"
  [ "$1" != ENOMEM ] || grep -q 'out of memory' err || bad "does not say: out of memory"
  n_named=$((n_named + 1))
}

heading() { printf '%-28s %6s %6s %6s %8s %6s\n' "what fails" calls sites named "no harm" kept; }
row() {
  printf '%-28s %6d %6d %6d %8d %6d\n' "$1" "$2" "$n_sites" "$n_named" "$n_same" "$n_kept"
  total=$((total + n_sites))
  n_sites=0 n_named=0 n_kept=0 n_same=0
}
total=0

# ---- sweep, with resume

# sweep_at INJECTION CODE
sweep_at() {
  local refused kept
  what="sweep, $1"
  rm -rf swept
  inject "$1" "${sweep[@]}" --out swept
  n_sites=$((n_sites + 1))
  is_clean
  if [ "$status" -eq 0 ]; then
    cmp -s swept/sweep.csv sweep.ref || bad "status 0, but another table"
    n_same=$((n_same + 1))
    return
  fi
  is_named "$2"
  # what was journaled stays, and a point without memory, disk or descriptors is no refused one
  refused=0 kept=0
  if [ -f swept/journal.csv ]; then
    refused=$(grep -c ',refused,' swept/journal.csv)
    grep ',done,' swept/journal.csv >before
    kept=$(wc -l <before)
  fi
  [ "$refused" -eq 0 ] || bad "$refused points are refused for a shortage"
  n_kept=$((n_kept + kept))
  inject '' "${sweep[@]}" --out swept
  [ "$status" -eq 0 ] || bad "the resume ends with status $status"
  cmp -s swept/sweep.csv sweep.ref || bad "the resume gives another table"
  [ "$kept" -eq 0 ] || [ "$(grep -cFx -f before swept/journal.csv)" -eq "$kept" ] || bad "rows of the journal were lost"
}

# sweep_all NAME N_QUICK N_FULL KIND:CODE...
sweep_all() {
  local name=$1 quick=$2 full=$3 kind code n
  shift 3
  rm -rf swept
  counts "${sweep[@]}" --out swept
  cp swept/sweep.csv sweep.ref
  for site in "$@"; do
    kind=${site%%:*} code=${site##*:}
    for n in $(sites "$kind" "$quick" "$full"); do sweep_at "$kind $n $code" "$code"; done
    row "$name $site" "${calls[$kind]}"
  done
}

# ---- the table

heading
sweep=(sweep system.yaml --vary units.left.with.kc=50,100 --vary time.step=1e-3,2e-3 --measure ter,rms:left.x --jobs 1)
$has_alloc && sweep_all "sweep" 8 600 alloc:ENOMEM
sweep_all "sweep" 2 100 open:EMFILE write:ENOSPC rename:EIO mkdir:ENOSPC
sweep=(sweep mixed.yaml --vary units.net.with.cap=1e-6,2e-6 --measure end:tank.x,steps --jobs 1)
$has_alloc && sweep_all "sweep FMU, netlist" 8 500 alloc:ENOMEM
sweep_all "sweep FMU, netlist" 3 100 open:EMFILE write:ENOSPC write:EIO mkdir:ENOSPC rename:ENOSPC

# ---- advise

advise=(advise system.yaml)
if $has_alloc; then
  rm -rf advised
  counts "${advise[@]}" --out advised
  cp advised/advise/advise.json advise.ref
  for n in $(sites alloc 6 300); do
    what="advise, alloc $n"
    rm -rf advised
    inject "alloc $n ENOMEM" "${advise[@]}" --out advised
    n_sites=$((n_sites + 1))
    is_clean
    if [ "$status" -eq 0 ]; then
      cmp -s advised/advise/advise.json advise.ref || bad "status 0, but other advice"
      n_same=$((n_same + 1))
    else
      is_named ENOMEM
    fi
  done
  row "advise alloc:ENOMEM" "${calls[alloc]}"
fi

# ---- run: rows that were written are whole and those of an undisturbed run

run=(run system.yaml --format "csv,hdf5,mat")
rm -rf ran
counts "${run[@]}" --out ran
cp -r ran ran.ref
for site in open:EMFILE write:ENOSPC write:EIO rename:EIO mkdir:ENOSPC sync:EIO; do
  kind=${site%%:*} code=${site##*:}
  for n in $(sites "$kind" 5 120); do
    what="run, $kind $n $code"
    rm -rf ran
    inject "$kind $n $code" "${run[@]}" --out ran
    n_sites=$((n_sites + 1))
    is_clean
    for file in ran/results.csv ran/results.csv.part; do
      if [ -f "$file" ]; then
        size=$(stat -c %s "$file")
        cmp -s -n "$size" "$file" ran.ref/results.csv || bad "$file is not the beginning of the results"
        [ "$size" -eq 0 ] || [ -z "$(tail -c 1 "$file")" ] || bad "$file ends within a row"
        n_kept=$((n_kept + $(wc -l <"$file")))
      fi
    done
    if [ "$status" -eq 0 ]; then
      cmp -s ran/results.csv ran.ref/results.csv || bad "status 0, but another results.csv"
      # a run without companions has a verdict that says so
      cmp -s ran/bands.csv ran.ref/bands.csv || grep -q 'no descriptors for companions' out || bad "status 0, but another bands.csv"
      for file in results.h5 results.mat; do
        cmp -s "ran/$file" "ran.ref/$file" || bad "status 0, but another $file"
      done
      [ -s ran/summary.json ] || bad "status 0, but no summary.json"
      n_same=$((n_same + 1))
    else
      is_named "$code"
    fi
  done
  row "run $site" "${calls[$kind]}"
done

# ---- export: the whole file or none

# export_all NAME FILE ARGUMENTS...
export_all() {
  local name=$1 file=$2
  shift 2
  rm -rf made && mkdir made
  counts export "$@"
  cp "$file" export.ref
  for site in open:EMFILE write:ENOSPC rename:EIO mkdir:ENOSPC; do
    kind=${site%%:*} code=${site##*:}
    for n in $(sites "$kind" 2 100); do
      what="export $name, $kind $n $code"
      rm -rf made && mkdir made
      inject "$kind $n $code" export "$@"
      n_sites=$((n_sites + 1))
      is_clean
      if [ "$status" -eq 0 ]; then
        cmp -s "$file" export.ref || bad "status 0, but another file"
        n_same=$((n_same + 1))
      else
        is_named "$code"
        [ ! -e "$file" ] || cmp -s "$file" export.ref || bad "half a file is left"
      fi
    done
    row "export $name $site" "${calls[$kind]}"
  done
}
export_all fmu made/filter.fmu filter.cir --fmi 2 --out made/filter.fmu
export_all ssp made/system.ssp mixed.yaml --ssp --out made/system.ssp

echo "$total sites, $n_failed failed"
[ "$n_failed" -eq 0 ]
