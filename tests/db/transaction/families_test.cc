// SPDX-License-Identifier: Apache-2.0
//
// Column families of databases with transactions: which are refused, and which are known to the
// locks.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "ashlar/comparator.h"
#include "ashlar/metadata.h"
#include "ashlar/sst_file_writer.h"
#include "ashlar/utilities/stackable_db.h"
#include "tests/db/transaction/transaction_fixture.h"

namespace ashlar {
namespace {

ColumnFamilyOptions WithUpdatesInPlace() {
  ColumnFamilyOptions options;
  options.inplace_update_support = true;
  return options;
}

// A table of the program's own, which becomes a column family.
class FamilyTable {
 public:
  FamilyTable(Options options, const Comparator* comparator, const std::vector<std::string>& keys) {
    options.comparator = comparator;
    SstFileWriter writer(EnvOptions(), options);
    EXPECT_OK(options.env->CreateDirIfMissing("/outside"));
    EXPECT_OK(writer.Open("/outside/table.sst"));
    for (const std::string& key : keys) EXPECT_OK(writer.Put(key, "imported"));
    EXPECT_OK(writer.Finish());
    LiveFileMetaData file;
    file.name = "table.sst";
    file.db_path = "/outside";
    metadata_.db_comparator_name = comparator->Name();
    metadata_.files.push_back(file);
  }
  const ExportImportFilesMetaData& metadata() const { return metadata_; }

 private:
  ExportImportFilesMetaData metadata_;
};

// Creates a family with updates in place in every way that a database has.
void ExpectUpdatesInPlaceAreRefused(DB* db, const Options& options) {
  ColumnFamilyHandle* family = nullptr;
  EXPECT_TRUE(db->CreateColumnFamily(WithUpdatesInPlace(), "other", &family).IsNotSupported());
  std::vector<ColumnFamilyHandle*> families;
  EXPECT_TRUE(
      db->CreateColumnFamilies(WithUpdatesInPlace(), {"other"}, &families).IsNotSupported());
  EXPECT_TRUE(
      db->CreateColumnFamilies({{"other", WithUpdatesInPlace()}}, &families).IsNotSupported());
  const FamilyTable table(options, BytewiseComparator(), {"a"});
  EXPECT_TRUE(db->CreateColumnFamilyWithImport(WithUpdatesInPlace(), "other",
                                               ImportColumnFamilyOptions(), table.metadata(),
                                               &family)
                  .IsNotSupported());
}

class PessimisticFamiliesTest : public PessimisticFixture {
 protected:
  PessimisticFamiliesTest() { options_.allow_concurrent_memtable_write = false; }

  // Opens the database as a plain one, in the way in which it can be wrapped.
  DB* OpenBase(const ColumnFamilyOptions& family) {
    DBOptions db_options(options_);
    std::vector<ColumnFamilyDescriptor> families{{kDefaultColumnFamilyName, family}};
    TransactionDB::PrepareWrap(&db_options, &families, &compacting_);
    std::unique_ptr<DB> base;
    EXPECT_OK(DB::Open(db_options, "/db", families, &handles_, &base));
    return base.release();
  }
  void DeleteHandles() {
    for (ColumnFamilyHandle* handle : handles_) delete handle;
    handles_.clear();
  }

