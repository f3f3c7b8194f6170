#!/usr/bin/env bash
# Our client against ibv_rc_pingpong as server.
# shellcheck source=tests/interop/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
require_device
play server 18700
