// verbs-check timeline: a page that shows what one or two traces tell.
#include "timeline/align.hpp"
#include "timeline/files.hpp"
#include "timeline/page.hpp"
#include "timeline/teller.hpp"
#include "timeline/thin.hpp"

#include <getopt.h>

#include <algorithm>
#include <array>
#include <exception>
#include <filesystem>
#include <iostream>
#include <list>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace {

using namespace timeline;

constexpr const char* help = R"(usage: verbs-check timeline TRACE [TRACE] -o PAGE

Draws what verbs-check --trace has written as one HTML page, to be opened in a browser. Two traces are those of two peers:
they are drawn one above the other, with their clocks aligned.

  -o, --output PAGE   the file to write
  --help              this text

Exit status: 0; 1: a trace cannot be read or has no line of a trace, or the page cannot be written; 2: the command line is
wrong. Lines that are not of a trace are skipped, counted, and the first of them is named.
)";

// Reads one trace. Lines that are not of a trace are skipped, counted and the first of them named; a file of no others
// is refused.
Source read(const std::string& file, const std::string& text, Index trace, Teller& teller) {
  Source source{.name = file};
  std::string first;
  std::size_t number = 0;
  std::size_t good = 0;
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    ++number;
    const std::string fault = teller.add(trace, line);
    if (fault.empty()) {
      ++good;
      continue;
    }
    ++source.skipped;
    if (first.empty()) {
      first = file + ":" + std::to_string(number) + ": " + fault;
    }
  }
  source.lines = number;
  if (number == 0) {
    throw std::runtime_error{file +
                             " is empty: was the program started by verbs-check --trace, and did it call a verb?"};
  }
  if (good == 0) {
    throw std::runtime_error{first + ". Not one line of the file is one of a trace; verbs-check --trace writes them"};
  }
  if (source.skipped > 0) {
    std::cerr << "verbs-check timeline: " << first << "; skipped " << source.skipped << " of " << number << " lines of "
              << file << '\n';
  }
  return source;
}

void make_page(const std::vector<std::string>& files, const std::string& output) {
  Teller teller;
  std::list<std::string> texts;  // the story refers to their lines
  std::vector<Source> sources;
  for (const std::string& file : files) {
    texts.push_back(read_file(file));
    sources.push_back(read(file, texts.back(), sources.size(), teller));
  }
  Story story = teller.finish();
  join_messages(story);
  const std::string clocks = align(story, files);
  write_file(output, page(story, thin(story, {}), sources, clocks));
}

}  // namespace

int main(int argc, char** argv) {
  std::string output;
  const std::array options{option{"output", required_argument, nullptr, 'o'}, option{"help", no_argument, nullptr, 'h'},
                           option{}};
  // getopt_long complains in the name of the program.
  std::string name = "verbs-check timeline";
  argv[0] = name.data();
  for (int found = 0; (found = getopt_long(argc, argv, "o:h", options.data(), nullptr)) != -1;) {
    if (found == 'h') {
      std::cout << help;
      return 0;
    }
    if (found != 'o') {
      return 2;
    }
    output = optarg;
  }
  const std::vector<std::string> files(argv + optind, argv + argc);
  if (files.empty() || files.size() > 2 || output.empty()) {
    std::cerr << name << ": " << (output.empty() ? "where shall the page go? -o PAGE" : "it takes one or two traces")
              << "; see verbs-check timeline --help\n";
    return 2;
  }
  try {
    for (const std::string& file : files) {
      std::error_code ignored;
      if (std::filesystem::equivalent(file, output, ignored)) {
        throw std::runtime_error{"the page " + output + " would overwrite the trace: give -o another name"};
      }
    }
    make_page(files, output);
  } catch (const std::exception& error) {
    std::cerr << name << ": " << error.what() << '\n';
    return 1;
  }
}
