#!/bin/bash
# tools/wrap_prose: long prose is broken at 100 columns and loses no word; what is no prose stays; a second pass changes nothing.
set -eu
command -v python3 >/dev/null || { echo 'wrap_prose: python3 is missing' && exit 77; }
wrap=$YOKE_SOURCE_DIR/tools/wrap_prose
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
long='word word word word word word word word word word word word word word word word word word word word'
{
  printf '# A title that is long: %s\n\n%s - no list, `code that %s` and [a link](target#with-%s)\n\n' "$long" "$long" "$long" long
  printf -- '- item %s\n  %s\n  1. inner %s\n\n' "$long" "$long" "$long"
  printf 'Text.\n\n    equation = %s %s\n\n```\ncode %s\n```\n\n' "$long" "$long" "$long"
  printf '| table | %s |\n|---|---|\n| row | %s |\n\n<!-- %s\n%s -->\n\n[ref]: http://%s\n' "$long" "$long" "$long" "$long" "${long// /-}"
  printf '\n<!-- begin: a tool -->\ngenerated %s\n<!-- end: a tool -->\n' "$long"
} >page.md
cp page.md before.md

if "$wrap" --check page.md >found; then echo 'long lines are not found' >&2 && exit 1; fi
cmp page.md before.md                         # --check changes nothing
grep -qx 'page.md:3: .*' <(sed 's/^.*page.md/page.md/' found)
"$wrap" page.md
"$wrap" --check page.md
cp page.md once.md
"$wrap" page.md
cmp page.md once.md                           # idempotent
[ "$(tr -s ' \n' ' ' <page.md)" = "$(tr -s ' \n' ' ' <before.md)" ]
for kept in '^# A title' '^    equation' '^code word' '^| table' '^| row' '^<!-- word' '^\[ref\]' '^generated'; do
  [ "$(grep "$kept" page.md)" = "$(grep "$kept" before.md)" ] || { echo "changed: $kept" >&2 && exit 1; }
done
if grep -E '^ *- no list' page.md; then echo 'a line begins like a list' >&2 && exit 1; fi
grep -q "\`code that $long\`" page.md         # a code span stays on one line
grep -qE '^  word' page.md && grep -qE '^     word' page.md # items hang below their text
# nothing but unbreakable words, tables and code is longer than 100 columns
if grep -E '.{101}' page.md | grep -vE '^(#|    equation|code|\||<!--|word.*-->|\[ref\]|generated)|`code that'; then exit 1; fi
