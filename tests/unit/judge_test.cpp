// The parts of the judge that decide without a host.
#include "tools/judge/trace.hpp"
#include "tools/judge/verdict.hpp"

#include <gtest/gtest.h>

#include <string>

namespace {

using judge::Outcome;
using judge::Status;

const std::string key = "0123abcd";

Outcome read(const std::string& text) {
  Outcome outcome;
  judge::read_trace(text, key, outcome);
  return outcome;
}

TEST(JudgeTrace, ReadsCallsAndFindings) {
  const Outcome outcome =
      read("\n" + key +
           R"( {"time_ns":1,"event":"start","program":"lab"})"
           "\n" +
           key + R"( {"verb":"ibv_reg_mr","object":"MR #1","result":0,"where":"lab+0x12","args":{"length":4096},)" +
           R"("uses":["PD #1"]})"
           "\n" +
           key + R"( {"event":"finding","id":"leak","what":"MR #1 was never destroyed","objects":"MR #1",)" +
           R"("where":"main, lab.cpp:3"})"
           "\n");
  ASSERT_EQ(outcome.calls.size(), 1U);
  EXPECT_EQ(outcome.calls[0].verb, "ibv_reg_mr");
  EXPECT_EQ(outcome.calls[0].object, "MR #1");
  EXPECT_EQ(outcome.calls[0].uses, std::vector<std::string>{"PD #1"});
  EXPECT_EQ(outcome.calls[0].arguments.at("length"), 4096);
  ASSERT_EQ(outcome.findings.size(), 1U);
  EXPECT_EQ(outcome.findings[0].id, "leak");
  EXPECT_EQ(outcome.forged, "");
}

TEST(JudgeTrace, ALineWithoutTheKeyIsForgedAndCountsForNothing) {
  const Outcome outcome = read(R"({"verb":"ibv_alloc_pd","object":"PD #1","result":0})"
                               "\n" +
                               key +
                               R"( {"verb":"ibv_alloc_pd","object":"PD #1","result":12})"
                               "\nffff" +
                               R"( {"verb":"ibv_alloc_pd","object":"PD #2","result":0})"
                               "\n");
  EXPECT_EQ(outcome.forged, R"({"verb":"ibv_alloc_pd","object":"PD #1","result":0})");
  EXPECT_EQ(outcome.of("ibv_alloc_pd").size(), 1U);
  EXPECT_TRUE(outcome.succeeded("ibv_alloc_pd").empty());
}

TEST(JudgeTrace, HalfALineSaysThatItIsCutAndIsNobodysForgery) {
  for (const std::string& half : {key + R"( {"verb":"ibv_allo)", key.substr(0, 3), key + " "}) {
    const Outcome outcome = read(key + R"( {"verb":"ibv_alloc_pd","result":0})" + "\n" + half);
    EXPECT_TRUE(outcome.cut) << half;
    EXPECT_EQ(outcome.forged, "") << half;
  }
  EXPECT_FALSE(read(key + R"( {"verb":"ibv_alloc_pd","result":0})" + "\n").cut);
}

TEST(JudgeText, WhatIsPrintedDoesNotMoveTheCursor) {
  EXPECT_EQ(judge::harmless("\x1b[2J\r\a\x7f"), R"(\x1b[2J\x0d\x07\x7f)");
  EXPECT_EQ(judge::harmless("a\tb\n"), R"(a\x09b\x0a)");
  EXPECT_EQ(judge::harmless("a\tb\n\x1b", true), "a\tb\n\\x1b");
  EXPECT_EQ(judge::harmless("\xc3\xa4 \xe4\xb8\xad \xf0\x9f\x99\x82"), "\xc3\xa4 \xe4\xb8\xad \xf0\x9f\x99\x82");
  EXPECT_EQ(judge::harmless("\xc2\x9b"
                            "1m"),
            R"(\xc2\x9b1m)");  // CSI in one character
  EXPECT_EQ(judge::harmless("\x9b"
                            "1m \xc3"),
            R"(\x9b1m \xc3)");
}

TEST(JudgeText, CallsAreCountedWithTheirPlaces) {
  const judge::Call one{.verb = "ibv_alloc_pd", .object = "PD #1", .where = "come, lab.cpp:31"};
  const judge::Call two{.verb = "ibv_alloc_pd", .object = "PD #2", .where = "come, lab.cpp:40"};
  EXPECT_EQ(judge::seen_calls({}, "ibv_alloc_pd"), "no ibv_alloc_pd");
  EXPECT_EQ(judge::seen_calls({one}, "ibv_alloc_pd"), "ibv_alloc_pd, once: in come, lab.cpp:31");
  EXPECT_EQ(judge::seen_calls({one, two, one}, "ibv_alloc_pd"),
            "ibv_alloc_pd, 3 times: in come, lab.cpp:31; come, lab.cpp:40");
}

TEST(JudgeText, ExcerptsAreOneShortLine) {
  EXPECT_EQ(judge::excerpt(""), "nothing");
  EXPECT_EQ(judge::excerpt("\n\n"), "nothing");
  EXPECT_EQ(judge::excerpt("a\nb\n"), "a / b");
  EXPECT_LT(judge::excerpt(std::string(10'000, 'x')).size(), 300U);
}

TEST(JudgeText, LinesOfOutput) {
  const Outcome outcome{.out = "one\ntwo"};
  EXPECT_TRUE(outcome.prints("two"));
  EXPECT_FALSE(outcome.prints("tw"));
  EXPECT_EQ(outcome.lines().size(), 2U);
}

judge::Report report() {
  judge::Report made{.lab = "03-protection-domain", .title = "Tenants", .submission = "lab.cpp", .place = "here"};
  made.verdicts = {
      {.id = "builds", .title = "it compiles", .points = 5, .max_points = 5, .status = Status::pass, .read = {}},
      {.id = "pd-each",
       .title = "a domain each",
       .max_points = 25,
       .status = Status::fail,
       .why = {.expected = "three", .seen = "one", .likely = "a loop"},
       .read = "chapter 03",
       .step = 2},
      {.id = "late", .title = "in time", .max_points = 10, .status = Status::timeout, .read = "chapter 04"},
      {.id = "clean",
       .title = "clean",
       .max_points = 60,
       .status = Status::skip,
       .why = {.expected = {}, .seen = "'pd-each' has failed"},
       .read = {}},
  };
  return made;
}

TEST(JudgeVerdict, ForTheTerminal) {
  const std::string text = judge::as_text(report());
  EXPECT_NE(text.find("  ok      builds     5/5   it compiles\n"), std::string::npos) << text;
  EXPECT_NE(
      text.find("  FAIL    pd-each    0/25  a domain each\n          expected  three\n          seen      one\n"
                "          likely    a loop\n          read      chapter 03\n          hint      ./lab hint 03 2\n"),
      std::string::npos)
      << text;
  EXPECT_NE(text.find("  TIMEOUT late "), std::string::npos) << text;
  EXPECT_NE(text.find("  skip    clean      0/60  'pd-each' has failed\n"), std::string::npos) << text;
  EXPECT_NE(text.find("5 of 100 points\n"), std::string::npos) << text;
  EXPECT_EQ(text.find("100 points, passed"), std::string::npos) << text;
}

TEST(JudgeVerdict, AsData) {
  const auto json = judge::as_json(report());
  EXPECT_EQ(json.at("points"), 5);
  EXPECT_EQ(json.at("max_points"), 100);
  EXPECT_EQ(json.at("passed"), false);
  EXPECT_EQ(json.at("checks").size(), 4U);
  EXPECT_EQ(json.at("checks")[1].at("status"), "fail");
  EXPECT_EQ(json.at("checks")[1].at("message"),
            "expected: three\nseen: one\nlikely: a loop\nread: chapter 03\nhint: ./lab hint 03 2\n");
  EXPECT_EQ(json.at("checks")[2].at("status"), "timeout");
  EXPECT_EQ(json.at("checks")[3].at("status"), "skip");
}

TEST(JudgeVerdict, OnlyAPassIsPassedForGradescope) {
  const auto results = judge::as_gradescope({judge::as_json(report())});
  ASSERT_EQ(results.at("tests").size(), 4U);
  EXPECT_EQ(results.at("tests")[0].at("status"), "passed");
  EXPECT_EQ(results.at("tests")[0].at("score"), 5);
  for (const std::size_t failed : {1U, 2U, 3U}) {
    EXPECT_EQ(results.at("tests")[failed].at("status"), "failed");
    EXPECT_EQ(results.at("tests")[failed].at("score"), 0);
  }
  EXPECT_EQ(results.at("tests")[1].at("number"), "03-protection-domain.pd-each");
}

TEST(JudgeVerdict, PassedIsEverythingPassed) {
  judge::Report all = report();
  EXPECT_FALSE(all.passed());
  for (judge::Verdict& verdict : all.verdicts) {
    verdict.status = Status::pass;
  }
  EXPECT_TRUE(all.passed());
}

}  // namespace
