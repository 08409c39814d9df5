#!/usr/bin/env bash
# yoke analyse over all scenarios.
YOKE_FULL=1 exec bash "$(dirname "$0")/test_app_analyse_scenarios.sh"
