// SPDX-License-Identifier: Apache-2.0
//
// RepairDB() finds everything that can be read, and changes nothing of a database without damage.
#include <iterator>

#include "ashlar/comparator.h"
#include "ashlar/filter_policy.h"
#include "tests/db/repair/repair_fixture.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

TEST_F(RepairTest, ADatabaseWithoutDamageStaysAsItIs) {
  options_.enable_blob_files = true;
  options_.min_blob_size = 50;
  Open({"default", "users", "empty"});
  Fill(50, 100);
  Flush();
  Compact();
  Put(handles_[1], "u", "flushed");
  Flush(handles_[1]);
  Fill(20, 60);
  Flush();
  DeleteRange("key100040", "key100045");
  Put(handles_[1], "v", "only in the log");
  const std::string levels = "1,0,0,0,0,0,1";
  ASSERT_EQ(Levels(), levels);
  const Contents before = ReadAll();
  Repair();
  OpenAll();
  EXPECT_EQ(ReadAll(), before);
  EXPECT_EQ(TableCount(6), 1);
  EXPECT_EQ(TableCount(0), 2);  // and the one that the log has become
  ASSERT_OK(db_->VerifyChecksum());
  EXPECT_EQ(Files(".blob").size(), 2u);
}

TEST_F(RepairTest, ASecondRepairChangesNothing) {
  Open({"default", "users"});
  Fill(50, 100);
  Flush();
  Put(handles_[1], "u", "only in the log");
  Close();
  Unlink(Newest("MANIFEST"));
  Repair();
  OpenAll();
  const Contents first = ReadAll();
  Repair();
  OpenAll();
  EXPECT_EQ(ReadAll(), first);
  EXPECT_EQ(first.at("users").at("u"), "only in the log");
}

TEST_F(RepairTest, FamiliesThatWereNeverFlushedAreThereWithTheirData) {
  Open({"default", "users", "things"});
  Put("a", "1");
  Put(handles_[1], "u", "2");
  Put(handles_[2], "t", "3");
  const Contents before = ReadAll();
  Repair();
  OpenAll();
  EXPECT_EQ(ReadAll(), before);
}

TEST_F(RepairTest, WithoutMANIFESTTheOptionsFileNamesTheFamiliesOfTheLogs) {
  Open({"default", "users", "things"});
  Put(handles_[1], "u", "2");
  Put(handles_[2], "t", "3");
  const Contents before = ReadAll();
  Close();
  DeleteAll("MANIFEST");
  DeleteAll("CURRENT");
  Repair();
  OpenAll();
  EXPECT_EQ(ReadAll(), before);
}

TEST_F(RepairTest, AFamilyWhoseNameIsNowhereGetsOneWithItsId) {
  Open({"default", "users"});
  Put(handles_[1], "u", "2");
  Close();
  DeleteAll("MANIFEST");
  DeleteAll("OPTIONS");
  Repair();
  OpenAll();
  EXPECT_EQ(Get(Family("repaired-family-1"), "u"), "2");
}

TEST_F(RepairTest, WithoutMANIFESTOlderVersionsStayHidden) {
  Open();
  // The table of the last level has the greatest sequence number, yet it is older for every key of
  // the others.
  Put("a", "old");
  Put("m", "old");
  Flush();
  Compact();
  Put("a", "newer");
  Flush();
  Put("z", "1");
  Put("m", "newest");
  Flush();
  CompactRangeOptions deeper;
  const Slice m("m"), z("z");
  ASSERT_OK(db_->CompactRange(deeper, &m, &z));
  Put("a", "newest");
  const Contents before = ReadAll();
  Close();
  DeleteAll("MANIFEST");
  Repair();
  OpenAll();
  EXPECT_EQ(ReadAll(), before);
  ASSERT_OK(db_->VerifyChecksum());
}

TEST_F(RepairTest, WithoutMANIFESTDeletedKeysStayDeleted) {
  Open();
  Fill(30);
  Flush();
  Compact();
  Delete("key100003");
  DeleteRange("key100010", "key100020");
  Flush();
  const Contents before = ReadAll();
  Close();
  DeleteAll("MANIFEST");
  Repair();
  OpenAll();
  EXPECT_EQ(ReadAll(), before);
}

