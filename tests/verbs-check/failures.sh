#!/usr/bin/env bash
# --fail lets each verb fail as that verb does: NULL and errno, the errno value, a negative one, -1 and errno. The trace has
# the failure. The verbs that only ask are not given what is destroyed.
. "${LAB_ROOT:?}/tests/lib.sh"
check=$LAB_ROOT/build/tools/verbs-check/verbs-check
program=$LAB_ROOT/build/tests/verbs-check/check-failures
command -v jq >/dev/null || { printf 'jq is not installed (./lab test installs it)\n'; exit 77; }
require_device
traces=$(mktemp -d "$LAB_ROOT/build/tests/verbs-check/failures.XXXXXX") # below the checkout, where a host can write
trap 'clean_up "$traces"' EXIT

# verb, what it answers when it fails with EIO (5), what its trace has then; of those that make something the second call.
failures='ibv_get_device_list:2 NULL_EIO 5
ibv_open_device:2 NULL_EIO 5
ibv_query_port 5_ 5
ibv_query_device_ex 5_ 5
ibv_alloc_pd:2 NULL_EIO 5
ibv_reg_mr:2 NULL_EIO 5
ibv_create_comp_channel:2 NULL_EIO 5
ibv_create_cq:2 NULL_EIO 5
ibv_create_srq:2 NULL_EIO 5
ibv_create_qp:2 NULL_EIO 5
ibv_create_ah:2 NULL_EIO 5
ibv_query_device 5_ 5
ibv_query_gid -1_EIO 5
ibv_query_gid_ex 5_ 5
ibv_query_gid_table -5_ 5
ibv_query_pkey -1_EIO 5
ibv_get_pkey_index -1_EIO 5
ibv_query_qp 5_ 5
ibv_query_srq 5_ 5
ibv_modify_qp 5_ 5
ibv_post_recv 5_ 5
ibv_poll_cq -5_ -5
ibv_post_srq_recv 5_ 5
ibv_req_notify_cq 5_ 5
ibv_resize_cq 5_ 5
ibv_modify_srq 5_ 5
ibv_attach_mcast 5_ 5
ibv_detach_mcast 5_ 5
ibv_rereg_mr -4_EIO -4
ibv_destroy_ah 5_ 5
ibv_destroy_qp 5_ 5
ibv_destroy_srq 5_ 5
ibv_destroy_cq 5_ 5
ibv_destroy_comp_channel 5_ 5
ibv_dereg_mr 5_ 5
ibv_dealloc_pd 5_ 5
ibv_close_device -1_EIO 5'

# Those that destroy what was made twice fail at the second call too, which is the one at the end.
specs=
while read -r verb _; do
  case $verb in
    *:2) ;;
    ibv_destroy_* | ibv_de* | ibv_close_*) verb+=:every ;;
  esac
  specs+=${specs:+,}$verb=EIO
done <<<"$failures"

on server "$check" --exit-code 66 -- "$program"
expect_status 0
expect_no_err
cp "$WORK/out" "$WORK/clean"

on server "$check" --trace "$traces/failing" --fail "$specs" -- "$program"
expect_status 0
while read -r verb answer result; do
  # What a verb leaves in errno that returns the value itself is nobody's business.
  expect_out "^${verb%:*} ${answer/_/ }"
  jq -es --arg verb "${verb%:*}" --argjson result "$result" 'any(.[]; .verb == $verb and .result == $result)' \
    "$traces/failing" >/dev/null || wrong "in the trace ${verb%:*} with the result $result"
  # Without --fail it did not fail.
  ! grep -qE "^${verb%:*} ${answer/_/ }" "$WORK/clean" || wrong "another answer of ${verb%:*} without --fail"
done <<<"$failures"

# Gone: each answers in its own way, and is not made.
on server "$check" --exit-code 66 -- "$program" gone
expect_status 66
for verb in query_device query_gid query_gid_ex query_gid_table query_pkey get_pkey_index query_qp query_srq; do
  expect_err "^verbs-check: \[used-after-destroy\] ibv_$verb on (context|QP|SRQ) #1, which is destroyed already"
done
expect_out '^ibv_query_device 22 '
expect_out '^ibv_query_gid -1 EINVAL$'
expect_out '^ibv_query_gid_table -22 '
expect_out '^ibv_query_qp 22 '
