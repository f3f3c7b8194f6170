#include "tools/judge/session.hpp"

#include "tools/judge/places.hpp"
#include "tools/judge/trace.hpp"

#include <nlohmann/json.hpp>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <map>
#include <optional>
#include <random>
#include <utility>

extern char** environ;

namespace judge {

namespace {

using nlohmann::json;

constexpr unsigned plain_memory_mb = 256;
constexpr const char* sanitized_memory = "hard_rss_limit_mb=256";

// A child process that speaks in lines.
class Line {
public:
  explicit Line(const std::vector<std::string>& command) {
    std::array<int, 2> to{};
    std::array<int, 2> from{};
    if (pipe2(to.data(), O_CLOEXEC) != 0 || pipe2(from.data(), O_CLOEXEC) != 0) {
      throw Trouble{std::string{"pipe: "} + std::strerror(errno)};
    }
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, to[0], STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, from[1], STDOUT_FILENO);
    std::vector<char*> words;
    for (const std::string& word : command) {
      words.push_back(const_cast<char*>(word.c_str()));  // NOLINT: what posix_spawn wants
    }
    words.push_back(nullptr);
    const int failed = posix_spawnp(&pid_, words[0], &actions, nullptr, words.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    close(to[0]);
    close(from[1]);
    to_ = to[1];
    from_ = from[0];
    if (failed != 0) {
      throw Trouble{command.front() + ": " + std::strerror(failed)};
    }
  }
  Line(const Line&) = delete;
  Line& operator=(const Line&) = delete;
  ~Line() {
    close(to_);  // the box ends with it
    close(from_);
    waitpid(pid_, nullptr, 0);
  }

  void send(const json& request) {
    const std::string line = request.dump(-1, ' ', true, json::error_handler_t::replace) + '\n';
    std::size_t done = 0;
    while (done < line.size()) {
      const ssize_t count = write(to_, line.data() + done, line.size() - done);
      if (count == -1 && errno != EINTR) {
        throw Trouble{"the box on the host has ended"};
      }
      done += count > 0 ? static_cast<std::size_t>(count) : 0;
    }
  }

  [[nodiscard]] int descriptor() const { return from_; }

  // What has come, without waiting for more than the first bytes of it.
  std::vector<json> receive() {
    std::array<char, 65536> bytes;
    const ssize_t count = read(from_, bytes.data(), bytes.size());
    if (count == 0) {
      throw Trouble{"the box on the host has ended; what is above says why"};
    }
    text_.append(bytes.data(), count > 0 ? static_cast<std::size_t>(count) : 0);
    std::vector<json> answers;
    std::size_t start = 0;
    std::size_t end = 0;
    while ((end = text_.find('\n', start)) != std::string::npos) {
      answers.push_back(json::parse(text_.substr(start, end - start)));
      start = end + 1;
    }
    text_.erase(0, start);
    return answers;
  }

private:
  pid_t pid_ = -1;
  int to_ = -1;
  int from_ = -1;
  std::string text_;
};

std::string random_key() {
  std::array<unsigned char, 16> bytes{};
  if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    throw Trouble{"getrandom has failed"};
  }
  std::string text;
  for (const unsigned char byte : bytes) {
    constexpr const char* digits = "0123456789abcdef";
    text += digits[byte / 16];
    text += digits[byte % 16];
  }
  return text;
}

std::string replaced(std::string word, std::string_view what, const std::string& with) {
  for (std::size_t at = 0; (at = word.find(what, at)) != std::string::npos; at += with.size()) {
    word.replace(at, what.size(), with);
  }
  return word;
}

const char* end_name(box::End end) {
  switch (end) {
    case box::End::exited:
      return "exit status";
    case box::End::signalled:
      return "ended by signal";
    case box::End::timeout:
      return "took too long; status";
    case box::End::output:
      return "printed too much; status";
    case box::End::ended:
      return "ended by the judge; status";
  }
  return "";
}

std::string log_of(const json& request, const Run& run, const Outcome& outcome) {
  std::string text =
      "=== " + run.name + '\n' + (run.build == Build::sanitized ? "sanitized build:" : "under verbs-check --strict:");
  for (const std::string word : request.at("command")) {
    text += ' ' + word;
  }
  text += run.fail.empty() ? "" : "\n--fail " + run.fail;
  text += run.fail_completion.empty() ? "" : "\n--fail-completion " + run.fail_completion;
  text += run.world.empty() ? "" : "\nthe device: " + run.world;
  text += '\n' + std::string{end_name(outcome.end)} + ' ' + std::to_string(outcome.status) + ", " +
          std::to_string(outcome.seconds) + " s\n--- standard output\n" + outcome.out + "--- standard error\n" +
          outcome.err;
  if (outcome.peer_end) {
    text += "--- the peer: " + std::string{end_name(*outcome.peer_end)} + ' ' + std::to_string(outcome.peer_status) +
            '\n' + outcome.peer_out;
  }
  if (!outcome.calls.empty()) {
    text += "--- verbs\n";
  }
  for (const Call& call : outcome.calls) {
    text += call.verb + ' ' + call.arguments.dump() + " -> " + std::to_string(call.result) +
            (call.object.empty() ? "" : ", " + call.object) + ", in " + call.where + '\n';
  }
  for (const Finding& finding : outcome.findings) {
    text += "--- [" + finding.id + "] " + finding.what + ", in " + finding.where + '\n';
  }
  return text + '\n';
}

// The checker is told to be quiet, but what it says before it has read its settings goes the same way.
std::string without_checker(const std::string& text) {
  std::string kept;
  std::size_t start = 0;
  while (start < text.size()) {
    const std::size_t end = std::min(text.find('\n', start), text.size() - 1) + 1;
    if (text.compare(start, 13, "verbs-check: ") != 0) {
      kept.append(text, start, end - start);
    }
    start = end;
  }
  return kept;
}

}  // namespace