// The table with "b" is younger than the one with the tombstone, and its sequence numbers are 0, so
// "b" may have been written after the tombstone.
TEST_F(RepairTest, WithoutMANIFESTTombstonesHideNoYoungKeyWithoutNumberBeyondTheirOwnKeys) {
  dir_ = "/young";
  Open();
  Put("b", "1");
  Put("e", "old");
  Flush();
  CompactAndRewrite();
  const std::string young = Bytes(Newest(".sst"));
  Close();
  dir_ = "/db";
  Open();
  DeleteRange("a", "z");
  Put("d", "1");
  Put("f", "1");
  Flush();
  Close();
  memory_->PutFile("/db/000999.sst", young);
  DeleteAll("MANIFEST");
  Repair();
  EXPECT_TRUE(Reports("range tombstones beyond its keys are not applied to keys without"));
  OpenAll();
  EXPECT_EQ(ReadAll(), (Contents{{"default", {{"b", "1"}, {"d", "1"}, {"f", "1"}}}}));
}

TEST_F(RepairTest, WithoutMANIFESTLogsThatAreFlushedAreNotAppliedAgain) {
  options_.merge_operator = nullptr;
  Open();
  Put("a", "old");
  const std::string log = Newest(".log");
  const std::string bytes = Bytes(log);
  Flush();
  Put("a", "new");
  Flush();
  Put("b", "1");
  Close();
  memory_->PutFile(log, bytes);
  DeleteAll("MANIFEST");
  Repair();
  Open();
  EXPECT_EQ(Scan(), "a=new b=1");
}

TEST_F(RepairTest, BlobFilesAreFoundWithoutMANIFEST) {
  options_.enable_blob_files = true;
  Open();
  Put("a", std::string(200, 'a'));
  Put("b", std::string(300, 'b'));
  Flush();
  Put("a", std::string(100, 'c'));
  Flush();
  Put("d", std::string(100, 'd'));
  const Contents before = ReadAll();
  Close();
  DeleteAll("MANIFEST");
  Repair();
  OpenAll();
  EXPECT_EQ(ReadAll(), before);
  Compact();
  EXPECT_EQ(ReadAll(), before);
}

// Otherwise a compaction finds that a blob file which is in use is all garbage, and fails.
TEST_F(RepairTest, ABlobBelongsToOneOfTheTablesOfACompaction) {
  options_.enable_blob_files = true;
  options_.min_blob_size = 50;
  Open();
  Fill(20, 100);
  Put("short");
  Flush();
  Fill(5, 110);
  Flush();
  std::vector<std::pair<std::string, std::string>> inputs;
  for (const std::string& path : Files(".sst")) inputs.emplace_back(path, Bytes(path));
  ASSERT_EQ(inputs.size(), 2u);
  Compact();
  ASSERT_EQ(Levels(), "0,0,0,0,0,0,1");
  const Rows before = ReadRows();
  Close();
  for (const auto& [path, bytes] : inputs) memory_->PutFile(path, bytes);
  DeleteAll("MANIFEST");
  Repair();
  EXPECT_TRUE(Reports("values left out that other tables refer to"));
  EXPECT_TRUE(IsLost(".sst"));
  Open();
  EXPECT_EQ(ReadRows(), before);
  CompactAndRewrite();
  EXPECT_EQ(ReadRows(), before);
  Put(Key(7), "new");
  CompactAndRewrite();
  Reopen();
  EXPECT_EQ(ReadRows().size(), before.size());
  for (int i = 0; i < 20; i++) Delete(Key(i));
  CompactAndRewrite();
  EXPECT_EQ(Scan(), "short=v");
  WaitForJobs();
  EXPECT_TRUE(Files(".blob").empty());
}

TEST_F(RepairTest, ABlobFileWithoutItsEndKeepsItsWholeRecords) {
  options_.enable_blob_files = true;
  Open();
  Put("a", std::string(200, 'a'));
  Put("b", std::string(200, 'b'));
  Flush();
  Close();
  const std::string blob = Newest(".blob");
  Cut(blob, Bytes(blob).size() - 100);
  Repair();
  Open();
  EXPECT_EQ(Get("a"), std::string(200, 'a'));
  EXPECT_NE(Get("b"), std::string(200, 'b'));
  EXPECT_TRUE(Reports("a footer added"));
  EXPECT_TRUE(IsLost(".blob"));
}

