#!/usr/bin/env bash
# The same at all sites, or at a dense spread where there are thousands.
YOKE_FULL=1 exec bash "$(dirname "$0")/test_app_injected.sh"
