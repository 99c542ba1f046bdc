// SPDX-License-Identifier: Apache-2.0
//
// The contract of log sinks, for the buffered one in memory and on disk, and for the mapped one.
#include "db/wal/wal_sink.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "env/fault/fault_file_system.h"
#include "env/file_util.h"
#include "env/mapped_file.h"
#include "env/memory/memory_file_system.h"
#include "tests/db/wal/log_test_util.h"
#include "tests/support/mappable_dir.h"
#include "tests/support/paths.h"
#include "tests/support/skip.h"
#include "tests/support/status_matchers.h"
#include "util/random.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

enum class Place { kMemory, kDisk, kMapped, kMappedAhead };

struct Param {
  const char* name;
  Place place;
  bool is_recyclable;
};

class WalSinkTest : public testing::TestWithParam<Param> {
 protected:
  void SetUp() override {
    fs_ = GetParam().place == Place::kMemory ? std::make_shared<MemoryFileSystem>()
                                             : FileSystem::Default();
    dir_ = GetParam().place == Place::kMemory ? "/logs"
           : WantsMapped()                    ? FreshMappableDir("wal_sink")
                                              : FreshTempDir("wal_sink");
    if (dir_.empty()) return SkipAsMissing(kMappableFileSystem);
    ASSERT_OK(CreateDirectories(fs_.get(), dir_));
    options_.fs = fs_.get();
    options_.path = dir_ + "/000007.log";
    options_.log_number = 7;
    options_.is_recyclable = GetParam().is_recyclable;
    options_.allow_mapped = WantsMapped();
    options_.preallocate_bytes = 256 << 10;
    if (GetParam().place == Place::kMappedAhead) options_.env = Env::Default();
  }
  bool WantsMapped() const {
    return GetParam().place == Place::kMapped || GetParam().place == Place::kMappedAhead;
  }
  std::unique_ptr<WalSink> Open() {
    auto sink = OpenWalSink(options_);
    EXPECT_OK(sink);
    EXPECT_EQ((*sink)->is_mapped(), WantsMapped());
    return sink.Take();
  }
  std::string FileBytes() {
    auto bytes = ReadWholeFile(fs_.get(), options_.path);
    EXPECT_OK(bytes);
    return bytes.ok() ? bytes.Take() : "";
  }
  LogContents Read(WALRecoveryMode mode = WALRecoveryMode::kAbsoluteConsistency) {
    return ReadLog(FileBytes(), mode, options_.log_number);
  }

  std::shared_ptr<FileSystem> fs_;
  std::string dir_;
  WalSinkOptions options_;
};

TEST_P(WalSinkTest, WritesWhatIsReadBack) {
  const auto sink = Open();
  const std::vector<std::string> records = {
      "A", "", std::string(100000, 'b'), "C", std::string(3 << 20, 'd'), "E"};
  for (const std::string& record : records) ASSERT_OK(sink->Append(record));
  EXPECT_EQ(sink->delivered_size(), sink->size());
  EXPECT_EQ(Read(WALRecoveryMode::kTolerateCorruptedTailRecords).records, records);
  ASSERT_OK(sink->Close());
  EXPECT_EQ(Read().records, records);
  EXPECT_EQ(FileBytes().size(), sink->size());
}