TEST_F(RepairTest, ATableWhoseBlobFileIsMissingStays) {
  options_.enable_blob_files = true;
  options_.min_blob_size = 100;
  Open();
  Put("a", std::string(200, 'a'));
  Put("b", "short");
  Flush();
  Close();
  Unlink(Newest(".blob"));
  Repair();
  Open();
  EXPECT_EQ(Get("b"), "short");
  EXPECT_TRUE(Reports("values cannot be read"));
}

TEST_F(RepairTest, OnlyTheDamagedBlockOfATableIsLost) {
  BlockBasedTableOptions table;
  table.block_size = 256;
  options_.table_factory.reset(NewBlockBasedTableFactory(table));
  Open();
  Fill(40, 100);
  Flush();
  const Rows before = ReadRows();
  Close();
  const std::string sst = Newest(".sst");
  Flip(sst, 1000);
  Repair();
  Open();
  const Rows left = ReadRows();
  EXPECT_GE(left.size(), 36u);
  EXPECT_LT(left.size(), 40u);
  for (const auto& [key, value] : left) EXPECT_EQ(value, before.at(key)) << key;
  EXPECT_TRUE(left.contains(Key(0)) && left.contains(Key(39)));
  EXPECT_TRUE(Reports("entries copied to"));
  EXPECT_TRUE(IsLost(".sst"));
  ASSERT_OK(db_->VerifyChecksum());
}

TEST_F(RepairTest, ATableWithADamagedFilterLosesNothing) {
  BlockBasedTableOptions table;
  table.filter_policy.reset(NewBloomFilterPolicy(10));
  options_.table_factory.reset(NewBlockBasedTableFactory(table));
  Open();
  Fill(40, 100);
  Flush();
  const Rows before = ReadRows();
  TablePropertiesCollection all;
  ASSERT_OK(db_->GetPropertiesOfAllTables(&all));
  ASSERT_EQ(all.size(), 1u);
  const TableProperties& properties = *all.begin()->second;
  ASSERT_GT(properties.filter_size, 0u);
  Close();
  // The filter is behind the data.
  Flip(Newest(".sst"), properties.data_size + properties.filter_size / 2);
  Repair();
  EXPECT_TRUE(Reports("40 entries copied to"));
  Open();
  EXPECT_EQ(ReadRows(), before);
  ASSERT_OK(db_->VerifyChecksum());
}

TEST_F(RepairTest, DamageInALogLosesNoOtherRecord) {
  Open();
  for (int i = 0; i < 10; i++) Put(Key(i), std::string(100, 'v'));
  Drop();
  const std::string log = Newest(".log");
  Flip(log, 500);
  Repair();
  Open();
  EXPECT_EQ(ReadRows().size(), 9u);
  EXPECT_TRUE(IsLost(".log"));
  EXPECT_TRUE(Reports("bytes dropped"));
}

TEST_F(RepairTest, AMissingTableIsReported) {
  Open();
  Put("a");
  Flush();
  Put("b");
  Flush();
  Close();
  Unlink(Newest(".sst"));
  Repair();
  Open();
  EXPECT_EQ(Keys(), "a");
  EXPECT_TRUE(Reports("it does not exist"));
}

// The MANIFEST does not need the log, whose entries were in the table.
TEST_F(RepairTest, AMissingTableComesBackFromALogThatWasKept) {
  Open();
  Put("a");
  Flush();
  ASSERT_OK(db_->DisableFileDeletions());
  Put("b");
  Flush();
  Close();
  Unlink(Newest(".sst"));
  Repair();
  EXPECT_TRUE(Reports("it does not exist"));
  Open();
  EXPECT_EQ(Keys(), "ab");
}

// After a crash.
TEST_F(RepairTest, AMissingTableComesBackFromALogThatWasKeptForReuse) {
  options_.recycle_log_file_num = 2;
  Open();
  Put("a");
  Flush();
  Put("b");
  Flush();
  WaitForJobs();
  const auto files = memory_->AllFiles();
  Drop();
  for (const auto& [path, bytes] : memory_->AllFiles()) Unlink(path);
  for (const auto& [path, bytes] : files) memory_->PutFile(path, bytes);
  Unlink(Newest(".sst"));
  Repair();
  Open();
  EXPECT_EQ(Keys(), "ab");
}

