// SPDX-License-Identifier: Apache-2.0
//
// Workloads that merge, among the first --merge_keys keys.
#include <algorithm>
#include <string>

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

}  // namespace bench
}  // namespace ashlar
