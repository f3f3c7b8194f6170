// The timeline page without a browser: what is read from traces, how requests, peers and clocks are joined, what is
// left out.
#include "timeline/align.hpp"
#include "timeline/files.hpp"
#include "timeline/page.hpp"
#include "timeline/teller.hpp"
#include "timeline/thin.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <deque>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using namespace timeline;

// Writes the lines of a trace and reads them at once. Each call takes place 10 ns after the one before.
class Script {
public:
  Script& at(Time time) {
    time_ = time - 10;
    return *this;
  }
  Script& trace(Index trace) {
    trace_ = trace;
    return *this;
  }
  Script& thread(std::int64_t thread) {
    thread_ = thread;
    return *this;
  }
  Script& pid(std::int64_t pid) {
    pid_ = thread_ = pid;
    return *this;
  }

  Script& start(const std::string& host, Time realtime) {
    return line(R"("event":"start","program":"p","host":")" + host + R"(","realtime_ns":)" + std::to_string(realtime));
  }
  Script& call(const std::string& verb, const std::string& object, const std::string& rest = R"("args":{})",
               int result = 0) {
    return line(R"("verb":")" + verb + R"(","object":")" + object + R"(","result":)" + std::to_string(result) +
                R"(,"where":"main, a.cpp:1",)" + rest);
  }
  Script& finding(const std::string& objects, const std::string& where) {
    return line(R"("event":"finding","id":"some","what":"w","objects":")" + objects + R"(","where":")" + where + '"');
  }
  // A QP with one CQ for both queues, in RTS and connected to its peer.
  Script& connected_qp(int number, int peer, int psn = 1, int peer_psn = 1) {
    call("ibv_open_device", "context #1", R"("args":{},"uses":[])");
    call("ibv_alloc_pd", "PD #1", R"("args":{},"uses":["context #1"])");
    call("ibv_create_cq", "CQ #1", R"("args":{},"uses":["context #1"])");
    call("ibv_create_qp", "QP #1",
         R"("args":{"qp_type":"IBV_QPT_RC","send_cq":"CQ #1","recv_cq":"CQ #1","sq_sig_all":0,"qp_num":)" +
             std::to_string(number) + R"(},"uses":["CQ #1","PD #1"])");
    call("ibv_modify_qp", "QP #1",
         R"("args":{"qp_state":"RTR","dest_qp_num":)" + std::to_string(peer) + R"(,"rq_psn":)" +
             std::to_string(peer_psn) + "}");
    return call("ibv_modify_qp", "QP #1", R"("args":{"qp_state":"RTS","sq_psn":)" + std::to_string(psn) + "}");
  }
  Script& send(int wr_id, bool is_signalled = true, int result = 0) {
    return call("ibv_post_send", "QP #1", R"("args":{"requests":[)" + request(wr_id, is_signalled) + "]}", result);
  }
  Script& receive(int wr_id) {
    return call("ibv_post_recv", "QP #1", R"("args":{"requests":[{"wr_id":)" + std::to_string(wr_id) + "}]}");
  }
  // What the completion of a send, of a receive, and one with an error say.
  Script& sent(int wr_id) { return poll(wr_id, R"("status":"IBV_WC_SUCCESS","opcode":"IBV_WC_SEND")"); }
  Script& received(int wr_id) { return poll(wr_id, R"("status":"IBV_WC_SUCCESS","opcode":"IBV_WC_RECV")"); }
  Script& failed(int wr_id) { return poll(wr_id, R"("status":"IBV_WC_WR_FLUSH_ERR")"); }
  Script& poll(int wr_id, const std::string& rest) {
    return call("ibv_poll_cq", "CQ #1",
                R"("args":{},"completions":[{"qp":"QP #1","wr_id":)" + std::to_string(wr_id) + "," + rest + "}]", 1);
  }
  static std::string request(int wr_id, bool is_signalled = true) {
    return R"({"opcode":"IBV_WR_SEND","length":64,"wr_id":)" + std::to_string(wr_id) + R"(,"send_flags":")" +
           (is_signalled ? "IBV_SEND_SIGNALED" : "0") + "\"}";
  }

  Script& line(const std::string& rest) {
    time_ += 10;
    EXPECT_EQ(raw(R"({"time_ns":)" + std::to_string(time_) + R"(,"pid":)" + std::to_string(pid_) + R"(,"thread":)" +
                  std::to_string(thread_) + "," + rest + "}"),
              "");
    return *this;
  }
  std::string raw(const std::string& text) { return teller_.add(trace_, lines_.emplace_back(text)); }

  Story story() {
    Story story = teller_.finish();
    join_messages(story);
    return story;
  }

private:
  Teller teller_;
  std::deque<std::string> lines_;
  Index trace_ = 0;
  Time time_ = 90;
  std::int64_t pid_ = 1;
  std::int64_t thread_ = 1;
};

std::vector<std::string> ends(const Story& story) {
  std::vector<std::string> result;
  for (const Request& request : story.requests) {
    result.emplace_back(end_name(request.end));
  }
  return result;
}
using Ends = std::vector<std::string>;

std::vector<std::string> states(const Story& story) {
  std::vector<std::string> result;
  for (const State& state : story.states) {
    result.push_back(state.name + (state.is_inferred ? " (inferred)" : ""));
  }
  return result;
}
using States = std::vector<std::string>;

const Object& object(const Story& story, const std::string& name) {
  for (const Object& object : story.objects) {
    if (object.name == name) {
      return object;
    }
  }
  throw std::runtime_error{"no " + name};
}

TEST(TimelineLines, SaysWhatIsWrongWithOne) {
  Script script;
  EXPECT_EQ(script.raw(R"({"time_ns":1)"), "not JSON");
  EXPECT_EQ(script.raw(""), "not JSON");
  EXPECT_EQ(script.raw("\xff"), "not JSON");
  EXPECT_EQ(script.raw("[]"), "not a JSON object");
  EXPECT_EQ(script.raw("{}"), "the number time_ns is missing");
  EXPECT_EQ(script.raw(R"({"time_ns":"1"})"), "the number time_ns is missing");
  EXPECT_EQ(script.raw(R"({"time_ns":9223372036854775807,"pid":1,"thread":1})"), "the number time_ns is missing");
  EXPECT_EQ(script.raw(R"({"time_ns":1,"pid":1})"), "the number thread is missing");
  EXPECT_EQ(script.raw(R"({"time_ns":1,"pid":1,"thread":1})"), "neither a verb nor an event");
  EXPECT_EQ(script.raw(R"({"time_ns":1,"pid":1,"thread":1,"verb":"v"})"), "the number result is missing");
  EXPECT_EQ(script.raw(R"({"time_ns":1,"pid":1,"thread":1,"event":"start"})"),
            "a start without the number realtime_ns");
  EXPECT_TRUE(script.story().processes.empty());
}

TEST(TimelineLines, TakesFieldsOfAnyType) {
  Script script;
  script.call("ibv_create_cq", "CQ #1", R"("args":[],"uses":{"a":1})");
  script.call("ibv_create_cq", "CQ #2", R"("args":{"requests":7},"uses":[1,null])");
  script.call("ibv_post_send", "QP #1", R"("args":{"requests":[1,{"wr_id":"x"}]})");
  script.call("ibv_poll_cq", "CQ #1", R"("completions":[1,{"qp":7},{"qp":"QP #1","wr_id":{}}])", 1);
  script.line(R"("event":"something new")");
  EXPECT_EQ(script.story().calls.size(), 4U);
}

TEST(TimelineObjects, LiveInTheirOwners) {
  const Story story = Script{}
                          .connected_qp(17, 18)
                          .call("ibv_dealloc_pd", "PD #1", R"("args":{})", 16)
                          .call("ibv_destroy_qp", "QP #1")
                          .call("ibv_dealloc_pd", "PD #1")
                          .story();
  EXPECT_EQ(object(story, "context #1").owner, none);
  EXPECT_EQ(story.objects.at(object(story, "PD #1").owner).name, "context #1");
  EXPECT_EQ(story.objects.at(object(story, "QP #1").owner).name, "PD #1");
  EXPECT_EQ(object(story, "QP #1").number, 17);
  EXPECT_EQ(object(story, "QP #1").from, 130);
  EXPECT_EQ(object(story, "QP #1").to, 170);
  EXPECT_EQ(object(story, "PD #1").to, 180);
  EXPECT_FALSE(object(story, "PD #1").is_alive);
  EXPECT_TRUE(object(story, "CQ #1").is_alive);
  EXPECT_EQ(object(story, "CQ #1").to, 180);
}

TEST(TimelineObjects, GoWithTheirContext) {
  const Story story = Script{}.connected_qp(17, 18).send(1).call("ibv_close_device", "context #1").story();
  EXPECT_FALSE(object(story, "QP #1").is_alive);
  EXPECT_EQ(object(story, "QP #1").to, object(story, "context #1").to);
  EXPECT_EQ(object(story, "QP #1").destroyed, none);
  EXPECT_EQ(ends(story), (Ends{"discarded"}));
}

TEST(TimelineObjects, OfTwoProcessesWithTheSameNumberAreTwo) {
  const Story story = Script{}
                          .start("h", 1000)
                          .call("ibv_alloc_pd", "PD #1", R"("args":{},"uses":[])")
                          .start("h", 2000)
                          .call("ibv_alloc_pd", "PD #1", R"("args":{},"uses":[])")
                          .pid(2)
                          .call("ibv_alloc_pd", "PD #1", R"("args":{},"uses":[])")
                          .story();
  EXPECT_EQ(story.processes.size(), 3U);
  EXPECT_EQ(story.objects.size(), 3U);
}

TEST(TimelineObjects, AFailedCallStandsWithWhatItWasToUse) {
  const Story story = Script{}
                          .call("ibv_alloc_pd", "PD #1", R"("args":{},"uses":[])")
                          .call("ibv_reg_mr", "", R"("args":{},"uses":["PD #1"])", 12)
                          .story();
  EXPECT_TRUE(story.calls.at(1).is_failed);
  EXPECT_EQ(story.objects.at(story.calls.at(1).object).name, "PD #1");
  EXPECT_EQ(story.objects.size(), 1U);
}

TEST(TimelineFindings, StandWithTheirCallOrTheirObject) {
  const Story story = Script{}
                          .call("ibv_alloc_pd", "PD #1", R"("args":{},"uses":[])")
                          .call("ibv_reg_mr", "MR #1", R"("args":{},"uses":["PD #1"])")
                          .finding("MR #1 (made in main, a.cpp:1)", "main, a.cpp:1")
                          .call("ibv_dealloc_pd", "PD #1", R"("args":{})", 16)
                          .finding("MR #1 (made in main, a.cpp:1), PD #1 (made in x)", "main, b.cpp:2")
                          .finding("MR #7 (made in x)", "")
                          .story();
  ASSERT_EQ(story.findings.size(), 3U);
  EXPECT_EQ(story.findings[0].call, 2U);
  EXPECT_EQ(story.objects.at(story.findings[0].object).name, "PD #1");
  EXPECT_EQ(story.findings[1].call, none);
  EXPECT_EQ(story.objects.at(story.findings[1].object).name, "MR #1");
  EXPECT_EQ(story.findings[2].object, none);
}

TEST(TimelineStates, FollowOneAnother) {
  const Story story = Script{}
                          .connected_qp(17, 18)
                          .call("ibv_modify_qp", "QP #1", R"("args":{"qp_state":"SQD"})", 22)
                          .call("ibv_modify_qp", "QP #1", R"("args":{"qp_state":"RESET"})")
                          .call("ibv_destroy_qp", "QP #1")
                          .story();
  EXPECT_EQ(states(story), (States{"RESET", "RTR", "RTS", "RESET"}));
  EXPECT_EQ(story.states[2].to, story.states[3].from);
  EXPECT_EQ(story.states[3].to, object(story, "QP #1").to);
}

TEST(TimelineStates, AFailedCompletionShowsErr) {
  const Story story = Script{}.connected_qp(17, 18).send(1).send(2).failed(1).failed(2).story();
  EXPECT_EQ(states(story), (States{"RESET", "RTR", "RTS", "ERR (inferred)"}));
}

TEST(TimelineRequests, AreJoinedByIdAndOrder) {
  const Story story =
      Script{}.connected_qp(17, 18).receive(1).receive(1).send(1).send(2).received(1).sent(1).sent(2).story();
  EXPECT_EQ(ends(story), (Ends{"completed", "open", "completed", "completed"}));
  EXPECT_EQ(story.requests[0].to, 200);
  EXPECT_EQ(story.requests[1].to, 220);
  EXPECT_EQ(story.requests[2].to, 210);
  EXPECT_EQ(story.requests[3].to, 220);
}

TEST(TimelineRequests, UnsignalledOnesAreRetiredByALaterCompletion) {
  const Story story =
      Script{}.connected_qp(17, 18).send(1, false).send(2, false).send(3).send(4, false).sent(3).story();
  EXPECT_EQ(ends(story), (Ends{"retired", "retired", "completed", "open"}));
  EXPECT_EQ(story.requests[0].to, story.requests[2].to);
}

TEST(TimelineRequests, OfAResetQueueAreDiscarded) {
  const Story story = Script{}
                          .connected_qp(17, 18)
                          .receive(1)
                          .call("ibv_modify_qp", "QP #1", R"("args":{"qp_state":"RESET"})")
                          .receive(1)
                          .received(1)
                          .story();
  EXPECT_EQ(ends(story), (Ends{"discarded", "completed"}));
}

TEST(TimelineRequests, OfAFailedPostAreRefusedButForTheFirstOfAList) {
  const Story story = Script{}
                          .connected_qp(17, 18)
                          .send(7, true, 12)
                          .call("ibv_post_send", "QP #1",
                                R"("args":{"requests":[)" + Script::request(1) + "," + Script::request(1) + "]}", 12)
                          .sent(1)
                          .story();
  EXPECT_EQ(ends(story), (Ends{"refused", "completed", "refused"}));
}

TEST(TimelineRequests, ACompletionMayBeWrittenBeforeItsPost) {
  const Story story = Script{}.connected_qp(17, 18).thread(2).sent(1).thread(1).send(1).send(2).story();
  EXPECT_EQ(ends(story), (Ends{"completed", "open"}));
  EXPECT_NE(story.requests[0].post, none);
  // Of the same thread it is one whose post is not in the trace.
  const Story other = Script{}.connected_qp(17, 18).sent(1).send(1).story();
  EXPECT_EQ(ends(other), (Ends{"completed", "open"}));
  EXPECT_EQ(other.requests[0].post, none);
}

TEST(TimelineRequests, AnErrorBelongsToTheOldestWithItsId) {
  const Story story = Script{}.connected_qp(17, 18).receive(1).send(1).failed(1).story();
  EXPECT_EQ(ends(story), (Ends{"failed", "open"}));
}

TEST(TimelineRequests, ReceivesOfASharedQueueStayWithIt) {
  const Story story = Script{}
                          .call("ibv_create_srq", "SRQ #1", R"("args":{},"uses":[])")
                          .call("ibv_create_qp", "QP #1",
                                R"("args":{"srq":"SRQ #1","send_cq":"CQ #1","recv_cq":"CQ #1"},"uses":["SRQ #1"])")
                          .call("ibv_post_srq_recv", "SRQ #1", R"("args":{"requests":[{"wr_id":5}]})")
                          .received(5)
                          .story();
  EXPECT_EQ(ends(story), (Ends{"completed"}));
  EXPECT_EQ(story.objects.at(story.requests[0].object).name, "SRQ #1");
}

// Two hosts that send a message each way. The second one's clock is `ahead`, and its real-time clock lies by `lie`.
Script exchange(Time ahead, Time lie, bool answers = true) {
  Script script;
  script.start("one", 100'000'000'000).connected_qp(17, 17, 1, 2).receive(1).at(1'000'000).send(2);
  script.trace(1).at(100 + ahead).start("two", 100'000'000'000 + lie).connected_qp(17, 17, 2, 1).receive(1);
  script.at(1'200'000 + ahead).received(1);
  if (answers) {
    script.at(1'400'000 + ahead).send(2);
    script.trace(0).at(1'600'000).received(1);
  }
  return script;
}

TEST(TimelineMessages, JoinPeersByNumberAndPsn) {
  Script script = exchange(0, 0);
  // A third QP has the same numbers, and other PSNs.
  script.trace(1).pid(9).connected_qp(17, 17, 8, 9).receive(1).received(1);
  const Story story = script.story();
  ASSERT_EQ(story.messages.size(), 2U);
  EXPECT_EQ(story.requests[story.messages[0].send].from, 1'000'000);
  EXPECT_EQ(story.requests[story.messages[0].receive].to, 1'200'000);
  EXPECT_EQ(story.requests[story.messages[1].receive].to, 1'600'000);
}

TEST(TimelineMessages, AreLeftWhereMoreThanOneCouldBeThePeer) {
  Script script = exchange(0, 0);
  script.trace(1).pid(9).connected_qp(17, 17, 2, 1).receive(1).received(1);
  EXPECT_EQ(script.story().messages.size(), 1U);  // only that from the second to the first is certain
}

TEST(TimelineClocks, AreInTheMiddleOfWhatMessagesAllow) {
  constexpr Time ahead = 7'000'000'000;
  Story story = exchange(ahead, -60'000'000'000).story();
  const std::string text = align(story, {"a", "b"});
  // Received at 1.2 ms of the second clock: not before the send began, nor 0.4 ms later, else the answer came too late.
  const Time began = story.calls[story.requests[story.messages[0].send].post].after;
  EXPECT_EQ(story.requests[story.messages[0].receive].to, began + (1'600'000 - began) / 2);
  EXPECT_NE(text.find("in the middle of what 1 message to it and 1 back allow"), std::string::npos) << text;
  EXPECT_NE(text.find("exact to "), std::string::npos) << text;
}

TEST(TimelineClocks, AreTheRealTimeClocksWhereThoseArePossible) {
  constexpr Time ahead = 7'000'000'000;
  Story story = exchange(ahead, 0).story();
  const std::string text = align(story, {"a", "b"});
  EXPECT_EQ(story.requests[story.messages[0].receive].to, 1'200'000) << text;
  EXPECT_NE(text.find("by the hosts' real-time clocks, which 1 message to it and 1 back do not contradict"),
            std::string::npos)
      << text;
}

TEST(TimelineClocks, WithOneMessageAreAsFarAsItAllows) {
  Story story = exchange(0, -60'000'000'000, false).story();
  const std::string text = align(story, {"a", "b"});
  const Story moved = story;
  EXPECT_EQ(moved.requests[moved.messages[0].receive].to,
            moved.calls[moved.requests[moved.messages[0].send].post].after);
  EXPECT_NE(text.find("how exact it is cannot be said"), std::string::npos) << text;
}

TEST(TimelineClocks, SayWhenMessagesContradictEachOther) {
  Script script;
  script.start("one", 100'000'000'000).connected_qp(17, 17, 1, 2).receive(1).at(999'990).receive(1).send(2);
  script.trace(1).at(100).start("two", 100'000'000'000).connected_qp(17, 17, 2, 1).receive(1).at(500'000).received(1);
  script.at(1'999'990).receive(1).send(2).trace(0).at(1'899'990).received(1);
  Story story = script.story();
  const std::string text = align(story, {"a", "b"});
  EXPECT_NE(text.find("They contradict each other by 600 µs"), std::string::npos) << text;
}

TEST(TimelineClocks, SayWhenTheyAreNotKnown) {
  Script script;
  script.call("ibv_alloc_pd", "PD #1").trace(1).call("ibv_alloc_pd", "PD #1");
  Story story = script.story();
  EXPECT_NE(align(story, {"a", "b"}).find("Compare times within one trace only"), std::string::npos);
  EXPECT_EQ(align(story, {"a"}), "");
}

TEST(TimelineClocks, OfOneHostAreOne) {
  Script script;
  script.start("h", 5'000)
      .call("ibv_alloc_pd", "PD #1")
      .trace(1)
      .pid(2)
      .start("h", 5'030)
      .call("ibv_alloc_pd", "PD #1");
  Story story = script.story();
  EXPECT_NE(align(story, {"a", "b"}).find("nothing was moved"), std::string::npos);
  EXPECT_EQ(story.processes[1].from, 120);
}

TEST(TimelineClocks, TimesHaveTheirUnit) {
  EXPECT_EQ(duration_text(999), "999 ns");
  EXPECT_EQ(duration_text(-1'500), "-1.5 µs");
  EXPECT_EQ(duration_text(1'934'000), "1.93 ms");
  EXPECT_EQ(duration_text(61'000'000'000), "61 s");
}

std::size_t count(const std::vector<bool>& kept) { return static_cast<std::size_t>(std::ranges::count(kept, true)); }

TEST(TimelineThinning, KeepsAllOfWhatIsShort) {
  const Story story = exchange(0, 0).story();
  const Selection selection = thin(story, {});
  EXPECT_EQ(count(selection.calls), story.calls.size());
  EXPECT_EQ(count(selection.objects), story.objects.size());
  EXPECT_EQ(count(selection.requests), story.requests.size());
  EXPECT_TRUE(selection.gaps.empty());
}

TEST(TimelineThinning, LeavesOutTheMiddleButNotWhatFailed) {
  Script script;
  script.connected_qp(17, 18);
  for (int i = 0; i < 100; ++i) {
    script.send(i);
    if (i == 50) {
      script.failed(i);
    } else {
      script.sent(i);
    }
  }
  const Story story = script.story();
  const Selection selection = thin(story, {.ordinary = 40, .rare = 100, .findings = 10});
  // A call and its request are two; 10 calls at each end, and the 6 of the QP, and the two that failed.
  EXPECT_EQ(count(selection.calls), 10U + 10U + 6U + 2U);
  EXPECT_EQ(count(selection.requests), 5U + 5U + 1U);
  ASSERT_EQ(selection.gaps.size(), 1U);
  EXPECT_EQ(selection.gaps[0].what, "178 posts, polls and other calls that went well");
  EXPECT_TRUE(selection.calls[6 + 2 * 50 + 1]);
  EXPECT_FALSE(selection.calls[6 + 2 * 49]);
}

TEST(TimelineThinning, BoundsObjectsAndFindingsToo) {
  Script script;
  for (int i = 1; i <= 100; ++i) {
    script.call("ibv_reg_mr", "MR #" + std::to_string(i), R"("args":{},"uses":["PD #1"])");
  }
  for (int i = 1; i <= 100; ++i) {
    script.finding("MR #" + std::to_string(i) + " (made in x)", "main, a.cpp:1");
  }
  const Selection selection = thin(script.story(), {.ordinary = 10, .rare = 10, .findings = 10});
  EXPECT_EQ(count(selection.calls), 10U);
  EXPECT_EQ(count(selection.findings), 10U);
  EXPECT_EQ(count(selection.objects), 10U + 1U);  // the same, and their PD
  EXPECT_EQ(selection.gaps.size(), 2U);
}

TEST(TimelinePage, KeepsTextAsText) {
  Script script;
  script.call("ibv_alloc_pd", "PD #1", R"("args":{"a":"</script><b>","n":-9223372036854775807},"uses":[])");
  const Story story = script.story();
  const std::string text = page(story, thin(story, {}), {{.name = "<a>&\".jsonl", .lines = 1}}, "");
  EXPECT_EQ(text.find("</script><b>"), std::string::npos);
  EXPECT_NE(text.find("\\u003c/script>\\u003cb>"), std::string::npos) << "in the data";
  EXPECT_NE(text.find("\"-9223372036854775807\""), std::string::npos) << "not rounded by JavaScript";
  EXPECT_NE(text.find("<title>Timeline: &lt;a&gt;&amp;&quot;.jsonl</title>"), std::string::npos);
  EXPECT_EQ(text.find("{{"), std::string::npos) << "every part of the template is filled in";
}

TEST(TimelineFiles, AreWrittenWholeOrNotAtAll) {
  const std::filesystem::path folder =
      std::filesystem::path{testing::TempDir()} / ("timeline." + std::to_string(getpid()));
  std::filesystem::create_directory(folder);
  const std::string file = folder / "page.html";
  write_file(file, "first");
  EXPECT_EQ(read_file(file), "first");
  struct stat status {};
  ASSERT_EQ(stat(file.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0600U, 0600U);
  EXPECT_THROW(write_file(folder / "nosuch" / "page.html", "x"), std::runtime_error);
  EXPECT_THROW(write_file("/dev/full", "x"), std::runtime_error);
  EXPECT_THROW(static_cast<void>(read_file(folder / "nosuch")), std::runtime_error);
  EXPECT_THROW(static_cast<void>(read_file(folder)), std::runtime_error);
  std::filesystem::create_symlink("page.html", folder / "link");
  write_file(folder / "link", "second");
  EXPECT_EQ(read_file(file), "second");
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link"));
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator{folder}) {
    files += entry.is_symlink() ? 0U : 1U;
  }
  EXPECT_EQ(files, 1U) << "nothing half written is left";
  std::filesystem::remove_all(folder);
}

}  // namespace
