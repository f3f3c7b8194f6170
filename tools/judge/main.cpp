// The judge of one lab: judge-NN judges one submission of it. ./lab check NN calls it.

#include "tools/judge/session.hpp"
#include "tools/judge/verdict.hpp"

#include <CLI/CLI.hpp>

#include <poll.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <sstream>

namespace {

std::string read_file(const std::string& name) {
  std::ifstream file{name};
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

void list_checks(const judge::Lab& lab) {
  std::printf("builds\t%u\tit compiles\t0\n", judge::build_points);
  for (const judge::Check& check : lab.checks) {
    std::printf("%s\t%u\t%s\t%d\n", check.id.c_str(), check.points, check.title.c_str(), check.step);
  }
}

// What is to be judged, and where the verdicts go; no file where a name is empty.
struct Order {
  judge::Setup setup;
  std::string submission = "lab.cpp";
  std::string place{};
  std::string build_log{};
  std::string log_file{};
  std::string json_file{};
};

// Returns what is to be printed, and whether everything has passed.
std::pair<std::string, bool> carry_out(const Order& order, const judge::Lab& lab, judge::Boxes& boxes) {
  judge::Session session{order.setup, boxes};
  judge::Report report =
      judge::judge_submission(lab, session, order.build_log.empty() ? std::string{} : read_file(order.build_log));
  report.submission = order.submission;
  report.place = order.place;
  if (!order.log_file.empty()) {
    judge::write_file(order.log_file, judge::harmless(session.log(), true));
  }
  if (!order.json_file.empty()) {
    judge::write_file(order.json_file,
                      judge::as_json(report).dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + '\n');
  }
  return {judge::as_text(report), report.passed()};
}

// Judges what a line says, which has tabs: the program, its sanitized build, the most milliseconds that a run may take,
// the file of its verdicts, and the one of what would be printed. Returns whether everything has passed.
bool carry_out_line(const std::string& line, Order order, const judge::Lab& lab, judge::Boxes& boxes) {
  std::istringstream words{line};
  std::string longest;
  std::string text_file;
  for (std::string* const word :
       {&order.setup.program, &order.setup.sanitized, &longest, &order.json_file, &text_file}) {
    std::getline(words, *word, '\t');
  }
  order.setup.longest_ms = std::stol(longest);
  const auto [text, passed] = carry_out(order, lab, boxes);
  judge::write_file(text_file, text);
  return passed;
}

// Many, one after the other, with the same boxes.
bool carry_out_all(const std::string& list, const Order& order, const judge::Lab& lab, judge::Boxes& boxes) {
  std::istringstream lines{read_file(list)};
  bool all_passed = true;
  for (std::string line; std::getline(lines, line);) {
    all_passed = carry_out_line(line, order, lab, boxes) && all_passed;
  }
  return all_passed;
}

// The same for lines that come when there is something to judge. Each is answered with a line when that was done. The
// boxes are there before the first one; they go when nothing has come for a while, for a host stays as long as somebody
// is on it.
void serve(const Order& order, const judge::Lab& lab, judge::Boxes& boxes) {
  constexpr int patience_ms = 300'000;
  boxes.start();
  std::string input;
  for (;;) {
    pollfd watched{STDIN_FILENO, POLLIN, 0};
    if (poll(&watched, 1, patience_ms) == 0) {
      boxes.stop();
      continue;
    }
    std::array<char, 4096> bytes;
    const ssize_t count = read(STDIN_FILENO, bytes.data(), bytes.size());
    if (count <= 0) {
      return;
    }
    input.append(bytes.data(), static_cast<std::size_t>(count));
    for (auto end = input.find('\n'); end != std::string::npos; end = input.find('\n')) {
      std::printf("%s\n", carry_out_line(input.substr(0, end), order, lab, boxes) ? "passed" : "failed");
      std::fflush(stdout);
      input.erase(0, end + 1);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  Order order;
  judge::Setup& setup = order.setup;
  std::string list;
  std::vector<std::string> box;
  std::vector<std::string> peer_box;
  bool list_only = false;
  bool serves = false;
  CLI::App app{"judges submissions of a lab"};
  app.add_flag("--list", list_only, "only print the checks: id, points, title and step, separated by tabs");
  app.add_option("--program", setup.program, "the plain build of the submission");
  app.add_option("--sanitized", setup.sanitized, "its sanitized build");
  app.add_option("--build-log", order.build_log, "what the compiler said of it when it does not compile");
  app.add_option("--submission", order.submission, "the name of its source, for the report");
  app.add_option("--all", list, "many submissions instead: a file with a line each, see main.cpp");
  app.add_flag("--serve", serves, "the same, with the lines on standard input, each when it is to be judged");
  app.add_option("--library", setup.library, "libverbs-check.so");
  app.add_option("--world", setup.world, "liblab-world.so");
  app.add_option("--box", box, "command that runs a box on the host, one word an option");
  app.add_option("--peer-box", peer_box, "and on the other host");
  app.add_flag("!--alone", setup.share, "what has no peer runs on the first host only");
  app.add_option("--peer-address", setup.peer_address, "of the other host");
  app.add_option("--own-address", setup.own_address, "of the host");
  app.add_option("--time-scale", setup.time_scale, "factor on every limit");
  app.add_option("--place", order.place, "on what it runs, for the report");
  app.add_option("--log", order.log_file, "write there what each run did");
  app.add_option("--json", order.json_file, "write the verdicts there");
  CLI11_PARSE(app, argc, argv);
  try {
    const judge::Lab lab = judge::lab();
    if (list_only) {
      list_checks(lab);
      return 0;
    }
    judge::Boxes boxes{box, peer_box};
    if (serves) {
      serve(order, lab, boxes);
      return 0;
    }
    if (!list.empty()) {
      return carry_out_all(list, order, lab, boxes) ? 0 : 1;
    }
    const auto [text, passed] = carry_out(order, lab, boxes);
    std::cout << text << std::flush;
    return passed ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "judge: %s\n", error.what());
    return 1;
  }
}
