// SPDX-License-Identifier: Apache-2.0
//
// A secondary beside its primary: what it sees after a catch-up, and what it refuses.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "ashlar/file_checksum.h"
#include "ashlar/sst_file_writer.h"
#include "db/options/stock_merge_operators.h"
#include "env/env_adaptors.h"
#include "env/fault/fault_file_system.h"
#include "tests/db/following/secondary_db.h"
#include "tests/support/test_db.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

class SecondaryTest : public DbTest {
 protected:
  SecondaryTest() { options_.write_buffer_size = 1 << 20; }
  void OpenBoth(const std::vector<std::string>& families = {kDefaultColumnFamilyName}) {
    Open(families);
    secondary_.Open(options_, dir_, families);
  }
  void TearDown() override {
    secondary_.Close();
    DbTest::TearDown();
  }

  SecondaryDb secondary_;
};

}  // namespace

TEST_F(SecondaryTest, SeesAtOpenWhatTablesAndLogsHold) {
  Open();
  Put("a", "1");
  Flush();
  Put("b", "2");
  secondary_.Open(options_, dir_);
  EXPECT_EQ(secondary_.ReadRows(), (Rows{{"a", "1"}, {"b", "2"}}));
}

TEST_F(SecondaryTest, SeesNewWritesAfterACatchUpAndNotBefore) {
  OpenBoth();
  Put("a", "1");
  EXPECT_EQ(secondary_.Get("a"), "(none)");
  secondary_.CatchUp();
  EXPECT_EQ(secondary_.Get("a"), "1");
  Put("a", "2");
  Delete("b");
  EXPECT_EQ(secondary_.Get("a"), "1");
  secondary_.CatchUp();
  EXPECT_EQ(secondary_.Get("a"), "2");
}

TEST_F(SecondaryTest, FollowsFlushesAndCompactions) {
  OpenBoth();
  for (int round = 0; round < 5; round++) {
    Fill(50, 20);
    Put("round", StrCat(round));
    Flush();
    if (round % 2 == 1) Compact();
    secondary_.CatchUp();
    EXPECT_EQ(secondary_.Get("round"), StrCat(round));
    EXPECT_EQ(secondary_.ReadRows(), ReadRows());
  }
}

// An operand that a table and a memtable both had would count twice.
TEST_F(SecondaryTest, EntriesThatWereFlushedCountOnce) {
  options_.merge_operator = NewStringAppendOperator(",");
  OpenBoth({kDefaultColumnFamilyName, "other"});
  Merge("k", "a");
  Merge(Family("other"), "k", "b");
  secondary_.CatchUp();
  EXPECT_EQ(secondary_.Get("k"), "a");
  Flush();
  Merge("k", "c");
  secondary_.CatchUp();
  EXPECT_EQ(secondary_.Get("k"), "a,c");
  EXPECT_EQ(secondary_.Get("k", 1), "b");
  Flush(Family("other"));
  Merge(Family("other"), "k", "d");
  secondary_.CatchUp();
  EXPECT_EQ(secondary_.Get("k", 1), "b,d");
}

// A family goes on in the next log before the memtable of the last one is flushed.
TEST_F(SecondaryTest, MemTablesAreDroppedLogByLog) {
  options_.merge_operator = NewStringAppendOperator(",");
  options_.write_buffer_size = 64 << 10;
  options_.arena_block_size = 4096;
  options_.max_write_buffer_number = 6;
  Open();
  Options larger = options_;
  larger.write_buffer_size = 64 << 20;
  secondary_.Open(larger, dir_);
  ASSERT_OK(db_->PauseBackgroundWork());
  Merge("k", "a");
  Fill(800);
  Merge("k", "b");
  ASSERT_GE(FilesOnDisk(".log"), 2);
  secondary_.CatchUp();
  EXPECT_EQ(secondary_.Get("k"), "a,b");
  ASSERT_OK(db_->ContinueBackgroundWork());
  WaitForJobs();
  Merge("k", "c");
  secondary_.CatchUp();
  EXPECT_EQ(secondary_.Get("k"), "a,b,c");
}

TEST_F(SecondaryTest, OpensItsChoiceOfFamilies) {
  Open({kDefaultColumnFamilyName, "one", "two"});
  Put(Family("two"), "k", "2");
  secondary_.Open(options_, dir_, {kDefaultColumnFamilyName, "two"});
  EXPECT_EQ(secondary_.Get("k", 1), "2");
  Put(Family("one"), "k", "1");
  CreateFamily("three");
  Put(Family("three"), "k", "3");
  Put(Family("two"), "k", "22");
  Flush(Family("three"));
  secondary_.CatchUp();
  EXPECT_EQ(secondary_.Get("k", 1), "22");
}