TEST_F(RepairTest, TablesBehindTheDamageOfTheMANIFESTAreAdded) {
  Open();
  Put("a", "1");
  Flush();
  Put("a", "2");
  Put("b", "2");
  Flush();
  Close();
  const std::string manifest = Newest("MANIFEST");
  const std::string bytes = Bytes(manifest);
  for (size_t cut = 1; cut < bytes.size(); cut += 7) {
    const auto files = memory_->AllFiles();
    memory_->PutFile(manifest, bytes.substr(0, cut));
    Repair();
    Open();
    EXPECT_EQ(Scan(), "a=2 b=2") << "cut at " << cut;
    Drop();
    for (const auto& [path, old] : memory_->AllFiles()) Unlink(path);
    for (const auto& [path, old] : files) memory_->PutFile(path, old);
  }
}

TEST_F(RepairTest, ObsoleteTablesDoNotComeBack) {
  Open();
  Put("a", "1");
  Flush();
  const std::string sst = Newest(".sst");
  const std::string bytes = Bytes(sst);
  Delete("a");
  Flush();
  CompactAndRewrite();
  ASSERT_EQ(Keys(), "");
  Close();
  memory_->PutFile(sst, bytes);
  Repair();
  Open();
  EXPECT_EQ(Keys(), "");
  EXPECT_TRUE(IsLost(sst.substr(sst.rfind('/'))));
}

TEST_F(RepairTest, OldLogsAndMANIFESTsAreInLost) {
  Open();
  Put("a", "1");
  Close();
  Repair();
  EXPECT_TRUE(IsLost(".log"));
  EXPECT_TRUE(IsLost("MANIFEST"));
}

TEST_F(RepairTest, TheOptionsFileStays) {
  Open();
  Close();
  const std::vector<std::string> before = Files("OPTIONS");
  Repair();
  EXPECT_EQ(Files("OPTIONS"), before);
}

TEST_F(RepairTest, ADirectoryThatDoesNotExistIsNotFound) {
  EXPECT_TRUE(TryRepair().IsNotFound());
  EXPECT_TRUE(memory_->AllFiles().empty());
}

TEST_F(RepairTest, ADirectoryWithoutADatabaseIsCorruption) {
  ASSERT_OK(memory_->CreateDir(dir_, IOOptions(), nullptr));
  memory_->PutFile(StrCat(dir_, "/notes"), "mine");
  EXPECT_TRUE(TryRepair().IsCorruption());
  EXPECT_EQ(Bytes(StrCat(dir_, "/notes")), "mine");
}

TEST_F(RepairTest, AnOpenDatabaseIsRefused) {
  Open();
  EXPECT_TRUE(RepairDB(dir_, options_).IsIOError());
}

TEST_F(RepairTest, AFamilyThatIsNotListedIsRefusedBeforeAnythingChanges) {
  Open({"default", "users"});
  Put(handles_[1], "u", "1");
  Close();
  const auto before = memory_->AllFiles();
  EXPECT_TRUE(RepairDB(dir_, options_, {{kDefaultColumnFamilyName, options_}}).IsInvalidArgument());
  EXPECT_TRUE(RepairDB(dir_, options_, {{"users", options_}}).IsInvalidArgument());
  EXPECT_EQ(memory_->AllFiles(), before);
  ASSERT_OK(RepairDB(dir_, options_, {{kDefaultColumnFamilyName, options_}, {"users", options_}}));
  OpenAll();
  EXPECT_EQ(Get(handles_[1], "u"), "1");
}

TEST_F(RepairTest, AnotherComparatorIsRefusedBeforeAnythingChanges) {
  for (const bool has_manifest : {true, false}) {
    Open();
    Put("a", "1");
    Flush();
    Close();
    if (!has_manifest) DeleteAll("MANIFEST");
    const auto before = memory_->AllFiles();
    Options other = options_;
    other.comparator = ReverseBytewiseComparator();
    EXPECT_TRUE(RepairDB(dir_, other).IsInvalidArgument());
    EXPECT_EQ(memory_->AllFiles(), before);
  }
}

TEST_F(RepairTest, TablesOfOtherDirectoriesStayThere) {
  options_.db_paths = {{"/first", 1 << 30}, {"/second", 1 << 30}};
  options_.wal_dir = "/logs";
  Open();
  Put("a", "1");
  Flush();
  Put("b", "2");
  const Contents before = ReadAll();
  Close();
  DeleteAll("MANIFEST");
  Repair();
  OpenAll();
  EXPECT_EQ(ReadAll(), before);
  EXPECT_TRUE(IsLost("/logs/lost/"));
}

