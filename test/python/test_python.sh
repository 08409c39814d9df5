#!/usr/bin/env bash
# The Python package on the library of this build: the same cases with numpy and without it, its structs against the
# headers, what it says when the library is missing or of another version, and the installed package.
set -u
source_dir=${YOKE_SOURCE_DIR:?set YOKE_SOURCE_DIR to the source folder}
build=${YOKE_BUILD_DIR:?set YOKE_BUILD_DIR to the build folder}
# Debian's own interpreter: another one does not see its packages
python=/usr/bin/python3
[ -x $python ] || python=$(command -v python3) || { echo 'skipped: python3 is missing' && exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export PYTHONPATH=$source_dir/python YOKE_LIBRARY=$build/libyoke.so PYTHONDONTWRITEBYTECODE=1 MPLCONFIGDIR=$work
n_failed=0
unchecked() { env -u LD_PRELOAD "$@"; }  # a program without the sanitizer
fail() { echo "FAILED: $*"; n_failed=$((n_failed + 1)); }

case ${YOKE_SANITIZE:-} in
'') ;;
*address*)
  # the sanitizer must be there before the interpreter, whose own leaks are not ours
  preload=$("${YOKE_CC:-cc}" -print-file-name=libasan.so)
  export LD_PRELOAD=$preload ASAN_OPTIONS=${ASAN_OPTIONS:-}:detect_leaks=0
  ;;
*) echo "skipped: the library is built with $YOKE_SANITIZE" && exit 77 ;;
esac

# ---- the cases, twice
export YOKE_TEST_LIBRARY=$work/own_library.so
unchecked "${YOKE_CC:-cc}" -std=c11 -shared -fPIC -I "$source_dir/include" "$source_dir/examples/own_library.c" \
  -o "$YOKE_TEST_LIBRARY" -lm || fail 'examples/own_library.c'
# the same with a status that Yoke does not know
sed 's/return YOKE_OK;/return (yoke_status)-77;/' "$source_dir/examples/own_library.c" >"$work/odd.c"
unchecked "${YOKE_CC:-cc}" -std=c11 -shared -fPIC -I "$source_dir/include" "$work/odd.c" -o "$work/odd.so" -lm ||
  fail 'a library with a status of its own'
export YOKE_TEST_ODD_LIBRARY=$work/odd.so
run_cases() {
  if $python "$source_dir/test/python/cases.py" >"$work/out" 2>&1; then
    sed -n '/^skipped: /p; /^Ran /p' "$work/out"
  else
    cat "$work/out"
    fail "cases $1"
  fi
}
if $python -c 'import numpy' 2>/dev/null; then
  run_cases 'with numpy'
else
  echo 'skipped: numpy is not installed'
fi
mkdir "$work/without"
echo 'raise ImportError("blocked by the test")' >"$work/without/numpy.py"
cp "$work/without/numpy.py" "$work/without/matplotlib.py"
YOKE_TEST_BLOCKED=1 PYTHONPATH=$work/without:$PYTHONPATH run_cases 'without numpy'

# ---- structs, codes and constants as the headers have them
if $python "$source_dir/test/python/layout.py" >"$work/layout.c" &&
  unchecked "${YOKE_CC:-cc}" -std=c11 -I "$source_dir/include" "$work/layout.c" -o "$work/layout"; then
  unchecked "$work/layout" || fail 'structs of python/yoke/_library.py differ from the headers'
else
  fail 'the structs could not be compared'
fi

# ---- a library that is missing, is none of ours, or is another version
YOKE_LIBRARY=$work/nowhere.so $python -c 'import yoke' 2>"$work/err" && fail 'imported without a library'
grep -q "nowhere.so (environment variable YOKE_LIBRARY): no such file" "$work/err" || fail "no place named: $(cat "$work/err")"
echo 'const char* yoke_version(void) { return "9.8.7"; }' >"$work/other.c"
unchecked "${YOKE_CC:-cc}" -shared -fPIC "$work/other.c" -o "$work/other.so"
YOKE_LIBRARY=$work/other.so $python -c 'import yoke' 2>"$work/err" && fail 'imported a library of another version'
grep -q "other.so is version 9.8.7" "$work/err" || fail "no version named: $(cat "$work/err")"

[ $n_failed -eq 0 ]
