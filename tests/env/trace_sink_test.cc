// SPDX-License-Identifier: Apache-2.0
//
// The order of the records of a TraceSink.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "env/trace/trace_frame.h"
#include "env/trace/trace_sink.h"
#include "tests/support/memory_trace.h"
#include "tests/support/status_matchers.h"

namespace ashlar {
namespace {

class TraceSinkTest : public testing::Test {
 protected:
  void Start(uint64_t sampling_frequency = 1) {
    ASSERT_OK(sink_.Start(
        SystemClock::Default().get(), std::make_unique<WriterInto>(&trace_),
        {.max_bytes = 1 << 20, .sampling_frequency = sampling_frequency, .has_order = true},
        "header", [] {}));
  }
  Status End() {
    bool was_started = false;
    return sink_.End(TraceSink::Footer::kNone, &was_started);
  }
  void Record(uint64_t place, const std::string& payload) {
    sink_.RecordInOrder(place, kTraceWrite, [&](std::string* bytes) { *bytes += payload; });
  }
  // The payloads so far, without the header.
  std::string Written() const {
    std::string text;
    for (size_t i = 1; i < trace_.records.size(); i++) {
      TraceFrame frame;
      EXPECT_OK(ParseTraceFrame(trace_.records[i], &frame));
      text += (i > 1 ? " " : "") + frame.payload.ToString();
    }
    return text;
  }

  MemoryTrace trace_;
  TraceSink sink_{TraceSink::Unit::kMicrosSince1970};
};

TEST_F(TraceSinkTest, ARecordThatComesTooEarlyWaitsForItsTurn) {
  Start();
  Record(2, "c");
  Record(1, "b");
  EXPECT_EQ(Written(), "");
  Record(0, "a");
  EXPECT_EQ(Written(), "a b c");
  Record(3, "d");
  EXPECT_EQ(Written(), "a b c d");
  EXPECT_OK(End());
}

TEST_F(TraceSinkTest, RecordsAreSampledInTheirOrder) {
  Start(/*sampling_frequency=*/2);
  Record(1, "b");
  Record(3, "d");
  Record(2, "c");
  Record(0, "a");
  EXPECT_EQ(Written(), "b d");
  EXPECT_OK(End());
}

TEST_F(TraceSinkTest, PlacesGoOnFromTraceToTrace) {
  Start();
  Record(0, "a");
  Record(2, "of the first trace");
  EXPECT_OK(End());
  Record(3, "of no trace");
  trace_ = MemoryTrace();
  Start();
  Record(1, "b");
  Record(4, "e");
  EXPECT_EQ(Written(), "b e");
  EXPECT_OK(End());
}

TEST_F(TraceSinkTest, MemoryThatRunsOutEndsTheTraceAndNotTheOrder) {
  Start();
  sink_.RecordInOrder(0, kTraceWrite, [](std::string*) { throw std::bad_alloc(); });
  EXPECT_FALSE(sink_.is_on());
  EXPECT_TRUE(End().IsMemoryLimit());
  trace_ = MemoryTrace();
  Start();
  Record(1, "b");
  EXPECT_EQ(Written(), "b");
  EXPECT_OK(End());
}

TEST_F(TraceSinkTest, AnExceptionForTheSizeEndsTheTraceAndNotTheCall) {
  for (const bool has_place : {false, true}) {
    trace_ = MemoryTrace();
    Start();
    trace_.size_throws = true;
    if (has_place) {
      Record(0, "a");
    } else {
      sink_.Record(kTraceGet, [](std::string* bytes) { *bytes += "a"; });
    }
    EXPECT_FALSE(sink_.is_on());
    EXPECT_TRUE(End().IsAborted());
    EXPECT_EQ(Written(), "");
    EXPECT_TRUE(trace_.is_closed);
  }
}

TEST_F(TraceSinkTest, AnExceptionOfClosingIsAnError) {
  trace_.close_throws = true;
  Start();
  EXPECT_TRUE(End().IsAborted());
  trace_ = MemoryTrace();
  Start();
  Record(0, "a");
  MemoryTrace other;
  other.close_throws = true;
  EXPECT_TRUE(sink_
                  .Start(SystemClock::Default().get(), std::make_unique<WriterInto>(&other),
                         TraceSink::Limits(), "header", [] {})
                  .IsBusy());
  EXPECT_OK(End());
  EXPECT_EQ(Written(), "a");
}

TEST_F(TraceSinkTest, PlacesOfSeveralThreadsAreWrittenInOrder) {
  constexpr uint64_t kThreads = 4, kRounds = 3;
  constexpr uint64_t kInRound = TraceSink::kMostKept;  // as many as may be open
  static_assert(kInRound % kThreads == 0);
  Start();
  std::atomic<uint64_t> next{0};
  for (uint64_t round = 0; round < kRounds; round++) {
    std::vector<std::thread> threads;
    for (uint64_t thread = 0; thread < kThreads; thread++) {
      threads.emplace_back([&] {
        for (uint64_t i = 0; i < kInRound / kThreads; i++) {
          const uint64_t place = next++;
          Record(place, std::to_string(place));
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
  std::string expected;
  for (uint64_t i = 0; i < kRounds * kInRound; i++) {
    expected += (i > 0 ? " " : "") + std::to_string(i);
  }
  EXPECT_EQ(Written(), expected);
  EXPECT_OK(End());
}

}  // namespace
}  // namespace ashlar
