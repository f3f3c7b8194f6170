#!/usr/bin/env bash
# Makes the hosts ready before the tests that need them.
set -euo pipefail
if "$LAB_ROOT/lab" up; then exit 0; fi
if [[ -n ${LAB_REQUIRE_DEVICE-} ]]; then exit 1; fi
exit 77
