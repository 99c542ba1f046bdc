// SPDX-License-Identifier: Apache-2.0
//
// Families with disallow_memtable_writes take data by ingestion only.
#include "ashlar/utilities/checkpoint.h"
#include "ashlar/utilities/db_ttl.h"
#include "ashlar/utilities/write_batch_with_index.h"
#include "tests/db/ingestion/ingest_fixture.h"

namespace ashlar {
namespace {

class IngestionOnlyTest : public IngestTest {
 protected:
  // The default family takes writes, the other one does not.
  void OpenBoth(bool takes_writes = false) {
    ColumnFamilyOptions second = options_;
    second.disallow_memtable_writes = !takes_writes;
    OpenWith({{kDefaultColumnFamilyName, options_}, {"second", second}});
  }
  Status IngestSecond(const std::string& file) {
    return db_->IngestExternalFile(handles_[1], {file}, IngestExternalFileOptions());
  }
};

TEST_F(IngestionOnlyTest, EveryWriteIsRefused) {
  OpenBoth();
  ColumnFamilyHandle* const second = handles_[1];
  const WriteOptions write;
  const SequenceNumber before = db_->GetLatestSequenceNumber();
  EXPECT_TRUE(db_->Put(write, second, "a", "1").IsInvalidArgument());
  EXPECT_TRUE(db_->Put(Unlogged(), second, "a", "1").IsInvalidArgument());
  EXPECT_TRUE(db_->PutEntity(write, second, "a", {{"c", "1"}}).IsInvalidArgument());
  EXPECT_TRUE(db_->Merge(write, second, "a", "1").IsInvalidArgument());
  EXPECT_TRUE(db_->Delete(write, second, "a").IsInvalidArgument());
  EXPECT_TRUE(db_->SingleDelete(write, second, "a").IsInvalidArgument());
  EXPECT_TRUE(db_->DeleteRange(write, second, "a", "b").IsInvalidArgument());
  const auto indexed = std::make_shared<WriteBatchWithIndex>(BytewiseComparator(), 0, true);
  ASSERT_OK(indexed->Put(second, "a", "1"));
  EXPECT_TRUE(db_->IngestWriteBatchWithIndex(Unlogged(), indexed).IsInvalidArgument());
  WriteBatch both;
  ASSERT_OK(both.Put("a", "1"));
  ASSERT_OK(both.Put(second, "a", "1"));
  const Status status = db_->Write(write, &both);
  EXPECT_TRUE(status.IsInvalidArgument());
  EXPECT_NE(status.ToString().find("disallow_memtable_writes"), std::string::npos);
  EXPECT_EQ(Scan(), "") << "nothing of a refused batch is applied";
  EXPECT_EQ(db_->GetLatestSequenceNumber(), before);
  Put("a", "1");
  EXPECT_EQ(Scan(), "a=1");
}

TEST_F(IngestionOnlyTest, IngestedFilesAreReadAndReplaced) {
  OpenBoth();
  ASSERT_OK(IngestSecond(File("/one.sst", 0, 3, "1")));
  ASSERT_OK(IngestSecond(File("/two.sst", 1, 2, "2")));
  EXPECT_EQ(Scan(nullptr, 1), "k0000=1 k0001=2 k0002=1");
  Compact(handles_[1]);
  OpenBoth();
  EXPECT_EQ(Scan(nullptr, 1), "k0000=1 k0001=2 k0002=1");
}

// The writes were made before the option was set. The file is newer than they are, although it
// meets them in the memtable.
TEST_F(IngestionOnlyTest, LoggedWritesAreRecovered) {
  options_.avoid_flush_during_recovery = true;
  options_.avoid_flush_during_shutdown = true;
  OpenBoth(/*takes_writes=*/true);
  for (int i = 0; i < 3; i++) Put(handles_[1], Key(i), "1");
  OpenBoth();
  EXPECT_EQ(Scan(nullptr, 1), "k0000=1 k0001=1 k0002=1");
  ASSERT_OK(IngestSecond(File("/two.sst", 1, 2, "2")));
  EXPECT_EQ(Scan(nullptr, 1), "k0000=1 k0001=2 k0002=1");
  EXPECT_TRUE(db_->Put(WriteOptions(), handles_[1], "a", "1").IsInvalidArgument());
  OpenBoth();
  EXPECT_EQ(Scan(nullptr, 1), "k0000=1 k0001=2 k0002=1");
}

// The batch of a program that copies the log of another database.
TEST_F(IngestionOnlyTest, BatchesOfALogAreRefused) {
  OpenBoth(/*takes_writes=*/true);
  ASSERT_OK(db_->Put(WriteOptions(), handles_[1], "a", "1"));
  std::unique_ptr<TransactionLogIterator> updates;
  ASSERT_OK(db_->GetUpdatesSince(1, &updates));
  ASSERT_TRUE(updates->Valid());
  BatchResult found = updates->GetBatch();
  updates.reset();
  OpenBoth();
  const SequenceNumber before = db_->GetLatestSequenceNumber();
  EXPECT_TRUE(db_->Write(WriteOptions(), found.writeBatchPtr.get()).IsInvalidArgument());
  EXPECT_EQ(db_->GetLatestSequenceNumber(), before);
}

// An import installs tables, so the option does not forbid it. What comes later is refused.
TEST_F(IngestionOnlyTest, ImportedFamiliesAreReadAndTakeFilesOnly) {
  OpenBoth();
  Put("a", "1");
  Checkpoint* made = nullptr;
  ASSERT_OK(Checkpoint::Create(db_.get(), &made));
  const std::unique_ptr<Checkpoint> checkpoint(made);
  ExportImportFilesMetaData* exported = nullptr;
  ASSERT_OK(checkpoint->ExportColumnFamily(handles_[0], "/exported", &exported));
  const std::unique_ptr<ExportImportFilesMetaData> metadata(exported);
  ColumnFamilyOptions closed = options_;
  closed.disallow_memtable_writes = true;
  ColumnFamilyHandle* imported = nullptr;
  ASSERT_OK(db_->CreateColumnFamilyWithImport(closed, "imported", ImportColumnFamilyOptions(),
                                              *metadata, &imported));
  handles_.push_back(imported);
  EXPECT_EQ(Scan(nullptr, 2), "a=1");
  EXPECT_TRUE(db_->Put(WriteOptions(), imported, "b", "1").IsInvalidArgument());
  ASSERT_OK(db_->IngestExternalFile(imported, {File("/one.sst", 0, 1, "1")},
                                    IngestExternalFileOptions()));
  EXPECT_EQ(Scan(nullptr, 2), "a=1 k0000=1");
}

TEST_F(IngestionOnlyTest, WritesOfADatabaseWithTtlAreRefused) {
  Options options = options_;
  options.disallow_memtable_writes = true;
  DBWithTTL* opened = nullptr;
  ASSERT_OK(DBWithTTL::Open(options, "/ttl", &opened, /*ttl=*/10));
  const std::unique_ptr<DBWithTTL> ttl(opened);
  EXPECT_TRUE(ttl->Put(WriteOptions(), "a", "1").IsInvalidArgument());
  std::string value;
  EXPECT_TRUE(ttl->Get(ReadOptions(), "a", &value).IsNotFound());
}

}  // namespace
}  // namespace ashlar
