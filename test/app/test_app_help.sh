#!/usr/bin/env bash
# Help of every command, the man page, and the completion scripts.
set -u
yoke=${YOKE_PROGRAM:?set YOKE_PROGRAM to the program}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
n_failed=0
n_checks=0

check() {
  n_checks=$((n_checks + 1))
  [ "$1" -eq 0 ] || { echo "FAILED: $2"; n_failed=$((n_failed + 1)); }
}

n_skipped=0
skip() { echo "skipped: $*"; n_skipped=$((n_skipped + 1)); }

# ---- help
"$yoke" --help >"$work/help" 2>"$work/err"
check $? "yoke --help: status"
check "$(wc -c <"$work/err")" "yoke --help writes to stderr"
commands=$(sed -n '/^Commands:/,/^$/p' "$work/help" | awk '/^  /{print $1}')
check "$([ "$(echo "$commands" | wc -w)" -ge 5 ]; echo $?)" "yoke --help lists: $commands"
for command in $commands; do
  "$yoke" "$command" --help >"$work/a" 2>"$work/err"
  check $? "yoke $command --help: status"
  check "$(wc -c <"$work/err")" "yoke $command --help writes to stderr"
  "$yoke" help "$command" >"$work/b"
  cmp -s "$work/a" "$work/b"
  check $? "yoke $command --help and yoke help $command differ"
  for part in "^Usage: yoke $command" '^Options:' '^Exit status:' '^  0 ' '^  2 ' '^Examples:' \
    "^  yoke $command"; do
    grep -qE -- "$part" "$work/a"
    check $? "yoke $command --help lacks '$part'"
  done
done

# ---- version
"$yoke" --version >"$work/version"
check $? "yoke --version: status"
grep -qE '^yoke [0-9]+\.[0-9]+\.[0-9]+$' "$work/version" && grep -q '^commit ' "$work/version" &&
  grep -q '^build ' "$work/version"
check $? "yoke --version prints version, commit and build"

# ---- mistakes
wrong() {  # expected text on stderr, then the arguments: status 2 and nothing on stdout
  local want=$1
  shift
  "$yoke" "$@" >"$work/out" 2>"$work/err"
  check "$([ $? -eq 2 ] && [ ! -s "$work/out" ] && grep -qF "$want" "$work/err"; echo $?)" \
    "yoke $*: $(cat "$work/err"), expected '$want'"
}
wrong 'Usage: yoke COMMAND'
wrong "yoke: unknown command 'rnu'; did you mean 'run'?" rnu
wrong "yoke: unknown command 'rnu'; did you mean 'run'?" help rnu
wrong "yoke: unknown option '--vresion'; did you mean '--version'?" --vresion
wrong 'bash, zsh or fish' --completion csh

# ---- man page: no warnings, every command and option in it
"$yoke" --man >"$work/yoke.1"
check $? "yoke --man: status"
if command -v man >/dev/null && command -v groff >/dev/null; then
  MANWIDTH=80 LC_ALL=C.UTF-8 man --warnings -l "$work/yoke.1" >"$work/page" 2>"$work/err"
  check $? "man: status"
  check "$(wc -c <"$work/err")" "man warns: $(head -3 "$work/err")"
elif command -v groff >/dev/null; then
  groff -ww -man -Tutf8 "$work/yoke.1" >"$work/page" 2>"$work/err"
  check $? "groff: status"
  check "$(wc -c <"$work/err")" "groff warns: $(head -3 "$work/err")"
else
  skip 'look of the man page: groff is missing'
fi
"$yoke" run --help >"$work/a"
grep -qE '^  4 +A run by the clock missed deadlines' "$work/a"
check $? "yoke run does not explain status 4"
sed -n '/^  3 /,/^  130 /p' "$work/a" | tr -s '\n ' ' ' | grep -q '^ 3 A quality limit .* or the result diverged or is judged wrong '
check $? "yoke run does not explain status 3"
for command in $commands; do
  grep -q "^\.SS yoke $command\$" "$work/yoke.1"
  check $? "the man page lacks yoke $command"
  options=$("$yoke" "$command" --help | sed -n '/^Options:/,/^Exit/p' | awk '/^  --/{print $1}')
  for option in $options; do
    option=${option%%[*}
    [ "$option" = --help ] || grep -qF -- "\\fB${option//-/\\-}\\fR" "$work/yoke.1"
    check $? "the man page lacks $command $option"
  done
done

# ---- bash completion: sourced and asked
"$yoke" --completion bash >"$work/yoke.bash"
check $? "yoke --completion bash: status"
complete_line() {  # words of a line, the last one incomplete; replies sorted in one line
  bash --norc -c '
    source "$1"; shift
    complete -p yoke >/dev/null || exit 1
    COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
    _yoke 2>/dev/null
    printf "%s\n" "${COMPREPLY[@]}" | sort | tr "\n" " "' bash "$work/yoke.bash" "$@"
}
expect() {  # expected replies, then the words
  local want=$1 got
  shift
  got=$(complete_line "$@")
  check "$([ "$got" = "$want" ]; echo $?)" "completion of '$*': '$got', expected '$want'"
}
expect 'check circuit compare ' yoke c
expect '--help --version ' yoke --
expect '--set --strict ' yoke run --s
expect '--signal ' yoke compare a b --s
expect '--json ' yoke check --j
expect 'csv hdf5 mat ' yoke run --format ''
expect 'csv,mat ' yoke run --format csv,m
expect 'nrmse ' yoke compare --measure = n
expect 'end error frf max nrmse rmse roughness ter ' yoke compare --measure =
expect 'compare ' yoke help com
expect 'report ' yoke rep
expect 'mpsm ' yoke info mps
expect 'oscillator.displacement oscillator.force oscillator.mass ' yoke export osc
expect ' ' yoke export mps
expect ' ' yoke run ''

# ---- the other shells, where they exist
"$yoke" --completion zsh >"$work/_yoke"
check $? "yoke --completion zsh: status"
head -1 "$work/_yoke" | grep -q '^#compdef yoke$'
check $? "the zsh script does not say what it completes"
if command -v zsh >/dev/null; then
  zsh -n "$work/_yoke"
  check $? "zsh does not read its script"
else
  skip 'completion in zsh: zsh is missing'
fi
"$yoke" --completion fish >"$work/yoke.fish"
check $? "yoke --completion fish: status"
if command -v fish >/dev/null; then
  got=$(HOME=$work fish -c "source $work/yoke.fish; complete -C 'yoke run --form'" | cut -f1)
  check "$([ "$got" = --format ]; echo $?)" "fish completes '$got', expected --format"
else
  skip 'completion in fish: fish is missing'
fi

echo "$n_checks checks, $n_failed failed, $n_skipped skipped"
[ "$n_failed" -eq 0 ]
