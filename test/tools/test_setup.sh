#!/bin/bash
# tools/setup without a network: apt-get, dpkg, id, sudo and the clock are played by small scripts that write down how
# they were called. PATH holds nothing else but what a bare system has, so that all programs are "missing".
# shellcheck disable=SC2016
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# apart from the tree, whose build folder may already hold what is unpacked there
mkdir "$work/tools"
cp "$YOKE_SOURCE_DIR/tools/setup" "$YOKE_SOURCE_DIR/tools/armhf_root" "$work/tools"
setup=$work/tools/setup
mkdir "$work/bare" "$work/apt"
for program in sh env cat sed grep rm mktemp tail true; do
  ln -s "$(type -P $program)" "$work/bare/$program"
done

# play NAME BODY: a script in place of a program
play() {
  printf '#!%s\n%s\n' "$(command -v sh)" "$2" >"$work/apt/$1"
  chmod +x "$work/apt/$1"
}
# with LOCKED=N the first N calls find a lock that apt-get does not wait for
play_apt='printf "%s\n" "apt-get $DEBIAN_FRONTEND $*" >>"$CALLS"
read -r n <"$LOCKS"
if [ "$n" -gt 0 ]; then
  echo $((n - 1)) >"$LOCKS"
  echo "E: Could not get lock /var/lib/apt/lists/lock. It is held by process 1 (apt-get)" >&2
  exit 100
fi
exit ${APT_STATUS:-0}'
play apt-get "$play_apt"
play date 'cat "$CLOCK"'
play sleep 'read -r t <"$CLOCK"; echo $((t + $1)) >"$CLOCK"; echo "sleep $1" >>"$CALLS"'
play dpkg 'echo "dpkg $*" >>"$CALLS"'
play sudo 'echo "sudo $*" >>"$CALLS"; [ -z "${NO_SUDO:-}" ] || exit 1; shift; exec "$@"'
play id 'echo "${PLAY_UID:-0}"'

# call PATH LEVEL: exit status must be 0; calls are in $CALLS, output in $work/out
export CALLS=$work/calls CLOCK=$work/clock LOCKS=$work/locks
call() {
  : >"$CALLS"
  echo 1000 >"$CLOCK"
  echo "${LOCKED:-0}" >"$LOCKS"
  PATH=$1 "$setup" "$2" >"$work/out" 2>&1 || { echo "setup $2 failed" && cat "$work/out" && exit 1; }
}
fail() {
  echo "$1" >&2
  cat "$work/out" "$CALLS" >&2
  exit 1
}
said() { grep -q -e "$1" "$2" || fail "expected '$1' in ${2##*/}"; }
silent() { ! grep -q -e "$1" "$2" || fail "did not expect '$1' in ${2##*/}"; }

# ---- root with apt-get: update, then one installation of what is missing, without questions
call "$work/apt:$work/bare" run
said '^apt-get noninteractive -o DPkg::Lock::Timeout=300 update$' "$CALLS"
said 'install -y --no-install-recommends .*gcc' "$CALLS"
said 'install .*cmake' "$CALLS"
silent sudo "$CALLS"
# run never installs what only tests need
for package in cmocka sundials clang strace arm64 armhf ninja python3 groff chromium nodejs; do
  silent $package "$CALLS"
done
call "$work/apt:$work/bare" test
for package in ninja-build strace python3 groff-base chromium nodejs; do
  said "install .*$package" "$CALLS"
done
silent arm64 "$CALLS"
silent armhf "$CALLS"
silent gcovr "$CALLS"
call "$work/apt:$work/bare" coverage
said 'install .*ninja-build.*gcovr' "$CALLS"
silent arm64 "$CALLS"
call "$work/apt:$work/bare" full
said '^dpkg --add-architecture arm64$' "$CALLS"
for package in libyaml-dev libjansson-dev; do
  said "install .*$package:arm64" "$CALLS"
  said "install .*$package:armhf" "$CALLS"
done
for package in gcc-arm-linux-gnueabihf gcc-arm-none-eabi libnewlib-arm-none-eabi qemu-system-arm; do
  said "install .*$package" "$CALLS"
done
# 32-bit ARM on its own: where it cannot be had, the machine does not keep its name
said '^dpkg --add-architecture armhf$' "$CALLS"
silent 'libyaml-dev:arm64.*libyaml-dev:armhf' "$CALLS"
silent '^dpkg --remove-architecture' "$CALLS"
APT_STATUS=100 call "$work/apt:$work/bare" full
said '^dpkg --remove-architecture armhf$' "$CALLS"
silent 'install -y --no-install-recommends [^ ]*:armhf$' "$CALLS"
said 'no libraries for 32-bit ARM' "$work/out"

# ---- a package that cannot be had does not stop the others
APT_STATUS=100 call "$work/apt:$work/bare" run
said 'could not install cmake' "$work/out"
said 'install -y --no-install-recommends cmake$' "$CALLS"

# ---- locks that apt-get does not wait for: asked again until they are free, other failures are not repeated
n_calls() { [ "$(grep -c -e "$1" "$CALLS")" -eq "$2" ] || fail "expected $2 calls of '$1'"; }
LOCKED=4 call "$work/apt:$work/bare" run
n_calls ' update$' 5
n_calls '^sleep' 4
n_calls ' install ' 1
silent failed "$work/out"
APT_STATUS=100 call "$work/apt:$work/bare" run
n_calls ' update$' 1
n_calls '^sleep' 0
# but not for ever: 300 s for each of the two calls, and the packages one by one would wait as long again
LOCKED=1000000 call "$work/apt:$work/bare" run
n_calls ' update$' 101
n_calls ' install ' 101
said 'apt-get update failed' "$work/out"
said 'Could not get lock' "$work/out"

# ---- not root: through sudo, which must not ask; without it the list is printed and the status is 0
PLAY_UID=1000 call "$work/apt:$work/bare" run
said '^sudo -n env DEBIAN_FRONTEND=noninteractive LC_ALL=C apt-get' "$CALLS"
NO_SUDO=1 PLAY_UID=1000 call "$work/apt:$work/bare" run
said 'cannot be installed from here.* cmake' "$work/out"
silent '^apt-get' "$CALLS"

# ---- no apt-get at all
rm "$work/apt/apt-get"
call "$work/apt:$work/bare" run
said 'cannot be installed from here.* cmake' "$work/out"

# ---- where this test runs, the required things are there: nothing of them may be asked for
PATH_HERE=$PATH
play apt-get 'printf "%s\n" "apt-get $*" >>"$CALLS"'
call "$work/apt:$PATH_HERE" run
for package in gcc cmake libyaml-dev libjansson-dev libopenblas-serial-dev; do
  silent "install.* $package" "$CALLS"
done

# ---- a wrong word is refused
status=0
"$setup" everything >"$work/out" 2>&1 || status=$?
[ $status -eq 2 ] || fail "status $status for a wrong argument"