TEST_F(RepairTest, TheInfoLogHasTheLinesOfTheReport) {
  Open();
  Put("a");
  Flush();
  for (int i = 0; i < 10; i++) Put(Key(i), std::string(100, 'v'));
  Drop();
  Unlink(Newest(".sst"));
  Flip(Newest(".log"), 500);
  Repair();
  EXPECT_TRUE(Reports("it does not exist"));
  EXPECT_TRUE(Reports("bytes dropped"));
  EXPECT_TRUE(Reports("not needed, moved to"));
  const std::string log = Bytes(StrCat(dir_, "/LOG"));
  for (const std::string& line : report_) {
    EXPECT_NE(log.find(StrCat("repair: ", line, "\n")), std::string::npos) << line;
  }
}

class RepairCrashTest : public DbTest {
 protected:
  RepairCrashTest() : DbTest(TestFiles::kSim) { options_.disable_auto_compactions = true; }
};

// Whatever call was the last one, repairing again leads to the same contents.
TEST_F(RepairCrashTest, ARepairThatWasInterruptedCanBeRepeated) {
  options_.enable_blob_files = true;
  options_.min_blob_size = 30;
  Open({"default", "users"});
  Fill(20, 40);
  Flush();
  Put(handles_[1], "u", "1");
  Flush(handles_[1]);
  ASSERT_OK(db_->Put(Synced(), handles_[1], "v", "2"));
  const Contents expected = ReadAll();
  Close();
  for (const bool has_manifest : {true, false}) {
    std::shared_ptr<SimFS> disk = CrashImage(CrashPolicy::kStrict);
    TestDb damaged(disk, options_);
    if (!has_manifest) {
      std::vector<std::string> names;
      ASSERT_OK(disk->GetChildren("/db", IOOptions(), &names, nullptr));
      for (const std::string& name : names) {
        if (name.find("MANIFEST") == std::string::npos) continue;
        ASSERT_OK(disk->DeleteFile("/db/" + name, IOOptions(), nullptr));
      }
      disk->SyncEverything();
    }
    const uint64_t begin = disk->CallCount();
    ASSERT_OK(RepairDB("/db", damaged.options()));
    const uint64_t end = disk->CallCount();
    ASSERT_GT(end, begin + 20);
    // Each call with one policy, and each policy with every few calls: a repair takes some time.
    for (uint64_t call = begin; call <= end; ++call) {
      const CrashPolicy policy = kAllCrashPolicies[call % std::size(kAllCrashPolicies)];
      const auto image = disk->CrashImage(call, policy, call);
      TestDb again(image, options_);
      const Status status = RepairDB("/db", again.options());
      ASSERT_TRUE(status.ok()) << call << ", " << NameOf(policy) << ": " << status.ToString();
      again.OpenAll();
      ASSERT_NE(again.db(), nullptr);
      ASSERT_EQ(again.ReadAll(), expected) << call << ", " << NameOf(policy);
    }
  }
}

TEST_F(RepairCrashTest, AnErrorOfEachCallLeavesWhatCanBeRepairedAgain) {
  Open({"default", "users"});
  Fill(20, 40);
  Flush();
  ASSERT_OK(db_->Put(Synced(), handles_[1], "v", "2"));
  const Contents expected = ReadAll();
  Close();
  int failures = 0;
  for (uint64_t i = 0;; i++) {
    std::shared_ptr<SimFS> disk = CrashImage(CrashPolicy::kStrict);
    TestDb broken(disk, options_);
    disk->FailAt(disk->CallCount() + i, FaultError::kIO, FaultMode::kOnce, FaultEffect::kNone);
    const Status status = RepairDB("/db", broken.options());
    const bool was_reached = disk->Stats().TotalInjected() > 0;
    disk->ClearFaults();
    if (!status.ok()) {
      failures++;
      const Status again = RepairDB("/db", broken.options());
      ASSERT_TRUE(again.ok()) << i << ": " << again.ToString();
    }
    broken.OpenAll();
    ASSERT_EQ(broken.ReadAll(), expected) << "call " << i;
    if (!was_reached) break;
  }
  EXPECT_GT(failures, 20);
}

}  // namespace
}  // namespace ashlar
