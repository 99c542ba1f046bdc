// SPDX-License-Identifier: Apache-2.0
//
// Workloads that write merge operands, among the first --merge_keys keys, or read them.
#include <algorithm>
#include <cassert>
#include <cstdio>
#include <string>
#include <vector>

#include "ashlar/merge_operator.h"
#include "tools/db_bench/workloads.h"

namespace ashlar {
namespace bench {
namespace {

uint64_t MergeKeyCount() {
  return static_cast<uint64_t>(FLAGS_merge_keys < 0 ? FLAGS_num : FLAGS_merge_keys);
}

}  // namespace

// Writes a merge operand for random keys.
void MergeRandom(ThreadContext* thread) {
  assert(thread != nullptr);
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

// Each operation is a read or a merge, in the ratio of --mergereadpercent.
void ReadRandomMergeRandom(ThreadContext* thread) {
  const ReadOptions read_options = MakeReadOptions();
  assert(thread != nullptr);
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
    // Values grow with each merge, so the longest one tells how much a read had to merge.
    if (status.ok()) longest = std::max(longest, value.size());
    thread->stats.Finished(Operation::kRead, 1, 0);
  }
  thread->stats.AddMessage("(reads:" + std::to_string(reads) + " merges:" + std::to_string(merges) +
                           " total:" + std::to_string(reads + merges) + " hits:" +
                           std::to_string(hits) + " maxlength:" + std::to_string(longest) + ")");
}

// An operation is one key; if it has more operands than fit into the array, a second call with a
// larger array is part of it.
void ReadRandomOperands(ThreadContext* thread) {
  assert(thread != nullptr);
  ColumnFamilyHandle* const family = thread->db->DefaultColumnFamily();
  const ReadOptions options = MakeReadOptions();
  KeyBuffer key(ShapeOfKeys());
  // Grows to the longest list of operands that was met.
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
    // Read again with a larger array; `count` is then the number that is needed.
    if (status.IsIncomplete()) {
      assert(count > static_cast<int>(operands.size()));
      operands.resize(static_cast<size_t>(count));
      status = read(&count);
    }
    if (!status.IsNotFound()) RequireOk(status, "getmergeoperands");
    uint64_t bytes = 0;
    for (int i = 0; status.ok() && i < count; i++) {
      bytes += wanted.size() + operands[static_cast<size_t>(i)].size();
      // Gives the pinned block back.
      operands[static_cast<size_t>(i)].Reset();
    }
    if (status.ok()) found++;
    thread->stats.Finished(Operation::kRead, 1, bytes);
  }
  AddFoundMessage(thread, found, sought);
}

namespace {

// getmergeoperands: the lists have every number below kLists * kListLength once.
constexpr int kLists = 1000;
constexpr int kListLength = 100;
constexpr int kTarget = kLists * kListLength / 2;
constexpr const char* kKey = "lists";

// Every kLists-th number from `first` on. All lists together contain every number.
std::string ListOf(int first) {
  assert(first >= 0 && first < kLists);
  std::string text;
  for (int i = 0; i < kListLength; i++) {
    if (i > 0) text += ",";
    text += std::to_string(first + i * kLists);
  }
  return text;
}

// Parses the list before it searches, as a program that stores lists would.
bool Contains(const Slice& list, int target) {
  // The list is sorted, so a program would search it by halving.
  std::vector<int> numbers;
  int number = 0;
  for (const char c : list.ToStringView()) {
    if (c != ',') {
      number = number * 10 + (c - '0');
      continue;
    }
    numbers.push_back(number);
    number = 0;
  }
  numbers.push_back(number);
  return std::binary_search(numbers.begin(), numbers.end(), target);
}

bool IsInValue(DB* db) {
  assert(db != nullptr);
  PinnableSlice value;
  RequireOk(db->Get(MakeReadOptions(), db->DefaultColumnFamily(), kKey, &value), "get");
  return Contains(value, kTarget);
}

bool IsInAnOperand(DB* db) {
  assert(db != nullptr);
  std::vector<PinnableSlice> operands(kLists);
  GetMergeOperandsOptions room;
  room.expected_max_number_of_operands = kLists;
  int count = 0;
  RequireOk(db->GetMergeOperands(MakeReadOptions(), db->DefaultColumnFamily(), kKey,
                                 operands.data(), &room, &count),
            "getmergeoperands");
  assert(count >= 0 && count <= kLists);
  operands.resize(static_cast<size_t>(count));
  return std::any_of(operands.begin(), operands.end(),
                     [](const Slice& list) { return Contains(list, kTarget); });
}

// A call that does not find the number would be fast and wrong, so the result is checked.
void Measure(DB* db, const char* call, bool (*is_found)(DB*)) {
  assert(db != nullptr && is_found != nullptr);
  const uint64_t start_micros = NowMicros();
  const bool found = is_found(db);
  const double seconds = static_cast<double>(NowMicros() - start_micros) / 1e6;
  std::printf("%s: %g seconds, found: %d\n", call, seconds, found ? 1 : 0);
  if (!found) RequireOk(Status::Corruption("the number is not in the lists"), call);
}

}  // namespace

// Searches a number in a value that is merged from many sorted lists: once with Get(), which has to
// merge them all, and a search in the result, once with GetMergeOperands() and a search in each
// list.
void GetMergeOperandsOfLists(ThreadContext* thread) {
  assert(thread != nullptr);
  DB* const db = thread->db;
  if (db->GetOptions().merge_operator->Name() != std::string("MergeSortOperator")) {
    RequireOk(Status::InvalidArgument("needs --merge_operator=sortlist"), "getmergeoperands");
  }
  for (int i = 0; i < kLists; i++) {
    RequireOk(db->Merge(MakeWriteOptions(FLAGS_sync), kKey, ListOf(i)), "merge");
  }
  // The merges are preparation and are not measured.
  RestartStats(thread);
  Measure(db, "Get", IsInValue);
  Measure(db, "GetMergeOperands", IsInAnOperand);
  thread->stats.Finished(Operation::kOther, 1, 0);
}

}  // namespace bench
}  // namespace ashlar
