#!/bin/bash
# The release build is hardened: relocations are resolved at start and read-only from then on (full RELRO), functions
# with arrays check their stack frame, and calls of the C library check the size of their target.
set -eu
if ! command -v readelf >/dev/null; then
  echo 'skipped: readelf is missing (Debian package binutils)'
  exit 77
fi
cache=$YOKE_BUILD_DIR/CMakeCache.txt
if [ -n "${YOKE_SANITIZE:-}" ] || ! grep -q '^CMAKE_BUILD_TYPE:.*=Release$' "$cache" ||
  ! grep -q '^YOKE_HARDEN:.*=ON$' "$cache"; then
  echo 'skipped: not a hardened build'
  exit 77
fi

n_missed=0
miss() {
  echo "$1: $2" >&2
  n_missed=$((n_missed + 1))
}

for name in yoke libyoke.so yoke-host; do
  file=$YOKE_BUILD_DIR/$name
  [ -e "$file" ] || { miss "$name" 'is not there' && continue; }
  readelf -lW "$file" | grep -q GNU_RELRO || miss "$name" 'no RELRO segment'
  readelf -dW "$file" | grep -q -E 'BIND_NOW|FLAGS.* NOW' || miss "$name" 'relocations are resolved late (no BIND_NOW)'
  symbols=$(readelf --dyn-syms -W "$file")
  grep -q -w __stack_chk_fail <<<"$symbols" || miss "$name" 'no stack protector'
  n_checked=$(grep -c -E ' __[a-z]+_chk(@|$)' <<<"$symbols" || true)
  [ "$n_checked" -gt 0 ] || miss "$name" 'no checked call of the C library (_FORTIFY_SOURCE)'
  echo "$name: $n_checked checked functions of the C library"
done
commands=$YOKE_BUILD_DIR/compile_commands.json
if [ -e "$commands" ] && grep -q -e -fno-stack-protector "$commands"; then
  miss compile_commands.json 'some sources go without the stack protector'
fi
[ "$n_missed" -eq 0 ]
