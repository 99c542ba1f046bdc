// SPDX-License-Identifier: Apache-2.0
//
// A traced run returns the same entries as the run itself.
#include "table/iterator/traced_run.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "tests/support/silent_trace.h"
#include "util/keys/internal_key.h"

namespace ashlar {
namespace {

// One entry whose value is in `owner`.
class OneEntry final : public InternalIterator {
 public:
  explicit OneEntry(std::string* owner) : owner_(owner) {}
  ValuePin PinOfValue() const override { return ValuePin::Lasting(owner_); }
  void SeekToFirst() override { Show(); }
  void SeekToLast() override { Show(); }
  void Seek(const Slice&) override { Show(); }
  void SeekForPrev(const Slice&) override { Show(); }

 private:
  void Show() {
    valid_ = true;
    key_ = internal_key_;
    value_ = *owner_;
  }
  void NextSlow() override { valid_ = false; }
  void PrevSlow() override { valid_ = false; }

  std::string* const owner_;
  const std::string internal_key_ = MakeInternalKey("key", 7, kTypeMerge);
};

// Otherwise merges with a trace would copy their operands, and the trace would show another read
// than without it.
TEST(TracedRun, ValuesArePinnedAsWithoutATrace) {
  std::string value(3000, 'v');
  SilentTrace trace;
  const SortedRun run = Traced(SortedRun(new OneEntry(&value)), 0, &trace, /*arena=*/nullptr);
  const std::unique_ptr<InternalIterator> points(run.points);
  points->SeekToFirst();
  ASSERT_TRUE(points->Valid());
  EXPECT_EQ(points->value().data(), value.data());
  ASSERT_NE(points->PinOfValue().acquire, nullptr);
  EXPECT_EQ(points->PinOfValue().owner, &value);
  points->Next();
  EXPECT_FALSE(points->Valid());
}

}  // namespace
}  // namespace ashlar
