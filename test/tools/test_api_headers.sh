#!/bin/bash
# The public headers: every exported function is explained above its prototype, pointers that are only read are const, and the
# shared library exports what the headers declare and nothing else.
set -eu
[ -z "${YOKE_SANITIZE:-}" ] || exit 77
cd "$YOKE_SOURCE_DIR/include/yoke"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# one prototype per line: everything from YOKE_API to the semicolon
cat ./*.h | awk '/^YOKE_API/ { text = "" } /^YOKE_API/, /;/ { text = text " " $0; sub(/\/\/.*/, "", text) } /;/ && text != "" { print text; text = "" }' |
  sed 's/  */ /g; s/^ YOKE_API //' >"$work/prototypes"
sed -n '/(/{s/(.*//; s/.*[ *]//; p}' "$work/prototypes" | sort >"$work/declared"
n=$(wc -l <"$work/declared")
[ "$n" -ge 45 ] || { echo "only $n functions are declared" >&2 && exit 1; }

# ---- a comment, or another prototype that has one, stands right above; or behind it on the same line
if ! awk 'FNR == 1 { has = 0 }
  /^YOKE_API/ { if (!has && $0 !~ /\/\//) { print FILENAME ":" FNR ": " $0; bad = 1 } in_proto = 1 }
  in_proto { if (/;/) { in_proto = 0; has = 1 } next }
  { has = /^\/\// }
  END { exit bad }' ./*.h; then
  echo 'the functions above have no comment' >&2
  exit 1
fi

# ---- const: of pointers that are read or worked on; those that a function fills or makes are counted apart
grep -o '(.*' "$work/prototypes" | tr -d '();' | tr ',' '\n' | grep -E '\*|\[\]' >"$work/pointers"
grep -v -E '^ *[a-z_]+(\*\* [a-z]+|\* (out|info|value|image|to|i)|  *values\[\])$' "$work/pointers" >"$work/inputs"
n_pointers=$(wc -l <"$work/inputs")
n_const=$(grep -c const "$work/inputs")
echo "$n functions; const: $n_const of $n_pointers pointers, $(grep -c const "$work/pointers") of" \
  "$(wc -l <"$work/pointers") with those that are filled"
[ $((100 * n_const)) -ge $((60 * n_pointers)) ] ||
  { echo 'less than 60 % of the pointer parameters are const' >&2 && exit 1; }

# ---- exported == declared
nm -D --defined-only "$YOKE_BUILD_DIR/libyoke.so" | awk '$2 ~ /[A-Z]/ { print $3 }' |
  grep -v -E '^_(init|fini|edata|end)$|^__bss_start$' | sort >"$work/exported"
if ! diff "$work/declared" "$work/exported"; then
  echo 'declared (<) and exported (>) differ' >&2
  exit 1
fi
