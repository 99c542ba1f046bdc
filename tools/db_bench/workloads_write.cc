// SPDX-License-Identifier: Apache-2.0
//
// Workloads that write or delete pairs.
#include <algorithm>
#include <cassert>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/iterator.h"
#include "ashlar/metadata.h"
#include "ashlar/write_batch.h"
#include "tools/db_bench/stamps.h"
#include "tools/db_bench/workloads.h"

namespace ashlar {
namespace bench {
WriteOptions MakeWriteOptions(bool sync) {
  WriteOptions options;
  options.sync = sync;
  options.disableWAL = FLAGS_disable_wal;
  return options;
}

namespace {

// The defaults are those of a plain fill; each workload changes what its name says.
// How a benchmark fills the database.
struct FillPlan {
  NumberSource::Order order = NumberSource::Order::kAscending;
  int64_t operations = 0;
  int64_t batch_size = 1;
  bool sync = false;
  int value_size = FLAGS_value_size;
};

// Adds range tombstones between the pairs of a writing benchmark, as the flags ask.
class RangeTombstones {
 public:
  // The first key of each tombstone comes from `numbers`.
  RangeTombstones(const ThreadContext* thread, NumberSource* numbers)
      : thread_(thread), numbers_(numbers), begin_(ShapeOfKeys()), end_(ShapeOfKeys()) {}

  // Called after each pair; adds a tombstone to the same batch if one is due.
  void AfterPut(WriteBatch* batch) {
    assert(batch != nullptr);
    // Pairs before --writes_before_delete_range only count; the tombstones begin after them.
    pairs_++;
    const int64_t counted = pairs_ - FLAGS_writes_before_delete_range;
    if (FLAGS_writes_per_range_tombstone <= 0 || counted <= 0) return;
    const bool is_due = counted % FLAGS_writes_per_range_tombstone == 0;
    // Which tombstone it would be, so that --max_num_range_tombstones bounds them.
    const int64_t number = counted / FLAGS_writes_per_range_tombstone;
    if (is_due && number <= FLAGS_max_num_range_tombstones) Add(batch);
  }

 private:
  void Add(WriteBatch* batch) {
    assert(batch != nullptr);
    const uint64_t begin = numbers_->Next();
    const uint64_t end = begin + static_cast<uint64_t>(FLAGS_range_tombstone_width);
    // With --expand_range_tombstones each key of the range gets a tombstone of its own, which shows
    // what a range tombstone saves.
    for (uint64_t i = begin; FLAGS_expand_range_tombstones && i < end; i++) {
      RequireOk(batch->Delete(thread_->FamilyOf(i), begin_.Set(i)), "delete");
    }
    if (FLAGS_expand_range_tombstones) return;
    // The keys of the range are in all families.
    for (ColumnFamilyHandle* const family : thread_->families) {
      RequireOk(batch->DeleteRange(family, begin_.Set(begin), end_.Set(end)), "delete range");
    }
  }

