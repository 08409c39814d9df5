#!/usr/bin/env bash
# test_export_sources.sh with the sources built as docs/export.md says, optimised.
grep -qF 'cc -shared -fPIC -O2 -ffp-contract=off *.c -lm' "${YOKE_SOURCE_DIR:?}/docs/export.md" ||
  { echo "docs/export.md names another line"; exit 1; }
YOKE_EXPORT_OPTIMISE=-O2 exec bash "$(dirname "$0")/test_export_sources.sh"
