// SPDX-License-Identifier: Apache-2.0
//
// getmergeoperands: a number is sought in a value that is merged from many sorted lists, once by a
// Get and one search, once by GetMergeOperands and a search of each list. The first has to merge
// them all.
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "ashlar/merge_operator.h"
#include "tools/db_bench/workloads.h"

namespace ashlar {
namespace bench {
namespace {

constexpr int kLists = 1000;
constexpr int kListLength = 100;
constexpr int kSought = kLists * kListLength / 2;
constexpr const char* kKey = "lists";

// Every kLists-th number: all lists together have all of them.
std::string ListOf(int first) {
  std::string text;
  for (int i = 0; i < kListLength; i++) {
    if (i > 0) text += ",";
    text += std::to_string(first + i * kLists);
  }
  return text;
}

bool Contains(const Slice& list, int sought) {
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
  return std::binary_search(numbers.begin(), numbers.end(), sought);
}

bool IsInValue(DB* db) {
  PinnableSlice value;
  RequireOk(db->Get(MakeReadOptions(), db->DefaultColumnFamily(), kKey, &value), "get");
  return Contains(value, kSought);
}

bool IsInAnOperand(DB* db) {
  std::vector<PinnableSlice> operands(kLists);
  GetMergeOperandsOptions room;
  room.expected_max_number_of_operands = kLists;
  int count = 0;
  RequireOk(db->GetMergeOperands(MakeReadOptions(), db->DefaultColumnFamily(), kKey,
                                 operands.data(), &room, &count),
            "getmergeoperands");
  operands.resize(static_cast<size_t>(count));
  return std::any_of(operands.begin(), operands.end(),
                     [](const Slice& list) { return Contains(list, kSought); });
}

void Measure(DB* db, const char* call, bool (*is_found)(DB*)) {
  const uint64_t start_micros = NowMicros();
  const bool found = is_found(db);
  const double seconds = static_cast<double>(NowMicros() - start_micros) / 1e6;
  std::printf("%s: %g seconds, found: %d\n", call, seconds, found ? 1 : 0);
  if (!found) RequireOk(Status::Corruption("the number is not in the lists"), call);
}

}  // namespace

void GetMergeOperandsOfLists(ThreadContext* thread) {
  DB* const db = thread->db;
  if (db->GetOptions().merge_operator->Name() != std::string("MergeSortOperator")) {
    RequireOk(Status::InvalidArgument("it needs --merge_operator=sortlist"), "getmergeoperands");
  }
  for (int i = 0; i < kLists; i++) {
    RequireOk(db->Merge(MakeWriteOptions(FLAGS_sync), kKey, ListOf(i)), "merge");
  }
  RestartStats(thread);
  Measure(db, "Get", IsInValue);
  Measure(db, "GetMergeOperands", IsInAnOperand);
  thread->stats.Finished(Operation::kOther, 1, 0);
}

}  // namespace bench
}  // namespace ashlar
