#!/usr/bin/env bash
# `yoke run --pin OUT`: a copy of the system file with what was chosen. It differs in added or changed lines only, loads, makes the
# same calls and gives the same bytes, however it is run.
set -u
. "${YOKE_SOURCE_DIR:?path of the source tree}/test/support/run_cases.sh"
fmus=${YOKE_FMUS:?folder of the test FMUs}

# lines of a file that its copy has not
lost() { diff <(tr -d '\r' <"$1") <(tr -d '\r' <"$2") | grep -c '^<'; }
# pinned FILE CALLS LOST UNIT...: runs it with --pin; the copy makes so many calls of its units and lost so many lines of the file.
# Both are the same bytes with any number of threads and with each of the units in a process of its own.
pinned() {
  local file=$1 calls=$2 n_lost=$3 how unit
  shift 3
  run 0 run "$file" --trust none --quiet --out first --pin copy.yaml
  holds "$(lost "$file" copy.yaml) == $n_lost"
  run 0 check copy.yaml
  holds "$(grep -c "($calls calls)" out) == $#"
  holds "$(grep -c 'calls' out) == $#"
  for how in '--threads 1' '--threads 2'; do
    # shellcheck disable=SC2086
    run 0 run copy.yaml --trust none --quiet $how --out copy
    same first copy
  done
  for unit in "$@"; do
    run 0 run copy.yaml --trust none --quiet --set "units.$unit.isolate=process" --out apart
    same first apart
  done
}

# ---- native units, in blocks and in braces, with comments: a loop whose fastest mode asks for 80 calls
cat >link.yaml <<'END'
# DC link
yoke: 1
time: {stop: 0.05, step: 1e-3}  # macro step
units:
  battery:  # the pack
    model: "state_space"
    with: {A: [[-29235.3]], B: [[-500000, 500000]]}
    start: {u1: 0, u2: 385.584}   # volts

  # smoothing
  capacitor: {model: state_space, with: {A: [[-200]], B: [[2000]], x0: [350]}}  # C
connections:
  - battery.y1 -> capacitor.u1
  - 'capacitor.y1 -> battery.u1'
END
pinned link.yaml 80 1 battery capacitor
says '    calls: 80' copy.yaml
says '  capacitor: {model: state_space, with: {A: [[-200]], B: [[2000]], x0: [350]}, calls: 80}  # C' copy.yaml
run 0 run link.yaml --trust none --out said --pin said.yaml
says 'pinned in said.yaml'
if cmp -s copy.yaml said.yaml; then pass; else bad 'two copies differ'; fi
# a copy of the copy changes nothing
run 0 run copy.yaml --trust none --quiet --out again --pin again.yaml
if cmp -s copy.yaml again.yaml; then pass; else bad 'a copy of a copy differs'; fi

# line ends of other systems, and a mark at the start
{ printf '\357\273\277' && sed 's/$/\r/' link.yaml; } >crlf.yaml
pinned crlf.yaml 80 1 battery capacitor
holds "$(grep -c "$(printf '\r')\$" copy.yaml) == $(grep -c '' copy.yaml)"
if [ "$(head -c 3 copy.yaml)" = "$(printf '\357\273\277')" ]; then pass; else bad 'the mark is lost'; fi

# `auto` that is written down is replaced where it stands
sed 's/^    model: "state_space"/    calls: auto\n&/' link.yaml >named.yaml
pinned named.yaml 80 2 battery capacitor
holds "$(grep -c 'calls' copy.yaml) == 2"

# settings of the command line belong to the run, threads do not
run 0 run link.yaml --trust none --quiet --set time.step=1e-4 --set units.battery.start.u1=1 --threads 2 --out set --pin set.yaml
says 'time: {stop: 0.05, step: 1e-4}  # macro step' set.yaml
says 'calls: 10' set.yaml
silent threads set.yaml
run 0 run set.yaml --trust none --quiet --out set-copy
same set set-copy
# nor does a search: what it found is in the copy
run 0 run link.yaml --quiet --within 5% --out wished --pin wished.yaml
run 0 run wished.yaml --trust none --quiet --out wished-copy
same wished wished-copy

