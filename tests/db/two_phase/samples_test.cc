// SPDX-License-Identifier: Apache-2.0
//
// Databases with a prepared transaction that two releases of RocksDB left behind: a and e were put,
// c was committed, d rolled back, and the transaction `undecided` puts b and deletes a.
#include "tests/db/two_phase/two_phase_writer.h"
#include "tests/support/sample_database.h"

namespace ashlar {
namespace {

class PreparedSample : public testing::TestWithParam<std::string> {
 protected:
  PreparedSample() : opened_(FileSystem::Default()) {
    opened_.dir() = UnpackSampleDatabase(GetParam() + "/txn_prepared");
    opened_.options().create_if_missing = false;
    opened_.options().allow_2pc = true;
  }
  TestDb opened_;
};

TEST_P(PreparedSample, OpensInEveryModeAndCanBeCommitted) {
  for (const WALRecoveryMode mode :
       {WALRecoveryMode::kTolerateCorruptedTailRecords, WALRecoveryMode::kAbsoluteConsistency,
        WALRecoveryMode::kPointInTimeRecovery, WALRecoveryMode::kSkipAnyCorruptedRecords}) {
    opened_.options().wal_recovery_mode = mode;
    opened_.dir() = UnpackSampleDatabase(GetParam() + "/txn_prepared");
    opened_.Open();
    ASSERT_NE(opened_.db(), nullptr);
    TwoPhaseWriter sections(opened_.db());
    EXPECT_EQ(opened_.Keys(), "ace");
    EXPECT_EQ(sections.Undecided(), "undecided");
    ASSERT_OK(sections.Commit("undecided"));
    EXPECT_EQ(opened_.Keys(), "bce");
    opened_.Close();
  }
}

TEST_P(PreparedSample, CanBeRolledBack) {
  opened_.Open();
  {
    TwoPhaseWriter sections(opened_.db());
    ASSERT_OK(sections.Rollback("undecided"));
    opened_.Reopen();
  }
  TwoPhaseWriter sections(opened_.db());
  EXPECT_EQ(sections.Undecided(), "");
  EXPECT_EQ(opened_.Keys(), "ace");
  opened_.Close();
}

TEST_P(PreparedSample, ForReadingOnlyItShowsWhatIsCommitted) {
  const auto before = FilesOf(opened_.dir());
  opened_.OpenReadOnly();
  ASSERT_NE(opened_.db(), nullptr);
  EXPECT_EQ(opened_.Keys(), "ace");
  opened_.Close();
  EXPECT_EQ(DifferencesBetween(before, FilesOf(opened_.dir())), "");
}

TEST_P(PreparedSample, IsRefusedUnchangedWithoutTwoPhaseCommit) {
  opened_.options().allow_2pc = false;
  const auto before = FilesOf(opened_.dir());
  EXPECT_TRUE(opened_.TryOpen().IsNotSupported());
  EXPECT_TRUE(opened_.TryOpenReadOnly().IsNotSupported());
  EXPECT_EQ(DifferencesBetween(before, FilesOf(opened_.dir())), "");
}

INSTANTIATE_TEST_SUITE_P(Releases, PreparedSample, testing::Values("rocksdb-7.8", "rocksdb-11.9"),
                         [](const auto& info) {
                           return info.param == "rocksdb-7.8" ? "rocksdb_7_8" : "rocksdb_11_9";
                         });

}  // namespace
}  // namespace ashlar
