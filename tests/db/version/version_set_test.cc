// SPDX-License-Identifier: Apache-2.0
//
// The MANIFEST on disk: atomic groups and torn tails when it is read; rolling over, failures and
// CURRENT when it is written.
#include "db/version/version_set.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "db/manifest/manifest_reader.h"
#include "db/wal/log_writer.h"
#include "db/wal/wal_set.h"
#include "env/fault/fault_file_system.h"
#include "env/file_writer.h"
#include "env/io_rule.h"
#include "env/memory/memory_file_system.h"
#include "tests/support/status_matchers.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

constexpr char kManifest[] = "/db/MANIFEST-000001";

VersionEdit EditWithLog(FileNumber log_number, std::optional<uint32_t> remaining = std::nullopt) {
  VersionEdit edit;
  edit.log_number = log_number;
  edit.atomic_group_remaining = remaining;
  return edit;
}

class ManifestTest : public testing::Test {
 protected:
  ManifestTest() { EXPECT_OK(fs_.CreateDirIfMissing("/db", IOOptions(), nullptr)); }

  void WriteManifest(const std::vector<VersionEdit>& edits) {
    auto file = FileWriter::Create(&fs_, kManifest, FileOptions(), {});
    ASSERT_OK(file);
    LogWriter log(file.Take());
    for (const VersionEdit& edit : edits) {
      std::string record;
      edit.EncodeTo(&record);
      ASSERT_OK(log.AddRecord(record));
    }
    ASSERT_OK(log.Close());
  }
  // The log numbers of the edits that count, then what went wrong.
  std::string Read(uint64_t* torn = nullptr) {
    auto reader = ManifestReader::Open(&fs_, kManifest);
    if (!reader.ok()) return reader.status().ToString();
    std::string text;
    VersionEdit edit;
    while (reader.value()->Next(&edit)) text += StrCat(*edit.log_number, " ");
    if (torn != nullptr) *torn = reader.value()->torn_tail_bytes();
    return text + (reader.value()->status().ok()             ? "ok"
                   : reader.value()->status().IsCorruption() ? "corruption"
                                                             : "other");
  }
  std::string Bytes() { return memory_->AllFiles().at(kManifest); }
  // A new file that grows by Append().
  std::unique_ptr<FSWritableFile> NewManifest() {
    std::unique_ptr<FSWritableFile> file;
    EXPECT_OK(fs_.NewWritableFile(kManifest, FileOptions(), &file, nullptr));
    return file;
  }

  const std::shared_ptr<MemoryFileSystem> memory_ = std::make_shared<MemoryFileSystem>();
  FaultFileSystem fs_{memory_};
};

}  // namespace

TEST_F(ManifestTest, AnAtomicGroupCountsAsAWholeOrNotAtAll) {
  WriteManifest(
      {EditWithLog(1), EditWithLog(2, 2), EditWithLog(3, 1), EditWithLog(4, 0), EditWithLog(5)});
  EXPECT_EQ(Read(), "1 2 3 4 5 ok");
  uint64_t torn = 0;
  WriteManifest({EditWithLog(1), EditWithLog(2, 2), EditWithLog(3, 1)});
  EXPECT_EQ(Read(&torn), "1 ok");
  EXPECT_GT(torn, 0u);
}

// As a secondary instance follows the MANIFEST of its primary: byte by byte in the worst case.
TEST_F(ManifestTest, AReaderThatFollowsGoesOnWhereItStopped) {
  WriteManifest(
      {EditWithLog(1), EditWithLog(2, 2), EditWithLog(3, 1), EditWithLog(4, 0), EditWithLog(5)});
  const std::string bytes = Bytes();
  for (const size_t step : {size_t{1}, size_t{7}, bytes.size() / 2}) {
    const auto file = NewManifest();
    auto reader = ManifestReader::Open(&fs_, kManifest, ManifestReader::End::kForNow);
    ASSERT_OK(reader);
    std::string seen;
    size_t group_end = 0;
    for (size_t length = 0; length < bytes.size(); length += step) {
      ASSERT_OK(file->Append(bytes.substr(length, step), IOOptions(), nullptr));
      VersionEdit edit;
      size_t count = 0;
      for (; reader.value()->Next(&edit); count++) StrAppend(&seen, *edit.log_number, " ");
      ASSERT_OK(reader.value()->status()) << length;
      if (seen.starts_with("1 2 ") && group_end == 0) {
        group_end = length;
        EXPECT_GE(count, 3u) << "the group comes as a whole";
      }
    }
    EXPECT_EQ(seen, "1 2 3 4 5 ");
    EXPECT_GT(group_end, 0u);
  }
}

