#!/bin/bash
# Capabilities instead of names: above the units and the coupling methods nothing is decided by the word of a kind or the name
# of a model or method. What a unit or method is able to do is a field of its table (yoke/unit.h, yoke/coupling.h).
set -eu
export LC_ALL=C
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# every kind, model and method, one per line
{ printf 'fmu\ncircuit\nmodel\nlaw\nlibrary\n' && "$YOKE_PROGRAM" info | sed -n 's/^\([a-z_0-9.]*\)  .*/\1/p'; } >"$work/names"
for name in state_space dual_mass.left hold mpsm; do
  grep -qx "$name" "$work/names" || { echo "yoke info does not list $name" >&2 && exit 1; }
done

# found FILE...: comparisons of a kind, of a table's name, or with one of the names; whole models as "dual_mass." too
found() {
  local file call
  for file in "$@"; do
    tr '\n' ' ' <"$file" | { grep -oE 'strn?cmp\(([^()]|\([^()]*\))*\)' || true; } | while read -r call; do
      if grep -qE '(->|\.)kind\b|\bops(->|\.)name\b' <<<"$call" ||
        grep -oE '"[^"]*"' <<<"$call" | tr -d '"' | sed 's/\.$//' |
        grep -qxFf <(cat "$work/names" && sed -n 's/\..*//p' "$work/names"); then
        echo "$file: $call"
      fi
    done
  done
}

# it finds what it is made for, and nothing else
cat >"$work/bad.c" <<'C'
bool a = strcmp(unit->source->kind, text) == 0;
bool b = strcmp(unit->ops->name, names[i]) == 0;
bool c = strcmp(name, "state_space") == 0;
bool d = strncmp(name,
                 "dual_mass.", 10) == 0;
bool e = strcmp(method_of(link), "mpsm") == 0;
bool f = strcmp(word, "fmu") == 0;
bool g = strcmp(key, "time.step") == 0 || strcmp(v->name, name) == 0;
C
[ "$(found "$work/bad.c" | wc -l)" -eq 6 ] || { found "$work/bad.c" >&2 && exit 1; }

cd "$YOKE_SOURCE_DIR"
mapfile -t files < <(find src/system src/study src/export app -name '*.c' -o -name '*.h' | sort)
[ "${#files[@]}" -gt 100 ]
# the registry finds a table by the name that a user wrote; words[0] is a keyword of a file
bad=$(found "${files[@]}" | grep -v -e '^src/system/system_registry[.]c: strcmp(ops->name, name)' -e 'strcmp(words\[0\]' || true)
[ -z "$bad" ] || { echo "decided by a name; give the table a field for it:" && echo "$bad" && exit 1; }
echo "${#files[@]} files, $(wc -l <"$work/names") names: none is compared"
