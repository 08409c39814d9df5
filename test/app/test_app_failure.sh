#!/usr/bin/env bash
# Runs that end early: interrupted, killed, diverged, out of disk, ended by a unit. The files hold every complete row
# up to that point, have their final names, and the summary and the exit status say what happened. At the end the
# start-up time of a large system is printed.
set -u
yoke=${YOKE_PROGRAM:?set YOKE_PROGRAM to the program}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1

n_passed=0
n_failed=0
name=
is_good=true
status=0

# ---- helpers

finish() {
  [ -n "$name" ] || return 0
  if $is_good; then n_passed=$((n_passed + 1)); else n_failed=$((n_failed + 1)); fi
  name=
}

begin() {
  finish
  name=$1
  is_good=true
  : >out
  : >err
}

bad() {
  echo "FAILED: $name: $*"
  echo "--- stdout:"; head -c 2000 out
  echo "--- stderr:"; head -c 2000 err
  is_good=false
}

# skip REASON: the rest of a case is left out; what came before it still counts
n_skipped=0
skip() {
  echo "skipped: $name: $*"
  n_skipped=$((n_skipped + 1))
}

# yoke_ends STATUS ARGUMENTS...: within 60 s
yoke_ends() {
  local want=$1
  shift
  timeout 300 "$yoke" "$@" >out 2>err
  status=$?
  [ "$status" -eq "$want" ] || bad "yoke $*: status $status, expected $want"
}

err_has() { grep -qF -- "$1" err || bad "stderr lacks: $1"; }
out_has() { grep -qF -- "$1" out || bad "stdout lacks: $1"; }

# rows_of FILE STEP: every row is complete and time is 0, STEP, 2 STEP, ... without gap; prints their number
rows_of() {
  awk -F, -v step="$2" '
    NR == 1 { n = NF; next }
    { k = $1 / step - (NR - 2) }
    NF != n || /,,|,$/ || k < -1e-6 || k > 1e-6 { is_bad = 1; print "row " NR - 1 " is wrong: " $0; exit 1 }
    END { if (!is_bad) print NR - 1 }' "$1"
}

# of_summary FOLDER KEY
of_summary() { sed -n "s/^ *\"$2\": \"\{0,1\}\([^\",]*\)\"\{0,1\},\{0,1\}$/\1/p" "$1/summary.json" | head -n 1; }

