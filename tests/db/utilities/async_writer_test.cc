// SPDX-License-Identifier: Apache-2.0
//
// Writes with a callback: it gets the true result, is called once and before Close() returns.
// Queues are bounded, and a fault of the log reaches the callbacks of its writes.
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

#include "ashlar/async.h"
#include "tests/support/test_db.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

// Callbacks wait in Pass() until Open().
class Gate {
 public:
  void Open() {
    std::lock_guard<std::mutex> lock(mutex_);
    is_open_ = true;
    opened_.notify_all();
  }
  void Pass() {
    std::unique_lock<std::mutex> lock(mutex_);
    has_arrived_ = true;
    arrived_.notify_all();
    opened_.wait(lock, [this] { return is_open_; });
  }
  void AwaitArrival() {
    std::unique_lock<std::mutex> lock(mutex_);
    arrived_.wait(lock, [this] { return has_arrived_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable opened_, arrived_;
  bool is_open_ = false, has_arrived_ = false;
};

class AsyncWriterTest : public DbTest {
 protected:
  AsyncWriterTest() : DbTest(TestFiles::kSim) { Open(); }
  void TearDown() override {
    writer_.reset();
    DbTest::TearDown();
  }
  void OpenWriter(const AsyncWriterOptions& options = AsyncWriterOptions()) {
    ASSERT_OK(AsyncWriter::Open(db_.get(), options, &writer_));
  }
  static WriteBatch BatchOf(const std::string& key, const std::string& value = "v") {
    WriteBatch batch;
    EXPECT_OK(batch.Put(key, value));
    return batch;
  }
  bool Has(const std::string& key) { return Get(key) == "v"; }
  Rows RowsAfterCrash() {
    TestDb after(CrashImage(CrashPolicy::kStrict));
    after.Open();
    return after.ReadAll()["default"];
  }

  const WriteOptions durable_ = Synced();
  std::unique_ptr<AsyncWriter> writer_;
};

TEST_F(AsyncWriterTest, ACallbackComesWhenTheWriteIsDurable) {
  OpenWriter();
  Rows after;
  ASSERT_OK(writer_->Write(durable_, BatchOf("a"), [&](const Status& status) {
    EXPECT_OK(status);
    EXPECT_TRUE(Has("a"));
    after = RowsAfterCrash();
  }));
  ASSERT_OK(writer_->Close());
  EXPECT_EQ(after, (Rows{{"a", "v"}}));
}

TEST_F(AsyncWriterTest, WithoutASyncItComesWhenTheWriteIsVisible) {
  OpenWriter();
  bool is_visible = false;
  ASSERT_OK(writer_->Write(WriteOptions(), BatchOf("a"), [&](const Status& status) {
    EXPECT_OK(status);
    is_visible = Has("a");
  }));
  ASSERT_OK(writer_->Drain());
  EXPECT_TRUE(is_visible);
}

TEST_F(AsyncWriterTest, AnErrorOfOneWriteIsItsOwn) {
  OpenWriter();
  std::vector<Status> done(4);
  const auto into = [&](size_t i) { return [&done, i](const Status& s) { done[i] = s; }; };
  Gate gate;  // so that the writes become one group
  ASSERT_OK(writer_->Write(WriteOptions(), BatchOf("x"), [&](const Status&) { gate.Pass(); }));
  gate.AwaitArrival();
  WriteOptions contradiction = durable_;
  contradiction.disableWAL = true;
  ASSERT_OK(writer_->Write(durable_, BatchOf("a"), into(0)));
  ASSERT_OK(writer_->Write(contradiction, BatchOf("b"), into(1)));
  ASSERT_OK(writer_->Write(durable_, WriteBatch(std::string("no batch")), into(2)));
  ASSERT_OK(writer_->Write(durable_, BatchOf("c"), into(3)));
  gate.Open();
  ASSERT_OK(writer_->Close());
  EXPECT_OK(done[0]);
  EXPECT_TRUE(done[1].IsInvalidArgument()) << done[1].ToString();
  EXPECT_TRUE(done[2].IsCorruption()) << done[2].ToString();
  EXPECT_OK(done[3]);
  EXPECT_EQ(RowsAfterCrash(), (Rows{{"a", "v"}, {"c", "v"}, {"x", "v"}}));
}

TEST_F(AsyncWriterTest, WritesThatGatherShareASync) {
  OpenWriter();
  Gate gate;
  ASSERT_OK(writer_->Write(WriteOptions(), BatchOf("x"), [&](const Status&) { gate.Pass(); }));
  gate.AwaitArrival();
  std::vector<int> order;
  for (int i = 0; i < 100; i++) {
    ASSERT_OK(writer_->Write(durable_, BatchOf(StrCat(i)), [&order, i](const Status& status) {
      EXPECT_OK(status);
      order.push_back(i);
    }));
  }
  const auto syncs = [&] {
    uint64_t count = 0;
    for (const FileCall& call : sim_->MutatingCalls()) count += call.kind == CallKind::kSync;
    return count;
  };
  const uint64_t before = syncs();
  gate.Open();
  ASSERT_OK(writer_->Close());
  EXPECT_LE(syncs(), before + 2);
  ASSERT_EQ(order.size(), 100u);
  for (int i = 0; i < 100; i++) EXPECT_EQ(order[static_cast<size_t>(i)], i);
}

TEST_F(AsyncWriterTest, WaitsForRoomOrSaysThatThereIsNone) {
  AsyncWriterOptions limits;
  limits.max_pending_writes = 2;
  OpenWriter(limits);
  Gate gate;
  ASSERT_OK(writer_->Write(WriteOptions(), BatchOf("a"), [&](const Status&) { gate.Pass(); }));
  gate.AwaitArrival();
  ASSERT_OK(writer_->Write(WriteOptions(), BatchOf("b"), nullptr));
  WriteOptions at_once;
  at_once.no_slowdown = true;
  EXPECT_TRUE(writer_->Write(at_once, BatchOf("c"), nullptr).IsIncomplete());
  std::thread waits([&] { EXPECT_OK(writer_->Write(WriteOptions(), BatchOf("d"), nullptr)); });
  gate.Open();
  waits.join();
  ASSERT_OK(writer_->Close());
  EXPECT_TRUE(Has("b") && Has("d"));
  EXPECT_FALSE(Has("c"));
}

TEST_F(AsyncWriterTest, BytesAreBoundedTooButALargeBatchGoesThroughAlone) {
  AsyncWriterOptions limits;
  limits.max_pending_bytes = 100;
  OpenWriter(limits);
  WriteOptions at_once;
  at_once.no_slowdown = true;
  Gate gate;
  ASSERT_OK(writer_->Write(at_once, BatchOf("large", std::string(1000, 'x')),
                           [&](const Status&) { gate.Pass(); }));
  gate.AwaitArrival();
  EXPECT_TRUE(writer_->Write(at_once, BatchOf("a"), nullptr).IsIncomplete());
  gate.Open();
  ASSERT_OK(writer_->Drain());
  ASSERT_OK(writer_->Write(at_once, BatchOf("a"), nullptr));
  ASSERT_OK(writer_->Close());
  EXPECT_TRUE(Get("large").size() == 1000 && Has("a"));
}

TEST_F(AsyncWriterTest, ACallbackMayWriteAndMayNotWait) {
  OpenWriter();
  std::vector<Status> statuses;
  ASSERT_OK(writer_->Write(durable_, BatchOf("a"), [&](const Status&) {
    statuses.push_back(writer_->Drain());
    statuses.push_back(writer_->Close());
    statuses.push_back(db_->Put(WriteOptions(), "by hand", "v"));
    statuses.push_back(writer_->Write(durable_, BatchOf("b"),
                                      [&](const Status& status) { statuses.push_back(status); }));
  }));
  ASSERT_OK(writer_->Drain());
  ASSERT_OK(writer_->Close());
  ASSERT_EQ(statuses.size(), 5u);
  EXPECT_TRUE(statuses[0].IsInvalidArgument());
  EXPECT_TRUE(statuses[1].IsInvalidArgument());
  for (size_t i = 2; i < 5; i++) EXPECT_OK(statuses[i]);
  EXPECT_TRUE(Has("b"));
}

TEST_F(AsyncWriterTest, NothingIsAcceptedOnceItIsClosed) {
  OpenWriter();
  ASSERT_OK(writer_->Close());
  ASSERT_OK(writer_->Close());
  EXPECT_TRUE(writer_->Write(durable_, BatchOf("a"), nullptr).IsAborted());
  EXPECT_FALSE(Has("a"));
}

TEST_F(AsyncWriterTest, RefusesWhatCannotWork) {
  std::unique_ptr<AsyncWriter> writer;
  EXPECT_TRUE(AsyncWriter::Open(nullptr, AsyncWriterOptions(), &writer).IsInvalidArgument());
  AsyncWriterOptions nothing;
  nothing.max_pending_writes = 0;
  EXPECT_TRUE(AsyncWriter::Open(db_.get(), nothing, &writer).IsInvalidArgument());
  EXPECT_EQ(writer, nullptr);
}

// Eight threads, and syncs that fail from some moment on. Each callback is called once; a crash
// leaves all writes with an OK callback, and with each write of a thread its earlier writes.
TEST_F(AsyncWriterTest, WhatWasSaidToBeDurableIsThereAfterFaults) {
  constexpr int kThreads = 8, kWrites = 60;
  constexpr uint64_t kNever = 1000000;
  for (const uint64_t good_calls : {uint64_t{0}, uint64_t{20}, uint64_t{200}, kNever}) {
    writer_.reset();
    Drop();
    UseSim(SimFS::Create());
    Open();
    OpenWriter();
    sim_->AddFault({.first_call = sim_->CallCount() + good_calls,
                    .error = FaultError::kIO,
                    .mode = FaultMode::kSticky,
                    .kinds = KindBit(CallKind::kSync),
                    .path_part = ".log"});
    std::atomic<int> answers{0};
    std::mutex mutex;
    std::map<std::string, Status> answered;
    std::vector<std::thread> threads;
    for (int thread = 0; thread < kThreads; thread++) {
      threads.emplace_back([&, thread] {
        for (int i = 0; i < kWrites; i++) {
          const std::string key = StrCat(thread, ".", 100 + i);
          ASSERT_OK(writer_->Write(durable_, BatchOf(key), [&, key](const Status& status) {
            answers++;
            std::lock_guard<std::mutex> lock(mutex);
            EXPECT_TRUE(answered.emplace(key, status).second);
          }));
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    ASSERT_OK(writer_->Close());
    EXPECT_EQ(answers.load(), kThreads * kWrites);
    const Rows rows = RowsAfterCrash();
    size_t durable = 0;
    for (const auto& [key, status] : answered) {
      durable += status.ok();
      EXPECT_TRUE(!status.ok() || rows.contains(key)) << key;
    }
    EXPECT_TRUE(good_calls != 0 || durable == 0) << durable;
    EXPECT_TRUE(good_calls != kNever || durable == answered.size()) << durable;
    for (const auto& [key, value] : rows) {
      if (key.substr(2) == "100") continue;
      const std::string before = StrCat(key.substr(0, 2), std::stoi(key.substr(2)) - 1);
      EXPECT_TRUE(rows.contains(before)) << key;
    }
  }
}

}  // namespace
}  // namespace ashlar
