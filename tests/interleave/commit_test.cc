// SPDX-License-Identifier: Apache-2.0
//
// The commit pipeline and snapshots: visible writes are complete, and a write returns only when it
// is visible.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ashlar/comparator.h"
#include "ashlar/options.h"
#include "ashlar/user_write_callback.h"
#include "ashlar/write_batch.h"
#include "db/read/snapshot_list.h"
#include "db/write/commit_pipeline.h"
#include "db/write/write_batch_internal.h"
#include "memtable/memtable.h"
#include "tests/interleave/interleave.h"

namespace ashlar::interleave {
namespace {

// A database with a single memtable, that of the last family, which merges use: family i belongs to
// the i-th thread, and asking for its memtable counts as the insertion of its batch.
class Host final : public CommitHost {
 public:
  static constexpr uint32_t kFamilies = 3;

  Status PrepareForCommit(const WriteOptions&, uint64_t) override { return Status::OK(); }
  CommitFamily FindFamily(uint32_t) override {
    return {.exists = true, .is_plain = true, .can_merge = true};
  }
  std::optional<FoldedOperand> MergeNow(const WriteBatchRecord&, SequenceNumber seqno,
                                        std::vector<std::shared_ptr<void>>*) override {
    Require(visible_seqno() + 1 == seqno, "an operand is folded when all that is older is there");
    return FoldedOperand{.value = "folded"};
  }
  Status ValueBefore(const WriteBatchRecord&, SequenceNumber, std::vector<std::shared_ptr<void>>*,
                     std::optional<std::string>*) override {
    return Status::OK();
  }
  void FindInsertTarget(uint32_t family, InsertTarget* target) override {
    Require(!is_paused.load(), "no commit is under way in a pause");
    is_inserted[family].store(true);
    *target = {.memtable = family + 1 == kFamilies ? merges.get() : nullptr,
               .max_successive_merges = merges != nullptr ? size_t{1} : 0};
  }
  void NoteMemTableSize(const InsertTarget&) override {}
  void NoteLogError(const Status&, FileNumber) override {}
  void NotePartialInsert(const Status&) override {}
  void ReportErrors() override {}

  std::array<std::atomic<bool>, kFamilies> is_inserted{};
  std::atomic<bool> is_paused{false};
  std::unique_ptr<MemTable, void (*)(MemTable*)> merges{nullptr, [](MemTable* m) { m->Unref(); }};
  std::function<SequenceNumber()> visible_seqno;
};

struct Database {
  Database() { pipeline.StartAt(100); }

  // One batch of two keys.
  void Write(uint32_t family) {
    WriteBatch batch;
    WriteOptions options;
    options.disableWAL = true;
    // Records of a family without a handle.
    std::string bytes(kWriteBatchHeaderBytes, '\0');
    bytes[8] = 2;
    for (char key = 'a'; key < 'c'; key++) {
      bytes += static_cast<char>(kTypeColumnFamilyValue);
      bytes += static_cast<char>(family);
      bytes += {1, key, 1, 'v'};
    }
    batch = WriteBatch(bytes);
    Require(pipeline.Commit(options, &batch).ok(), "ok");
    const SequenceNumber first = WriteBatchInternal::Sequence(batch);
    first_seqno[family].store(first);
    Require(pipeline.visible_seqno() >= first + 1, "a write that has returned is visible");
  }
  // One batch of an operand.
  void Merge() {
    WriteOptions options;
    options.disableWAL = true;
    std::string bytes(kWriteBatchHeaderBytes, '\0');
    bytes[8] = 1;
    bytes += static_cast<char>(kTypeColumnFamilyMerge);
    bytes += static_cast<char>(Host::kFamilies - 1);
    bytes += {1, 'a', 1, 'v'};
    WriteBatch batch(bytes);
    Require(pipeline.Commit(options, &batch).ok(), "ok");
  }
  // The visible number and the contents that a reader has seen. Sequence numbers are known only
  // after the writers have returned, so both are kept.
  void ReadAll() {
    seen = pipeline.visible_seqno();
    for (uint32_t i = 0; i < Host::kFamilies; i++) found[i] = host.is_inserted[i].load();
  }
  void CheckReads(uint32_t families) const {
    Require(seen % 2 == 0, "a batch is visible as a whole");
    for (uint32_t i = 0; i < families; i++) {
      if (first_seqno[i].load() < seen) Require(found[i], "what is visible is inserted");
    }
    Require(pipeline.visible_seqno() == 100 + 2 * families, "in the end everything is visible");
  }