TEST_F(SecondaryTest, ADroppedFamilyStaysReadableThroughItsHandle) {
  OpenBoth({kDefaultColumnFamilyName, "other"});
  Put(Family("other"), "k", "v");
  Flush(Family("other"));
  Put(Family("other"), "l", "w");
  secondary_.CatchUp();
  ASSERT_OK(db_->DropColumnFamily(Family("other")));
  DestroyHandles();
  Put("a", "1");
  secondary_.CatchUp();
  EXPECT_EQ(secondary_.Get("k", 1), "v");
  EXPECT_EQ(secondary_.ReadRows(1), (Rows{{"k", "v"}, {"l", "w"}}));
  EXPECT_EQ(secondary_.Get("a"), "1");
  std::vector<Iterator*> iterators;
  ASSERT_OK(secondary_->NewIterators(ReadOptions(), secondary_.handles(), &iterators));
  EXPECT_EQ(SecondaryDb::RowsOf(iterators[0]), (Rows{{"a", "1"}}));
  EXPECT_EQ(SecondaryDb::RowsOf(iterators[1]), (Rows{{"k", "v"}, {"l", "w"}}));
  for (Iterator* it : iterators) delete it;
}

TEST_F(SecondaryTest, FollowsThePrimaryThroughReopenings) {
  OpenBoth();
  for (int round = 0; round < 4; round++) {
    Put(StrCat("k", round), "v");
    if (round % 2 == 0) Flush();
    Put("last", StrCat(round));
    secondary_.CatchUp();
    Put(StrCat("unseen", round), "v");
    Reopen();
    Put(StrCat("between", round), "v");  // in a log that comes and goes
    Reopen();
    Put("reopened", StrCat(round));
    secondary_.CatchUp();
    EXPECT_EQ(secondary_.ReadRows(), ReadRows());
  }
}

TEST_F(SecondaryTest, SeesUnloggedWritesOnceTheyAreFlushed) {
  OpenBoth();
  Put("logged", "1");
  ASSERT_OK(db_->Put(Unlogged(), "unlogged", "2"));
  secondary_.CatchUp();
  EXPECT_EQ(secondary_.ReadRows(), (Rows{{"logged", "1"}}));
  Flush();
  secondary_.CatchUp();
  EXPECT_EQ(secondary_.ReadRows(), (Rows{{"logged", "1"}, {"unlogged", "2"}}));
}

// The numbers of a table may be above those of a log that was read only in part.
TEST_F(SecondaryTest, ReadersThatHoldAViewSeeNoEntryThatIsReadFromTheLogLater) {
  options_.manual_wal_flush = true;
  OpenBoth({kDefaultColumnFamilyName, "other"});
  Put("early", "1");
  const std::string path = "/file.sst";
  SstFileWriter writer{EnvOptions(), options_};
  ASSERT_OK(writer.Open(path));
  ASSERT_OK(writer.Put("ingested", "2"));
  ASSERT_OK(writer.Finish());
  IngestExternalFileOptions ingest;
  ingest.snapshot_consistency = true;
  const Snapshot* const forces_a_number = db_->GetSnapshot();
  ASSERT_OK(db_->IngestExternalFile(Family("other"), {path}, ingest));
  db_->ReleaseSnapshot(forces_a_number);
  secondary_.CatchUp();
  const Rows before = secondary_.ReadRows();
  const std::unique_ptr<Iterator> it(secondary_->NewIterator(ReadOptions(), secondary_.Family(0)));
  const Snapshot* const snapshot = secondary_->GetSnapshot();
  ASSERT_OK(db_->FlushWAL(false));
  secondary_.CatchUp();
  EXPECT_EQ(secondary_.Get("early"), "1");
  EXPECT_EQ(SecondaryDb::RowsOf(it.get()), before);
  EXPECT_EQ(secondary_.ReadRows(0, AsOf(snapshot)), before);
  secondary_->ReleaseSnapshot(snapshot);
}

