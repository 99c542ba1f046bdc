// SPDX-License-Identifier: Apache-2.0
//
// Which files may be written over, and when.
#include "db/wal/log_recycler.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "env/filename.h"
#include "env/memory/memory_file_system.h"
#include "tests/support/status_matchers.h"

namespace ashlar {
namespace {

class LogRecyclerTest : public testing::Test {
 protected:
  LogRecyclerTest() {
    fs_->PutFile("/logs/other", "");
    recycler_.Configure(fs_.get(), "/logs", /*limit=*/2);
  }
  bool Offer(FileNumber number) {
    fs_->PutFile(LogFileName("/logs", number), "old");
    return recycler_.Offer(number);
  }
  bool IsThere(FileNumber number) {
    return fs_->FileExists(LogFileName("/logs", number), IOOptions(), nullptr).ok();
  }

  const std::shared_ptr<MemoryFileSystem> fs_ = std::make_shared<MemoryFileSystem>();
  LogRecycler recycler_;
};

TEST_F(LogRecyclerTest, KeepsSoManyAndGivesTheOldestFirst) {
  EXPECT_EQ(recycler_.Take(), std::nullopt);
  EXPECT_TRUE(Offer(3));
  EXPECT_TRUE(Offer(5));
  EXPECT_FALSE(Offer(8));
  EXPECT_EQ(recycler_.Take(), FileNumber{3});
  EXPECT_TRUE(Offer(9));
  recycler_.Done(3);
  EXPECT_EQ(recycler_.Take(), FileNumber{5});
  recycler_.Done(5);
  EXPECT_EQ(recycler_.Drain(), std::vector<FileNumber>{9});
  EXPECT_FALSE(Offer(11));
}

TEST_F(LogRecyclerTest, AFileThatIsReadIsDeletedInstead) {
  EXPECT_TRUE(Offer(3));
  EXPECT_TRUE(Offer(5));
  std::optional<LogRecycler::Pin> pin = recycler_.PinLog(3);
  ASSERT_TRUE(pin.has_value());
  LogRecycler::Pin moved = std::move(*pin);
  pin.reset();
  EXPECT_EQ(recycler_.Take(), FileNumber{5});
  recycler_.Done(5);
  EXPECT_FALSE(IsThere(3));
  EXPECT_TRUE(IsThere(5));
}

TEST_F(LogRecyclerTest, AFileThatIsBeingTakenCannotBePinned) {
  EXPECT_TRUE(Offer(3));
  EXPECT_TRUE(recycler_.PinLog(3).has_value());  // and let go
  EXPECT_EQ(recycler_.Take(), FileNumber{3});
  EXPECT_FALSE(recycler_.PinLog(3).has_value());
  EXPECT_TRUE(recycler_.PinLog(4).has_value());
  recycler_.Done(3);
  EXPECT_TRUE(recycler_.PinLog(3).has_value());
}

TEST_F(LogRecyclerTest, AFileWithASecondNameIsDeletedInstead) {
  EXPECT_TRUE(Offer(3));
  ASSERT_OK(fs_->LinkFile(LogFileName("/logs", 3), "/logs/copy", IOOptions(), nullptr));
  EXPECT_EQ(recycler_.Take(), std::nullopt);
  EXPECT_FALSE(IsThere(3));
  EXPECT_OK(fs_->FileExists("/logs/copy", IOOptions(), nullptr));
}

}  // namespace
}  // namespace ashlar
