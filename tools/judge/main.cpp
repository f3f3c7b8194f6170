// The judge of one lab: judge-NN judges one submission of it. ./lab check NN calls it.

#include "tools/judge/session.hpp"
#include "tools/judge/verdict.hpp"

#include <CLI/CLI.hpp>

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

}  // namespace

int main(int argc, char** argv) {
  judge::Setup setup;
  std::string submission = "lab.cpp";
  std::string place;
  std::string log;
  std::string json_file;
  std::string log_file;
  bool list = false;
  CLI::App app{"judges one submission of a lab"};
  app.add_flag("--list", list, "only print the checks: id, points, title and step, separated by tabs");
  app.add_option("--program", setup.program, "the plain build of the submission");
  app.add_option("--sanitized", setup.sanitized, "its sanitized build");
  app.add_option("--build-log", log, "what the compiler said of it when it does not compile");
  app.add_option("--submission", submission, "the name of its source, for the report");
  app.add_option("--library", setup.library, "libverbs-check.so");
  app.add_option("--box", setup.box, "command that runs a box on the host, one word an option");
  app.add_option("--peer-box", setup.peer_box, "and on the other host");
  app.add_flag("!--alone", setup.share, "what has no peer runs on the first host only");
  app.add_option("--peer-address", setup.peer_address, "of the other host");
  app.add_option("--own-address", setup.own_address, "of the host");
  app.add_option("--time-scale", setup.time_scale, "factor on every limit");
  app.add_option("--longest-ms", setup.longest_ms, "no run may take longer");
  app.add_option("--place", place, "on what it runs, for the report");
  app.add_option("--log", log_file, "write there what each run did");
  app.add_option("--json", json_file, "write the verdicts there");
  CLI11_PARSE(app, argc, argv);
  try {
    const judge::Lab lab = judge::lab();
    if (list) {
      list_checks(lab);
      return 0;
    }
    judge::Session session{setup};
    judge::Report report = judge::judge_submission(lab, session, log.empty() ? std::string{} : read_file(log));
    report.submission = submission;
    report.place = place;
    if (!log_file.empty()) {
      judge::write_file(log_file, session.log());
    }
    if (!json_file.empty()) {
      judge::write_file(json_file,
                        judge::as_json(report).dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + '\n');
    }
    std::cout << judge::as_text(report) << std::flush;
    return report.passed() ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "judge: %s\n", error.what());
    return 1;
  }
}