struct Boxes::State {
  State(std::vector<std::string> own_box, std::vector<std::string> peer_box)
      : own_command{std::move(own_box)}, peer_command{std::move(peer_box)} {}

  std::vector<std::string> own_command;
  std::vector<std::string> peer_command;
  std::optional<Line> own{};
  std::optional<Line> peer{};
  int next_id = 1;        // of a run: none twice, whatever submission it is of
  std::string devices{};  // of the own host, separated by blanks; known when that box has greeted
  bool greeted = false;

  // What it begins with.
  void greet(const json& greeting) {
    for (const std::string name : greeting.at("devices")) {
      devices += (devices.empty() ? "" : " ") + name;
    }
    greeted = true;
  }

  // Nobody knows what is still under way there.
  void give_up() {
    own.reset();
    peer.reset();
    devices.clear();
    greeted = false;
  }
};

Boxes::Boxes(std::vector<std::string> own, std::vector<std::string> peer)
    : state_{std::make_unique<State>(std::move(own), std::move(peer))} {
  // A box that is gone is noticed by what write() returns.
  std::signal(SIGPIPE, SIG_IGN);  // NOLINT: once, before there are threads
}

Boxes::~Boxes() = default;

void Boxes::start() {
  try {
    if (!state_->own) {
      state_->own.emplace(state_->own_command);
    }
    if (!state_->peer && !state_->peer_command.empty()) {
      state_->peer.emplace(state_->peer_command);
    }
  } catch (const Trouble&) {
    stop();
  }
}

void Boxes::stop() { state_->give_up(); }

struct Session::State {
  State(Setup given, Boxes::State& shared)
      : setup{std::move(given)}, boxes{shared}, places{setup.program}, sanitized_places{setup.sanitized} {}

  Setup setup;
  Boxes::State& boxes;
  Places places;
  Places sanitized_places;
  std::string device{};
  std::string log{};

  // A run under way.
  struct Item {
    const Run* run;
    int id;       // of the submission in the own box
    int peer_id;  // of the peer in its box, 0 without
    std::string key{};
    json request{};
    json peer_request{};
    std::optional<json> answer{};
    std::optional<json> peer_answer{};
    bool elsewhere = false;  // the submission runs on the other host: it has no peer, and both have time
    bool begun = false;
    bool started = false;
    bool peer_started = false;
  };

  [[nodiscard]] std::vector<std::string> words(const std::vector<std::string>& given, int port,
                                               const std::string& address) const {
    std::vector<std::string> result;
    const long patience = std::min(4L, setup.longest_ms / 1000) * setup.time_scale;
    const std::map<std::string, std::string> meanings{{"{port}", std::to_string(port)},
                                                      {"{peer}", address},
                                                      {"{device}", device.substr(0, device.find(' '))},
                                                      {"{patience}", std::to_string(patience)},
                                                      {"{moment}", std::to_string(setup.time_scale)},
                                                      {"{program}", setup.program}};
    for (std::string word : given) {
      for (const auto& [placeholder, meaning] : meanings) {
        word = replaced(std::move(word), placeholder, meaning);
      }
      result.push_back(std::move(word));
    }
    return result;
  }

