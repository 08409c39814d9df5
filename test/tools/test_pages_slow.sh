#!/bin/bash
# The commands of README.md and docs/ run as the pages say; see pages.py.
command -v python3 >/dev/null || { echo 'python3 is missing' && exit 77; }
exec python3 "$YOKE_SOURCE_DIR/test/tools/pages.py" slow