// The logs of a copy of the database grow at the moment between the end of one and the next.
TEST_F(SecondaryTest, ALogIsReadAgainOnceTheNextOneHasARecord) {
  Open({kDefaultColumnFamilyName, "other"});
  Put(Family("other"), "a", "1");
  const std::map<std::string, std::string> early = memory_->AllFiles();
  Put(Family("other"), "b", "2");
  Put("flushed", "");
  Flush(Family(kDefaultColumnFamilyName));
  Put(Family("other"), "c", "3");
  const std::map<std::string, std::string> late = memory_->AllFiles();
  const auto copy_of = [](const std::string& path) { return "/copy" + path.substr(3); };
  std::vector<std::string> logs;
  ASSERT_OK(env_->CreateDir("/copy"));
  for (const auto& [path, bytes] : late) {
    if (!Slice(path).starts_with("/db/")) continue;
    const bool is_log = Slice(path).ends_with(".log");
    if (is_log) logs.push_back(path);
    const auto before = early.find(path);
    ASSERT_OK(WriteStringToFile(env_.get(),
                                !is_log                 ? bytes
                                : before == early.end() ? ""
                                                        : before->second,
                                copy_of(path)));
  }
  ASSERT_EQ(logs.size(), 2u);

  const auto watched = std::make_shared<FaultFileSystem>(memory_);
  const std::unique_ptr<Env> env =
      NewCompositeEnvOver(Env::Default(), watched, SystemClock::Default());
  Options options = options_;
  options.env = env.get();
  secondary_.Open(options, "/copy", {kDefaultColumnFamilyName, "other"});
  EXPECT_EQ(secondary_.ReadRows(1), (Rows{{"a", "1"}}));
  watched->SetHook([&](const FileCall& call, bool is_before) {
    if (!is_before || call.kind != CallKind::kRead || call.path != copy_of(logs[1])) return;
    std::thread([&] {
      for (const std::string& path : logs) {
        std::unique_ptr<FSRandomRWFile> file;
        EXPECT_OK(memory_->NewRandomRWFile(copy_of(path), FileOptions(), &file, nullptr));
        EXPECT_OK(file->Write(0, late.at(path), IOOptions(), nullptr));
      }
    }).join();
  });
  secondary_.CatchUp();
  watched->SetHook(nullptr);
  EXPECT_EQ(secondary_.ReadRows(1), (Rows{{"a", "1"}, {"b", "2"}, {"c", "3"}}));
  secondary_.Close();
}

TEST_F(SecondaryTest, ASnapshotHoldsWhatThePrimaryHasDropped) {
  OpenBoth({kDefaultColumnFamilyName, "other"});
  Put("k", "old");
  Put(Family("other"), "k", "old too");
  secondary_.CatchUp();
  const Snapshot* const snapshot = secondary_->GetSnapshot();
  for (int i = 0; i < 3; i++) {
    Put("k", StrCat("new", i));
    Put(Family("other"), "k", StrCat("new", i));
    Flush(handles_);
    CompactAndRewrite();
    Compact(Family("other"));
    secondary_.CatchUp();
  }
  const ReadOptions as_of = AsOf(snapshot);
  EXPECT_EQ(secondary_.Get("k"), "new2");
  EXPECT_EQ(secondary_.Get("k", 0, as_of), "old");
  EXPECT_EQ(secondary_.Get("k", 1, as_of), "old too");
  EXPECT_EQ(secondary_.ReadRows(0, as_of), (Rows{{"k", "old"}}));
  std::vector<std::string> values;
  const std::vector<Status> statuses =
      secondary_->MultiGet(as_of, secondary_.handles(), {"k", "k"}, &values);
  EXPECT_OK(statuses[0]);
  EXPECT_OK(statuses[1]);
  EXPECT_EQ(values, (std::vector<std::string>{"old", "old too"}));
  std::unique_ptr<Iterator> it(secondary_->NewIterator(ReadOptions(), secondary_.Family(0)));
  ASSERT_OK(it->Refresh(snapshot));
  EXPECT_EQ(SecondaryDb::RowsOf(it.get()), (Rows{{"k", "old"}}));
  ASSERT_OK(it->Refresh());
  EXPECT_EQ(SecondaryDb::RowsOf(it.get()), (Rows{{"k", "new2"}}));
  it.reset();
  secondary_->ReleaseSnapshot(snapshot);
}

TEST_F(SecondaryTest, AnIteratorReadsItsViewThoughAllItsFilesWereDeleted) {
  options_.disable_auto_compactions = true;
  OpenBoth();
  Fill(200, 50);
  Flush();
  secondary_.CatchUp();
  const Rows before = ReadRows();
  const std::unique_ptr<Iterator> it(secondary_->NewIterator(ReadOptions(), secondary_.Family(0)));
  it->SeekToFirst();
  DeleteRange("", "zzz");
  Put("new", "1");
  Flush();
  CompactAndRewrite();
  EXPECT_EQ(SecondaryDb::RowsOf(it.get()), before);
  EXPECT_EQ(secondary_.ReadRows(), before) << "no catch-up so far";
  secondary_.CatchUp();
  EXPECT_EQ(SecondaryDb::RowsOf(it.get()), before);
  EXPECT_EQ(secondary_.ReadRows(), (Rows{{"new", "1"}}));
}