  Item prepare(const Run& run) {
    std::random_device random;
    const int port = 20000 + static_cast<int>(random() % 12000);
    Item item{.run = &run, .id = boxes.next_id++, .peer_id = run.peer ? boxes.next_id++ : 0};
    const long limit = std::min<long>(run.limit.count(), setup.longest_ms) * setup.time_scale;
    json environment = json::object();
    std::vector<std::string> command{run.build == Build::sanitized ? setup.sanitized : setup.program};
    const auto arguments = words(run.arguments, port, setup.peer_address);
    command.insert(command.end(), arguments.begin(), arguments.end());
    item.request = {{"do", "run"}, {"id", item.id}, {"command", command}, {"input", run.input}, {"limit_ms", limit}};
    if (!run.tool.empty()) {
      item.request["command"] = words(run.tool, port, setup.peer_address);
    } else if (run.build == Build::sanitized) {
      // This machine is quicker at finding lines.
      environment["ASAN_OPTIONS"] = std::string{"symbolize=0:detect_leaks=1:exitcode=99:"} + sanitized_memory;
      environment["UBSAN_OPTIONS"] = "symbolize=0:print_stacktrace=1:exitcode=99";
      environment["LSAN_OPTIONS"] = "symbolize=0:exitcode=99";
    } else {
      item.key = random_key();
      item.request["trace_key"] = item.key;
      item.request["memory_mb"] = plain_memory_mb;
      environment["LD_PRELOAD"] = setup.library;
      environment["VERBS_CHECK_STRICT"] = "1";
      environment["VERBS_CHECK_QUIET"] = "1";
      environment["VERBS_CHECK_PATIENCE"] = "2000";  // ms; less than a program has that waits with a deadline
      environment["VERBS_CHECK_PLACES"] = "raw";     // likewise: this machine finds the lines
      if (!run.world.empty()) {
        environment["LD_PRELOAD"] = setup.library + ":" + setup.world;
        environment["LAB_WORLD"] = run.world;
      }
      if (!run.fail.empty()) {
        environment["VERBS_CHECK_FAIL"] = run.fail;
      }
      if (!run.fail_completion.empty()) {
        environment["VERBS_CHECK_FAIL_COMPLETION"] = run.fail_completion;
      }
    }
    item.request["environment"] = environment;
    if (run.peer) {
      item.peer_request = {{"do", "run"},
                           {"id", item.peer_id},
                           {"command", words(run.peer->command, port, setup.own_address)},
                           {"limit_ms", limit}};
      item.request["port"] = port;
    }
    return item;
  }

  // Starts what may be started. Of the runs with a peer two at a time, for each box has room for two: with more of them
  // all that listen could take the room of those that are to connect. The others wait until these have ended, since who
  // listens does not wait for ever.
  void begin_more(std::vector<Item>& items) {
    const auto has_peer = [](const Item& item) { return item.peer_id != 0; };
    auto active =
        std::ranges::count_if(items, [&](const Item& item) { return has_peer(item) && item.begun && pending(item); });
    for (Item& item : items) {
      if (constexpr int most = 2; !item.begun && has_peer(item) && active < most) {
        begin(item);
        ++active;
      }
    }
    for (Item& item : items) {
      if (!item.begun && active == 0) {
        begin(item);
      }
    }
  }

  // Starts a run, or the side of it that has to listen first.
  void begin(Item& item) {
    item.begun = true;
    if (item.peer_id == 0) {
      (item.elsewhere ? *boxes.peer : *boxes.own).send(item.request);
      item.started = true;
      return;
    }
    const bool peer_first = item.run->peer->listens;
    Line& first = peer_first ? *boxes.peer : *boxes.own;
    const int id = peer_first ? item.peer_id : item.id;
    first.send(peer_first ? item.peer_request : item.request);
    first.send({{"do", "listening"}, {"id", -id}, {"port", item.request.at("port")}, {"run", id}});
    (peer_first ? item.peer_started : item.started) = true;
  }

  // The other side, as soon as the first listens, or has ended without.
  void go_on(Item& item, bool listens) {
    const bool peer_first = item.run->peer->listens;
    if (!listens && !peer_first) {
      item.peer_answer = json{{"end", static_cast<int>(box::End::ended)}, {"status", 0}, {"out", ""}, {"err", ""}};
      return;
    }
    (peer_first ? *boxes.own : *boxes.peer).send(peer_first ? item.request : item.peer_request);
    (peer_first ? item.started : item.peer_started) = true;
  }

  static Outcome outcome_of(const Item& item) {
    const json& answer = *item.answer;
    Outcome outcome{.end = static_cast<box::End>(answer.at("end").get<int>()),
                    .status = answer.at("status"),
                    .left = answer.at("left"),
                    .seconds = answer.at("seconds"),
                    .out = answer.at("out"),
                    .err = without_checker(answer.at("err"))};
    if (!item.key.empty()) {
      read_trace(answer.at("trace"), item.key, outcome);
      outcome.cut = outcome.cut || answer.value("cut", false);
    }
    if (item.peer_answer) {
      outcome.peer_end = static_cast<box::End>(item.peer_answer->at("end").get<int>());
      outcome.peer_status = item.peer_answer->at("status");
      outcome.peer_out =
          item.peer_answer->at("out").get<std::string>() + item.peer_answer->at("err").get<std::string>();
    }
    return outcome;
  }

