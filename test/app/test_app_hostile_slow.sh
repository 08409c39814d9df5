#!/usr/bin/env bash
# All of the campaign: FMI 2.0 and 3.0, every phase, every signal.
YOKE_FULL=1 exec bash "$(dirname "$0")/test_app_hostile.sh"