  std::vector<size_t> compacting_;
  std::vector<ColumnFamilyHandle*> handles_;
};

class OptimisticFamiliesTest : public OptimisticFixture {
 protected:
  OptimisticFamiliesTest() { options_.allow_concurrent_memtable_write = false; }
};

TEST_F(PessimisticFamiliesTest, NoFamilyWithUpdatesInPlaceIsCreated) {
  Open();
  ExpectUpdatesInPlaceAreRefused(db_.get(), options_);
}

TEST_F(OptimisticFamiliesTest, NoFamilyWithUpdatesInPlaceIsCreated) {
  Open();
  ExpectUpdatesInPlaceAreRefused(db_.get(), options_);
}

TEST_F(PessimisticFamiliesTest, ADatabaseWithUpdatesInPlaceIsNotWrapped) {
  for (const bool is_stacked : {false, true}) {
    DB* const base = OpenBase(WithUpdatesInPlace());
    DeleteHandles();
    TransactionDB* wrapped = nullptr;
    const Status status = is_stacked ? TransactionDB::WrapStackableDB(new StackableDB(base),
                                                                      db_options_, {}, {}, &wrapped)
                                     : TransactionDB::WrapDB(base, db_options_, {}, {}, &wrapped);
    EXPECT_TRUE(status.IsNotSupported()) << status.ToString();
    EXPECT_EQ(wrapped, nullptr);
  }
}

// The order of a family decides which end of a range comes first.
TEST_F(PessimisticFamiliesTest, TheLocksKnowTheOrderOfAnImportedFamily) {
  const std::shared_ptr<RangeLockManagerHandle> manager(NewRangeLockManager(nullptr));
  db_options_.lock_mgr_handle = manager;
  Open();
  ColumnFamilyOptions reversed;
  reversed.comparator = ReverseBytewiseComparator();
  const FamilyTable table(options_, ReverseBytewiseComparator(), {"c", "b", "a"});
  ColumnFamilyHandle* family = nullptr;
  ASSERT_OK(db_->CreateColumnFamilyWithImport(reversed, "other", ImportColumnFamilyOptions(),
                                              table.metadata(), &family));
  auto holder = Begin();
  ASSERT_OK(holder->GetRangeLock(family, Endpoint("c"), Endpoint("a")));
  EXPECT_TRUE(db_->Put(WriteOptions(), family, "b", "1").IsTimedOut());
  ASSERT_OK(holder->Rollback());
  ASSERT_OK(db_->Put(WriteOptions(), family, "b", "1"));
  ASSERT_OK(db_->DestroyColumnFamilyHandle(family));
}

// Of a call that fails at one family, those before it are dropped.
TEST_F(PessimisticFamiliesTest, AFamilyThatWasDroppedBeforeAnErrorHasNoLocks) {
  Open();
  ColumnFamilyHandle* family = nullptr;
  ASSERT_OK(db_->CreateColumnFamily(ColumnFamilyOptions(), "other", &family));
  EXPECT_FALSE(db_->DropColumnFamilies({family, db_->DefaultColumnFamily()}).ok());
  auto transaction = Begin();
  EXPECT_TRUE(transaction->Put(family, "a", "1").IsInvalidArgument());
  ASSERT_OK(db_->DestroyColumnFamilyHandle(family));
}

class DroppedFamilies : public PessimisticFixture,
                        public testing::WithParamInterface<TxnDBWritePolicy> {
 protected:
  DroppedFamilies() { db_options_.write_policy = GetParam(); }
  // A transaction with updates of two families, which is prepared before one of them is dropped.
  std::unique_ptr<Transaction> PrepareThenDrop(const std::string& value) {
    ColumnFamilyHandle* family = nullptr;
    EXPECT_OK(db_->CreateColumnFamily(ColumnFamilyOptions(options_), "other", &family));
    auto transaction = BeginNamed("x");
    EXPECT_OK(transaction->Put("a", value));
    EXPECT_OK(transaction->Put(family, "a", value));
    EXPECT_OK(transaction->Put("b", value));
    EXPECT_OK(transaction->Prepare());
    EXPECT_OK(db_->DropColumnFamily(family));
    EXPECT_OK(db_->DestroyColumnFamilyHandle(family));
    return transaction;
  }
  std::string Values() { return ValueOf(db_.get(), "a") + " " + ValueOf(db_.get(), "b"); }
};

INSTANTIATE_TEST_SUITE_P(Policies, DroppedFamilies, WritePolicies(), PolicyName);

// What was prepared was accepted, and nobody misses the rest.
TEST_P(DroppedFamilies, APreparedTransactionIsDecidedWithoutThem) {
  Open();
  ASSERT_OK(Put("a", "0"));
  ASSERT_OK(Put("b", "0"));
  for (const bool is_reopened : {false, true}) {
    SCOPED_TRACE(is_reopened);
    const std::string before = Values(), value = is_reopened ? "2" : "1";
    for (const bool is_committed : {false, true}) {
      SCOPED_TRACE(is_committed);
      auto transaction = PrepareThenDrop(value);
      if (is_reopened) {
        transaction.reset();
        ASSERT_NO_FATAL_FAILURE(Reopen());
        transaction.reset(db_->GetTransactionByName("x"));
        ASSERT_NE(transaction, nullptr);
      }
      ASSERT_OK(is_committed ? transaction->Commit() : transaction->Rollback());
      transaction.reset();
      EXPECT_EQ(LockCount(), 0u);
      const std::string after = is_committed ? value + " " + value : before;
      EXPECT_EQ(Values(), after);
      ASSERT_NO_FATAL_FAILURE(Reopen());
      EXPECT_EQ(Values(), after);
    }
  }
}

// They are new, so that the program must hear of it.
TEST_P(DroppedFamilies, UpdatesThatComeWithTheCommitAreRefused) {
  Open();
  ColumnFamilyHandle* family = nullptr;
  ASSERT_OK(db_->CreateColumnFamily(ColumnFamilyOptions(options_), "other", &family));
  TransactionOptions options;
  options.use_only_the_last_commit_time_batch_for_recovery = true;
  auto transaction = BeginNamed("x", options);
  ASSERT_OK(transaction->Put("a", "1"));
  ASSERT_OK(transaction->Prepare());
  ASSERT_OK(transaction->GetCommitTimeWriteBatch()->Put(family, "a", "1"));
  ASSERT_OK(db_->DropColumnFamily(family));
  EXPECT_TRUE(transaction->Commit().IsInvalidArgument());
  EXPECT_EQ(transaction->GetState(), Transaction::PREPARED);
  transaction->GetCommitTimeWriteBatch()->Clear();
  ASSERT_OK(transaction->Commit());
  EXPECT_EQ(ValueOf(db_.get(), "a"), "1");
  ASSERT_OK(db_->DestroyColumnFamilyHandle(family));
}

TEST_F(PessimisticFamiliesTest, AStackOfDatabasesIsWrapped) {
  DB* const base = OpenBase(ColumnFamilyOptions(options_));
  TransactionDB* wrapped = nullptr;
  ASSERT_OK(TransactionDB::WrapStackableDB(new StackableDB(base), db_options_, compacting_,
                                           handles_, &wrapped));
  db_.reset(wrapped);
  EXPECT_FALSE(db_->GetOptions().disable_auto_compactions);
  auto transaction = Begin();
  ASSERT_OK(transaction->Put("a", "1"));
  EXPECT_TRUE(Put("a", "2").IsTimedOut());
  ASSERT_OK(transaction->Commit());
  EXPECT_EQ(ValueOf(db_.get(), "a"), "1");
  transaction.reset();
  DeleteHandles();
}

}  // namespace
}  // namespace ashlar
