// common/program: exit statuses, and the range of each option.
#include "common/program.hpp"

#include "common/errors.hpp"
#include "common/owned.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using lab::Opt;
using lab::Options;

Options seen;  // what the body got
int calls = 0;

void remember(const Options& options) {
  seen = options;
  ++calls;
}

int run_with(std::vector<std::string> words, void (*body)(const Options&)) {
  std::string name = "program";
  std::vector<char*> argv{name.data()};
  for (std::string& word : words) {
    argv.push_back(word.data());
  }
  const auto argc = static_cast<int>(argv.size());
  argv.push_back(nullptr);
  return lab::run(argc, argv.data(), "program: is tested",
                  {Opt::ib_dev, Opt::ib_port, Opt::gid_idx, Opt::port, Opt::size, Opt::iters, Opt::mtu, Opt::rx_depth,
                   Opt::sl, Opt::chk, Opt::deadline, Opt::server},
                  body);
}

struct Result {
  int status;
  std::string out;
  std::string err;
};

Result result_of(const std::vector<std::string>& words, void (*body)(const Options&) = remember) {
  calls = 0;
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  Result result{};
  result.status = run_with(words, body);
  result.out = testing::internal::GetCapturedStdout();
  result.err = testing::internal::GetCapturedStderr();
  return result;
}

void expect_refused(const std::vector<std::string>& words, const std::string& named) {
  std::string line;
  for (const std::string& word : words) {
    line += word + " ";
  }
  SCOPED_TRACE(line);
  const Result result = result_of(words);
  EXPECT_EQ(result.status, 2);
  EXPECT_EQ(calls, 0);
  EXPECT_NE(result.err.find(named), std::string::npos) << result.err;
  EXPECT_EQ(result.out, "");
}

TEST(Run, ReturnsZeroWhenTheBodyReturns) {
  const Result result = result_of({});
  EXPECT_EQ(result.status, 0);
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(result.err, "");
}

TEST(Run, ReturnsOneAndTheMessageWhenTheBodyThrows) {
  const Result result = result_of({}, [](const Options&) { throw lab::Error("no port is active"); });
  EXPECT_EQ(result.status, 1);
  EXPECT_EQ(result.err, "error: no port is active\n");
}

TEST(Run, ReturnsOneWhenMemoryRunsOut) {
  const Result result = result_of({}, [](const Options&) { throw std::bad_alloc{}; });
  EXPECT_EQ(result.status, 1);
  EXPECT_EQ(result.err, "error: out of memory\n");
}

TEST(Run, ReturnsOneForOtherExceptions) {
  const Result result = result_of({}, [](const Options&) { throw std::out_of_range{"index 7"}; });
  EXPECT_EQ(result.status, 1);
  EXPECT_EQ(result.err, "error: index 7\n");
}

TEST(Run, HelpGoesToStandardOutputAndReturnsZero) {
  for (const char* const help : {"-h", "--help"}) {
    const Result result = result_of({help});
    EXPECT_EQ(result.status, 0);
    EXPECT_EQ(calls, 0);
    EXPECT_NE(result.out.find("program: is tested"), std::string::npos);
    EXPECT_NE(result.out.find("--gid-idx"), std::string::npos);
    EXPECT_EQ(result.err, "");
  }
}

TEST(RunDeathTest, ReturnsOneWhenADestroyFailed) {
  EXPECT_EXIT(std::exit(run_with({}, [](const Options&) { lab::report_failed_destroy("ibv_dealloc_pd", EBUSY); })),
              testing::ExitedWithCode(1), "^error: ibv_dealloc_pd: EBUSY");
}

// A whole line is written at once, and fails at once; the rest of one only when it is flushed at the end.
TEST(RunDeathTest, ReturnsOneWhenTheOutputCannotBeWritten) {
  for (void (*const body)(const Options&) :
       {+[](const Options&) { std::printf("a line\n"); }, +[](const Options&) { std::printf("half a line"); }}) {
    EXPECT_EXIT(
        {
          if (std::freopen("/dev/full", "w", stdout) == nullptr) {
            std::exit(3);
          }
          std::exit(run_with({}, body));
        },
        testing::ExitedWithCode(1), "error: (cannot write the output: ENOSPC|some of the output could not be written)");
  }
}

TEST(RunDeathTest, OutputOfAWholeLineIsOutBeforeTheEnd) {
  EXPECT_EXIT(
      {
        if (std::freopen("/dev/stderr", "w", stdout) == nullptr) {
          std::exit(3);
        }
        run_with({}, [](const Options&) {
          std::printf("a whole line\n");
          std::_Exit(4);  // as a signal would end it: nothing is flushed any more
        });
      },
      testing::ExitedWithCode(4), "a whole line");
}

// The long name, by which messages name an option.
std::string long_name(const std::string& option) {
  static const std::map<std::string, std::string> names{{"-d", "--ib-dev"}, {"-i", "--ib-port"},  {"-g", "--gid-idx"},
                                                        {"-p", "--port"},   {"-s", "--size"},     {"-n", "--iters"},
                                                        {"-m", "--mtu"},    {"-r", "--rx-depth"}, {"-l", "--sl"}};
  const auto found = names.find(option);
  return found == names.end() ? option : found->second;
}

