#!/usr/bin/env bash
# The same with every way of killing.
YOKE_FULL=1 exec bash "$(dirname "$0")/test_app_sweep_ranks.sh"