TEST_F(ManifestTest, AReaderThatFollowsSeesDamage) {
  WriteManifest({EditWithLog(1), EditWithLog(2), EditWithLog(3)});
  std::string bytes = Bytes();
  const size_t record = bytes.size() / 3;
  const size_t first_part = record + record / 2;
  const auto file = NewManifest();
  ASSERT_OK(file->Append(bytes.substr(0, first_part), IOOptions(), nullptr));
  auto reader = ManifestReader::Open(&fs_, kManifest, ManifestReader::End::kForNow);
  ASSERT_OK(reader);
  VersionEdit edit;
  ASSERT_TRUE(reader.value()->Next(&edit));
  ASSERT_FALSE(reader.value()->Next(&edit));
  ASSERT_OK(reader.value()->status());
  bytes[2 * record - 1] ^= 1;  // in what is yet to come of the second record
  ASSERT_OK(file->Append(bytes.substr(first_part), IOOptions(), nullptr));
  ASSERT_FALSE(reader.value()->Next(&edit));
  EXPECT_TRUE(reader.value()->status().IsCorruption()) << reader.value()->status().ToString();
}

TEST_F(ManifestTest, AGapInAnAtomicGroupIsCorruption) {
  WriteManifest({EditWithLog(1), EditWithLog(2, 2), EditWithLog(4, 0)});
  EXPECT_EQ(Read(), "1 corruption");
  WriteManifest({EditWithLog(1), EditWithLog(2, 1), EditWithLog(3)});
  EXPECT_EQ(Read(), "1 corruption");
}

TEST_F(ManifestTest, ACutAnywhereLeavesThePrefixOfWholeRecords) {
  WriteManifest({EditWithLog(1), EditWithLog(2), EditWithLog(3)});
  const std::string bytes = Bytes();
  const size_t record = bytes.size() / 3;
  for (size_t length = 0; length <= bytes.size(); length++) {
    memory_->PutFile(kManifest, bytes.substr(0, length));
    std::string expected;
    for (size_t i = 1; i <= length / record; i++) expected += StrCat(i, " ");
    uint64_t torn = 0;
    EXPECT_EQ(Read(&torn), expected + "ok") << length;
    EXPECT_EQ(torn, length % record) << length;
  }
}

TEST_F(ManifestTest, DamageBeforeTheLastRecordIsCorruption) {
  WriteManifest({EditWithLog(1), EditWithLog(2), EditWithLog(3)});
  std::string bytes = Bytes();
  bytes[bytes.size() / 3 + 8] ^= 1;
  memory_->PutFile(kManifest, bytes);
  EXPECT_EQ(Read(), "1 corruption");
}

// Records of more than a sector: 1 alone, then 2, 3 and 4 in one change.
class UnsyncedManifestTest : public ManifestTest {
 protected:
  void WriteChanges(bool has_later_change) {
    const VersionEdit first = BigEdit(1);
    std::string record;
    first.EncodeTo(&record);
    const uint64_t begin = record.size() + kLogHeaderBytes;
    std::vector<VersionEdit> edits = {first, BigEdit(2), BigEdit(3), BigEdit(4)};
    edits[2].change_begin = edits[3].change_begin = begin;
    if (has_later_change) edits.push_back(BigEdit(5));
    WriteManifest(edits);
  }
  void ZeroSector(size_t number) {
    std::string bytes = Bytes();
    const size_t begin = number * 512, end = std::min(begin + 512, bytes.size());
    bytes.replace(begin, end - begin, end - begin, '\0');
    memory_->PutFile(kManifest, bytes);
  }

 private:
  static VersionEdit BigEdit(FileNumber log_number) {
    VersionEdit edit = EditWithLog(log_number);
    edit.db_id = std::string(2000, 'i');
    return edit;
  }
};

