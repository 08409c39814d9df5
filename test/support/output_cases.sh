# Checks of the shell tests that look at the output of one command after another: sourced, with yoke set and the work
# folder entered. The caller prints n_checks, n_failed and n_skipped at its end.
n_failed=0
n_checks=0
n_skipped=0

# a part that cannot be checked on this machine: said, and counted by tools/test
skip() { echo "skipped: $*"; n_skipped=$((n_skipped + 1)); }
fail() {
  echo "FAILED: $*"
  echo "--- status $status, stdout:"; cat out
  echo "--- stderr:"; cat err
  n_failed=$((n_failed + 1))
}

# run STATUS ARGUMENTS...: the program must end with STATUS
run() {
  local want=$1
  shift
  "$yoke" "$@" >out 2>err
  status=$?
  n_checks=$((n_checks + 1))
  [ "$status" -eq "$want" ] || fail "yoke $*: status $status, expected $want"
}
out_has() { n_checks=$((n_checks + 1)); grep -qE -- "$1" out || fail "stdout lacks: $1"; }
out_lacks() { n_checks=$((n_checks + 1)); ! grep -qE -- "$1" out || fail "stdout has: $1"; }
err_has() { n_checks=$((n_checks + 1)); grep -qF -- "$1" err || fail "stderr lacks: $1"; }
err_empty() { n_checks=$((n_checks + 1)); [ ! -s err ] || fail "stderr is not empty"; }
