# From the trace of a clean run the calls to fail, one a line: verb, how-manieth, what stays alive with it, what the peer
# needs. Of a verb that is called at one place more than four times: the first, second, middle and last call.
#
#   what stays: for a verb that destroys, the object and all that it uses: none of it can be released then
#   the peer:   "needs" this side up to its last send, "may" need it until its last completion, then is "done"

# The N of --fail: each process counts for itself, and a forked one goes on from where its parent was.
def numbered:
  reduce .[] as $call ({first: null, counts: {}, calls: []};
    ($call.pid | tostring) as $pid
    | .first //= $pid
    | .counts[$pid] //= .counts[.first]
    | .counts[$pid][$call.verb] += 1
    | .calls += [$call + {n: .counts[$pid][$call.verb], position: (.calls | length)}])
  | .calls;

def last_of($verb): map(select(.verb == $verb) | .position) | max // -1;

[inputs | select(.verb)]
| numbered
| (map(select(.uses and .object != "") | {key: .object, value: .uses}) | from_entries) as $uses
| last_of("ibv_post_send") as $sent
| last_of("ibv_poll_cq") as $polled
# What returns nothing cannot fail. Polls that find nothing are not in the trace: they are not picked from it.
| map(select(.verb | test("^ibv_(free_device_list|ack_.*|poll_cq)$") | not))
| unique_by(.verb, .n)
| group_by(.verb, .where)[]
| if length <= 4 then .[] else .[0, 1, (length / 2 | floor), length - 1] end
| . as $call
| [ .verb,
    .n,
    (if .verb | test("^ibv_(destroy|dealloc|dereg|close)_")
     then [.object | recurse($uses[.][]?)] | unique | join(",")
     else "-" end),
    (if .position <= $sent then "needs" elif .position <= $polled then "may" else "done" end) ]
| @tsv
