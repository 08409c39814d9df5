#!/usr/bin/env bash
# Commands of the pages and of --help do what the text around them says: they end with status 0, or with the N of a
# comment "# status N" behind them, and print the lines that a page shows below "$ yoke ...". A line "..." stands for
# lines left out, and how long something took is not compared. Commands on files that only the reader has (car.ssp) and
# those with a gap (SYSTEM, ..., $variable), a second process or a clock are left alone; studies that take minutes are run with YOKE_FULL=1.
set -u
export LC_ALL=C
yoke=${YOKE_PROGRAM:?set YOKE_PROGRAM to the program}
source=${YOKE_SOURCE_DIR:?path of the source tree}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
ln -s "$source/scenarios" scenarios
n_checks=0 n_failed=0 n_run=0 n_left=0

pass() { n_checks=$((n_checks + 1)); }
bad() {
  n_checks=$((n_checks + 1))
  n_failed=$((n_failed + 1))
  echo "FAILED: $*"
  tail -n 30 out
}

# commands_of PAGE: the commands in its code blocks, one "C LINE COMMAND" each, and "O TEXT" for each line of output shown
commands_of() {
  awk '
    function emit() {
      status = 0
      if (match(command, /# status [0-9]+/)) status = substr(command, RSTART + 9, RLENGTH - 9)
      sub(/ +# .*/, "", command); sub(/   .*/, "", command); sub(/ [|] .*/, "", command); gsub(/ +/, " ", command)
      print "C", line, status, command
      command = ""
    }
    /^ *```/ { is_code = !is_code; is_shown = 0; next }
    !is_code { next }
    command != "" { sub(/^ +/, ""); command = command $0; if (!sub(/\\$/, " ", command)) emit(); next }
    /^(\$ )?(build\/release\/)?yoke / {
      is_shown = /^\$ /
      line = FNR; command = $0; sub(/^\$ /, "", command); sub(/^[^ ]*yoke /, "", command)
      if (!sub(/ *\\$/, " ", command)) emit()
      next
    }
    /^\$ / { is_shown = 0; next }
    is_shown { print "O", $0 }' "$1"
}

# is_runnable COMMAND: nothing left for the reader to fill in, and all its files are there
is_runnable() {
  local word previous='' named
  case $1 in
  *...* | *'$'* | *'['*'] '* | *SYSTEM* | *RESULT* | *COMMAND* | '--'*) return 1 ;;
  rig* | *port=udp* | *port=shm* | *examples/port_plant.yaml* | *--realtime*) return 1 ;; # two processes, or a machine that may be busy
  sweep* | tune* | bench* | *--map* | *--budget*) [ -n "${YOKE_FULL:-}" ] || return 1 ;;
  esac
  for word in $1; do
    named=${word#\'}
    case $previous in
    -o | --out | --set | --vary | --with | --limit | --signal) ;;
    *) case $named in
      *.yaml | *.cir | *.fmu | *.ssp | *.ssp#* | *.ssd | *.csv | *.so | results/*) [ -e "$named" ] || return 1 ;;
      esac ;;
    esac
    previous=$word
  done
}

# squeeze: text on one line, without what differs from run to run
squeeze() { sed -E 's/in [0-9.e+-]+ s \([0-9.e+-]+x real time\)/in TIME/' | tr -s ' \n\t' ' '; }

# execute WHERE STATUSES COMMAND; the output, both streams, is in out
execute() {
  local where=$1 want=$2 command=$3 status
  # the same companions on every machine
  case $command in
  'run '*--trust*) ;;
  'run '*) command="$command --trust both" ;;
  esac
  n_run=$((n_run + 1))
  eval "timeout 600 \"\$yoke\" $command" >out 2>&1 </dev/null
  status=$?
  case " $want " in
  *" $status "*) pass ;;
  *) bad "$where: yoke $command: status $status, expected $want" ;;
  esac
}

# ---- pages
cd "$source" && pages=$(ls README.md docs/*.md scenarios/README.md scenarios/*/README.md) && cd "$work" || exit 1
for page in $pages; do
  rm -rf results
  is_run=no
  while read -r kind text; do
    if [ "$kind" = C ]; then
      read -r line want command <<<"$text"
      is_run=no
      if is_runnable "$command"; then
        is_run=yes
        execute "$page:$line" "$want" "$command"
        squeeze <out >squeezed
      else
        n_left=$((n_left + 1))
      fi
    elif [ $is_run = yes ] && [ "$text" != ... ] && [ -n "$text" ]; then
      shown=$(squeeze <<<"$text")
      if grep -qF -- "${shown% }" squeezed; then pass; else bad "$page: yoke $command does not print: $text"; fi
    fi
  done < <(commands_of "$source/$page")
done

# examples: of a help text, each on a line: the command, a tab, what it is for
examples() {
  awk '/^Examples:/ { is_on = 1; next }
    is_on && /^  [^ ]/ { if (line != "") print line; sub(/^ +/, ""); line = $0 "\t"; next }
    is_on { sub(/^ +/, ""); line = line " " $0 }
    END { print line }'
}

# ---- examples of --help, on systems of the names that they use
cp scenarios/hydraulic-crane/{crane.yaml,reference.csv} scenarios/circuits/rectifier.cir scenarios/electric-drive/buck.cir .
cp scenarios/linear-oscillator/jacobi.yaml osc.yaml
for scheme in jacobi gauss-seidel; do
  execute 'results for --help' 0 "run scenarios/rotational-oscillator/$scheme.yaml"
done
# this order: results that later examples look at
for command in run advise check info circuit compare meter report sweep tune analyse bench export; do
  while IFS='	' read -r example text; do
    want=0
    case $text in
    *'status 3 if'*) want='0 3' ;;
    esac
    example=${example%% | *}
    if is_runnable "${example#yoke }"; then
      execute "yoke $command --help" "$want" "${example#yoke }"
    else
      n_left=$((n_left + 1))
    fi
  done < <("$yoke" "$command" --help | examples)
done

# ---- the checks themselves
cat >page.md <<'END'
```
$ yoke info gain
gain: a thing that no model is
$ yoke info gain --jsn   # status 2
...
```
END
before=$n_failed
found=$(commands_of page.md)
[ "$found" = 'C 2 0 info gain
O gain: a thing that no model is
C 4 2 info gain --jsn
O ...' ] && pass || bad "commands of a page: $found"
execute 'the checks themselves' 2 'info gain --jsn'
[ "$n_failed" -eq "$before" ] || echo 'the checks themselves are wrong'

if [ $n_run -lt 60 ]; then bad "only $n_run commands were found that can be run"; fi
echo "$n_run commands run, $n_left left to the reader or to YOKE_FULL, $n_checks checks, $n_failed failed"
[ $n_failed -eq 0 ]