TEST_F(UnsyncedManifestTest, SectorsOfTheLastChangeMayBeUnwritten) {
  for (size_t sector = 0; sector < 16; sector++) {
    WriteChanges(/*has_later_change=*/false);
    ASSERT_EQ(Read(), "1 2 3 4 ok");
    ZeroSector(sector);
    uint64_t torn = 0;
    const std::string found = Read(&torn);
    // Record 1 ends in sector 3; whoever wrote record 2 had synced it.
    const bool was_synced = sector <= 3;
    EXPECT_EQ(found.ends_with("ok"), !was_synced) << sector << " " << found;
    EXPECT_EQ(torn > 0, !was_synced) << sector;
  }
}

TEST_F(UnsyncedManifestTest, UnwrittenSectorsBeforeALaterChangeAreCorruption) {
  // Sector 15 holds the header of record 5: without it nothing tells that there was a later change.
  for (size_t sector = 0; sector < 15; sector++) {
    WriteChanges(/*has_later_change=*/true);
    ZeroSector(sector);
    EXPECT_TRUE(Read().ends_with("corruption")) << sector;
  }
}

TEST_F(UnsyncedManifestTest, OtherDamageOfTheLastChangeIsCorruption) {
  WriteChanges(/*has_later_change=*/false);
  const std::string bytes = Bytes();
  for (size_t at = 0; at < bytes.size() - 1; at += 97) {
    std::string damaged = bytes;
    damaged[at] ^= 1;
    memory_->PutFile(kManifest, damaged);
    EXPECT_FALSE(Read().ends_with("ok")) << at;
  }
}

TEST_F(ManifestTest, CurrentNamesAManifestAndEndsWithNewline) {
  EXPECT_TRUE(ReadCurrent(&fs_, "/db").status().IsNotFound() ||
              ReadCurrent(&fs_, "/db").status().IsPathNotFound());
  for (const char* bad : {"", "\n", "MANIFEST-000001", "000004.log\n", "MANIFEST-x\n"}) {
    memory_->PutFile("/db/CURRENT", bad);
    EXPECT_TRUE(ReadCurrent(&fs_, "/db").status().IsCorruption()) << bad;
  }
  memory_->PutFile("/db/CURRENT", "MANIFEST-000007\n");
  ASSERT_OK(ReadCurrent(&fs_, "/db"));
  EXPECT_EQ(ReadCurrent(&fs_, "/db").value(), "MANIFEST-000007");
}

namespace {

class VersionSetTest : public ManifestTest {
 protected:
  VersionSetTest() {
    options_.fs = &fs_;
    options_.dir = "/db";
    options_.preallocate_bytes = 0;
    EXPECT_OK(VersionSet::CreateNew(options_, "the-id"));
  }

  Status Recover() {
    const IoUnderDbMutex nobody_waits;
    set_ = std::make_unique<VersionSet>(options_);
    TableCacheOptions tables(comparator_);
    tables.fs = &fs_;
    tables.paths = {"/db"};
    std::vector<FamilyRequest> requests, missing;
    requests.emplace_back("default", comparator_);
    requests.back().tables = std::make_unique<TableCache>(tables);
    MutexLock lock(&mutex_);
    return set_->Recover(std::move(requests), /*allow_subset=*/false, &missing);
  }
  Status AddTable(uint64_t number) {
    VersionSet::Change change;
    FileMetadata meta;
    meta.number = FileNumber{number};
    meta.file_size = 10;
    meta.smallest = MakeInternalKey("a", number, kTypeValue);
    meta.largest = MakeInternalKey("b", number, kTypeValue);
    meta.smallest_seqno = meta.largest_seqno = number;
    meta.epoch_number = number;
    change.last_sequence = number;
    change.edits.emplace_back().AddFile(0, meta);
    change.edits.back().log_number = FileNumber{number};
    set_->MarkFileNumberUsed(FileNumber{number});
    MutexLock lock(&mutex_);
    return set_->LogAndApply(std::move(change), &mutex_);
  }
  Status Apply(VersionSet::Change change) {
    MutexLock lock(&mutex_);
    return set_->LogAndApply(std::move(change), &mutex_);
  }
  static VersionSet::Change EditOnly(FileNumber log_number) {
    VersionSet::Change change;
    change.edits.emplace_back().log_number = log_number;
    return change;
  }
  std::string Tables() {
    std::string text;
    MutexLock lock(&mutex_);
    set_->ForEachLiveFile([&text](const FamilyVersions&, Level, TableFile* file) {
      text += StrCat(file->meta.number, " ");
    });
    return text;
  }
  std::string Current() { return ReadCurrent(&fs_, "/db").value(); }
  std::string DbId() {
    MutexLock lock(&mutex_);
    return set_->db_id();
  }
  SequenceNumber RecoveredLastSequence() {
    MutexLock lock(&mutex_);
    return set_->recovered_last_sequence();
  }
  FileNumber LowestLogNumber() {
    MutexLock lock(&mutex_);
    return set_->LowestLogNumber();
  }
  std::vector<FileNumber> TakeReplacedManifests() {
    MutexLock lock(&mutex_);
    return set_->TakeReplacedManifests();
  }
  void TrackLogs(const WalSet* wals) {
    MutexLock lock(&mutex_);
    set_->TrackLogs(wals);
  }
  std::map<FileNumber, LogSummary> TrackedLogs() {
    MutexLock lock(&mutex_);
    return set_->tracked_logs();
  }
  std::optional<bool> PersistsTimestamps() {
    MutexLock lock(&mutex_);
    return set_->Family(0)->persist_user_defined_timestamps;
  }