  const ThreadContext* const thread_;
  NumberSource* const numbers_;
  KeyBuffer begin_, end_;
  int64_t pairs_ = 0;
};

// The common loop of all fill workloads: writes plan.operations keys in batches.
void Fill(ThreadContext* thread, const FillPlan& plan) {
  assert(thread != nullptr && plan.batch_size > 0);
  // The message tells a reader that the number is not that of --num.
  if (plan.operations != FLAGS_num) {
    thread->stats.AddMessage("(" + std::to_string(plan.operations) + " ops)");
  }
  const WriteOptions options = MakeWriteOptions(plan.sync);
  ValueSource values(thread->random(), FLAGS_compression_ratio, plan.value_size);
  // Each thread writes the full number of operations.
  NumberSource numbers(plan.order, static_cast<uint64_t>(FLAGS_num), &thread->random);
  KeyBuffer key(ShapeOfKeys());
  RangeTombstones tombstones(thread, &numbers);
  WriteBatch batch;
  // In the other orders a time limit would leave an unknown part of the keys unwritten, and later
  // benchmarks need to know which keys exist.
  const bool is_timed = plan.order == NumberSource::Order::kRandom;
  Duration duration(is_timed ? FLAGS_duration : 0, plan.operations);
  while (!duration.Done(plan.batch_size)) {
    batch.Clear();
    uint64_t bytes = 0;
    for (int64_t i = 0; i < plan.batch_size; i++) {
      const Slice value = values.Next();
      const uint64_t number = numbers.Next();
      RequireOk(batch.Put(thread->FamilyOf(number), key.Set(number), value), "put");
      bytes += static_cast<uint64_t>(FLAGS_key_size) + value.size();
      tombstones.AfterPut(&batch);
    }
    StampBatch(&batch);
    // The pace is asked after the batch is built, so that building counts as work.
    thread->PaceWrites(bytes);
    RequireOk(thread->db->Write(options, &batch), "write");
    thread->stats.Finished(Operation::kWrite, static_cast<uint64_t>(plan.batch_size), bytes);
  }
}

// Deletes keys in batches. Only the random order obeys --duration; in ascending order the number of
// deletions is fixed.
void Delete(ThreadContext* thread, NumberSource::Order order) {
  assert(thread != nullptr);
  const WriteOptions options = MakeWriteOptions(FLAGS_sync);
  NumberSource numbers(order, static_cast<uint64_t>(FLAGS_num), &thread->random);
  KeyBuffer key(ShapeOfKeys());
  WriteBatch batch;
  const bool is_timed = order == NumberSource::Order::kRandom;
  Duration duration(is_timed ? FLAGS_duration : 0, DeleteCount());
  while (!duration.Done(FLAGS_batch_size)) {
    batch.Clear();
    for (int64_t i = 0; i < FLAGS_batch_size; i++) {
      const uint64_t number = numbers.Next();
      RequireOk(batch.Delete(thread->FamilyOf(number), key.Set(number)), "delete");
    }
    StampBatch(&batch);
    RequireOk(thread->db->Write(options, &batch), "write");
    thread->stats.Finished(Operation::kDelete, static_cast<uint64_t>(FLAGS_batch_size), 0);
  }
}

FillPlan PlanOf(NumberSource::Order order) {
  return {.order = order,
          .operations = WriteCount(),
          .batch_size = FLAGS_batch_size,
          .sync = FLAGS_sync};
}

}  // namespace

void FillSequential(ThreadContext* thread) {
  Fill(thread, PlanOf(NumberSource::Order::kAscending));
}

void FillRandom(ThreadContext* thread) { Fill(thread, PlanOf(NumberSource::Order::kRandom)); }

void FillUniqueRandom(ThreadContext* thread) {
  Fill(thread, PlanOf(NumberSource::Order::kPermutation));
}

void FillSync(ThreadContext* thread) {
  // Synced writes are slow, so this benchmark makes a thousandth of the operations.
  FillPlan plan = PlanOf(NumberSource::Order::kRandom);
  plan.operations = std::max<int64_t>(1, plan.operations / 1000);
  plan.sync = true;
  Fill(thread, plan);
}

void FillBatch(ThreadContext* thread) {
  // Without the flag a batch would have a single pair, for which the name of the benchmark would be
  // wrong.
  constexpr int64_t kDefaultBatchSize = 1000;
  FillPlan plan = PlanOf(NumberSource::Order::kAscending);
  if (FLAGS_batch_size == 1) plan.batch_size = kDefaultBatchSize;
  Fill(thread, plan);
}

// Writes few but large values.
void Fill100K(ThreadContext* thread) {
  FillPlan plan = PlanOf(NumberSource::Order::kRandom);
  plan.operations = std::max<int64_t>(1, plan.operations / 1000);
  plan.value_size = 100'000;
  Fill(thread, plan);
}

void DeleteSequential(ThreadContext* thread) { Delete(thread, NumberSource::Order::kAscending); }

void DeleteRandom(ThreadContext* thread) { Delete(thread, NumberSource::Order::kRandom); }

// Deletes the first key again and again. Each search for it passes the tombstones of the keys
// before, so this measures them, too.
void DeleteUntil(ThreadContext* thread) {
  assert(thread != nullptr);
  const int64_t max_count = DeleteCount();
  const WriteOptions options = MakeWriteOptions(FLAGS_sync);
  for (int64_t deleted = 0; deleted < max_count; ++deleted) {
    std::string key;
    // The iterator must be gone before the deletion, so that it does not keep the old state alive.
    {
      const std::unique_ptr<Iterator> it(thread->db->NewIterator(MakeReadOptions()));
      it->SeekToFirst();
      RequireOk(it->status(), "seek");
      if (!it->Valid()) return;  // the database is empty
      key = it->key().ToString();
    }
    RequireOk(thread->db->Delete(options, key), "delete");
    thread->stats.Finished(Operation::kDelete, 1, 0);
  }
}

namespace {

std::vector<std::string> TablesOfLevel0(DB* db) {
  assert(db != nullptr);
  ColumnFamilyMetaData family;
  db->GetColumnFamilyMetaData(&family);
  std::vector<std::string> names;
  for (const SstFileMetaData& file : family.levels[0].files) names.push_back(file.name);
  return names;
}

// The number of pairs of each level, the last level first. Each level has
// max_bytes_for_level_multiplier times fewer pairs than the level below it.
std::vector<int64_t> PairsByLevel(const Options& options) {
  // Below 2 the upper levels would be as large as the last one.
  const double factor = std::max(options.max_bytes_for_level_multiplier, 2.0);
  std::vector<int64_t> pairs;
  auto left = static_cast<double>(WriteCount());
  for (int i = 0; i < options.num_levels; i++, left /= factor) {
    pairs.push_back(static_cast<int64_t>(left));
  }
  return pairs;
}

void PrintShape(DB* db) {
  assert(db != nullptr);
  ColumnFamilyMetaData family;
  db->GetColumnFamilyMetaData(&family);
  for (const LevelMetaData& level : family.levels) {
    std::printf("Level[%d]: %zu files, %llu bytes\n", level.level, level.files.size(),
                static_cast<unsigned long long>(level.size));
  }
}

}  // namespace

// Makes a tree whose form follows from the flags alone. The last level has every key, each level
// above it fewer, spread evenly over all keys; level 0 is one more such table. Levels are filled
// from the last one up: nothing is above a level while it is filled, so CompactFiles() can move its
// tables straight there.
void FillSequentialDeterministic(ThreadContext* thread) {
  assert(thread != nullptr);
  DB* const db = thread->db;
  const Options options = db->GetOptions();
  const std::vector<int64_t> pairs = PairsByLevel(options);
  assert(pairs.size() == static_cast<size_t>(options.num_levels));
  // An automatic compaction would move tables to other levels than those that are filled here.
  const bool keeps_shape =
      options.disable_auto_compactions && options.compaction_style == kCompactionStyleLevel;
  if (!keeps_shape) {
    RequireOk(Status::InvalidArgument("needs --disable_auto_compactions and level compaction"),
              "fillseqdeterministic");
  }
  // The last element belongs to level 0, which has the fewest pairs.
  if (pairs.back() < 1) {
    RequireOk(Status::InvalidArgument("--num is too small to fill all levels"),
              "fillseqdeterministic");
  }
  const WriteOptions write_options = MakeWriteOptions(FLAGS_sync);
  ValueSource values(static_cast<uint64_t>(FLAGS_seed), FLAGS_compression_ratio, FLAGS_value_size);
  KeyBuffer key(ShapeOfKeys());
  int level = options.num_levels - 1;
  for (const int64_t count : pairs) {
    for (int64_t i = 0; i < count; i++) {
      const Slice value = values.Next();
      // The stride spreads the pairs of a level over the keys of the last level.
      const auto number = static_cast<uint64_t>(i * (pairs[0] / count));
      thread->PaceWrites(static_cast<uint64_t>(FLAGS_key_size) + value.size());
      RequireOk(db->Put(write_options, key.Set(number), value), "put");
      thread->stats.Finished(Operation::kWrite, 1,
                             static_cast<uint64_t>(FLAGS_key_size) + value.size());
    }
    // Each level becomes one table of level 0 first, and is then moved down to its place.
    RequireOk(db->Flush(FlushOptions()), "flush");
    if (level > 0) {
      RequireOk(db->CompactFiles(CompactionOptions(), TablesOfLevel0(db), level), "compact");
    }
    level--;
  }
  PrintShape(db);
}

}  // namespace bench
}  // namespace ashlar
