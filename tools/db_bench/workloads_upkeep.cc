// SPDX-License-Identifier: Apache-2.0
//
// Work on the database as a whole: compactions, checks, estimates.
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "ashlar/metadata.h"
#include "tools/db_bench/workloads.h"

namespace ashlar {
namespace bench {

void CompactAll(ThreadContext* thread) {
  for (ColumnFamilyHandle* const family : thread->families) {
    RequireOk(thread->db->CompactRange(CompactRangeOptions(), family, nullptr, nullptr), "compact");
  }
  thread->stats.Finished(Operation::kOther, 1, 0);
}

void CompactLevel(DB* db, size_t from) {
  ColumnFamilyMetaData family;
  db->GetColumnFamilyMetaData(&family);
  std::vector<std::string> files;
  if (from < family.levels.size()) {
    for (const SstFileMetaData& file : family.levels[from].files) files.push_back(file.name);
  }
  // The first level with data, as levels are sized from the last one up; else the next one.
  size_t to = from + 1;
  while (from == 0 && to < family.levels.size() && family.levels[to].files.empty()) to++;
  if (files.empty()) {
    std::printf("compact%zu found 0 files to compact\n", from);
  } else if (to >= family.levels.size()) {
    std::printf("compact%zu found no data beyond L%zu\n", from, from);
  } else {
    std::printf("compact%zu found %zu files to compact into L%zu\n", from, files.size(), to);
    RequireOk(db->CompactFiles(CompactionOptions(), files, static_cast<int>(to)), "compact");
  }
}

void VerifyChecksums(ThreadContext* thread) {
  RequireOk(thread->db->VerifyChecksum(MakeReadOptions()), "verifychecksum");
  thread->stats.Finished(Operation::kOther, 1, 0);
}

void VerifyFileChecksums(ThreadContext* thread) {
  RequireOk(thread->db->VerifyFileChecksums(MakeReadOptions()), "verifyfilechecksums");
  thread->stats.Finished(Operation::kOther, 1, 0);
}

// Of ranges between two random keys.
void EstimateSizes(ThreadContext* thread) {
  const SizeApproximationOptions options;
  KeyBuffer begin(ShapeOfKeys()), end(ShapeOfKeys());
  const auto count = static_cast<uint64_t>(FLAGS_num);
  Duration duration(FLAGS_duration, ReadCount());
  while (!duration.Done(1)) {
    const uint64_t a = thread->random() % count, b = thread->random() % count;
    const Range range(begin.Set(std::min(a, b)), end.Set(std::max(a, b)));
    uint64_t bytes = 0;
    RequireOk(thread->db->GetApproximateSizes(options, thread->db->DefaultColumnFamily(), &range, 1,
                                              &bytes),
              "approximatesizerandom");
    thread->stats.Finished(Operation::kOther, 1, 0);
  }
}

}  // namespace bench
}  // namespace ashlar
