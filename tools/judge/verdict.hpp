/// @file
/// What the judge says of a submission, and the forms in which it says it.
#pragma once

#include "tools/judge/lab.hpp"
#include "tools/judge/session.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace judge {

enum class Status {
  pass,
  fail,
  error,    ///< the machinery has failed: the submission was not judged
  timeout,  ///< a run took too long
  skip,     ///< a check that this one needs has not passed
};

const char* status_name(Status status);

/// Of one check.
struct Verdict {
  std::string id;
  std::string title;
  unsigned points = 0;
  unsigned max_points = 0;
  Status status = Status::skip;
  Failure why{};     ///< of everything but pass; for skip and error `seen` says what there is to say
  std::string read;  ///< "chapters/03-protection-domain/README.md, The verbs"
  int step = 1;
};

struct Report {
  std::string lab;  ///< "03-protection-domain"
  std::string title;
  std::string submission;  ///< the file that was judged
  std::string place;       ///< on what it ran, in one line
  std::string device;      ///< the RDMA devices of the host
  std::vector<Verdict> verdicts;

  [[nodiscard]] unsigned points() const;
  [[nodiscard]] unsigned max_points() const;
  [[nodiscard]] bool passed() const;
};

/// Points for a submission that compiles; every lab has this check first.
constexpr unsigned build_points = 5;

/// Judges: check by check, those first that others need. `log`: what the compiler said when there is no program; then
/// the session is not used.
Report judge_submission(const Lab& lab, Session& session, const std::string& log);

/// Writes a file beside its place, then moves it there: nobody reads half of it. Throws std::runtime_error.
void write_file(const std::string& name, const std::string& text);

/// The text with every control character, and every byte that is not UTF-8, as \xNN: what a submission prints must not
/// move the cursor of whoever reads it. Line feeds and tabs stay where `lines` says so.
std::string harmless(std::string_view text, bool lines = false);

/// For the terminal.
std::string as_text(const Report& report);

/// tools/judge/schema/verdicts.schema.json
nlohmann::json as_json(const Report& report);

/// The results of one or more labs in the format that Gradescope reads; tools/judge/schema/gradescope.schema.json.
/// @param verdicts objects of as_json()
nlohmann::json as_gradescope(const std::vector<nlohmann::json>& verdicts);

}  // namespace judge
