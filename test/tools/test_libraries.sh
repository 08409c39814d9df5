#!/bin/bash
# The program and the library load no MPI, whatever the test packages brought onto this machine.
set -eu
command -v ldd >/dev/null || exit 77
n_looked=0
for file in "$YOKE_BUILD_DIR/yoke" "$YOKE_BUILD_DIR/libyoke.so"; do
  [ -e "$file" ] || continue
  n_looked=$((n_looked + 1))
  if ldd "$file" | grep -i -E 'libmpi|openmpi|libpetsc|sundials'; then
    echo "$file loads the libraries above" >&2
    exit 1
  fi
  if ldd "$file" | grep 'not found'; then
    echo "$file lacks the libraries above" >&2
    exit 1
  fi
done
[ $n_looked -gt 0 ]