  VersionSetOptions options_;
  DbMutex mutex_;
  const InternalKeyComparator comparator_{BytewiseComparator()};
  std::unique_ptr<VersionSet> set_;
};

}  // namespace

TEST_F(VersionSetTest, ChangesSurviveRecovery) {
  ASSERT_OK(Recover());
  EXPECT_EQ(DbId(), "the-id");
  ASSERT_OK(AddTable(50));
  ASSERT_OK(AddTable(60));
  const FileNumber next = set_->next_file_number();
  ASSERT_OK(Recover());
  EXPECT_EQ(Tables(), "60 50 ");
  EXPECT_EQ(DbId(), "the-id");
  EXPECT_EQ(RecoveredLastSequence(), 60u);
  EXPECT_EQ(LowestLogNumber().value(), 60u);
  EXPECT_GE(set_->next_file_number(), next);
}

TEST_F(VersionSetTest, TheFirstChangeAfterRecoveryStartsANewManifest) {
  ASSERT_OK(Recover());
  EXPECT_EQ(Current(), "MANIFEST-000001");
  ASSERT_OK(AddTable(50));
  const std::string second = Current();
  EXPECT_NE(second, "MANIFEST-000001");
  EXPECT_EQ(TakeReplacedManifests(), std::vector<FileNumber>{1});
  ASSERT_OK(AddTable(60));
  EXPECT_EQ(Current(), second);
}

TEST_F(VersionSetTest, ALargeManifestIsReplacedByOneThatSaysTheSame) {
  options_.max_bytes = 1;
  ASSERT_OK(Recover());
  ASSERT_OK(AddTable(50));
  const std::string second = Current();
  ASSERT_OK(AddTable(60));
  EXPECT_NE(Current(), second);
  ASSERT_OK(Recover());
  EXPECT_EQ(Tables(), "60 50 ");
}

TEST_F(VersionSetTest, AReplacedManifestKeepsLogsAndTimestampFlags) {
  ASSERT_OK(Recover());
  VersionSet::Change change;
  VersionEdit& edit = change.edits.emplace_back();
  edit.log_number = FileNumber{4};
  edit.persist_user_defined_timestamps = false;
  ASSERT_OK(Apply(std::move(change)));
  WalSet wals;
  wals.Configure({.log = {.fs = &fs_}, .wal_dir = "/db"});
  wals.AddRecovered({.number = 4, .first_seqno = 7, .synced_bytes = 30, .end_bytes = 40});
  wals.AddRecovered({.number = 5, .first_seqno = 9, .synced_bytes = 50, .end_bytes = 50});
  for (const FileNumber number : {FileNumber{4}, FileNumber{5}}) {
    auto log = wals.Create(number);
    ASSERT_OK(log);
  }
  TrackLogs(&wals);
  ASSERT_OK(Apply(EditOnly(4)));
  for (int i = 0; i < 2; i++) {  // the second time from a snapshot alone
    ASSERT_OK(Recover());
    ASSERT_EQ(TrackedLogs().size(), 2u);
    const LogSummary log = TrackedLogs().at(4);
    EXPECT_EQ(log.first_seqno, 7u);
    EXPECT_EQ(log.synced_bytes, 30u);
    EXPECT_EQ(log.end_bytes, 40u);
    EXPECT_EQ(PersistsTimestamps(), false);
    ASSERT_OK(Apply(EditOnly(4)));
  }
  VersionSet::Change flushed = EditOnly(5);
  flushed.edits[0].min_log_number_to_keep = FileNumber{5};
  ASSERT_OK(Apply(std::move(flushed)));
  ASSERT_OK(Recover());
  EXPECT_EQ(TrackedLogs().size(), 1u);
  EXPECT_TRUE(TrackedLogs().contains(5));
}