# complete FOLDER STEP STATUS: results.csv has all rows up to the last step, and the summary agrees
complete() {
  local folder=$1 step=$2 want=$3 rows steps
  for file in results.csv summary.json; do
    [ -f "$folder/$file" ] || bad "$folder/$file is missing"
  done
  for file in "$folder"/*.part; do
    [ ! -e "$file" ] || bad "$file still has its temporary name"
  done
  [ "$(tail -c 1 "$folder/results.csv" | od -An -tx1 | tr -d ' ')" = 0a ] || bad "the last row is cut"
  rows=$(rows_of "$folder/results.csv" "$step") || bad "$rows"
  steps=$(of_summary "$folder" steps)
  [ "$rows" = $((steps + 1)) ] || bad "$rows rows, but $steps steps and the start"
  [ "$(of_summary "$folder" rows)" = "$rows" ] || bad "the summary counts $(of_summary "$folder" rows) of $rows rows"
  [ "$(of_summary "$folder" status)" = "$want" ] || bad "the summary says '$(of_summary "$folder" status)', not '$want'"
  [ "$(of_summary "$folder" t_reached)" = "$(tail -n 1 "$folder/results.csv" | cut -d, -f1)" ] ||
    bad "t_reached is $(of_summary "$folder" t_reached), the last row at $(tail -n 1 "$folder/results.csv" | cut -d, -f1)"
}

# start FOLDER ARGUMENTS...: an endless run in the background, until its file has grown. A script's background would
# ignore SIGINT, so signals are set as in a terminal first.
signals=(env --default-signal=INT)
start() {
  local folder=$1
  shift
  "${signals[@]}" "$yoke" run endless.yaml --out "$folder" "$@" >out 2>err &
  pid=$!
  for ((i = 0; i < 2400; i++)); do
    [ -s "$folder/results.csv.part" ] && [ "$(stat -c %s "$folder/results.csv.part")" -gt 100000 ] && return
    sleep 0.05
  done
  bad "nothing was written within two minutes"
}

# a system that would run for days
cat >endless.yaml <<'END'
yoke: 1
inputs: start
calls: 1
time: {stop: 1e9, step: 1e-3}
units: {s: {model: sine}, i: {model: integrator}}
connections: [s.y -> i.u]
END

# ---- signals

for signal in INT TERM; do
  begin "interrupted_by_SIG$signal"
  start "$signal"
  kill "-$signal" "$pid"
  wait "$pid"
  status=$?
  [ "$status" -eq 130 ] || bad "status $status, expected 130"
  complete "$signal" 1e-3 interrupted
  out_has 'endless: interrupted,'
  [ ! -s err ] || bad "an interrupt is no error"
done

# a job that was started with SIGINT ignored (nohup, a script's background) goes on
begin ignored_interrupts
signals=(env --ignore-signal=INT)
start ignored
signals=(env --default-signal=INT)
kill -INT "$pid"
sleep 0.3
kill -0 "$pid" 2>/dev/null || bad "SIGINT ended a run that was told to ignore it"
kill -TERM "$pid"
wait "$pid"
status=$?
[ "$status" -eq 130 ] || bad "status $status, expected 130"
complete ignored 1e-3 interrupted

begin interrupted_in_all_formats
if "$yoke" run endless.yaml --set time.stop=1 --format hdf5 --out try --quiet >out 2>err; then
  start formats --format csv,hdf5
  kill -INT "$pid"
  wait "$pid"
  status=$?
  [ "$status" -eq 130 ] || bad "status $status, expected 130"
  complete formats 1e-3 interrupted
  yoke_ends 0 compare formats/results.h5 formats/results.csv --limit max=0
  out_has "$(rows_of formats/results.csv 1e-3) points from 0 to"
else
  skip 'HDF5 is not built in'
fi

begin killed
start killed
sleep 1.2 # files are flushed every second
{ kill -KILL "$pid" && wait "$pid"; } 2>/dev/null
[ ! -e killed/results.csv ] || bad "a killed run has a file with its final name"
[ -s killed/results.csv.part ] || bad "results.csv.part is missing"
# the write that was under way may be cut: all rows but the last must be whole
awk 'NR > 1 { print last } { last = $0 }' killed/results.csv.part >killed.csv
rows=$(rows_of killed.csv 1e-3) || bad "$rows"
[ "$rows" -gt 1000 ] || bad "only $rows rows"
yoke_ends 0 compare killed.csv killed.csv --limit max=0
out_has "$rows points from 0 to"

# ---- divergence

cat >diverging.yaml <<'END'
yoke: 1
inputs: start
calls: 1
time: {stop: 1, step: 1e-2}
units: {i: {model: integrator, start: {x: 1}}, g: {model: gain, with: {k: 1e100}}}
connections: [g.y -> i.u, i.y -> g.u]
END
for scheme in jacobi gauss-seidel iterative-jacobi iterative-gauss-seidel; do
  for threads in 1 2; do
    begin "diverged_${scheme}_${threads}"
    yoke_ends 1 run diverging.yaml --set "scheme=$scheme" --threads "$threads" --out "$name"
    complete "$name" 1e-2 failed
    # the step that failed is the one behind the last row
    t=$(tail -n 1 "$name/results.csv" | awk -F, '{ printf "%.12g", $1 + 1e-2 }')
    grep -qE "^error: unit '[gi]' at t = $t s: output 'y' became -?(inf|nan)$" err ||
      bad "the message does not name unit, time $t and output"
    grep -qF "\"message\": \"$(cat err)\"" "$name/summary.json" ||
      bad "the summary has another message"
    ! grep -qiE 'inf|nan' "$name/results.csv" || bad "the results hold what is no number"
  done
done

begin diverged_at_the_start
cat >overflow.yaml <<'END'
yoke: 1
inputs: start
calls: 1
time: {stop: 1, step: 1e-2}
units: {a: {model: constant, with: {value: 1e200}}, g: {model: gain, with: {k: 1e200}}}
connections: [a.y -> g.u]
END
# a system that cannot start as it is described: the same status from both commands
yoke_ends 2 check overflow.yaml
yoke_ends 2 run overflow.yaml --out overflow
err_has "overflow.yaml:5:53: error: unit 'g' at t = 0 s: output 'y' became inf"
[ ! -e overflow ] || bad "a run that never started left a folder of results"

begin failed_in_a_step
cat >crane.yaml <<'END'
yoke: 1
inputs: start
calls: 1
time: {stop: 1, step: 1e-3}
units: {h: {model: crane.hydraulics}, r: {model: ramp, with: {offset: 1, slope: 1, t0: 0.1}}}
connections: [{from: r.y, to: h.s, gain: 1}]
END
# a piston that is pulled out of its cylinder: the unit itself refuses to go on
yoke_ends 1 run crane.yaml --set units.h.start.v=0 --out crane
err_has "error: unit 'h' at t = "
err_has 'the piston has left the cylinder'
! grep -q 'the step may be too large' out || bad "a hint at a run without a step: $(cat out)"
complete crane 1e-3 failed
# after some steps of a length that is too large for the coupling
flagship=$YOKE_SOURCE_DIR/scenarios/hydraulic-crane/crane.yaml
yoke_ends 1 run "$flagship" --set time.step=0.2 --out flagship
err_has 'the piston has left the cylinder'
grep -qx "the step may be too large: yoke advise $flagship --set time.step=0.2" out || bad "no hint: $(cat out)"
yoke_ends 1 run "$flagship" --set time.step=0.2 --set time.pace=1000 --out flagship
! grep -q 'the step may be too large' out || bad "a hint at a run by the clock: $(cat out)"

# ---- a full disk

# filled FOLDER: what could be written is whole rows, as many as the message says
filled() {
  local rows said
  [ "$(tail -c 1 "$1/results.csv" | od -An -tx1 | tr -d ' ')" = 0a ] || bad "the last row is cut"
  rows=$(rows_of "$1/results.csv" 1e-3) || bad "$rows"
  said=$(sed -n 's/.*results.csv: .* (\([0-9]*\) rows written).*/\1/p' err)
  [ "$rows" = "$said" ] || bad "$rows rows in the file, the message says '$said'"
  [ "$rows" -gt 100 ] || bad "only $rows rows"
}