  void receive(Line& line, bool own_side, std::vector<Item>& items) {
    for (json& answer : line.receive()) {
      const int id = answer.at("id");
      if (id == 0) {
        if (own_side) {
          boxes.greet(answer);
        }
        continue;
      }
      for (Item& item : items) {
        if (id < 0 && (id == -item.id || id == -item.peer_id)) {
          go_on(item, answer.at("listening"));
        } else if (id == item.id) {
          item.answer = std::move(answer);
          end_peer_of_failed(item);
          break;  // it was for this one alone
        } else if (id == item.peer_id) {
          item.peer_answer = std::move(answer);
          break;
        }
      }
    }
  }

  // Nobody asks what the peer of a failed submission has to say, and it may wait for ever.
  void end_peer_of_failed(const Item& item) {
    if (item.peer_started && !item.peer_answer &&
        (item.answer->at("end") != static_cast<int>(box::End::exited) || item.answer->at("status") != 0)) {
      boxes.peer->send({{"do", "end"}, {"run", item.peer_id}});
    }
  }

  static bool pending(const Item& item) { return !item.answer || (item.peer_id != 0 && !item.peer_answer); }

  // A peer whose submission has ended; it gets a moment for its last words.
  static bool left_alone(const Item& item) { return item.answer && item.peer_started && !item.peer_answer; }

  void end_peers(std::vector<Item>& items) {
    for (Item& item : items) {
      if (left_alone(item)) {
        boxes.peer->send({{"do", "end"}, {"run", item.peer_id}});
      }
    }
  }

  [[nodiscard]] bool shares() const { return setup.share && !boxes.peer_command.empty(); }

  // All runs, several at a time.
  Outcomes run(const std::vector<Run>& runs) {
    if (!boxes.own) {
      boxes.own.emplace(boxes.own_command);
    }
    std::vector<Item> items;
    while (!boxes.greeted) {
      receive(*boxes.own, true, items);
    }
    device = boxes.devices;
    items.reserve(runs.size());
    // For a few runs it is not worth starting it.
    constexpr std::size_t few = 2;
    const bool share = shares() && (boxes.peer || runs.size() > few);
    for (const Run& run : runs) {
      items.push_back(prepare(run));
      const bool stays = run.here || !run.tool.empty() || run.peer ||
                         std::ranges::find(run.arguments, "{device}") != run.arguments.end();
      items.back().elsewhere = share && !stays && items.size() % 2 == 0;
      if ((run.peer || items.back().elsewhere) && !boxes.peer) {
        if (boxes.peer_command.empty()) {
          throw Trouble{"this lab needs a second host"};
        }
        boxes.peer.emplace(boxes.peer_command);
      }
    }
    begin_more(items);
    while (std::ranges::any_of(items, &State::pending)) {
      std::array<pollfd, 2> watched{pollfd{boxes.own->descriptor(), POLLIN, 0},
                                    pollfd{boxes.peer ? boxes.peer->descriptor() : -1, POLLIN, 0}};
      const int ready =
          poll(watched.data(), watched.size(), std::ranges::any_of(items, &State::left_alone) ? 2000 : -1);
      if (ready == 0) {
        end_peers(items);
        continue;
      }
      if (watched[0].revents != 0) {
        receive(*boxes.own, true, items);
      }
      if (watched[1].revents != 0) {
        receive(*boxes.peer, false, items);
      }
      begin_more(items);
    }
    Outcomes outcomes;
    for (const Item& item : items) {
      const auto made = outcomes.emplace(item.run->name, outcome_of(item)).first;
      if (item.run->build == Build::sanitized) {
        sanitized_places.look_up(made->second.err);
      } else {
        places.look_up(made->second);
      }
      log += log_of(item.request, *item.run, made->second);
    }
    return outcomes;
  }
};

Session::Session(Setup setup, Boxes& boxes) : state_{std::make_unique<State>(std::move(setup), *boxes.state_)} {}

Session::~Session() = default;

std::string Session::log() const { return state_->log; }

std::string Session::device() const { return state_->device; }

bool Session::shares() const { return state_->shares(); }

Outcomes Session::run(const std::vector<Run>& runs) {
  // A box from before may have ended with its host, which somebody has stopped: that is worth a second try.
  const bool from_before = state_->boxes.greeted && state_->device.empty();
  try {
    return state_->run(runs);
  } catch (const Trouble&) {
    state_->boxes.give_up();
    if (!from_before) {
      throw;
    }
  }
  try {
    return state_->run(runs);
  } catch (const Trouble&) {
    state_->boxes.give_up();
    throw;
  }
}

}  // namespace judge