TEST_F(SecondaryTest, ATableThatWasNeverReadIsReadableAfterItsDeletion) {
  options_.disable_auto_compactions = true;
  OpenBoth();
  Fill(200, 50);
  Flush();
  secondary_.CatchUp();
  const Rows before = ReadRows();
  DeleteRange("", "zzz");
  Flush();
  CompactAndRewrite();
  EXPECT_EQ(secondary_.ReadRows(), before);
}

TEST_F(SecondaryTest, DeletesNoFileOfThePrimary) {
  options_.disable_auto_compactions = true;
  OpenBoth();
  ASSERT_OK(db_->DisableFileDeletions());
  Fill(100, 50);
  Flush();
  secondary_.CatchUp();
  Fill(100, 60);
  Flush();
  Compact();
  const int tables = FilesOnDisk(".sst"), logs = FilesOnDisk(".log");
  secondary_.CatchUp();
  secondary_.Close();
  EXPECT_EQ(FilesOnDisk(".sst"), tables);
  EXPECT_EQ(FilesOnDisk(".log"), logs);
}

TEST_F(SecondaryTest, RefusesWhateverWouldChangeTheDatabase) {
  OpenBoth();
  const WriteOptions write;
  WriteBatch batch;
  ASSERT_OK(batch.Put("a", "1"));
  ColumnFamilyHandle* family = nullptr;
  EXPECT_TRUE(secondary_->Put(write, "a", "1").IsNotSupported());
  EXPECT_TRUE(secondary_->Delete(write, "a").IsNotSupported());
  EXPECT_TRUE(secondary_->Write(write, &batch).IsNotSupported());
  EXPECT_TRUE(secondary_->Flush(FlushOptions()).IsNotSupported());
  EXPECT_TRUE(secondary_->CompactRange(CompactRangeOptions(), nullptr, nullptr).IsNotSupported());
  EXPECT_TRUE(secondary_->SetOptions({{"write_buffer_size", "1"}}).IsNotSupported());
  EXPECT_TRUE(secondary_->SetDBOptions({{"max_open_files", "10"}}).IsNotSupported());
  EXPECT_TRUE(secondary_->DisableFileDeletions().IsNotSupported());
  EXPECT_TRUE(secondary_->EnableFileDeletions().IsNotSupported());
  EXPECT_TRUE(secondary_->IngestExternalFile({"/x.sst"}, {}).IsNotSupported());
  EXPECT_TRUE(secondary_->CreateColumnFamily({}, "new", &family).IsNotSupported());
  EXPECT_TRUE(secondary_->SyncWAL().IsNotSupported());
  EXPECT_TRUE(secondary_->PromoteL0(secondary_.Family(0), 1).IsNotSupported());
  std::vector<std::string> files;
  uint64_t manifest_bytes = 0;
  EXPECT_TRUE(secondary_->GetLiveFiles(files, &manifest_bytes).IsNotSupported());
  std::vector<LiveFileStorageInfo> infos;
  EXPECT_TRUE(secondary_->GetLiveFilesStorageInfo({}, &infos).IsNotSupported());
  EXPECT_OK(secondary_->VerifyChecksum());
  EXPECT_TRUE(db_->TryCatchUpWithPrimary().IsNotSupported());
}

// What a secondary shows may be in tables that the primary has deleted. They are no damage.
TEST_F(SecondaryTest, VerifiesTheFilesThatThePrimaryHasLeft) {
  options_.file_checksum_gen_factory = GetFileChecksumGenCrc32cFactory();
  options_.disable_auto_compactions = true;
  OpenBoth();
  Put("a", "1");
  Flush();
  secondary_.CatchUp();
  EXPECT_OK(secondary_->VerifyFileChecksums(ReadOptions()));
  Put("a", "2");
  Flush();
  Compact();
  WaitForJobs();
  ASSERT_EQ(FilesOnDisk(".sst"), 1);
  EXPECT_OK(secondary_->VerifyFileChecksums(ReadOptions()));
  EXPECT_EQ(secondary_.Get("a"), "1");
  secondary_.CatchUp();
  EXPECT_OK(secondary_->VerifyFileChecksums(ReadOptions()));
  const std::string table = dir_ + Tables().front().name;
  std::string bytes = memory_->AllFiles()[table];
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
  memory_->PutFile(table, bytes);
  EXPECT_TRUE(secondary_->VerifyFileChecksums(ReadOptions()).IsCorruption());
}

