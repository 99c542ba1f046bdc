// SPDX-License-Identifier: Apache-2.0
//
// Calls that remove entries of a family with timestamps from its tables, while an automatic
// compaction takes those tables one level down.
#include <atomic>
#include <chrono>
#include <memory>
#include <semaphore>
#include <string>
#include <thread>

#include "ashlar/listener.h"
#include "db/db_impl.h"
#include "tests/db/stamps/stamped_db.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

// Holds one compaction when it begins, until an exclusive one waits for it.
class ExclusiveAwaiter final : public EventListener {
 public:
  void OnCompactionBegin(DB* db, const CompactionJobInfo&) override {
    if (!holds_next.exchange(false)) return;
    has_begun.release();
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    for (std::string work; work.find("exclusive") == std::string::npos; std::this_thread::yield()) {
      if (std::chrono::steady_clock::now() > deadline) {
        ADD_FAILURE() << "no exclusive compaction waits: " << work;
        return;
      }
      EXPECT_TRUE(db->GetProperty("ashlar.background-work", &work));
    }
  }

  std::atomic<bool> holds_next{false};
  std::binary_semaphore has_begun{0};
};

class TrimsBesideJobsTest : public StampedTest {
 protected:
  TrimsBesideJobsTest() {
    options_.level_compaction_dynamic_level_bytes = false;
    options_.max_bytes_for_level_base = 1;  // raised to 4 KiB
    options_.compression = kNoCompression;
    options_.listeners = {listener_};
    Open();
  }
  // A table on level 1 that an automatic compaction is about to take to level 2.
  void WriteAndBeginToMove() {
    for (uint64_t ts = 1; ts <= 9; ts++) {
      for (const char* key : {"a", "c"}) PutAt(key, ts, value_);
    }
    Flush();
    Compact();
    ASSERT_EQ(TableCount(1), 1);
    listener_->holds_next = true;
    ASSERT_OK(db_->EnableAutoCompaction({db_->DefaultColumnFamily()}));
    ASSERT_TRUE(listener_->has_begun.try_acquire_for(std::chrono::minutes(1)));
  }

  std::string RowText(const std::string& key, int ts) { return StrCat(key, "=", value_, "@", ts); }

  const std::string value_ = std::string(1000, 'v');
  const std::shared_ptr<ExclusiveAwaiter> listener_ = std::make_shared<ExclusiveAwaiter>();
};

// What OpenAndTrimHistory does once the database is open, where compactions may run already.
TEST_F(TrimsBesideJobsTest, ATrimReachesTablesThatAreBeingMoved) {
  ASSERT_NO_FATAL_FAILURE(WriteAndBeginToMove());
  auto* const db = static_cast<DBImpl*>(db_.get());
  ASSERT_OK(db->TrimHistory({db_->DefaultColumnFamily()}, Stamp(4)));
  EXPECT_EQ(ScanAt(9), RowText("a", 4) + " " + RowText("c", 4));
  EXPECT_EQ(TableCount(1), 0) << "the table was not moved";
}

TEST_F(TrimsBesideJobsTest, AClipReachesTablesThatAreBeingMoved) {
  ASSERT_NO_FATAL_FAILURE(WriteAndBeginToMove());
  ASSERT_OK(db_->ClipColumnFamily(db_->DefaultColumnFamily(), "b", "d"));
  EXPECT_EQ(ScanAt(9), RowText("c", 9));
  EXPECT_EQ(ScanAt(1), RowText("c", 1));
}

}  // namespace
}  // namespace ashlar
