// SPDX-License-Identifier: Apache-2.0
//
// Workloads that merge, among the first --merge_keys keys.
#include <algorithm>
#include <string>
#include <vector>

#include "tools/db_bench/workloads.h"

namespace ashlar {
namespace bench {
namespace {

uint64_t MergeKeyCount() {
  return static_cast<uint64_t>(FLAGS_merge_keys < 0 ? FLAGS_num : FLAGS_merge_keys);
}

}  // namespace

void MergeRandom(ThreadContext* thread) {
  const WriteOptions options = MakeWriteOptions(FLAGS_sync);
  ValueSource operands(thread->random(), FLAGS_compression_ratio, FLAGS_value_size);
  KeyBuffer key(ShapeOfKeys());
  int64_t updates = 0;
  Duration duration(FLAGS_duration, ReadOrWriteCount());
  for (; !duration.Done(1); updates++) {
    const Slice target = key.Set(thread->random() % MergeKeyCount());
    const Slice operand = operands.Next();
    RequireOk(thread->db->Merge(options, target, operand), "merge");
    thread->stats.Finished(Operation::kMerge, 1, target.size() + operand.size());
  }
  thread->stats.AddMessage("( updates:" + std::to_string(updates) + ")");
}

void ReadRandomMergeRandom(ThreadContext* thread) {
  const ReadOptions read_options = MakeReadOptions();
  const WriteOptions write_options = MakeWriteOptions(FLAGS_sync);
  ValueSource operands(thread->random(), FLAGS_compression_ratio, FLAGS_value_size);
  KeyBuffer key(ShapeOfKeys());
  std::string value;
  int64_t reads = 0, merges = 0, hits = 0;
  size_t longest = 0;
  Duration duration(FLAGS_duration, ReadOrWriteCount());
  while (!duration.Done(1)) {
    const Slice target = key.Set(thread->random() % MergeKeyCount());
    if (thread->random() % 100 < static_cast<uint64_t>(FLAGS_mergereadpercent)) {
      RequireOk(thread->db->Merge(write_options, target, operands.Next()), "merge");
      merges++;
      thread->stats.Finished(Operation::kMerge, 1, 0);
      continue;
    }
    const Status status = thread->db->Get(read_options, target, &value);
    if (!status.IsNotFound()) RequireOk(status, "get");
    reads++;
    if (status.ok()) hits++;
    if (status.ok()) longest = std::max(longest, value.size());
    thread->stats.Finished(Operation::kRead, 1, 0);
  }
  thread->stats.AddMessage("(reads:" + std::to_string(reads) + " merges:" + std::to_string(merges) +
                           " total:" + std::to_string(reads + merges) + " hits:" +
                           std::to_string(hits) + " maxlength:" + std::to_string(longest) + ")");
}

// An operation is one key, with a second call where it has more operands than any before.
void ReadRandomOperands(ThreadContext* thread) {
  ColumnFamilyHandle* const family = thread->db->DefaultColumnFamily();
  const ReadOptions options = MakeReadOptions();
  KeyBuffer key(ShapeOfKeys());
  std::vector<PinnableSlice> operands(8);
  int64_t found = 0, sought = 0;
  Duration duration(FLAGS_duration, ReadCount());
  for (; !duration.Done(1); sought++) {
    const Slice wanted = key.Set(thread->random() % static_cast<uint64_t>(FLAGS_num));
    const auto read = [&](int* count) {
      GetMergeOperandsOptions room;
      room.expected_max_number_of_operands = static_cast<int>(operands.size());
      return thread->db->GetMergeOperands(options, family, wanted, operands.data(), &room, count);
    };
    int count = 0;
    Status status = read(&count);
    if (status.IsIncomplete()) {
      operands.resize(static_cast<size_t>(count));
      status = read(&count);
    }
    if (!status.IsNotFound()) RequireOk(status, "getmergeoperands");
    uint64_t bytes = 0;
    for (int i = 0; status.ok() && i < count; i++) {
      bytes += wanted.size() + operands[static_cast<size_t>(i)].size();
      operands[static_cast<size_t>(i)].Reset();
    }
    if (status.ok()) found++;
    thread->stats.Finished(Operation::kRead, 1, bytes);
  }
  AddFoundMessage(thread, found, sought);
}

}  // namespace bench
}  // namespace ashlar