  Host host;
  CommitPipeline pipeline{&host, nullptr};
  std::array<std::atomic<SequenceNumber>, Host::kFamilies> first_seqno{};
  SequenceNumber seen = 0;
  std::array<bool, Host::kFamilies> found{};
};

TEST(CommitOrders, VisibleWritesAreInserted) {
  ExpectAlways({.preemptions = 2, .delays_stores = true}, [] {
    auto db = std::make_shared<Database>();
    return Scenario{
        .threads = {[db] { db->Write(0); }, [db] { db->Write(1); }, [db] { db->ReadAll(); }},
        .check = [db] { db->CheckReads(2); }};
  });
}

TEST(CommitOrders, EveryWriterIsWoken) {
  ExpectAlways({.preemptions = 3}, [] {
    auto db = std::make_shared<Database>();
    return Scenario{.threads = {[db] { db->Write(0); }, [db] { db->Write(1); }},
                    .check = [db] { db->ReadAll(), db->CheckReads(2); }};
  });
}

TEST(CommitOrders, NoCommitRunsDuringAPause) {
  ExpectAlways({.preemptions = 3}, [] {
    auto db = std::make_shared<Database>();
    return Scenario{.threads = {[db] { db->Write(0); },
                                [db] {
                                  db->pipeline.Pause();
                                  db->host.is_paused.store(true);
                                  db->host.is_paused.store(false);
                                  db->pipeline.Resume();
                                }},
                    .check = [db] { db->ReadAll(), db->CheckReads(1); }};
  });
}

// An operand that is merged when it is written needs the results of all commits before it, which
// may be slower.
TEST(CommitOrders, AnOperandIsMergedWithAllOlderWrites) {
  ExpectAlways({.preemptions = 2}, [] {
    auto db = std::make_shared<Database>();
    db->host.visible_seqno = [db = db.get()] { return db->pipeline.visible_seqno(); };
    db->host.merges.reset(
        new MemTable(InternalKeyComparator(BytewiseComparator()), MemTableOptions(), 1));
    Require(db->host.merges->Add(1, kTypeMerge, "a", "first").ok(), "added");
    return Scenario{.threads = {[db] { db->Write(0); }, [db] { db->Merge(); }},
                    .check = [db] { Require(db->pipeline.visible_seqno() == 103, "visible"); }};
  });
}

// A compaction reads the visible sequence number, then lists the snapshots; versions that neither
// needs may be dropped. A snapshot that is taken meanwhile must be on the list, or see everything
// up to that number.
TEST(SnapshotOrders, ASnapshotIsListedOrSeesAllThatWasVisibleBefore) {
  struct State {
    SnapshotList list;
    std::atomic<SequenceNumber> visible{1};
    SequenceNumber visible_then = 0;
    std::vector<SequenceNumber> listed;
    const SnapshotImpl* taken = nullptr;
  };
  ExpectAlways({.preemptions = 3}, [] {
    auto state = std::make_shared<State>();
    return Scenario{.threads = {[state] { state->visible.store(2); },
                                [state] {
                                  state->visible_then = state->visible.load();
                                  state->listed = state->list.SequenceNumbers();
                                },
                                [state] {
                                  state->taken = state->list.Take(
                                      [&] { return state->visible.load(); }, /*unix_time=*/0);
                                }},
                    .check = [state] {
                      const SequenceNumber taken = state->taken->GetSequenceNumber();
                      Require(taken >= state->visible_then || state->listed == std::vector{taken},
                              "no snapshot is missed");
                      state->list.Release(state->taken);
                    }};
  });
}

}  // namespace
}  // namespace ashlar::interleave
