#!/bin/bash
# Installs into a temporary folder, moves it, and builds a user's program against it in both usual ways:
# pkg-config and find_package. Moving shows that nothing in the tree names the place it was installed to.
set -eu
# a program of a user knows nothing of our sanitizers or of coverage
[ -z "${YOKE_SANITIZE:-}" ] || exit 77
command -v pkg-config >/dev/null || exit 77

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cmake --install "$YOKE_BUILD_DIR" --prefix "$work/first" >"$work/install.log"
mv "$work/first" "$work/moved"
prefix=$work/moved
version=$(sed -n 's/#define YOKE_VERSION  *"\(.*\)"/\1/p' "$YOKE_SOURCE_DIR/include/yoke/version.h")

# nothing of the build machine in any file, program and libraries included (a debugger wants the real paths)
places=(-e "$work/first" -e "$YOKE_BUILD_DIR" -e "$YOKE_SOURCE_DIR/")
binaries='*'
! grep -q '^CMAKE_BUILD_TYPE:.*=Debug' "$YOKE_BUILD_DIR/CMakeCache.txt" || binaries='*.[hcp]*'
if grep -r -l -F --include="$binaries" "${places[@]}" "$prefix"; then
  echo 'an installed file names a folder of the build' >&2
  exit 1
fi

cat >"$work/main.c" <<'END'
#include <stdio.h>
#include <yoke/version.h>
int main(void) { return printf("%s\n", yoke_version()) < 0; }
END

# ---- pkg-config
export PKG_CONFIG_PATH=$prefix/lib/pkgconfig
[ "$(pkg-config --modversion yoke)" = "$version" ]
# shellcheck disable=SC2046
"${YOKE_CC:-cc}" -std=c11 -Wall -Wpedantic -Werror "$work/main.c" -o "$work/with_pkgconfig" \
  $(pkg-config --cflags --libs yoke)
[ "$(LD_LIBRARY_PATH=$prefix/lib "$work/with_pkgconfig")" = "$version" ]

# the static library, with what it stands on
# shellcheck disable=SC2046
"${YOKE_CC:-cc}" -std=c11 "$work/main.c" -o "$work/with_archive" $(pkg-config --cflags yoke) \
  "$prefix/lib/libyoke.a" $(pkg-config --libs --static yoke | sed 's/-lyoke//')
[ "$("$work/with_archive")" = "$version" ]

# ---- find_package
mkdir "$work/user"
cat >"$work/user/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.16)
project(user LANGUAGES C)
find_package(yoke REQUIRED)
add_executable(user_shared ../main.c)
target_link_libraries(user_shared PRIVATE yoke::yoke)
add_executable(user_static ../main.c)
target_link_libraries(user_static PRIVATE yoke::yoke_static)
END
cmake -S "$work/user" -B "$work/user/build" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_C_COMPILER="${YOKE_CC:-cc}" \
  >"$work/user.log" 2>&1 || { cat "$work/user.log" && exit 1; }
cmake --build "$work/user/build" >"$work/user.log" 2>&1 || { cat "$work/user.log" && exit 1; }
[ "$("$work/user/build/user_shared")" = "$version" ]
[ "$("$work/user/build/user_static")" = "$version" ]

# ---- the shared library shows its public names only
if nm -D --defined-only "$prefix/lib/libyoke.so" | grep -E ' (yoke__|[^y])' | grep -v -E ' _(init|fini)$' |
  grep -E ' [A-Z] ' | awk '{ print $3 }' | grep -v -E '^yoke_[^_]'; then
  echo 'the names above are exported but not public' >&2
  exit 1
fi

# ---- the Python package, with the library beside it
python=/usr/bin/python3
if [ -x $python ]; then
  found=$(PYTHONPATH=$prefix/lib/python3/dist-packages PYTHONDONTWRITEBYTECODE=1 $python -c \
    'import yoke; print(yoke.__version__, yoke.library_path)')
  [ "$found" = "$version $prefix/lib/libyoke.so.0" ]
else
  echo 'skipped: python3 is missing'
fi

# ---- pages, examples and ready-made systems come along
documents=$prefix/share/doc/yoke
for file in README.md LICENSE docs/README.md examples/own_unit.c scenarios/linear-oscillator/jacobi.yaml models/rotor/README.md; do
  [ -s "$documents/$file" ] || { echo "$file is not installed" >&2 && exit 1; }
done

# ---- the examples, each with the build line of its own head comment
mkdir "$work/examples"
cp "$YOKE_SOURCE_DIR"/examples/*.c "$work/examples"
n_built=0
for source in "$work"/examples/*.c; do
  name=$(basename "$source" .c)
  line=$(sed -n 's|^//.* \(cc .*pkg-config.*\)$|\1|p' "$source")
  # one that needs nothing of Yoke, and waits for a run: it is built only
  [ -n "$line" ] || line=$(sed -n 's|^// *\(cc [^&]*\) && .*|\1|p' "$source")
  [ -n "$line" ] || { echo "examples/$name.c does not say how it is built" >&2 && exit 1; }
  (
    cd "$work/examples"
    cc() { command "${YOKE_CC:-cc}" "$@"; }
    eval "$line"
    case $line in
    *-shared*) [ ! -x "$prefix/bin/yoke" ] || "$prefix/bin/yoke" info "./$name.so" ;;
    *pkg-config*) LD_LIBRARY_PATH=$prefix/lib ./a.out && rm a.out ;;
    *) [ -x "./$name" ] ;;
    esac
  ) >"$work/example.log" 2>&1 || { cat "$work/example.log" && echo "examples/$name.c failed" >&2 && exit 1; }
  n_built=$((n_built + 1))
done
[ "$n_built" -ge 3 ]

# ---- the program, where there is one, runs from its new place
if [ -x "$prefix/bin/yoke" ]; then
  "$prefix/bin/yoke" --version | grep -F "$version"
  (cd "$work" && "$prefix/bin/yoke" run "$documents/scenarios/linear-oscillator/jacobi.yaml" --quiet --out installed)
  [ -s "$work/installed/results.csv" ]
fi
