// SPDX-License-Identifier: Apache-2.0
//
// A custom merge operator and a custom compaction filter: merging keeps the longest value, and a
// compaction drops values that are marked as spoil. The filter sees merged values.
//
//   compaction_filter_example FOLDER
#include <atomic>
#include <memory>
#include <string>

#include "rocksdb/compaction_filter.h"
#include "rocksdb/db.h"
#include "rocksdb/merge_operator.h"
#include "rocksdb/options.h"

#include "examples/rocksdb/example.h"

using rocksdb::Slice;

namespace {

class LongestWins : public rocksdb::MergeOperator {
 public:
  const char* Name() const override { return "LongestWins"; }
  bool FullMergeV2(const MergeOperationInput& in, MergeOperationOutput* out) const override {
    Slice longest = in.existing_value != nullptr ? *in.existing_value : Slice();
    for (const Slice& operand : in.operand_list) {
      if (operand.size() >= longest.size()) longest = operand;
    }
    out->new_value.assign(longest.data(), longest.size());
    return true;
  }
  bool PartialMerge(const Slice&, const Slice& left, const Slice& right, std::string* result,
                    rocksdb::Logger*) const override {
    const Slice& longest = right.size() >= left.size() ? right : left;
    result->assign(longest.data(), longest.size());
    return true;
  }
};

class SpoilFilter : public rocksdb::CompactionFilter {
 public:
  const char* Name() const override { return "SpoilFilter"; }
  // Returns whether the entry is dropped; could change its value instead.
  bool Filter(int /*level*/, const Slice& /*key*/, const Slice& value, std::string* new_value,
              bool* value_changed) const override {
    seen_count++;
    if (value == "spoil") return true;
    if (value == "rough stone") {
      *new_value = "dressed stone";
      *value_changed = true;
    }
    return false;
  }
  bool FilterMergeOperand(int /*level*/, const Slice& /*key*/, const Slice&) const override {
    operand_count++;
    return false;
  }
  mutable std::atomic<int> seen_count{0};
  mutable std::atomic<int> operand_count{0};
};

}  // namespace

int main(int argc, char** argv) {
  const std::string folder = FolderFromArguments(argc, argv);
  SpoilFilter filter;  // must outlive the database
  rocksdb::Options options;
  options.create_if_missing = true;
  options.merge_operator = std::make_shared<LongestWins>();
  options.compaction_filter = &filter;
  rocksdb::DB* db = nullptr;
  Require(rocksdb::DB::Open(options, folder, &db), "open");

  const rocksdb::WriteOptions write;
  Require(db->Put(write, "1", "clay"), "put");
  Require(db->Merge(write, "1", "rough stone"), "merge");
  Require(db->Merge(write, "1", "sand"), "merge");
  Require(db->Merge(write, "2", "spoil"), "merge");
  Require(db->Put(write, "3", "lime"), "put");
  Require(db->CompactRange(rocksdb::CompactRangeOptions(), nullptr, nullptr), "compact");
  rocksdb::CompactRangeOptions bottommost;
  bottommost.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForce;
  Require(db->CompactRange(bottommost, nullptr, nullptr), "compact the last level");

  std::string value;
  Require(db->Get(rocksdb::ReadOptions(), "1", &value), "get");
  Require(value == "dressed stone", "merged, then changed by the filter");
  Require(db->Get(rocksdb::ReadOptions(), "2", &value).IsNotFound(), "spoil is gone");
  Require(db->Get(rocksdb::ReadOptions(), "3", &value), "get");
  Require(value == "lime", "what the filter let through");
  Require(filter.seen_count > 0, "the filter was asked");
  std::printf("compaction_filter_example: ok, %d values and %d operands seen\n",
              filter.seen_count.load(), filter.operand_count.load());
  delete db;
  return 0;
}