# ---- circuits: their own steps are fitted to their calls
cat >filter.cir <<'END'
* low pass
V1 in 0 {u}
R1 in out 1k
C1 out 0 1u
.input u=0
.output v(out) name=y
.end
END
cat >circuit.yaml <<'END'
yoke: 1
time: {stop: 0.05, step: 1e-3}
units:
  filter: {circuit: filter.cir}
  load: {model: state_space, with: {A: [[-300]], B: [[100]], x0: [1]}}
connections:
  - filter.y -> load.u1
  - load.y1 -> filter.u
END
pinned circuit.yaml 10 2 filter load

# ---- FMUs: one whose every call takes the same, and one whose work follows the time that passes
cp "$fmus/heavy2.fmu" "$fmus/hostile2.fmu" .
cat >heavy.yaml <<'END'
yoke: 1
time: {stop: 0.2, step: 0.01}
units:
  dear: {fmu: heavy2.fmu, with: {each: 100000}}
  even: {fmu: heavy2.fmu, with: {each: 0, rate: 10e6}}
  b: {model: state_space, with: {A: [[-3]], B: [[1]], x0: [1]}}
connections:
  - dear.y -> b.u1
  - b.y1 -> even.u
  - even.y -> dear.u
END
# nothing is stepped to check it
run 0 check heavy.yaml
says 'dear         heavy2.fmu, step 0.001 s (10 calls: fewer if a run finds them expensive)'
# a trial that gets no processor for seconds says nothing: there are three chances
for _ in 1 2 3; do
  run 0 run heavy.yaml --trust none --quiet --out first --pin heavy-copy.yaml
  if [ "$(grep -c 'one_call_s' first/summary.json)" = 2 ]; then break; fi
done
says '  dear: {fmu: heavy2.fmu, with: {each: 100000}, calls: 2}' heavy-copy.yaml
says '  even: {fmu: heavy2.fmu, with: {each: 0, rate: 10e6}, calls: 10}' heavy-copy.yaml
says '"calls_because": "ten would take ' first/summary.json
run 0 check heavy-copy.yaml
says 'dear         heavy2.fmu, step 0.005 s (2 calls)'
says 'even.y -> dear.u, every 0.005 s'
for how in '--threads 1' '--threads 2' '--set units.dear.isolate=process' '--set units.even.isolate=process'; do
  # shellcheck disable=SC2086
  run 0 run heavy-copy.yaml --trust none --quiet $how --out copy
  same first copy
  silent one_call_s copy/summary.json
done
# companions halve what the run has really used, and change nothing
run 0 run heavy-copy.yaml --trust both --no-verdict --out judged
same first judged
silent 'not judged'
says 'trust: '

# what goes wrong in a trial is reported by the run, where it goes wrong too
case ${YOKE_SANITIZE:-} in
*address* | *thread* | *memory*) echo 'skipped: a crash in this process: the sanitizer has handlers of its own' ;;
*)
  sed 's/dear: {.*/dear: {fmu: hostile2.fmu, with: {at: 0.025, what: crash}}/' heavy.yaml >hostile.yaml
  run 1 run hostile.yaml --trust none --out hostile
  says "unit 'dear' at t = 0.025 s: crashed with signal 11"
  holds "$(grep -c error: out) == 1"
  holds "$(grep -c '' hostile/results.csv) == 4"
  ;;
esac

# ---- what cannot be pinned: said before anything is run
run 0 export link.yaml --ssp -o link.ssp
for file in link.ssp heavy2.fmu filter.cir; do
  run 2 run $file --pin never.yaml --out never
  says "--pin: $file is no system file in YAML; name the calls with --set units.NAME.calls=N instead"
done
run 2 run link.yaml --pin no/such/folder.yaml --out never
says "--pin: 'no/such/folder.yaml' cannot be written"
run 2 run link.yaml --pin . --out never
says "--pin: '.' cannot be written"
run 2 run link.yaml --pin link.yaml --out never
says "--pin: 'link.yaml' is the system file itself; name another one"
# files that it names would not be found from there
mkdir elsewhere
run 2 run circuit.yaml --pin elsewhere/never.yaml --out never
says 'elsewhere/never.yaml would not run from there: write it into the folder of circuit.yaml'
run 0 run link.yaml --trust none --quiet --pin elsewhere/copy.yaml --out there
run 0 run elsewhere/copy.yaml --trust none --quiet --out there-copy
same there there-copy
for left in never never.yaml elsewhere/never.yaml; do
  if [ ! -e $left ]; then pass; else bad "$left was written"; fi
done
finish
