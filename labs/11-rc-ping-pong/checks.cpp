// What lab 11 is held against: see README.md, "What is checked".
#include "tools/judge/lab.hpp"

#include <algorithm>

namespace judge {

namespace {

constexpr unsigned rounds = 5;

// ibv_rc_pingpong on the other host. On Ethernet it has to be told which GID to use: of an IPv4 address, for RoCE v2.
std::vector<std::string> stock(std::vector<std::string> words) {
  std::vector<std::string> command{
      "sh",
      "-c",
      "for gid in /sys/class/infiniband/*/ports/*/gids/*; do\n"
      "  port=${gid%/gids/*} device=${gid%/ports/*} index=${gid##*/}\n"
      "  { read -r value <$gid && read -r type <$port/gid_attrs/types/$index; } 2>/dev/null || continue\n"
      "  case $value/$type in 0000:0000:0000:0000:0000:ffff:*v2) ;; *) continue ;; esac\n"
      "  set -- -d ${device##*/} -i ${port##*/} -g $index \"$@\"\n"
      "  break\n"
      "done\n"
      "exec ibv_rc_pingpong \"$@\"\n",
      "sh",
      "-p",
      "{port}"};
  command.insert(command.end(), words.begin(), words.end());
  return command;
}

const std::vector<std::string> as_client{"-p", "{port}", "-s", "64", "-n", "5", "--deadline", "{patience}", "{peer}"};
const std::vector<std::string> as_server{"-p", "{port}", "-s", "64", "-n", "5", "--deadline", "{patience}"};

const Run client{.name = "ibv_rc_pingpong is the server",
                 .arguments = as_client,
                 .world = "scribbles",
                 .peer = Peer{.command = stock({"-s", "64", "-n", "5"}), .listens = true},
                 .step = 3};
const Run server{.name = "ibv_rc_pingpong is the client",
                 .arguments = as_server,
                 .peer = Peer{.command = stock({"-s", "64", "-n", "5", "{peer}"})}};
const Run echo{.name = "this program is the client as well",
               .arguments = as_server,
               .world = "scribbles",
               .peer = Peer{.command = {"{program}", "-p", "{port}", "-s", "64", "-n", "5", "--deadline", "{patience}",
                                        "{peer}"}}};
const Run short_message{.name = "a message of 32 bytes comes where 64 are expected",
                        .arguments = as_server,
                        .exit_status = 1,
                        .peer = Peer{.command = stock({"-s", "32", "-n", "5", "{peer}"})}};
const Run broken{.name = "the second completion is an error, RETRY_EXC_ERR",
                 .arguments = as_client,
                 .exit_status = 1,
                 .fail_completion = "2=RETRY_EXC_ERR",
                 .peer = Peer{.command = stock({"-s", "64", "-n", "5"}), .listens = true}};
// The peer is there, but no completion comes: as if it had stopped when the addresses were exchanged.
const Run silent{.name = "no completion comes",
                 .arguments = {"-p", "{port}", "-s", "64", "-n", "5", "--deadline", "{moment}", "{peer}"},
                 .exit_status = 1,
                 .world = "silent",
                 .limit = std::chrono::milliseconds{4000},
                 .peer = Peer{.command = stock({"-s", "64", "-n", "5"}), .listens = true},
                 .step = 2};
const Run one{.name = "one message is answered",
              .arguments = {"-p", "{port}", "-s", "64", "-n", "1", "--deadline", "{patience}"},
              .peer = Peer{.command = stock({"-s", "64", "-n", "1", "{peer}"})}};

// How many requests have been posted by these calls.
std::size_t requests_in(const Call& call) {
  const auto found = call.arguments.find("requests");
  return found == call.arguments.end() ? 1 : found->size();
}

// How many completions of sends that went well this poll has brought, and of receives.
std::size_t completed_in(const Call& call, std::string_view opcode) {
  return static_cast<std::size_t>(std::ranges::count_if(call.completions, [&](const auto& completion) {
    return completion.value("opcode", std::string{}).ends_with(opcode);
  }));
}
std::size_t sends_completed_in(const Call& call) { return completed_in(call, "SEND"); }
std::size_t receives_completed_in(const Call& call) { return completed_in(call, "RECV"); }

Judgement all_sent(const Run& run, const Outcome& outcome) {
  const auto sends = outcome.succeeded("ibv_post_send");
  std::size_t count = 0;
  for (const Call& call : sends) {
    count += requests_in(call);
  }
  if (count != rounds) {
    return Failure{"ibv_post_send for " + std::to_string(rounds) + " messages when " + run.name,
                   seen_calls(sends, "ibv_post_send")};
  }
  return {};
}

// The lines that begin with `what`: one for each round, with what came. Where `text` is "ping ", its number is behind
// it.
Judgement numbered(const Run& run, const std::vector<std::string>& lines, const std::string& what,
                   const std::string& text) {
  std::vector<std::string> seen;
  std::ranges::copy_if(lines, std::back_inserter(seen), [&](const auto& line) { return line.starts_with(what + " "); });
  for (unsigned round = 1; round <= rounds; ++round) {
    const std::string number = std::to_string(round);
    const std::string expected = what + " " + number + ": " + text + (text == "ping " ? number : "");
    const std::string line = round <= seen.size() ? seen[round - 1] : "";
    if (line != expected) {
      return Failure{"the line \"" + expected + "\" when " + run.name, line.empty() ? "no such line" : excerpt(line),
                     "a slot is printed before the completion of its message is there, or another slot is printed"};
    }
  }
  return {};
}

// Whether the completions of all messages that this side has sent were polled.
Judgement all_acknowledged(const Run& run, const Outcome& outcome) {
  std::size_t count = 0;
  for (const Call& call : outcome.of("ibv_poll_cq")) {
    count += sends_completed_in(call);
  }
  if (count != rounds) {
    return Failure{
        "the completions of all " + std::to_string(rounds) + " sends are polled before the QP goes when " + run.name,
        std::to_string(count) + " completions of sends",
        "a message that is not acknowledged yet is lost with its QP: the last one, most often"};
  }
  return {};
}

// Whether the client takes each answer before it goes on. What it prints does not tell: the answer may be in the slot
// by then, or not.
Judgement answers_awaited(const Outcome& outcome) {
  std::size_t answers = 0;
  std::size_t messages = 0;
  const auto failure = [&](const std::string& before) {
    return Failure{
        "the completion of answer " + std::to_string(messages) + " is polled before " + before + " when " + client.name,
        std::to_string(answers) + " completions of receives",
        "the completion of the send is taken for the answer: it says that the message has arrived, and no more"};
  };
  for (const Call& call : outcome.calls) {
    if (call.verb == "ibv_poll_cq") {
      answers += receives_completed_in(call);
    } else if (call.verb == "ibv_post_send" && call.result == 0) {
      if (answers < messages) {
        return failure("the next message is sent");
      }
      messages += requests_in(call);
    }
  }
  return answers < messages ? Judgement{failure("the program ends")} : Judgement{};
}

Judgement peer_ended(const Run& run, const Outcome& outcome) {
  if (outcome.peer_end != box::End::exited || outcome.peer_status != 0) {
    return Failure{
        "the other side has all its messages and ends with 0 when " + run.name,
        std::string{outcome.peer_end == box::End::exited ? "its exit status is " + std::to_string(outcome.peer_status)
                                                         : "it still waited"} +
            "; it says: " + excerpt(outcome.peer_out),
        "the program ends before its last message was acknowledged, or sends too few"};
  }
  return {};
}

// Which step is at fault when the client does not come to its end.
Judgement ends_well(const Run& run, const Outcome& outcome) {
  if (outcome.status == 0) {
    return {};
  }
  for (const Call& call : outcome.succeeded("ibv_post_send")) {
    for (const auto& request : call.arguments.value("requests", nlohmann::json::array())) {
      if (request.value("send_flags", "").find("SIGNALED") == std::string::npos) {
        return Failure{.expected = "each send with IBV_SEND_SIGNALED when " + run.name,
                       .seen = "one without, in " + call.where + "; exit status " + std::to_string(outcome.status) +
                               "; on standard error: " + excerpt(outcome.err),
                       .likely = "the program waits for a completion that it has not asked for",
                       .step = 1};
      }
    }
  }
  const bool posted = !outcome.succeeded("ibv_post_send").empty() && !outcome.succeeded("ibv_post_recv").empty();
  return Failure{
      .expected = "exit status 0 when " + run.name,
      .seen = "exit status " + std::to_string(outcome.status) + "; on standard error: " + excerpt(outcome.err),
      .step = posted ? 3 : 1};
}

Judgement plays_client(const Outcomes& outcomes) {
  const Outcome& outcome = outcomes.at(client.name);
  if (auto failure = ends_well(client, outcome)) {
    return failure;
  }
  if (auto failure = all_sent(client, outcome)) {
    failure->step = outcome.of("ibv_post_send").empty() ? 1 : 3;
    return failure;
  }
  if (auto failure = answers_awaited(outcome)) {
    return failure;
  }
  // That tool has one buffer: it sends back what it got.
  if (auto failure = numbered(client, outcome.lines(), "answer", "ping ")) {
    return failure;
  }
  if (auto failure = all_acknowledged(client, outcome)) {
    return failure;
  }
  return peer_ended(client, outcome);
}

Judgement plays_server(const Outcomes& outcomes) {
  const Outcome& outcome = outcomes.at(server.name);
  if (auto failure = all_sent(server, outcome)) {
    return failure;
  }
  if (auto failure = numbered(server, outcome.lines(), "message", std::string(16, '{'))) {
    return failure;
  }
  if (auto failure = all_acknowledged(server, outcome)) {
    return failure;
  }
  return peer_ended(server, outcome);
}

Judgement echoes(const Outcomes& outcomes) {
  const Outcome& outcome = outcomes.at(echo.name);
  std::vector<std::string> lines;
  std::string line;
  for (const char letter : outcome.peer_out) {
    if (letter == '\n') {
      lines.push_back(std::exchange(line, {}));
    } else {
      line += letter;
    }
  }
  if (auto failure = numbered(echo, lines, "answer", "ping ")) {
    failure->likely =
        "step 4 sends another slot than the one into which the message came, or lets it be overwritten before";
    return failure;
  }
  return peer_ended(echo, outcome);
}

// The client has one slot for answers: their receives are posted one at a time. The server's receive for message N + 2
// takes the slot of message N.
Judgement receives_in_time(const Run& run, const Outcome& outcome, bool is_server) {
  std::size_t receives = 0;
  std::size_t sends = 0;
  std::size_t completed = 0;
  for (const Call& call : outcome.calls) {
    if (call.verb == "ibv_poll_cq") {
      completed += sends_completed_in(call);
    } else if (call.result != 0) {
      continue;
    } else if (call.verb == "ibv_post_recv") {
      receives += requests_in(call);
      if (is_server && receives > completed + 2) {
        return Failure{
            "the receive for message " + std::to_string(receives) + " is posted when the completion of answer " +
                std::to_string(receives - 2) + ", which is in the same slot, was polled, when " + run.name,
            std::to_string(completed) + " completions of sends before the receive in " + call.where,
            "the device may still have to send the answer again, out of the slot that the next message overwrites"};
      }
    } else if (is_server && call.verb == "ibv_modify_qp" && call.arguments.value("qp_state", "") == "RTR" &&
               receives == 0) {
      return Failure{"a receive is posted before the server tells its address when " + run.name,
                     call.object + " goes to RTR in " + call.where + ", and there is none",
                     "the client sends as soon as it has the address; rnr_retry 7 hides that its message has to wait"};
    } else if (call.verb == "ibv_post_send") {
      sends += requests_in(call);
      const std::size_t needed = is_server ? std::min<std::size_t>(sends + 1, rounds) : sends;
      if (receives < needed) {
        return Failure{"ibv_post_recv for message " + std::to_string(needed) + " before ibv_post_send of message " +
                           std::to_string(sends) + " when " + run.name,
                       std::to_string(receives) + " receives posted before the send in " + call.where,
                       "the peer answers at once: what it sends must find a receive"};
      }
    }
  }
  return {};
}

Judgement in_time(const Outcomes& outcomes) {
  for (const Run* const run : {&client, &server, &echo}) {
    if (auto failure = receives_in_time(*run, outcomes.at(run->name), run != &client)) {
      failure->step = run->step;
      return failure;
    }
  }
  return {};
}

Judgement stops_at_errors(const Outcomes& outcomes) {
  const Outcome& other_length = outcomes.at(short_message.name);
  if (const auto sends = other_length.of("ibv_post_send"); !sends.empty()) {
    return Failure{"no answer when " + short_message.name, seen_calls(sends, "ibv_post_send"),
                   "byte_len of the completion is not looked at"};
  }
  bool failed = false;
  for (const Call& call : outcomes.at(broken.name).calls) {
    if (failed && call.verb.starts_with("ibv_post_")) {
      return Failure{"nothing is posted any more when " + broken.name, call.verb + " in " + call.where,
                     "the status of the completion is not looked at"};
    }
    failed = failed || std::ranges::any_of(call.completions, [](const auto& completion) {
               return !completion.value("status", std::string{"SUCCESS"}).ends_with("SUCCESS");
             });
  }
  for (const Run* const run : {&short_message, &broken}) {
    if (outcomes.at(run->name).err.empty()) {
      return Failure{"a message on standard error when " + run->name, "nothing there"};
    }
  }
  return {};
}

Judgement ends_when_silent(const Outcomes& outcomes) {
  const Outcome& outcome = outcomes.at(silent.name);
  if (outcome.succeeded("ibv_post_send").empty()) {
    return Failure{"a message is sent before the program waits when " + silent.name,
                   "none; on standard error: " + excerpt(outcome.err),
                   "on a machine that is slow or busy the exchange of addresses took too long: LAB_TIME_SCALE=3 ./lab "
                   "check"};
  }
  if (outcome.err.empty()) {
    return Failure{"a message on standard error when " + silent.name, "nothing there"};
  }
  return {};
}

}  // namespace

Lab lab() {
  Run client_of_any_status = client;
  client_of_any_status.exit_status = any_status;
  return {.name = "11-rc-ping-pong",
          .title = "An echo that does not copy",
          .checks =
              {
                  {.id = "client",
                   .points = 20,
                   .title = "it is a client to ibv_rc_pingpong, and prints the answers",
                   .read = "11 The code",
                   .step = 3,
                   .runs = {client_of_any_status},
                   .judge = plays_client},
                  {.id = "server",
                   .points = 20,
                   .title = "it is a server to ibv_rc_pingpong, up to the last answer",
                   .read = "11 The code",
                   .step = 4,
                   .needs = {"client"},
                   .runs = {server},
                   .judge = plays_server},
                  {.id = "echo",
                   .points = 15,
                   .title = "each message goes back as it came",
                   .read = "11 Questions",
                   .step = 4,
                   .needs = {"server"},
                   .runs = {echo},
                   .judge = echoes},
                  {.id = "in-time",
                   .points = 10,
                   .title = "a receive is there before the peer may send, and not before its slot is free",
                   .read = "10 Pitfalls",
                   .step = 4,
                   .needs = {"echo"},
                   .runs = {client, server, echo},
                   .judge = in_time},
                  {.id = "errors",
                   .points = 10,
                   .title = "a completion that is an error, and a message of another length, end it with 1",
                   .read = "11 The code",
                   .step = 2,
                   .needs = {"echo"},
                   .runs = {short_message, broken},
                   .judge = stops_at_errors},
                  {.id = "silence",
                   .points = 5,
                   .title = "when no completion comes it ends with 1, in time",
                   .read = "09 Pitfalls",
                   .step = 2,
                   .needs = {"echo"},
                   .runs = {silent},
                   .judge = ends_when_silent},
                  clean(5, {client, server, echo}, {"in-time", "errors", "silence"}, 4),
                  sanitized(5, {client, server}, {"clean"}, 3),
                  faults(5, one, {"sanitized"}, 1),
              },
          .steps = {{"wait_until", 2}, {"be_client", 3}, {"get_ready", 4}, {"be_server", 4}}};
}

}  // namespace judge
