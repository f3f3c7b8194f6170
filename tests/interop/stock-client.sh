#!/usr/bin/env bash
# ibv_rc_pingpong as client against our server.
# shellcheck source=tests/interop/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
require_device
play client 18740
