// SPDX-License-Identifier: Apache-2.0
//
// Calls that read. Each reads an anchor, which must exist, among keys that are written and deleted.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "ashlar/attribute_groups.h"
#include "ashlar/explain.h"
#include "ashlar/iterator.h"
#include "ashlar/multi_scan.h"
#include "ashlar/utilities/debug.h"
#include "ashlar/wide_columns.h"
#include "tests/stress/api_calls.h"

namespace ashlar {
namespace {

const ReadOptions kRead;

void CallGet(ApiCaller* c) {
  const int anchor = c->AnyAnchor();
  PinnableSlice value;
  const Status status = c->db->Get(kRead, c->AnyFamily(), AnchorKey(anchor), &value);
  ExpectAnchor(anchor, status, value, "Get");
  value.Reset();
  ExpectDone(c->db->Get(kRead, c->AnyFamily(), c->AnyKey(), &value), "Get", {Status::kNotFound});
}
void CallGetEntity(ApiCaller* c) {
  const int anchor = c->AnyAnchor();
  PinnableWideColumns columns;
  const Status status = c->db->GetEntity(kRead, c->AnyFamily(), AnchorKey(anchor), &columns);
  ExpectDone(status, "GetEntity");
  if (status.ok()) ExpectAnchor(anchor, status, columns.columns()[0].value(), "GetEntity");
  ExpectDone(c->db->GetEntity(kRead, c->AnyFamily(), c->AnyKey(), &columns), "GetEntity",
             {Status::kNotFound});
}
void CallGetMergeOperands(ApiCaller* c) {
  constexpr int kMost = 1000;
  std::vector<PinnableSlice> operands(kMost);
  GetMergeOperandsOptions options;
  options.expected_max_number_of_operands = kMost;
  int count = 0;
  ExpectDone(c->db->GetMergeOperands(kRead, c->AnyFamily(), c->AnyKey(), operands.data(), &options,
                                     &count),
             "GetMergeOperands", {Status::kNotFound, Status::kIncomplete});
}
void CallMultiGet(ApiCaller* c) {
  constexpr size_t kCount = 16;
  std::vector<std::string> keys{AnchorKey(3)};
  while (keys.size() < kCount) keys.push_back(c->AnyKey());
  const std::vector<Slice> slices(keys.begin(), keys.end());
  std::vector<PinnableSlice> values(kCount);
  std::vector<Status> statuses(kCount);
  c->db->MultiGet(kRead, c->AnyFamily(), kCount, slices.data(), values.data(), statuses.data());
  ExpectAnchor(3, statuses[0], values[0], "MultiGet");
  for (const Status& status : statuses) ExpectDone(status, "MultiGet", {Status::kNotFound});
}
void CallMultiGetOfFamilies(ApiCaller* c) {
  const std::string anchor = AnchorKey(7), coming = c->AnyKey();
  const std::vector<Slice> keys{anchor, coming, anchor};
  const std::vector<ColumnFamilyHandle*> families{c->families[0], c->AnyFamily(), c->families[1]};
  std::vector<std::string> values;
  const std::vector<Status> statuses = c->db->MultiGet(kRead, families, keys, &values);
  ExpectAnchor(7, statuses[0], values[0], "MultiGet of families");
  ExpectAnchor(7, statuses[2], values[2], "MultiGet of families");
  ExpectDone(statuses[1], "MultiGet of families", {Status::kNotFound});
}
void CallMultiGetEntity(ApiCaller* c) {
  const std::string anchor = AnchorKey(1), coming = c->AnyKey();
  const std::vector<Slice> keys{anchor, coming};
  std::vector<PinnableWideColumns> values(2);
  std::vector<Status> statuses(2);
  c->db->MultiGetEntity(kRead, c->AnyFamily(), 2, keys.data(), values.data(), statuses.data());
  ExpectDone(statuses[0], "MultiGetEntity");
  ExpectDone(statuses[1], "MultiGetEntity", {Status::kNotFound});
}
void CallKeyMayExist(ApiCaller* c) {
  std::string value;
  EXPECT_TRUE(c->db->KeyMayExist(kRead, c->AnyFamily(), AnchorKey(c->AnyAnchor()), &value));
  c->db->KeyMayExist(kRead, c->AnyFamily(), c->AnyKey(), &value);
}

class Done final : public DB::AsyncCallback {
 public:
  void OnComplete(const PerfContext*, const IOStatsContext*) override { is_done = true; }
  std::atomic<bool> is_done{false};
};
void CallGetAsync(ApiCaller* c) {
  const int anchor = c->AnyAnchor();
  const std::string key = AnchorKey(anchor);
  PinnableSlice value;
  Status status;
  Done done;
  c->db->GetAsync(kRead, c->AnyFamily(), key, &value, status, done);
  EXPECT_TRUE(done.is_done);
  ExpectAnchor(anchor, status, value, "GetAsync");
}

void CallMultiGetAsync(ApiCaller* c) {
  const std::string anchor = AnchorKey(9), coming = c->AnyKey();
  const Slice keys[] = {anchor, coming};
  ColumnFamilyHandle* families[] = {c->AnyFamily(), c->AnyFamily()};
  PinnableSlice values[2];
  Status statuses[2];
  Done done;
  c->db->MultiGetAsync(kRead, 2, families, keys, values, statuses, /*sorted_input=*/false, done);
  EXPECT_TRUE(done.is_done);
  ExpectAnchor(9, statuses[0], values[0], "MultiGetAsync");
  ExpectDone(statuses[1], "MultiGetAsync", {Status::kNotFound});
}
void CallMultiScan(ApiCaller* c) {
  const std::string begin = AnchorKey(0), end = AnchorKey(kAnchors);
  MultiScanArgs ranges(BytewiseComparator());
  ranges.insert(begin, end);
  const auto scans = c->db->NewMultiScan(kRead, c->AnyFamily(), ranges);
  int count = 0;
  for (auto& scan : *scans) {
    for (const auto& row : scan) {
      EXPECT_EQ(row.first.ToString(), AnchorKey(count));
      count++;
    }
  }
  EXPECT_EQ(count, kAnchors);
}

// The anchors come first, all of them and in order.
void ExpectAnchors(Iterator* it, const char* call) {
  it->SeekToFirst();
  for (int i = 0; i < kAnchors; i++, it->Next()) {
    ASSERT_TRUE(it->Valid()) << call << " ends at anchor " << i << ": " << it->status().ToString();
    ASSERT_EQ(it->key().ToString(), AnchorKey(i)) << call;
  }
}
void CallIterate(ApiCaller* c) {
  ReadOptions options;
  options.tailing = c->random.OneIn(4);
  options.pin_data = !options.tailing && c->random.OneIn(4);
  const std::unique_ptr<Iterator> it(c->db->NewIterator(options, c->AnyFamily()));
  ExpectAnchors(it.get(), "NewIterator");
  int steps = 0;
  for (it->Seek(c->AnyKey()); it->Valid() && steps < 30; it->Next()) steps++;
  ExpectDone(it->status(), "Iterator::Next");
  if (options.tailing) return;
  for (it->SeekForPrev(c->AnyKey()); it->Valid() && steps < 60; it->Prev()) steps++;
  ExpectDone(it->status(), "Iterator::Prev");
  ExpectDone(it->Refresh(), "Iterator::Refresh");
  ExpectAnchors(it.get(), "Refresh");
}
void CallNewIterators(ApiCaller* c) {
  std::vector<Iterator*> made;
  ExpectDone(c->db->NewIterators(kRead, c->families, &made), "NewIterators");
  for (Iterator* raw : made) {
    const std::unique_ptr<Iterator> it(raw);
    ExpectAnchors(it.get(), "NewIterators");
  }
}
void CallCoalescingIterator(ApiCaller* c) {
  const std::unique_ptr<Iterator> it = c->db->NewCoalescingIterator(kRead, c->families);
  ExpectAnchors(it.get(), "NewCoalescingIterator");
}
void CallAttributeGroups(ApiCaller* c) {
  const auto it = c->db->NewAttributeGroupIterator(kRead, c->families);
  it->SeekToFirst();
  ASSERT_TRUE(it->Valid());
  EXPECT_EQ(it->key().ToString(), AnchorKey(0));
  EXPECT_EQ(it->attribute_groups().size(), c->families.size());
}
void CallSnapshot(ApiCaller* c) {
  ReadOptions options;
  options.snapshot = c->db->GetSnapshot();
  const std::string key = c->AnyKey();
  ColumnFamilyHandle* const family = c->AnyFamily();
  std::string first, second;
  const Status before = c->db->Get(options, family, key, &first);
  const std::unique_ptr<Iterator> it(c->db->NewIterator(options, family));
  it->Seek(key);
  const bool is_there = it->Valid() && it->key() == Slice(key);
  const Status after = c->db->Get(options, family, key, &second);
  // Three reads at one snapshot return the same.
  EXPECT_EQ(before.code(), after.code());
  EXPECT_EQ(before.ok(), is_there) << before.ToString() << " " << it->status().ToString();
  if (before.ok()) {
    EXPECT_EQ(first, second);
    EXPECT_TRUE(!is_there || it->value().ToString() == first);
  }
  c->db->ReleaseSnapshot(options.snapshot);
}
void CallExplain(ApiCaller* c) {
  ReadExplanation explanation;
  ExpectDone(ExplainGet(c->db, kRead, c->AnyFamily(), AnchorKey(2), &explanation), "ExplainGet");
  ExpectDone(ExplainSeek(c->db, kRead, c->AnyFamily(), c->AnyKey(), &explanation), "ExplainSeek");
}
void CallAllVersions(ApiCaller* c) {
  std::vector<KeyVersion> versions;
  const std::string begin = AnchorKey(0), end = ComingKey(10);
  ExpectDone(GetAllKeyVersions(c->db, c->AnyFamily(), begin, end, 1000, &versions),
             "GetAllKeyVersions");
  EXPECT_GE(versions.size(), static_cast<size_t>(kAnchors));
}
// Unlogged writes, and logs that are deleted meanwhile, end it.
void CallUpdatesSince(ApiCaller* c) {
  std::unique_ptr<WalIterator> it;
  const SequenceNumber latest = c->db->GetLatestSequenceNumber();
  const SequenceNumber from = latest > 50 ? latest - c->random.Uniform(50) : 1;
  const Status opened = c->db->GetUpdatesSince(from, &it);
  ExpectDone(opened, "GetUpdatesSince",
             {Status::kNotFound, Status::kCorruption, Status::kTryAgain, Status::kIncomplete});
  for (int i = 0; opened.ok() && i < 20 && it->Valid(); i++) it->Next();
}

}  // namespace

std::span<const ApiCall> ReadCalls() {
  static constexpr ApiCall kCalls[] = {
      {"Get", &CallGet},
      {"GetEntity", &CallGetEntity},
      {"GetMergeOperands", &CallGetMergeOperands},
      {"MultiGet", &CallMultiGet},
      {"MultiGet of families", &CallMultiGetOfFamilies},
      {"MultiGetEntity", &CallMultiGetEntity},
      {"KeyMayExist", &CallKeyMayExist},
      {"GetAsync", &CallGetAsync},
      {"MultiGetAsync", &CallMultiGetAsync},
      {"NewMultiScan", &CallMultiScan},
      {"NewIterator", &CallIterate},
      {"NewIterators", &CallNewIterators},
      {"NewCoalescingIterator", &CallCoalescingIterator},
      {"NewAttributeGroupIterator", &CallAttributeGroups},
      {"GetSnapshot", &CallSnapshot},
      {"ExplainRead", &CallExplain},
      {"GetAllKeyVersions", &CallAllVersions},
      {"GetUpdatesSince", &CallUpdatesSince},
  };
  return kCalls;
}

}  // namespace ashlar