TEST_F(VersionSetTest, AManifestWithFewerRecordsThanAtFirstIsCorruption) {
  ASSERT_OK(Recover());
  ASSERT_OK(AddTable(50));
  const std::string path = "/db/" + Current();
  const std::string bytes = memory_->AllFiles().at(path);
  ASSERT_OK(Recover());
  for (size_t size = 0; size < bytes.size(); size++) {
    memory_->PutFile(path, bytes.substr(0, size));
    EXPECT_TRUE(Recover().IsCorruption()) << size;
  }
}

TEST_F(VersionSetTest, AFailedAppendInstallsNothingAndTheNextChangeStartsANewManifest) {
  ASSERT_OK(Recover());
  ASSERT_OK(AddTable(50));
  const std::string second = Current();
  FaultPlan plan;
  plan.kinds = KindBit(CallKind::kSync);
  plan.path_part = "MANIFEST";
  fs_.AddFault(plan);
  EXPECT_FALSE(AddTable(60).ok());
  EXPECT_EQ(Tables(), "50 ");
  EXPECT_EQ(Current(), second);
  ASSERT_OK(AddTable(70));
  EXPECT_NE(Current(), second);
  ASSERT_OK(Recover());
  EXPECT_EQ(Tables(), "70 50 ");
}

// Every call of a change is made to fail once. What is recovered is the state before it or after
// it, and the change after it always works.
TEST_F(VersionSetTest, AnyFailureLeavesTheStateBeforeOrAfterTheChange) {
  options_.max_bytes = 1;
  bool has_failed = true;
  uint64_t step = 0;
  for (; has_failed && step < 100; step++) {
    ASSERT_OK(VersionSet::CreateNew(options_, "the-id"));
    ASSERT_OK(Recover());
    ASSERT_OK(AddTable(50));
    fs_.FailAt(fs_.CallCount() + step, FaultError::kIO);
    const Status status = AddTable(60);
    has_failed = fs_.Stats().TotalInjected() > step;
    fs_.ClearFaults();
    EXPECT_EQ(Tables(), status.ok() ? "60 50 " : "50 ") << step;
    ASSERT_OK(AddTable(70));
    ASSERT_OK(Recover());
    EXPECT_EQ(Tables(), status.ok() ? "70 60 50 " : "70 50 ") << step;
  }
  EXPECT_GT(step, 4u);
  EXPECT_LT(step, 100u);
}

TEST_F(VersionSetTest, AManifestWithoutItsCountersIsRefused) {
  WriteManifest({EditWithLog(1)});
  EXPECT_TRUE(Recover().IsCorruption());
  EXPECT_TRUE(ListFamilies(&fs_, "/db").status().IsCorruption());
}

TEST_F(VersionSetTest, ANextFileNumberOfZeroIsRefused) {
  VersionEdit edit = EditWithLog(0);
  edit.next_file_number = FileNumber{0};
  edit.last_sequence = 0;
  WriteManifest({edit});
  EXPECT_TRUE(Recover().IsCorruption());
}

TEST_F(VersionSetTest, AnotherComparatorIsRefused) {
  VersionEdit edit = EditWithLog(0);
  edit.next_file_number = FileNumber{2};
  edit.last_sequence = 0;
  edit.comparator = "somebody.Else";
  WriteManifest({edit});
  EXPECT_TRUE(Recover().IsInvalidArgument());
}

}  // namespace ashlar
