// SPDX-License-Identifier: Apache-2.0
//
// Copies without logs, while tables have data of transactions that are not decided.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "ashlar/utilities/backup_engine.h"
#include "ashlar/utilities/checkpoint.h"
#include "tests/db/transaction/hidden_data_fixture.h"

namespace ashlar {
namespace {

class UndecidedCopiesTest : public HiddenDataTest,
                            public testing::WithParamInterface<TxnDBWritePolicy> {
 protected:
  UndecidedCopiesTest() : HiddenDataTest(GetParam()) {}

  void SetUp() override {
    HiddenDataTest::SetUp();
    BackupEngineOptions backup_options("/backups");
    backup_options.backup_log_files = false;
    BackupEngine* backups = nullptr;
    ASSERT_OK(BackupEngine::Open(env_.get(), backup_options, &backups));
    backups_.reset(backups);
    Checkpoint* checkpoint = nullptr;
    ASSERT_OK(Checkpoint::Create(db_.get(), &checkpoint));
    checkpoint_.reset(checkpoint);
  }
  Status BackUp() { return backups_->CreateNewBackup(db_.get(), /*flush_before_backup=*/true); }
  Status Export(const std::string& dir) {
    ExportImportFilesMetaData* described = nullptr;
    const Status status =
        checkpoint_->ExportColumnFamily(db_->DefaultColumnFamily(), dir, &described);
    delete described;
    return status;
  }
  // What the newest backup shows.
  std::string RowsOfBackup() {
    EXPECT_OK(backups_->RestoreDBFromLatestBackup("/restored", "/restored"));
    Options options = options_;
    options.create_if_missing = false;
    DB* opened = nullptr;
    EXPECT_OK(DB::Open(options, "/restored", &opened));
    const std::unique_ptr<DB> restored(opened);
    const std::unique_ptr<Iterator> it(restored->NewIterator(ReadOptions()));
    return ScanForward(it.get());
  }

  std::unique_ptr<BackupEngine> backups_;
  std::unique_ptr<Checkpoint> checkpoint_;
};

TEST_P(UndecidedCopiesTest, AreRefusedUntilTheDecision) {
  ASSERT_OK(Put("a", "0"));
  auto transaction = BeginNamed("x");
  ASSERT_OK(transaction->Put("a", "1"));
  ASSERT_OK(transaction->Put("b", "1"));
  EXPECT_OK(Export("/not_prepared"));
  ASSERT_OK(transaction->Prepare());
  if (GetParam() == WRITE_COMMITTED) {
    EXPECT_OK(BackUp());
    EXPECT_EQ(RowsOfBackup(), "a=0 ");
    EXPECT_OK(Export("/prepared"));
  } else {
    EXPECT_TRUE(BackUp().IsBusy());
    EXPECT_TRUE(Export("/prepared").IsBusy());
  }
  ASSERT_OK(transaction->Commit());
  EXPECT_OK(BackUp());
  EXPECT_EQ(RowsOfBackup(), "a=1 b=1 ");
  EXPECT_OK(Export("/decided"));
}

INSTANTIATE_TEST_SUITE_P(Policies, UndecidedCopiesTest, WritePolicies(), PolicyName);

}  // namespace
}  // namespace ashlar
