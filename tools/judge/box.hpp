/// @file
/// What the judge and the box say to each other, one JSON object a line. The box begins:
///
///     {"id":0,"devices":["rxe0"]}
///     {"do":"run","id":1,"command":[...],"environment":{...},"input":"...","limit_ms":10000,"memory_mb":0,"trace_key":"..."}
///         runs a command; answered when it has ended, in any order:
///         {"id":1,"end":0,"status":0,"left":0,"seconds":0.25,"out":"...","err":"...","trace":"...","cut":false}
///         cut: there was no room for all of the trace
///     {"do":"end","run":1}                           ends it before its time
///     {"do":"listening","id":2,"port":4711,"run":1}  answered as soon as somebody listens on the port, or the run has
///     ended:
///         {"id":2,"listening":true}
#pragma once

namespace box {

/// How a run came to its end.
enum class End {
  exited,     ///< by itself; status is its exit status
  signalled,  ///< by a signal; status is its number
  timeout,    ///< it took longer than limit_ms
  output,     ///< it printed more than the box keeps
  ended,      ///< the judge wanted it
};

/// Where a submission under the checker has the open file for its trace.
constexpr int trace_descriptor = 200;

}  // namespace box