TEST(Options, Defaults) {
  ASSERT_EQ(result_of({}).status, 0);
  EXPECT_EQ(seen.ib_dev, "");
  EXPECT_EQ(seen.ib_port, 0);
  EXPECT_EQ(seen.gid_idx, -1);
  EXPECT_EQ(seen.port, 18515);
  EXPECT_EQ(seen.size, 4096U);
  EXPECT_EQ(seen.iters, 1000U);
  EXPECT_EQ(seen.mtu, 1024U);
  EXPECT_EQ(seen.rx_depth, 500U);
  EXPECT_EQ(seen.sl, 0U);
  EXPECT_FALSE(seen.chk);
  EXPECT_EQ(seen.deadline, 30U);
  EXPECT_EQ(seen.server, "");
}

void expect_all_set() {
  EXPECT_EQ(seen.ib_dev, "mlx5_0");
  EXPECT_EQ(seen.ib_port, 2);
  EXPECT_EQ(seen.gid_idx, 3);
  EXPECT_EQ(seen.port, 4000);
  EXPECT_EQ(seen.size, 5U);
  EXPECT_EQ(seen.iters, 6U);
  EXPECT_EQ(seen.mtu, 256U);
  EXPECT_EQ(seen.rx_depth, 7U);
  EXPECT_EQ(seen.sl, 8U);
  EXPECT_TRUE(seen.chk);
  EXPECT_EQ(seen.deadline, 9U);
  EXPECT_EQ(seen.server, "192.0.2.1");
}

TEST(Options, ShortNamesAreThoseOfTheStockTools) {
  ASSERT_EQ(result_of({"-d", "mlx5_0", "-i",  "2",  "-g", "3",  "-p", "4000", "-s",         "5", "-n",
                       "6",  "-m",     "256", "-r", "7",  "-l", "8",  "-c",   "--deadline", "9", "192.0.2.1"})
                .status,
            0);
  expect_all_set();
}

TEST(Options, LongNamesAreThoseOfTheStockTools) {
  ASSERT_EQ(result_of({"192.0.2.1", "--ib-dev=mlx5_0", "--ib-port=2", "--gid-idx=3", "--port=4000", "--size=5",
                       "--iters=6", "--mtu=256", "--rx-depth=7", "--sl=8", "--chk", "--deadline=9"})
                .status,
            0);
  expect_all_set();
}

TEST(Options, TheEdgesOfEachRangeAreIn) {
  const std::vector<std::vector<std::string>> accepted{
      {"-i", "1"},       {"-i", "255"},  {"-g", "0"},          {"-g", "65535"},     {"-p", "1"},
      {"-p", "65535"},   {"-s", "1"},    {"-s", "2147483648"}, {"-n", "1"},         {"-m", "256"},
      {"-m", "512"},     {"-m", "1024"}, {"-m", "2048"},       {"-m", "4096"},      {"-r", "1"},
      {"-r", "1048576"}, {"-l", "0"},    {"-l", "15"},         {"--deadline", "1"}, {"--deadline", "3600"}};
  for (const auto& words : accepted) {
    EXPECT_EQ(result_of(words).status, 0) << words[0] << " " << words[1];
  }
  ASSERT_EQ(result_of({"-s", "2147483648"}).status, 0);
  EXPECT_EQ(seen.size, std::uint64_t{1} << 31U);
}

TEST(Options, WhatLiesOutsideIsRefused) {
  const std::vector<std::vector<std::string>> refused{
      {"-i", "0"},     {"-i", "256"},        {"-i", "-1"},         {"-g", "-1"},
      {"-g", "65536"}, {"-p", "0"},          {"-p", "65536"},      {"-p", "-1"},
      {"-s", "0"},     {"-s", "2147483649"}, {"-s", "-1"},         {"-s", "18446744073709551616"},
      {"-n", "0"},     {"-n", "-1"},         {"-n", "4294967297"}, {"-m", "0"},
      {"-m", "1000"},  {"-m", "8192"},       {"-r", "0"},          {"-r", "1048577"},
      {"-l", "16"},    {"-l", "-1"},         {"--deadline", "0"},  {"--deadline", "3601"}};
  for (const auto& words : refused) {
    expect_refused(words, long_name(words[0]));
  }
}

TEST(Options, WhatIsNoNumberIsRefused) {
  for (const char* const option : {"-i", "-g", "-p", "-s", "-n", "-m", "-r", "-l", "--deadline"}) {
    for (const char* const value : {"many", "1k", "1.5", "", " ", "0x", "1 2"}) {
      expect_refused({option, value}, long_name(option));
    }
  }
}

TEST(Options, AMissingValueIsRefused) {
  for (const char* const option : {"-d", "-i", "-g", "-p", "-s", "-n", "-m", "-r", "-l", "--deadline"}) {
    expect_refused({option}, long_name(option));
  }
}

TEST(Options, AnOptionGivenTwiceIsRefused) {
  expect_refused({"-s", "1", "-s", "2"}, "--size");
  expect_refused({"-d", "rxe0", "--ib-dev", "rxe1"}, "--ib-dev");
}

TEST(Options, UnknownOnesAreRefusedByName) {
  expect_refused({"--nosuch"}, "--nosuch");
  expect_refused({"-z"}, "-z");
}

TEST(Options, OneServerAtMost) { expect_refused({"server", "and-another"}, "and-another"); }

TEST(Options, OnesThatTheProgramDoesNotHaveAreRefused) {
  std::string name = "program";
  std::string option = "--size";
  std::string value = "1";
  std::vector<char*> argv{name.data(), option.data(), value.data(), nullptr};
  testing::internal::CaptureStderr();
  EXPECT_EQ(lab::run(3, argv.data(), "program: is tested", {Opt::ib_dev}, remember), 2);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("--size"), std::string::npos);
}

}  // namespace
