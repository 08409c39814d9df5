# Checks of shell tests that run the program and read what it says: sourced first. Sets yoke, enters a work folder.
export LC_ALL=C
yoke=${YOKE_PROGRAM:?set YOKE_PROGRAM to the program}
source=${YOKE_SOURCE_DIR:?path of the source tree}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
n_checks=0
n_bad=0

pass() { n_checks=$((n_checks + 1)); }
bad() {
  n_checks=$((n_checks + 1))
  n_bad=$((n_bad + 1))
  echo "FAILED: $*"
  tail -n 20 out
}

# run STATUS ARGUMENTS: what it says goes to out
run() {
  local want=$1 status
  shift
  "$yoke" "$@" >out 2>&1
  status=$?
  if [ $status -eq "$want" ]; then pass; else bad "yoke $*: status $status, expected $want"; fi
}

says() { if grep -qF -- "$1" "${2:-out}"; then pass; else bad "${2:-the output} does not say '$1'"; fi; }
silent() { if grep -qF -- "$1" "${2:-out}"; then bad "${2:-the output} says '$1'"; else pass; fi; }
same() { if cmp -s "$1/results.csv" "$2/results.csv"; then pass; else bad "$1 and $2 differ"; fi; }
# holds EXPRESSION OF AWK
holds() { if awk "BEGIN { exit !($1) }"; then pass; else bad "$1 does not hold"; fi; }

# the last line of a test
finish() {
  echo "$n_checks checks, $n_bad failed"
  [ $n_bad -eq 0 ]
}
