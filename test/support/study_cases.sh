# Checks of the shell tests of sweep and tune: sourced, with yoke set and the work folder entered.
# command=sweep or tune; limit: seconds of processor time that one call may take
n_checks=0
n_failed=0
pass() { n_checks=$((n_checks + 1)); }
bad() {
  n_checks=$((n_checks + 1))
  n_failed=$((n_failed + 1))
  echo "FAILED: $*"
  echo "--- stdout:"; head -c 1500 out
  echo "--- stderr:"; head -c 1500 err
}
# is WHAT CONDITION...
is() {
  local what=$1
  shift
  if "$@"; then pass; else bad "$what: $*"; fi
}
# ends STATUS ARGUMENTS...: yoke COMMAND within the limit, whatever else runs on the machine
ends() {
  local want=$1 status
  shift
  (
    ulimit -t "$limit"
    exec timeout 1000 "$yoke" "$command" "$@"
  ) >out 2>err
  status=$?
  is "yoke $command $*: status $status" test "$status" -eq "$want"
}
has() { if grep -qF -- "$2" "$1"; then pass; else bad "$1 lacks: $2"; fi; }
lines() { wc -l <"$1"; }
