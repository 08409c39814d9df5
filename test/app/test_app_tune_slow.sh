#!/usr/bin/env bash
# TE-12 in full: all 176 points of the engine test bench.
YOKE_FULL=1 exec bash "$(dirname "$0")/test_app_tune.sh"
