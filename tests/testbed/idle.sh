#!/usr/bin/env bash
# A host that nobody uses stops by itself; one that runs something does not.
# shellcheck source=tests/testbed/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

own_states 1
export LAB_STATE=$temp/1 LAB_IDLE_SECONDS=5
"$lab" up server
pid=$(pid_of "$LAB_STATE" server)
check "a command that takes longer than the limit runs to its end" finished \
  "$("$lab" exec server -- sh -c 'sleep 12; echo finished')"
holds "the host is still there afterwards" alive "$pid"
holds "it stops when idle" within 20 fails alive "$pid"
check "status says so" "server: down" "$("$lab" status | grep ^server)"
check "and a command starts it again" "back" "$("$lab" exec server -- echo back)"
exit $failed
