// SPDX-License-Identifier: Apache-2.0
//
// External files: their level, their sequence number and their visibility.
#include <thread>

#include "ashlar/listener.h"
#include "env/file_util.h"
#include "tests/db/ingestion/ingest_fixture.h"
#include "tests/support/no_reopen_fs.h"

namespace ashlar {

TEST_F(IngestTest, OfAnEmptyDatabaseGoToTheLastLevelWithNumberZero) {
  Open();
  ASSERT_OK(Ingest({File("/a.sst", 0, 100, "a")}));
  EXPECT_EQ(Levels(), "0,0,0,0,0,0,1");
  EXPECT_EQ(FileOn(6).largest_seqno, 0u);
  EXPECT_EQ(db_->GetLatestSequenceNumber(), 0u);
  EXPECT_EQ(Get(0) + Get(99) + Get(100), "aa-");
  CheckWhole();
  Reopen();
  EXPECT_EQ(Get(50), "a");
  EXPECT_OK(env_->FileExists("/a.sst"));  // the file was copied
}

TEST_F(IngestTest, LieAboveWhatTheyOverlap) {
  options_.level_compaction_dynamic_level_bytes = false;
  Open();
  ASSERT_OK(Ingest({File("/a.sst", 0, 100, "a")}));
  ASSERT_OK(Ingest({File("/b.sst", 50, 60, "b")}));
  EXPECT_EQ(Levels(), "0,0,0,0,0,1,1");
  EXPECT_EQ(FileOn(5).largest_seqno, 1u);
  EXPECT_EQ(db_->GetLatestSequenceNumber(), 1u);
  ASSERT_OK(Ingest({File("/c.sst", 200, 210, "c")}));  // overlaps no table
  EXPECT_EQ(Levels(), "0,0,0,0,0,1,2");
  ASSERT_OK(Ingest({File("/d.sst", 59, 205, "d")}));  // overlaps both
  EXPECT_EQ(Levels(), "0,0,0,0,1,1,2");
  EXPECT_EQ(Get(49) + Get(50) + Get(58) + Get(59) + Get(204) + Get(205), "abbddc");
  CheckWhole();
  Reopen();
  EXPECT_EQ(Get(49) + Get(50) + Get(58) + Get(59) + Get(204) + Get(205), "abbddc");
  Compact();
  EXPECT_EQ(Get(49) + Get(50) + Get(58) + Get(59) + Get(204) + Get(205), "abbddc");
}

// A file may be placed below a table whose range includes it, if the table has no key in its range.
TEST_F(IngestTest, FitBetweenTheKeysOfTablesAbove) {
  Open();
  Put(0, "x");
  Put(1000, "x");
  Flush();
  ASSERT_OK(Ingest({File("/a.sst", 10, 20, "a")}));
  EXPECT_EQ(Levels(), "1,0,0,0,0,0,1");
  EXPECT_EQ(FileOn(6).largest_seqno, 0u);
  EXPECT_EQ(Get(15), "a");
  EXPECT_EQ(Get(1000), "x");
  CheckWhole();
}

TEST_F(IngestTest, AreNewerThanWhatIsInMemory) {
  Open();
  Put(5, "old");
  Put(500, "old");
  ASSERT_OK(Ingest({File("/a.sst", 0, 10, "new")}));
  EXPECT_EQ(Levels(), "2,0,0,0,0,0,0");  // the memtable was flushed first
  EXPECT_EQ(FileOn(0).largest_seqno, 3u);
  EXPECT_EQ(Get(5) + Get(500), "newold");
  Put(5, "newest");
  EXPECT_EQ(Get(5), "newest");
  Flush();
  EXPECT_EQ(Get(5), "newest");
  CheckWhole();
  Reopen();
  EXPECT_EQ(Get(5) + Get(6) + Get(500), "newestnewold");
}

TEST_F(IngestTest, LeaveAMemTableAloneThatTheyDoNotTouch) {
  Open();
  Put(0, "x");
  Put(1000, "x");
  ASSERT_OK(Ingest({File("/a.sst", 10, 20, "a")}));
  EXPECT_EQ(Levels(), "0,0,0,0,0,0,1");
  Reopen();  // the memtable is recovered from the log
  EXPECT_EQ(Get(0) + Get(15) + Get(1000), "xax");
  CheckWhole();
}

TEST_F(IngestTest, MeetARangeTombstoneInMemory) {
  Open();
  DeleteRange(Key(0), Key(100));
  ASSERT_OK(Ingest({File("/a.sst", 10, 20, "a")}));
  EXPECT_EQ(Get(15), "a");
  EXPECT_EQ(Levels(), "2,0,0,0,0,0,0");
  CheckWhole();
}

TEST_F(IngestTest, MeetARangeTombstoneInATable) {
  Open();
  Put(15, "x");
  Flush();
  DeleteRange(Key(0), Key(100));
  Put(500, "x");
  Flush();
  Compact();
  DeleteRange(Key(0), Key(100));
  Flush();
  ASSERT_OK(Ingest({File("/a.sst", 10, 20, "a")}));
  EXPECT_EQ(Get(15), "a");
  EXPECT_GT(FileOn(0).largest_seqno, 0u);
  CheckWhole();
}

TEST_F(IngestTest, BringRangeTombstonesAndMerges) {
  Open();
  for (int i = 0; i < 30; i++) Put(i, "x");
  Flush();
  Put(12, "y");
  MakeFile("/a.sst", [](SstFileWriter* writer) {
    ASSERT_OK(writer->DeleteRange(Key(10), Key(20)));
    ASSERT_OK(writer->Merge(Key(15), "m"));
    ASSERT_OK(writer->Merge(Key(25), "m"));
    ASSERT_OK(writer->Delete(Key(26)));
  });
  ASSERT_OK(Ingest({"/a.sst"}));
  const auto check = [this] {
    EXPECT_EQ(Get(9) + Get(10) + Get(12) + Get(19) + Get(20), "x---x");
    EXPECT_EQ(Get(15), "m");  // the tombstone hides older entries, not those of its file
    EXPECT_EQ(Get(25), "x,m");
    EXPECT_EQ(Get(26), "-");
    CheckWhole();
  };
  check();
  Reopen();
  check();
  Compact();
  check();
}

TEST_F(IngestTest, AreNotSeenBySnapshots) {
  Open();
  ASSERT_OK(Ingest({File("/a.sst", 0, 10, "a")}));
  const Snapshot* before = db_->GetSnapshot();
  std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
  ASSERT_OK(Ingest({File("/b.sst", 5, 15, "b")}));
  ASSERT_OK(Ingest({File("/c.sst", 20, 25, "c")}));  // overlaps nothing
  EXPECT_EQ(Get(5, before) + Get(12, before) + Get(22, before), "a--");
  EXPECT_EQ(Get(5) + Get(12) + Get(22), "bbc");
  int shown = 0;
  for (it->SeekToFirst(); it->Valid(); it->Next()) shown++;
  EXPECT_EQ(shown, 10);
  it.reset();
  EXPECT_EQ(Get(22, before), "-");
  Compact();
  EXPECT_EQ(Get(5, before) + Get(12, before) + Get(22, before), "a--");
  db_->ReleaseSnapshot(before);

  before = db_->GetSnapshot();
  IngestExternalFileOptions seen;
  seen.snapshot_consistency = false;
  ASSERT_OK(Ingest({File("/d.sst", 30, 35, "d")}, seen));
  EXPECT_EQ(Get(32, before), "d");  // as the option allows
  db_->ReleaseSnapshot(before);
}

TEST_F(IngestTest, OfOneCallMayOverlapEachOther) {
  Open();
  ASSERT_OK(
      Ingest({File("/b.sst", 5, 15, "b"), File("/a.sst", 0, 10, "a"), File("/c.sst", 9, 12, "c")}));
  const auto check = [this] {  // later ones are newer
    EXPECT_EQ(Get(4) + Get(5) + Get(8) + Get(9) + Get(11) + Get(12), "aaaccb");
    CheckWhole();
  };
  check();
  EXPECT_EQ(Levels(), "3,0,0,0,0,0,0");
  Reopen();
  check();
  Compact();
  check();
}

TEST_F(IngestTest, OfOneCallMayTouch) {
  Open();
  MakeFile("/a.sst", [](SstFileWriter* writer) {
    ASSERT_OK(writer->Put(Key(0), "a"));
    ASSERT_OK(writer->DeleteRange(Key(1), Key(5)));
  });
  ASSERT_OK(Ingest({"/a.sst", File("/b.sst", 5, 7, "b")}));
  EXPECT_EQ(Levels(), "0,0,0,0,0,0,2");
  EXPECT_EQ(Get(0) + Get(4) + Get(5), "a-b");
  CheckWhole();
}

// Blocks of the first table in the cache are not used for the second one.
TEST_F(IngestTest, OfEqualContentsAreTwoTables) {
  Open();
  ASSERT_OK(Ingest({File("/a.sst", 0, 100, "a")}));
  for (int i = 0; i < 200; i++)
    EXPECT_EQ(Get(5), "a");  // so that its block is in the cache in decoded form
  Put(5, "between");
  const Snapshot* between = db_->GetSnapshot();
  ASSERT_OK(Ingest({"/a.sst"}));
  for (int i = 0; i < 10; i++) {
    EXPECT_EQ(Get(5), "a");
    EXPECT_EQ(Get(5, between), "between");
    EXPECT_EQ(Scan().find("between"), std::string::npos);
    std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
    for (it->SeekToLast(); it->Valid(); it->Prev()) EXPECT_EQ(it->value(), Slice("a"));
    EXPECT_OK(it->status());
  }
  db_->ReleaseSnapshot(between);
}

TEST_F(IngestTest, AreMovedLinkedOrCopied) {
  Open();
  IngestExternalFileOptions move, link;
  move.move_files = true;
  link.link_files = true;
  ASSERT_OK(Ingest({File("/a.sst", 0, 10, "a")}, move));
  EXPECT_TRUE(env_->FileExists("/a.sst").IsNotFound());
  ASSERT_OK(Ingest({File("/b.sst", 10, 20, "b")}, link));
  EXPECT_OK(env_->FileExists("/b.sst"));
  EXPECT_EQ(Get(5) + Get(15), "ab");
  move.link_files = true;
  EXPECT_TRUE(Ingest({"/b.sst"}, move).IsInvalidArgument());
  Reopen();
  EXPECT_EQ(Get(5) + Get(15), "ab");
}

TEST_F(IngestTest, CarryTheirNumberIfAskedTo) {
  Open();
  ASSERT_OK(Ingest({File("/a.sst", 0, 10, "a")}));
  IngestExternalFileOptions write;
  write.write_global_seqno = true;
  ASSERT_OK(Ingest({File("/b.sst", 5, 15, "b")}, write));
  Reopen();
  EXPECT_EQ(Get(5) + Get(4), "ba");
  TablePropertiesCollection properties;
  ASSERT_OK(db_->GetPropertiesOfAllTables(&properties));
  int written = 0;
  for (const auto& [path, table] : properties) {
    const auto& own = table->user_collected_properties;
    const auto found = own.find("rocksdb.external_sst_file.global_seqno");
    ASSERT_NE(found, own.end());
    written += found->second != std::string(8, '\0');
  }
  EXPECT_EQ(written, 1);
  CheckWhole();
}

TEST_F(IngestTest, AreRefusedForWhatTheOptionsExclude) {
  Open();
  ASSERT_OK(Ingest({File("/a.sst", 0, 10, "a")}));
  File("/b.sst", 5, 15, "b");
  IngestExternalFileOptions no_number;
  no_number.allow_global_seqno = false;
  EXPECT_TRUE(Ingest({"/b.sst"}, no_number).IsInvalidArgument());
  ASSERT_OK(Ingest({File("/c.sst", 50, 55, "c")}, no_number));
  IngestExternalFileOptions bottommost;
  bottommost.fail_if_not_bottommost_level = true;
  EXPECT_TRUE(Ingest({"/b.sst"}, bottommost).IsTryAgain());
  ASSERT_OK(Ingest({File("/d.sst", 60, 65, "d")}, bottommost));
  Put(5, "x");
  IngestExternalFileOptions no_flush;
  no_flush.allow_blocking_flush = false;
  EXPECT_TRUE(Ingest({"/b.sst"}, no_flush).IsInvalidArgument());
  IngestExternalFileOptions behind;
  behind.ingest_behind = true;
  EXPECT_TRUE(Ingest({"/b.sst"}, behind).IsInvalidArgument());
  EXPECT_TRUE(Ingest({}).IsInvalidArgument());
  EXPECT_TRUE(db_->IngestExternalFiles({}).IsInvalidArgument());
  EXPECT_TRUE(db_->IngestExternalFiles({IngestExternalFileArg()}).IsInvalidArgument());
  EXPECT_EQ(FilesOnDisk(".sst"), 3);  // none of the refused files
  EXPECT_EQ(Get(5) + Get(12), "x-");
}

TEST_F(IngestTest, OfADatabaseAreRefusedUnlessAllowed) {
  Open();
  Put(1, "x");
  Flush();
  const std::string table = "/db" + FileOn(0).name;
  ASSERT_OK(CopyFileTo(env_->GetFileSystem().get(), table, "/x.sst"));
  EXPECT_TRUE(Ingest({"/x.sst"}).IsInvalidArgument());
  Close();
  ASSERT_OK(DestroyDB("/db", options_));
  Open();
  IngestExternalFileOptions allowed;
  allowed.allow_db_generated_files = true;
  ASSERT_OK(Ingest({"/x.sst"}, allowed));
  EXPECT_EQ(Get(1), "x");
  EXPECT_EQ(db_->GetLatestSequenceNumber(), 1u);  // the number of its entry
  CheckWhole();
  EXPECT_TRUE(Ingest({"/x.sst"}, allowed).IsInvalidArgument());  // it overlaps the ingested copy
  Put(1, "y");
  EXPECT_EQ(Get(1), "y");
  Reopen();
  EXPECT_EQ(Get(1), "y");
}

TEST_F(IngestTest, BehindEverythingStayAloneWhenACompactionIsSuggested) {
  options_.allow_ingest_behind = true;
  options_.num_levels = 4;
  options_.disable_auto_compactions = false;
  Open();
  Put(1, "v");
  Compact();
  IngestExternalFileOptions behind;
  behind.ingest_behind = true;
  ASSERT_OK(Ingest({File("/a.sst", 0, 5, "a")}, behind));
  ASSERT_EQ(Levels(), "0,0,1,1");
  ASSERT_OK(db_->SuggestCompactRange(db_->DefaultColumnFamily(), nullptr, nullptr));
  WaitForJobs();
  EXPECT_EQ(Levels(), "0,0,1,1");
}

TEST_F(IngestTest, NameTheFileThatIsDamaged) {
  Open();
  File("/a.sst", 0, 5000, "a long value that fills some blocks");
  auto bytes = ReadWholeFile(env_->GetFileSystem().get(), "/a.sst");
  ASSERT_OK(bytes.status());
  std::string damaged = *bytes;
  damaged[9000] ^= 1;
  ASSERT_OK(WriteStringToFile(env_.get(), damaged, "/b.sst"));
  IngestExternalFileOptions verify;
  verify.verify_checksums_before_ingest = true;
  const Status status = Ingest({"/b.sst"}, verify);
  EXPECT_TRUE(status.IsCorruption()) << status.ToString();
  EXPECT_NE(status.ToString().find("/b.sst"), std::string::npos) << status.ToString();
  EXPECT_NE(status.ToString().find("offset"), std::string::npos) << status.ToString();
  ASSERT_OK(WriteStringToFile(env_.get(), "no table at all", "/c.sst"));
  EXPECT_TRUE(Ingest({"/a.sst", "/c.sst"}).IsCorruption());
  EXPECT_FALSE(Ingest({"/a.sst", "/missing.sst"}).ok());
  EXPECT_EQ(FilesOnDisk(".sst"), 0);
  EXPECT_EQ(Get(0), "-");
}

TEST_F(IngestTest, OfSeveralFamiliesComeTogether) {
  Open({kDefaultColumnFamilyName, "second", "third"});
  Put(handles_[1], Key(3), "old");
  IngestExternalFileArg first, second;
  first.column_family = handles_[0];
  first.external_files = {File("/a.sst", 0, 10, "a")};
  second.column_family = handles_[1];
  second.external_files = {File("/b.sst", 0, 10, "b"), File("/c.sst", 20, 30, "c")};
  ASSERT_OK(db_->IngestExternalFiles({first, second}));
  const auto check = [this] {
    EXPECT_EQ(Get(Key(3)) + Get(Key(3), nullptr, 1) + Get(Key(25), nullptr, 1), "abc");
    EXPECT_EQ(Get(Key(3), nullptr, 2), "-");
    CheckWhole();
  };
  check();
  // One bad file fails the whole call.
  first.external_files = {File("/d.sst", 100, 110, "d")};
  second.external_files = {"/missing.sst"};
  EXPECT_FALSE(db_->IngestExternalFiles({first, second}).ok());
  second.external_files = {"/a.sst"};
  second.column_family = handles_[0];
  EXPECT_TRUE(db_->IngestExternalFiles({first, second}).IsInvalidArgument());
  EXPECT_EQ(Get(105), "-");
  Reopen();
  check();
}

TEST_F(IngestTest, AreForTheFamilyTheyWereMadeFor) {
  Open({kDefaultColumnFamilyName, "second"});
  SstFileWriter writer(EnvOptions(), options_, handles_[1]);
  ASSERT_OK(writer.Open("/a.sst"));
  ASSERT_OK(writer.Put(Key(1), "a"));
  ASSERT_OK(writer.Finish());
  EXPECT_TRUE(Ingest({"/a.sst"}).IsInvalidArgument());
  ASSERT_OK(db_->IngestExternalFile(handles_[1], {"/a.sst"}, IngestExternalFileOptions()));
  EXPECT_EQ(Get(Key(1), nullptr, 1), "a");
}

TEST_F(IngestTest, InTwoStepsAreStagedAndCommitted) {
  Open({kDefaultColumnFamilyName, "second"});
  std::unique_ptr<FileIngestionHandle> first, second, dropped;
  ASSERT_OK(db_->PrepareFileIngestion(handles_[0], {File("/a.sst", 0, 10, "a")}, {}, &first));
  ASSERT_OK(db_->PrepareFileIngestion(handles_[1], {File("/b.sst", 0, 10, "b")}, {}, &second));
  ASSERT_OK(db_->PrepareFileIngestion(handles_[0], {"/a.sst"}, {}, &dropped));
  EXPECT_EQ(Get(5), "-");
  EXPECT_EQ(FilesOnDisk(".sst"), 3);
  ASSERT_OK(dropped->Abort());
  EXPECT_EQ(FilesOnDisk(".sst"), 2);
  std::vector<std::unique_ptr<FileIngestionHandle>> both;
  both.push_back(std::move(first));
  both.push_back(std::move(second));
  ASSERT_OK(db_->CommitFileIngestionHandles(std::move(both)));
  EXPECT_EQ(Get(Key(5)) + Get(Key(5), nullptr, 1), "ab");
  EXPECT_TRUE(db_->CommitFileIngestionHandle(std::move(dropped)).IsInvalidArgument());
  EXPECT_TRUE(db_->CommitFileIngestionHandles({}).IsInvalidArgument());
  EXPECT_TRUE(db_->CommitFileIngestionHandle(nullptr).IsInvalidArgument());
}

TEST_F(IngestTest, WaitingToBeCommittedGoWithTheirHandle) {
  Open();
  {
    std::unique_ptr<FileIngestionHandle> handle;
    ASSERT_OK(db_->PrepareFileIngestion(handles_[0], {File("/a.sst", 0, 10, "a")}, {}, &handle));
    EXPECT_EQ(FilesOnDisk(".sst"), 1);
  }
  EXPECT_EQ(FilesOnDisk(".sst"), 0);
}

TEST_F(IngestTest, OfADroppedFamilyAreRefused) {
  Open({kDefaultColumnFamilyName, "second"});
  std::unique_ptr<FileIngestionHandle> handle;
  ASSERT_OK(db_->PrepareFileIngestion(handles_[1], {File("/a.sst", 0, 10, "a")}, {}, &handle));
  ASSERT_OK(db_->DropColumnFamily(handles_[1]));
  EXPECT_TRUE(db_->CommitFileIngestionHandle(std::move(handle)).IsColumnFamilyDropped());
  EXPECT_EQ(FilesOnDisk(".sst"), 0);
}

namespace {

class IngestionListener final : public EventListener {
 public:
  void OnExternalFileIngested(DB* db, const ExternalFileIngestionInfo& info) override {
    std::string value;
    EXPECT_OK(db->Get(ReadOptions(), "k0001", &value));  // a listener may call back
    calls += info.cf_name + " " + info.external_file_path + " " + info.internal_file_path + " @" +
             std::to_string(info.global_seqno) + " " +
             std::to_string(info.table_properties.num_entries) + "\n";
  }
  std::string calls;
};

}  // namespace

TEST_F(IngestTest, AreToldToListeners) {
  const auto listener = std::make_shared<IngestionListener>();
  options_.listeners.push_back(listener);
  Open();
  Put(1, "x");
  Flush();
  ASSERT_OK(Ingest({File("/a.sst", 0, 10, "a")}));
  EXPECT_EQ(listener->calls, "default /a.sst " + FileOn(0).directory + FileOn(0).name + " @2 10\n");
  EXPECT_FALSE(Ingest({"/missing.sst"}).ok());
  EXPECT_EQ(listener->calls.find("missing"), std::string::npos);
}

// Its files are installed by then, and belong to whoever holds the handle.
TEST_F(IngestTest, OfAFamilyThatAListenerDropsAreReadThroughItsHandle) {
  class Dropper final : public EventListener {
   public:
    void OnExternalFileIngested(DB* db, const ExternalFileIngestionInfo& info) override {
      if (info.cf_name != "first") return;
      EXPECT_OK(db->DropColumnFamily(second));
    }
    ColumnFamilyHandle* second = nullptr;
  };
  const auto dropper = std::make_shared<Dropper>();
  options_.listeners.push_back(dropper);
  Open({kDefaultColumnFamilyName, "first", "second"});
  dropper->second = handles_[2];
  std::vector<IngestExternalFileArg> args(2);
  args[0].column_family = handles_[1];
  args[0].external_files = {File("/a.sst", 0, 2, "a")};
  args[1].column_family = handles_[2];
  args[1].external_files = {File("/b.sst", 0, 2, "b")};
  ASSERT_OK(db_->IngestExternalFiles(args));
  EXPECT_EQ(FilesOnDisk(".sst"), 2);
  EXPECT_EQ(Get(Key(1), nullptr, 2), "b");
  EXPECT_EQ(Scan(nullptr, 2), Key(0) + "=b " + Key(1) + "=b");
  ASSERT_OK(db_->DestroyColumnFamilyHandle(handles_[2]));
  handles_.pop_back();
  // A background thread deletes the file if another thread is just leaving an epoch.
  for (int i = 0; i < 100'000 && FilesOnDisk(".sst") != 1; ++i) std::this_thread::yield();
  EXPECT_EQ(FilesOnDisk(".sst"), 1);
}

// A scan over deleted keys writes a range tombstone to the memtable, which may not hide files that
// were ingested after the snapshot of the scan.
TEST_F(IngestTest, AreNotHiddenByWhatAScanLeaves) {
  options_.min_tombstones_for_range_conversion = 4;
  Open();
  for (int i = 0; i < 100; i++) Put(i, "x");
  Flush();
  for (int i = 0; i < 100; i++) Delete(Key(i));
  Flush();
  Put(500, "x");
  std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
  ASSERT_OK(Ingest({File("/a.sst", 50, 51, "a")}));
  it->SeekToFirst();
  ASSERT_TRUE(it->Valid());
  EXPECT_EQ(it->key(), Slice(Key(500)));
  EXPECT_EQ(Get(50), "a");
  EXPECT_EQ(Scan(), Key(50) + "=a " + Key(500) + "=x");
}

// The writer of the file has to sync it, because the database cannot.
TEST_F(IngestTest, AreLinkedWhereNoFileCanBeOpenedAgain) {
  UseFiles(std::make_shared<NoReopenFs>(memory_));
  Open();
  IngestExternalFileOptions moving, linking;
  moving.move_files = true;
  linking.link_files = true;
  ASSERT_OK(Ingest({File("/a.sst", 0, 10, "a")}, moving));
  ASSERT_OK(Ingest({File("/b.sst", 20, 30, "b")}, linking));
  EXPECT_EQ(Get(5) + Get(25), "ab");
}

}  // namespace ashlar