// A log of the size that is allowed takes commits that are in flight; behind its capacity it fails.
TEST_P(WalSinkTest, AMappedLogIsLimitedToHalfOfItsCapacity) {
  options_.mapped_capacity = 1 << 20;
  const std::string record(100'000, 'r');
  const auto sink = Open();
  Status status;
  while (status.ok() && sink->size() < 2 * options_.mapped_capacity) status = sink->Append(record);
  if (!WantsMapped()) {
    EXPECT_OK(status);
    EXPECT_EQ(MaxLogBytes(options_), UINT64_MAX);
    return;
  }
  EXPECT_FALSE(status.ok());
  EXPECT_EQ(MaxLogBytes(options_), options_.mapped_capacity / 2);
  EXPECT_GT(sink->delivered_size(), MaxLogBytes(options_));
}

TEST_P(WalSinkTest, GivesBackPreallocatedSpaceWhenItIsOnlyDropped) {
  {
    const auto sink = Open();
    ASSERT_OK(sink->Append("A"));
  }
  EXPECT_EQ(FileBytes().size(), (GetParam().is_recyclable ? 11 : 7) + 1u);
}

TEST_P(WalSinkTest, JoinsHeadAndBody) {
  const auto sink = Open();
  const WalSink::Range range = sink->Reserve(8);
  ASSERT_OK(sink->Stage(range, "head", "body"));
  ASSERT_OK(sink->Deliver(range.end));
  ASSERT_OK(sink->Close());
  EXPECT_EQ(Read().Show(), "headbody");
}

TEST_P(WalSinkTest, ShowsNothingBehindARangeThatIsNotStaged) {
  const auto sink = Open();
  const WalSink::Range first = sink->Reserve(5), second = sink->Reserve(6);
  ASSERT_OK(sink->Stage(second, "", "second"));
  EXPECT_EQ(sink->delivered_size(), 0u);
  const LogContents early = Read(WALRecoveryMode::kPointInTimeRecovery);
  EXPECT_TRUE(early.records.empty());
  for (const LogDamage& damage : early.damages) {
    EXPECT_FALSE(damage.good_record_behind.has_value());
  }
  ASSERT_OK(sink->Stage(first, "", "first"));
  ASSERT_OK(sink->Deliver(second.end));
  EXPECT_EQ(Read(WALRecoveryMode::kPointInTimeRecovery).Show(), "first second");
}

// Whatever fails behind a record that is there: the write was logged.
TEST_P(WalSinkTest, WhatIsDeliveredStaysSoWhenTheLogFails) {
  const auto sink = Open();
  ASSERT_OK(sink->Append("A"));
  const uint64_t end = sink->size();
  const WalSink::Range next = sink->Reserve(1);
  sink->Abandon(Status::IOError("disk"));
  EXPECT_OK(sink->Deliver(end));
  EXPECT_OK(sink->DeliverBeforeSync(end));
  EXPECT_FALSE(sink->Stage(next, "", "B").ok());
  EXPECT_FALSE(sink->Deliver(next.end).ok());
  EXPECT_FALSE(sink->DeliverBeforeSync(next.end).ok());
  EXPECT_FALSE(sink->Sync(end).ok());
}

TEST_P(WalSinkTest, WritesRecordsAboutTheLog) {
  const auto sink = Open();
  ASSERT_OK(
      sink->AddSpecialRecord(LogRecordType::kPredecessorInfo, EncodePredecessorInfo({6, 100, 9})));
  ASSERT_OK(sink->Append("A"));
  ASSERT_OK(sink->Close());
  EXPECT_EQ(Read().Show(), "A");
}

TEST_P(WalSinkTest, SyncsWhatWasWrittenBefore) {
  const auto sink = Open();
  ASSERT_OK(sink->Append("A"));
  EXPECT_EQ(sink->synced_size(), 0u);
  const uint64_t end = sink->size();
  ASSERT_OK(sink->Sync(end));
  EXPECT_GE(sink->synced_size(), end);
  ASSERT_OK(sink->Append("B"));
  EXPECT_LT(sink->synced_size(), sink->size());
  ASSERT_OK(sink->Sync(sink->size()));
  EXPECT_EQ(sink->synced_size(), sink->size());
}

// Many threads; every record must be there once, each thread's in its order. Run under the thread
// sanitizer too.
TEST_P(WalSinkTest, TakesTheRecordsOfManyThreads) {
  const auto sink = Open();
  constexpr int kThreads = 4, kRecords = 300;
  std::mutex reserve_mutex;
  std::atomic<int> failures{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      Random64 random(static_cast<uint64_t>(t) + 1);
      for (int i = 0; i < kRecords; ++i) {
        const std::string head = StrCat(t, "/", i, ":");
        const std::string body(random.OneIn(50) ? random.Uniform(150000) : random.Uniform(200),
                               'x');
        WalSink::Range range;
        {
          std::lock_guard<std::mutex> lock(reserve_mutex);
          range = sink->Reserve(head.size() + body.size());
        }
        bool ok = sink->Stage(range, head, body).ok() && sink->Deliver(range.end).ok();
        ok = ok && sink->delivered_size() >= range.end;
        if (random.OneIn(40)) {
          ok = ok && sink->Sync(range.end).ok() && sink->synced_size() >= range.end;
        }
        if (!ok) failures.fetch_add(1);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failures.load(), 0);
  ASSERT_OK(sink->Close());
  int next[kThreads] = {};
  const LogContents contents = Read();
  EXPECT_EQ(contents.damages.size(), 0u);
  for (const std::string& record : contents.records) {
    const int t = record[0] - '0';
    ASSERT_EQ(record.substr(0, record.find(':')), StrCat(t, "/", next[t]++));
  }
  for (const int count : next) EXPECT_EQ(count, kRecords);
}

TEST_P(WalSinkTest, OverwritesAnOldFileAndCutsIt) {
  if (!GetParam().is_recyclable) return;  // its records would not say whose they are
  auto old = Open();
  for (int i = 0; i < 100'000; ++i) ASSERT_OK(old->Append("old record"));
  ASSERT_OK(old->CloseForReuse());
  const size_t old_bytes = FileBytes().size();
  EXPECT_GE(old_bytes, old->size());
  options_.recycle_path = options_.path;
  options_.path = dir_ + "/000009.log";
  options_.log_number = 9;
  const auto sink = Open();
  ASSERT_NE(sink, nullptr);
  EXPECT_TRUE(fs_->FileExists(options_.recycle_path, IOOptions(), nullptr).IsNotFound());
  const std::vector<std::string> records = {"new", std::string(100'000, 'n'), "record"};
  for (const std::string& record : records) ASSERT_OK(sink->Append(record));
  ASSERT_OK(sink->Sync(sink->size()));
  EXPECT_EQ(Read(WALRecoveryMode::kPointInTimeRecovery).records, records);
  EXPECT_EQ(FileBytes().size(), old_bytes);
  ASSERT_OK(sink->Close());
  EXPECT_EQ(Read().records, records);
  EXPECT_EQ(FileBytes().size(), sink->size());
}

INSTANTIATE_TEST_SUITE_P(Sinks, WalSinkTest,
                         testing::Values(Param{"memory", Place::kMemory, false},
                                         Param{"memory_recyclable", Place::kMemory, true},
                                         Param{"disk", Place::kDisk, false},
                                         Param{"mapped", Place::kMapped, false},
                                         Param{"mapped_recyclable", Place::kMapped, true},
                                         Param{"mapped_ahead", Place::kMappedAhead, false},
                                         Param{"disk_recyclable", Place::kDisk, true}),
                         [](const auto& info) { return std::string(info.param.name); });

// ---- The buffered sink alone

class BufferedWalSinkTest : public testing::Test {
 protected:
  BufferedWalSinkTest() : memory_(std::make_shared<MemoryFileSystem>()), fs_(memory_) {
    EXPECT_OK(CreateDirectories(memory_.get(), "/logs"));
    options_.fs = &fs_;
    options_.path = "/logs/000007.log";
    options_.log_number = 7;
    options_.preallocate_bytes = 0;
  }
  std::unique_ptr<WalSink> Open() {
    auto sink = OpenWalSink(options_);
    return sink.ok() ? sink.Take() : nullptr;
  }
  LogContents Read() {
    auto bytes = ReadWholeFile(memory_.get(), options_.path);
    EXPECT_OK(bytes);
    return ReadLog(*bytes, WALRecoveryMode::kTolerateCorruptedTailRecords, options_.log_number);
  }
  uint64_t Calls(CallKind kind) { return fs_.Stats().calls[static_cast<size_t>(kind)]; }

  const std::shared_ptr<MemoryFileSystem> memory_;
  FaultFileSystem fs_;
  WalSinkOptions options_;
};

TEST_F(BufferedWalSinkTest, KeepsBytesUntilTheyAreFlushedByHand) {
  options_.manual_flush = true;
  options_.buffer_bytes = 1000;
  const auto sink = Open();
  ASSERT_OK(sink->Append("A"));
  EXPECT_EQ(sink->delivered_size(), 0u);
  EXPECT_EQ(Read().Show(), "");
  ASSERT_OK(sink->Flush(sink->size()));
  EXPECT_EQ(Read().Show(), "A");
  ASSERT_OK(sink->Append(std::string(1000, 'b')));  // fills the buffer
  EXPECT_EQ(Read().records.size(), 2u);
  ASSERT_OK(sink->Append("C"));
  ASSERT_OK(sink->Sync(sink->size()));
  EXPECT_EQ(Read().records.size(), 3u);
  ASSERT_OK(sink->Append("D"));
  ASSERT_OK(sink->Close());
  EXPECT_EQ(Read().records.size(), 4u);
}

TEST_F(BufferedWalSinkTest, WritesOnceForAllThatIsStaged) {
  const auto sink = Open();
  std::vector<WalSink::Range> ranges;
  for (int i = 0; i < 10; ++i) ranges.push_back(sink->Reserve(1));
  for (int i = 9; i >= 0; --i) ASSERT_OK(sink->Stage(ranges[static_cast<size_t>(i)], "", "x"));
  const uint64_t before = Calls(CallKind::kAppend);
  for (const WalSink::Range& range : ranges) ASSERT_OK(sink->Deliver(range.end));
  EXPECT_EQ(Calls(CallKind::kAppend), before + 1);
}

TEST_F(BufferedWalSinkTest, SyncsOnceForAllThatIsWritten) {
  const auto sink = Open();
  ASSERT_OK(sink->Append("A"));
  const uint64_t end_of_a = sink->size();
  ASSERT_OK(sink->Append("B"));
  ASSERT_OK(sink->Sync(sink->size()));
  ASSERT_OK(sink->Sync(end_of_a));
  EXPECT_EQ(Calls(CallKind::kSync), 1u);
}

TEST_F(BufferedWalSinkTest, OverwritesARecycledFile) {
  options_.is_recyclable = true;
  auto old = Open();
  for (int i = 0; i < 100; ++i) ASSERT_OK(old->Append("old record"));
  ASSERT_OK(old->Close());
  options_.recycle_path = options_.path;
  options_.path = "/logs/000009.log";
  options_.log_number = 9;
  const auto sink = Open();
  ASSERT_NE(sink, nullptr);
  ASSERT_OK(sink->Append("new"));
  ASSERT_OK(sink->Append("record"));
  EXPECT_EQ(Read().Show(), "new record");
}

// Every call that the sink makes fails once, with and without partial effect.
TEST_F(BufferedWalSinkTest, StaysFailedAfterTheFirstError) {
  int runs_with_error = 0;
  for (const FaultEffect effect : {FaultEffect::kNone, FaultEffect::kPartial}) {
    for (uint64_t n = 0; n < 12; ++n) {
      options_.path = StrCat("/logs/", static_cast<int>(effect), "-", n, ".log");
      const auto sink = Open();
      ASSERT_NE(sink, nullptr);
      fs_.FailAt(fs_.CallCount() + n, FaultError::kIO, FaultMode::kOnce, effect);
      std::vector<std::string> acknowledged;
      Status first_error;
      for (int i = 0; i < 10; ++i) {
        const std::string record = StrCat("record ", i);
        Status status = sink->Append(record);
        if (status.ok() && i % 2 == 1) status = sink->Sync(sink->size());
        if (status.ok()) {
          ASSERT_OK(first_error);  // nothing succeeds after an error
          acknowledged.push_back(record);
        } else if (first_error.ok()) {
          first_error = status;
          runs_with_error++;
          fs_.ClearFaults();
        } else {
          EXPECT_EQ(status.ToString(), first_error.ToString());
        }
      }
      const uint64_t appends = Calls(CallKind::kAppend), syncs = Calls(CallKind::kSync);
      Status closed = sink->Close();
      EXPECT_EQ(closed.ok(), first_error.ok());
      EXPECT_EQ(sink->error().ToString(), first_error.ToString());
      EXPECT_EQ(Calls(CallKind::kAppend), appends);
      EXPECT_EQ(Calls(CallKind::kSync), syncs);
      fs_.ClearFaults();
      const std::vector<std::string> read = Read().records;
      ASSERT_GE(read.size(), acknowledged.size());
      EXPECT_TRUE(std::equal(acknowledged.begin(), acknowledged.end(), read.begin()));
    }
  }
  EXPECT_GE(runs_with_error, 20);
}

TEST_F(BufferedWalSinkTest, TellsEverybodyWhoWaitsAboutAnError) {
  const auto sink = Open();
  FaultPlan plan;
  plan.kinds = KindBit(CallKind::kAppend);
  plan.mode = FaultMode::kSticky;
  fs_.AddFault(plan);
  std::mutex reserve_mutex;
  std::vector<std::thread> threads;
  std::atomic<int> errors{0};
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 50; ++i) {
        WalSink::Range range;
        {
          std::lock_guard<std::mutex> lock(reserve_mutex);
          range = sink->Reserve(3);
        }
        Status status = sink->Stage(range, "", "abc");
        if (status.ok()) status = sink->Deliver(range.end);
        errors += status.IsIOError();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(errors.load(), 4 * 50);
}

}  // namespace
}  // namespace ashlar