begin file_size_limit
(
  ulimit -f 200 # KiB
  exec timeout 300 "$yoke" run endless.yaml --out limited
) >out 2>err
status=$?
[ "$status" -eq 1 ] || bad "status $status, expected 1 (124: the run went on without a file)"
err_has 'limited/results.csv: error: cannot be written: File too large ('
filled limited
[ "$(of_summary limited status)" = failed ] || bad "the summary says '$(of_summary limited status)'"
out_has 'results in limited are not complete'

begin full_disk
if unshare -m true 2>/dev/null; then isolate='unshare -m'; else isolate='unshare -rm'; fi
mkdir disk copy
# in a mount name space of its own, which takes the disk away again
# shellcheck disable=SC2016
$isolate bash -c '
  mount -t tmpfs -o size=300k none disk 2>/dev/null || exit 77
  timeout 300 "$1" run endless.yaml --out disk/r
  status=$?
  cp disk/r/* copy
  exit $status' - "$yoke" >out 2>err
status=$?
if [ "$status" -eq 77 ] || grep -q '^unshare:' err; then
  skip 'no small file system can be mounted here'
else
  [ "$status" -eq 1 ] || bad "status $status, expected 1"
  err_has 'disk/r/results.csv: error: cannot be written: No space left on device ('
  filled copy
fi

# ---- all formats hold the same numbers

begin formats_agree
cat >formats.yaml <<'END'
yoke: 1
inputs: start
calls: 1
time: {stop: 0.5, step: 1e-3}
units:
  a: {model: oscillator.force, start: {x: 1}}
  b: {model: oscillator.mass}
connections: [a.f -> b.f, b.x -> a.x_other, b.v -> a.v_other]
END
timeout 300 "$yoke" run formats.yaml --format csv,hdf5,mat --out all >out 2>err
status=$?
if [ "$status" -ne 0 ] && grep -q 'HDF5\|MAT\|matio' err; then
  skip "$(cat err)"
else
  [ "$status" -eq 0 ] || bad "status $status, expected 0"
  complete all 1e-3 'done'
  yoke_ends 0 compare all/results.h5 all/results.csv --limit max=0
  out_has '501 points from 0 to 0.5 s'
  # MAT 5: a header of 128 bytes, then variables with flags, sizes, name and doubles, each behind its type and length
  if command -v python3 >/dev/null; then
    python3 - all >>out 2>&1 <<'PYTHON' || bad "results.mat holds other numbers than results.csv"
import csv, struct, sys

def elements(data):
    at = 0
    while at + 8 <= len(data):
        kind, size = struct.unpack_from("<II", data, at)
        if kind >> 16:  # small element: length and data in eight bytes
            yield kind & 0xffff, data[at + 4:at + 4 + (kind >> 16)]
            at += 8
        else:
            yield kind, data[at + 8:at + 8 + size]
            at += 8 + (size + 7) // 8 * 8

folder = sys.argv[1]
variables = {}
for kind, data in elements(open(folder + "/results.mat", "rb").read()[128:]):
    assert kind == 14, kind
    parts = list(elements(data))
    if len(parts) >= 4 and parts[3][0] == 9:  # flags, sizes, name, doubles
        variables[parts[2][1].decode()] = struct.unpack("<%dd" % (len(parts[3][1]) // 8), parts[3][1])
rows = list(csv.reader(open(folder + "/results.csv")))
for i, column in enumerate(rows[0]):
    want = tuple(float(row[i]) for row in rows[1:])
    got = variables[column.replace(".", "_").replace("-", "_")]
    assert got == want, column
print(len(rows[0]), "columns of", len(rows) - 1, "rows agree")
PYTHON
  else
    skip 'content of results.mat: python3 is missing'
  fi
fi

# ---- a unit that ends the run

begin ended_by_a_unit
printf 'time,x\n0,0\n0.5,1\n' >short.csv
cat >ending.yaml <<'END'
yoke: 1
inputs: start
calls: 1
time: {stop: 10, step: 0.1}
units: {p: {model: playback, with: {file: short.csv, end: stop}}, g: {model: gain}}
connections: [p.x -> g.u]
END
for scheme in jacobi gauss-seidel iterative-jacobi; do
  yoke_ends 0 run ending.yaml --set "scheme=$scheme" --out "ending_$scheme"
  complete "ending_$scheme" 0.1 'ended by a unit'
  [ "$(of_summary "ending_$scheme" steps)" = 5 ] || bad "$scheme: $(of_summary "ending_$scheme" steps) steps, expected 5"
  out_has 'ended by a unit, 5 steps to t = 0.5 s'
done
yoke_ends 0 run ending.yaml --set units.p.with.end=hold --out holding
complete holding 0.1 'done'
[ "$(of_summary holding steps)" = 100 ] || bad "$(of_summary holding steps) steps, expected 100"

# ---- quality limits: status 3 only for limits that the file gives

cat >osc.yaml <<'EOF'
yoke: 1
inputs: start
calls: 1
time: {stop: 2, step: 1e-3}
units:
  left:  {model: oscillator.force, with: {m: 1, k: 10, kc: 100}, start: {v: 100}}
  right: {model: oscillator.mass, with: {m: 1, k: 1000}, start: {v: -100}}
connections: [right.x -> left.x_other]
bonds:
  spring: {action: left.f -> right.f, rate: right.v -> left.v_other}
quality: {period: 0.1}
EOF

# the default limit of eps is exceeded in each of these runs
begin quality_limit_that_holds
yoke_ends 0 run osc.yaml --out limit --quiet --no-verdict
yoke_ends 0 run osc.yaml --out limit --quiet --no-verdict --set quality.stop.rho=0.9
[ ! -s err ] || bad "stderr is not empty"
yoke_ends 0 run osc.yaml --out limit --quiet --no-verdict --set bonds.spring.warn.rter=0.9
complete limit 1e-3 'done'

begin quality_warn_limit
yoke_ends 3 run osc.yaml --out limit --quiet --no-verdict --set quality.warn.eps=0.02
complete limit 1e-3 'done'
[ "$(of_summary limit steps)" = 2000 ] || bad "a warning ended the run"
grep -q "^error: quality limit: bond 'spring' at t = 0.5 s: eps = .*limit 0.02 (" err ||
  bad "the message does not say which bond, when and how much"
[ "$(wc -l <err)" -eq 1 ] || bad "limits that the file does not give are reported"

begin quality_stop_limit
yoke_ends 3 run osc.yaml --out limit --quiet --no-verdict --set quality.stop.eps=0.02
complete limit 1e-3 'stopped by a quality limit'
[ "$(of_summary limit steps)" = 500 ] || bad "stopped after $(of_summary limit steps) steps, expected 500"
grep -q "bond 'spring' at t = 0.5 s: eps = .*limit 0.02 (" err || bad "the message"

# ---- a run over old results

begin old_results_are_replaced
yoke_ends 0 run formats.yaml --out again
yoke_ends 0 run formats.yaml --set time.stop=0.1 --out again
complete again 1e-3 'done'
[ "$(of_summary again steps)" = 100 ] || bad "the old summary is still there"

# ---- start-up of a large system: printed, never a reason to fail

begin large_system
awk -v n=2000 -v k=5 'BEGIN {
  print "yoke: 1\ninputs: start\ncalls: 1\ntime: {stop: 1e-2, step: 1e-3}\nunits:\n  source: {model: sine}"
  for (i = 0; i < n; i++) print "  u" i ": {model: state_space, with: {A: [[-1]], B: [[1, 1, 1, 1, 1]]}}"
  print "connections:"
  for (i = 0; i < n; i++) for (j = 1; j <= k; j++) print "  - " (i < j ? "source.y" : "u" i - j ".y1") " -> u" i ".u" j
}' >large.yaml
begun=$EPOCHREALTIME
yoke_ends 0 check large.yaml
checked=$EPOCHREALTIME
yoke_ends 0 run large.yaml --trust none --out large --quiet
ended=$EPOCHREALTIME
complete large 1e-3 'done'
awk -v a="$begun" -v b="$checked" -v c="$ended" 'BEGIN {
  printf "2000 units, 10000 connections: check %.2f s, run of 10 steps %.2f s\n", b - a, c - b }'

finish
echo "$n_passed passed, $n_failed failed, $n_skipped skipped"
[ "$n_failed" -eq 0 ]
