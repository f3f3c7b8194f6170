// Puts the verdicts of several labs into one file: lab-verdicts FILE... [--json OUT] [--gradescope OUT]

#include "tools/judge/verdict.hpp"

#include <CLI/CLI.hpp>

#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

using nlohmann::json;

int main(int argc, char** argv) {
  std::vector<std::string> files;
  std::string suffix;
  std::string json_file;
  std::string gradescope_file;
  CLI::App app{"puts the verdicts of several labs into one file"};
  app.add_option("files", files, "verdicts that judges have written")->required();
  app.add_option("--suffix", suffix, "to be added to each of their names");
  app.add_option("--json", json_file, "all of them, and the sum");
  app.add_option("--gradescope", gradescope_file, "all of them as Gradescope reads them");
  CLI11_PARSE(app, argc, argv);
  try {
    std::vector<json> labs;
    unsigned points = 0;
    unsigned max_points = 0;
    std::string missing;
    for (const std::string& name : files) {
      std::ifstream file{name + suffix};
      const json verdict = json::parse(file, nullptr, false);
      if (!verdict.is_object()) {
        missing += (missing.empty() ? "not judged: " : ", ") + name.substr(name.rfind('/') + 1);
        continue;
      }
      labs.push_back(verdict);
      points += labs.back().at("points").get<unsigned>();
      max_points += labs.back().at("max_points").get<unsigned>();
    }
    if (!json_file.empty()) {
      json all{{"points", points}, {"max_points", max_points}, {"labs", labs}};
      if (!missing.empty()) {
        all["error"] = missing;
      }
      judge::write_file(json_file, all.dump(2) + '\n');
    }
    if (!gradescope_file.empty()) {
      judge::write_file(gradescope_file, judge::as_gradescope(labs).dump(2) + '\n');
    }
    std::printf("%u of %u points\n", points, max_points);
    if (!missing.empty()) {
      std::fprintf(stderr, "lab-verdicts: %s\n", missing.c_str());
      return 1;
    }
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "lab-verdicts: %s\n", error.what());
    return 1;
  }
}