TEST_F(SecondaryTest, TakesNoLockAndWritesOnlyIntoItsOwnDirectory) {
  Open();
  Put("a", "1");
  const auto names = [this] {
    std::vector<std::string> children;
    EXPECT_OK(env_->GetChildren(dir_, &children));
    std::sort(children.begin(), children.end());
    return children;
  };
  const std::vector<std::string> before = names();
  SecondaryDb second;
  secondary_.Open(options_, dir_);
  second.Open(options_, dir_, {kDefaultColumnFamilyName}, "/second");
  EXPECT_EQ(names(), before);
  EXPECT_OK(env_->FileExists("/secondary/LOG"));
  EXPECT_OK(env_->FileExists("/second/LOG"));
  Put("b", "2");
  secondary_.CatchUp();
  second.CatchUp();
  EXPECT_EQ(second.ReadRows(), secondary_.ReadRows());
}

TEST_F(SecondaryTest, ValuesInBlobFilesAreReadable) {
  options_.enable_blob_files = true;
  options_.min_blob_size = 10;
  options_.enable_blob_garbage_collection = true;
  options_.blob_garbage_collection_age_cutoff = 1;
  OpenBoth();
  for (int round = 0; round < 4; round++) {
    for (int i = 0; i < 20; i += 1 + round) {
      Put(Key(i), std::string(100, static_cast<char>('a' + round)));
    }
    Flush();
    const std::unique_ptr<Iterator> it(
        secondary_->NewIterator(ReadOptions(), secondary_.Family(0)));
    const Rows before = secondary_.ReadRows();
    CompactAndRewrite();
    EXPECT_EQ(SecondaryDb::RowsOf(it.get()), before);
    secondary_.CatchUp();
    EXPECT_EQ(secondary_.ReadRows(), ReadRows());
    Reopen();
    secondary_.CatchUp();
    EXPECT_EQ(secondary_.ReadRows(), ReadRows());
  }
}

// It is all garbage, and an older one is still in use.
TEST_F(SecondaryTest, ABlobFileThatANewManifestLeavesOutIsDropped) {
  options_.enable_blob_files = true;
  options_.min_blob_size = 10;
  options_.disable_auto_compactions = true;
  OpenBoth();
  for (const char* key : {"a", "b"}) {
    Put(key, std::string(100, 'v'));
    Flush();
  }
  secondary_.CatchUp();
  Put("b", std::string(100, 'w'));
  Flush();
  CompactAndRewrite();
  Reopen();
  secondary_.CatchUp();
  EXPECT_EQ(secondary_.ReadRows(), ReadRows());
  std::string count;
  ASSERT_TRUE(secondary_->GetProperty(DB::Properties::kNumBlobFiles, &count));
  EXPECT_EQ(count, Property(DB::Properties::kNumBlobFiles));
  EXPECT_EQ(count, "2");
}

TEST_F(SecondaryTest, OpensNoDirectoryWithoutADatabase) {
  const Status status = secondary_.TryOpen(options_, "/nothing");
  EXPECT_TRUE(status.IsPathNotFound() || status.IsIOError()) << status.ToString();
  EXPECT_EQ(secondary_.db(), nullptr);
}

TEST_F(SecondaryTest, NoticesThatTheDirectoryHoldsAnotherDatabase) {
  OpenBoth();
  Put("a", "1");
  Flush();
  secondary_.CatchUp();
  Close();
  ASSERT_OK(DestroyDB(dir_, options_));
  Open();
  Put("b", "2");
  const Status status = secondary_->TryCatchUpWithPrimary();
  EXPECT_TRUE(status.IsCorruption()) << status.ToString();
  EXPECT_NE(status.ToString().find("another database"), std::string::npos) << status.ToString();
  EXPECT_EQ(secondary_.ReadRows(), (Rows{{"a", "1"}}));
}

TEST_F(SecondaryTest, RefusesOptionsThatItCannotHonour) {
  Open();
  Options options = options_;
  options.best_efforts_recovery = true;
  EXPECT_TRUE(secondary_.TryOpen(options, dir_).IsNotSupported());
  options = options_;
  options.inplace_callback = [](char*, uint32_t*, Slice, std::string*) {
    return UpdateStatus::UPDATE_FAILED;
  };
  EXPECT_TRUE(secondary_.TryOpen(options, dir_).IsNotSupported());
}

}  // namespace ashlar
