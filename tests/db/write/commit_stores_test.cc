// SPDX-License-Identifier: Apache-2.0
//
// What a commit that nobody waits for stores where other threads look: its place in the order and
// the numbers that move with it. No wake, neither in the pipeline nor in the C++ library, whose
// notify_all() counts in memory that all waiting of the process shares.
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "ashlar/options.h"
#include "ashlar/write_batch.h"
#include "db/write/commit_pipeline.h"
#include "tests/support/skip.h"
#include "tests/support/status_matchers.h"
#include "tests/support/write_watch.h"
#include "util/threads/epoch.h"

namespace ashlar {
namespace {

constexpr uintptr_t kLine = 64;

// A database without memtables.
class Host final : public CommitHost {
 public:
  Status PrepareForCommit(const WriteOptions&, uint64_t) override { return Status::OK(); }
  CommitFamily FindFamily(uint32_t) override {
    return {.exists = true, .is_plain = true, .can_merge = true};
  }
  std::optional<FoldedOperand> MergeNow(const WriteBatchRecord&, SequenceNumber,
                                        std::vector<std::shared_ptr<void>>*) override {
    return std::nullopt;
  }
  Status ValueBefore(const WriteBatchRecord&, SequenceNumber, std::vector<std::shared_ptr<void>>*,
                     std::optional<std::string>*) override {
    return Status::OK();
  }
  void FindInsertTarget(uint32_t, InsertTarget* target) override { *target = {}; }
  void NoteMemTableSize(const InsertTarget&) override {}
  void NoteLogError(const Status&, FileNumber) override {}
  void NotePartialInsert(const Status&) override {}
  void ReportErrors() override {}
};

struct Writer {
  static int CommitOnce(void* self) {
    auto* const writer = static_cast<Writer*>(self);
    return writer->pipeline->Commit(writer->options, &writer->batch).ok() ? 1 : 0;
  }
  CommitPipeline* pipeline;
  WriteOptions options;
  WriteBatch batch;
};

// The lines of the pipeline that a commit stores to, counted from its beginning.
void FindStores(CommitPipeline* pipeline, WatchedRun* run, std::set<uintptr_t>* lines) {
  std::thread([&] {
    Writer writer;
    writer.pipeline = pipeline;
    writer.options.disableWAL = true;
    ASSERT_OK(writer.batch.Put("key", "value"));
    for (int i = 0; i < 20; ++i) ASSERT_EQ(Writer::CommitOnce(&writer), 1);
    *run = WatchStores(&Writer::CommitOnce, &writer,
                       {{epoch_internal::ThisSlot(), sizeof(epoch_internal::Slot)},
                        {writer.batch.Data().data(), writer.batch.GetDataSize()}});
  }).join();
  const auto begin = reinterpret_cast<uintptr_t>(pipeline);
  for (const uintptr_t store : run->stores) {
    EXPECT_GE(store, begin) << "not of the pipeline";
    EXPECT_LT(store, begin + sizeof(CommitPipeline)) << "not of the pipeline";
    lines->insert((store - begin) / kLine);
  }
}

TEST(CommitStores, ACommitThatNobodyWaitsForWakesNobody) {
  if (!CanWatchWrites()) return SkipAsImpossible("watching stores in this build");
  Host host;
  const auto pipeline = std::make_unique<CommitPipeline>(&host, nullptr);
  WatchedRun run;
  std::set<uintptr_t> lines;
  FindStores(pipeline.get(), &run, &lines);
  ASSERT_TRUE(run.has_ended);
  EXPECT_EQ(run.result, 1);
  EXPECT_FALSE(run.stores.empty());
  // The visible number, the order, the commit's slot, how far the order is published.
  EXPECT_LE(lines.size(), 4u);
  EXPECT_FALSE(lines.contains(sizeof(CommitPipeline) / kLine - 1)) << "the line of wakes";
}

}  // namespace
}  // namespace ashlar
