// SPDX-License-Identifier: Apache-2.0
//
// While a large batch is inserted, memory that other threads retire is freed.
#include <atomic>
#include <memory>
#include <string>
#include <thread>

#include "ashlar/comparator.h"
#include "tests/support/test_db.h"
#include "util/threads/epoch.h"

namespace ashlar {
namespace {

constexpr int kRecords = 2000;

struct Mortal : EpochRetired {
  explicit Mortal(std::atomic<int>* deaths) : deaths(deaths) {}
  ~Mortal() { deaths->fetch_add(1); }
  std::atomic<int>* deaths;
};

// The order of bytes. While it is armed, every hundredth comparison of the arming thread has
// another thread retire an object and reclaim.
class RetiringComparator final : public Comparator {
 public:
  const char* Name() const override { return "RetiringComparator"; }
  int Compare(const Slice& a, const Slice& b) const override {
    if (is_armed && ++comparisons % 100 == 0) Retire();
    return a.compare(b);
  }
  void FindShortestSeparator(std::string*, const Slice&) const override {}
  void FindShortSuccessor(std::string*) const override {}

  void Retire() const {
    ++retired;
    std::thread other([this] {
      EpochRetireDelete(new Mortal(&deaths));
      EpochReclaim();
    });
    other.join();
  }

  static thread_local bool is_armed;
  mutable int comparisons = 0, retired = 0;
  mutable std::atomic<int> deaths{0};
};

thread_local bool RetiringComparator::is_armed = false;

TEST_F(DbTest, ALargeBatchDoesNotKeepRetiredMemory) {
  RetiringComparator comparator;
  options_.comparator = &comparator;
  Open();
  WriteBatch batch;
  for (int i = 0; i < kRecords; ++i) ASSERT_OK(batch.Put(Key(i), "value"));
  RetiringComparator::is_armed = true;
  const Status written = db_->Write(WriteOptions(), &batch);
  RetiringComparator::is_armed = false;
  ASSERT_OK(written);
  EXPECT_GT(comparator.retired, 10);
  EXPECT_GT(comparator.deaths, 0) << "freed before the batch was inserted";
  for (int i = 0; i < kRecords; ++i) ASSERT_EQ(Get(Key(i)), "value");
  Close();
  EpochDrain();
  EXPECT_EQ(comparator.deaths, comparator.retired);
}

// The records at which the epoch is left may belong to any family.
TEST_F(DbTest, ALargeBatchOfTwoFamiliesIsWhole) {
  Open();
  ColumnFamilyHandle* other = nullptr;
  ASSERT_OK(db_->CreateColumnFamily(ColumnFamilyOptions(options_), "other", &other));
  WriteBatch batch;
  for (int i = 0; i < kRecords; ++i) {
    ASSERT_OK(batch.Put(i % 3 == 0 ? other : db_->DefaultColumnFamily(), Key(i), "value"));
  }
  ASSERT_OK(db_->Write(WriteOptions(), &batch));
  for (int i = 0; i < kRecords; ++i) {
    EXPECT_EQ(Get(Key(i), {}, other), i % 3 == 0 ? "value" : "(none)");
    EXPECT_EQ(Get(Key(i)), i % 3 == 0 ? "(none)" : "value");
  }
  EXPECT_EQ(db_->GetLatestSequenceNumber(), static_cast<SequenceNumber>(kRecords));
  ASSERT_OK(db_->DestroyColumnFamilyHandle(other));
}

}  // namespace
}  // namespace ashlar
