// SPDX-License-Identifier: Apache-2.0
//
// Families with timestamps: operands, entities, tailing iterators, explained reads, exports and
// imports, and databases whose newest versions are removed while they are opened.
#include <memory>

#include "ashlar/attribute_groups.h"
#include "ashlar/explain.h"
#include "ashlar/merge_operator.h"
#include "ashlar/utilities/checkpoint.h"
#include "ashlar/wide_columns.h"
#include "db/options/stock_merge_operators.h"
#include "tests/db/stamps/stamped_db.h"

namespace ashlar {
namespace {

class StampedOtherCallsTest : public StampedTest {
 protected:
  StampedOtherCallsTest() {
    options_.merge_operator = NewStringAppendOperator(",");
    Open();
  }
  void MergeAt(const std::string& key, uint64_t ts, const std::string& operand) {
    ASSERT_OK(db_->Merge(WriteOptions(), db_->DefaultColumnFamily(), key, Stamp(ts), operand));
  }
  // The operands, or the error.
  std::string OperandsAt(const std::string& key, uint64_t ts, int most = 9,
                         std::function<bool(Slice)> goes_on = nullptr) {
    const ReadAt read(ts);
    std::vector<PinnableSlice> operands(9);
    GetMergeOperandsOptions options;
    options.expected_max_number_of_operands = most;
    options.continue_cb = std::move(goes_on);
    int count = 0;
    const Status status = db_->GetMergeOperands(read.options, db_->DefaultColumnFamily(), key,
                                                operands.data(), &options, &count);
    if (!status.ok()) return status.IsNotFound() ? "-" : status.ToString();
    std::string text;
    for (int i = 0; i < count; i++) text += (i == 0 ? "" : " ") + operands[i].ToString();
    return text;
  }
};

TEST_F(StampedOtherCallsTest, OperandsAreThoseThatTheReaderSees) {
  MergeAt("k", 1, "zero");
  DeleteAt("k", 2);
  PutAt("k", 3, "base");
  MergeAt("k", 4, "m4");
  const Snapshot* const snapshot = db_->GetSnapshot();
  MergeAt("k", 6, "m6");
  MergeAt("k", 4, "again");
  for (int flushed = 0; flushed < 2; flushed++) {
    EXPECT_EQ(OperandsAt("k", 0), "-");
    EXPECT_EQ(OperandsAt("k", 1), "zero");
    EXPECT_EQ(OperandsAt("k", 2), "-");
    EXPECT_EQ(OperandsAt("k", 3), "base");
    EXPECT_EQ(OperandsAt("k", 5), "base m4 again");
    EXPECT_EQ(OperandsAt("k", 9), "base m4 again m6");
    EXPECT_NE(OperandsAt("k", 9, 3).find("ncomplete"), std::string::npos) << "four do not fit";
    EXPECT_EQ(OperandsAt("k", 9, 9, [](Slice operand) { return operand != "again"; }), "again m6");
    EXPECT_EQ(OperandsAt("j", 9) + OperandsAt("l", 9), "--");
    Flush();
  }
  ReadAt read(9, snapshot);
  PinnableSlice operands[3];
  GetMergeOperandsOptions options;
  options.expected_max_number_of_operands = 3;
  int count = 0;
  ASSERT_OK(db_->GetMergeOperands(read.options, db_->DefaultColumnFamily(), "k", operands, &options,
                                  &count));
  EXPECT_EQ(count, 2);
  db_->ReleaseSnapshot(snapshot);
  const ReadOptions none;
  EXPECT_TRUE(
      db_->GetMergeOperands(none, db_->DefaultColumnFamily(), "k", operands, &options, &count)
          .IsInvalidArgument());
}

TEST_F(StampedOtherCallsTest, GetTellsOfMoreOperandsThanTheThreshold) {
  MergeAt("k", 1, "1");
  MergeAt("k", 2, "2");
  MergeAt("k", 3, "3");
  for (int flushed = 0; flushed < 2; flushed++) {
    for (const uint64_t ts : {2, 3}) {
      ReadAt read(ts);
      read.options.merge_operand_count_threshold = 2;
      std::string value;
      const Status status = db_->Get(read.options, "k", &value);
      EXPECT_OK(status);
      EXPECT_EQ(status.IsOkMergeOperandThresholdExceeded(), ts == 3);
      EXPECT_EQ(value, ts == 3 ? "1,2,3" : "1,2");
    }
    Flush();
  }
}

// Their keys are shown without timestamps, so they may be shorter than a timestamp.
TEST_F(StampedOtherCallsTest, AnIteratorOverFamiliesOrdersKeysOfAnyLength) {
  ColumnFamilyHandle* const first = db_->DefaultColumnFamily();
  ColumnFamilyHandle* const second = CreateFamily("second");
  const auto put = [&](ColumnFamilyHandle* family, const std::string& key, uint64_t ts) {
    ASSERT_OK(db_->Put(WriteOptions(), family, key, Stamp(ts), family->GetName()));
  };
  for (const char* key : {"", "a", "c", "common prefix 2", "same", "the same long key"}) {
    put(first, key, 1);
  }
  for (const char* key : {"b", "common prefix 1", "common prefix 3", "same", "the same long key"}) {
    put(second, key, 2);
  }
  put(second, "too new", 6);
  const ReadAt read(5);
  const auto it = db_->NewCoalescingIterator(read.options, {first, second});
  std::string forwards, backwards;
  for (it->SeekToFirst(); it->Valid(); it->Next()) {
    forwards += it->key().ToString() + "=" + it->value().ToString() + " ";
  }
  EXPECT_OK(it->status());
  EXPECT_EQ(forwards,
            "=default a=default b=second c=default common prefix 1=second "
            "common prefix 2=default common prefix 3=second same=second the same long key=second ");
  for (it->SeekToLast(); it->Valid(); it->Prev()) {
    backwards = it->key().ToString() + "=" + it->value().ToString() + " " + backwards;
  }
  EXPECT_OK(it->status());
  EXPECT_EQ(backwards, forwards);
  const auto groups = db_->NewAttributeGroupIterator(read.options, {first, second});
  std::string counts, counts_back;
  for (groups->SeekToFirst(); groups->Valid(); groups->Next()) {
    counts += std::to_string(groups->attribute_groups().size());
  }
  for (groups->SeekToLast(); groups->Valid(); groups->Prev()) {
    counts_back = std::to_string(groups->attribute_groups().size()) + counts_back;
  }
  EXPECT_EQ(counts, "111111122") << "families of each key";
  EXPECT_EQ(counts_back, counts);
  EXPECT_OK(groups->status());
}

TEST_F(StampedOtherCallsTest, AnIteratorOverFamiliesShowsNoVersions) {
  ColumnFamilyHandle* const second = CreateFamily("second");
  const ReadAt read(1, 5);
  const std::vector<ColumnFamilyHandle*> families{db_->DefaultColumnFamily(), second};
  EXPECT_TRUE(db_->NewCoalescingIterator(read.options, families)->status().IsNotSupported());
  EXPECT_TRUE(db_->NewAttributeGroupIterator(read.options, families)->status().IsNotSupported());
}

TEST_F(StampedOtherCallsTest, MultiGetEntityReadsFamiliesOfBothKinds) {
  Options plain = options_;
  plain.comparator = BytewiseComparator();
  ColumnFamilyHandle* const other = CreateFamily("plain", plain);
  ASSERT_OK(db_->PutEntity(WriteOptions(), other, "e", {{"", "d"}, {"c", "1"}}));
  PutAt("a", 1, "old");
  PutAt("a", 5, "new");
  const ReadAt read(3);
  ColumnFamilyHandle* handles[] = {db_->DefaultColumnFamily(), db_->DefaultColumnFamily()};
  const Slice keys[] = {"a", "b"};
  PinnableWideColumns found[2];
  Status statuses[2];
  db_->MultiGetEntity(read.options, 2, handles, keys, found, statuses);
  ASSERT_OK(statuses[0]);
  EXPECT_EQ(found[0].columns(), (WideColumns{{kDefaultWideColumnName, "old"}}));
  EXPECT_TRUE(statuses[1].IsNotFound());
  // Each family gets the options that it must refuse or not.
  handles[1] = other;
  const Slice mixed[] = {"a", "e"};
  db_->MultiGetEntity(ReadOptions(), 2, handles, mixed, found, statuses);
  EXPECT_TRUE(statuses[0].IsInvalidArgument());
  ASSERT_OK(statuses[1]);
  EXPECT_EQ(found[1].columns(), (WideColumns{{"", "d"}, {"c", "1"}}));
}

// The result has a default column and the number of operands.
class MakesColumns final : public MergeOperator {
 public:
  const char* Name() const override { return "MakesColumns"; }
  bool FullMergeV3(const MergeOperationInputV3& in, MergeOperationOutputV3* out) const override {
    out->new_value = MergeOperationOutputV3::NewColumns{
        {"", "d"}, {"operands", std::to_string(in.operand_list.size())}};
    return true;
  }
  bool ShouldMerge(const std::vector<Slice>& operands) const override {
    return operands.back() == "last";
  }
};

TEST_F(StampedOtherCallsTest, ShouldMergeEndsALookup) {
  options_.merge_operator = std::make_shared<MakesColumns>();
  Reopen();
  MergeAt("k", 1, "x");
  MergeAt("k", 2, "last");
  MergeAt("k", 3, "x");
  const ReadAt read(3);
  PinnableWideColumns found;
  ASSERT_OK(db_->GetEntity(read.options, db_->DefaultColumnFamily(), "k", &found));
  EXPECT_EQ(found.columns(), (WideColumns{{"", "d"}, {"operands", "2"}}));
}

TEST_F(StampedOtherCallsTest, AnEntityThatAMergeMakesHasAllItsColumns) {
  options_.merge_operator = std::make_shared<MakesColumns>();
  Reopen();
  MergeAt("k", 1, "x");
  MergeAt("k", 2, "x");
  const ReadAt read(2);
  ColumnFamilyHandle* family = db_->DefaultColumnFamily();
  for (int flushed = 0; flushed < 2; flushed++) {
    PinnableWideColumns columns[2];
    ASSERT_OK(db_->GetEntity(read.options, family, "k", &columns[0]));
    const Slice key("k");
    Status status;
    db_->MultiGetEntity(read.options, 1, &family, &key, &columns[1], &status);
    ASSERT_OK(status);
    for (const PinnableWideColumns& found : columns) {
      EXPECT_EQ(found.columns(), (WideColumns{{"", "d"}, {"operands", "2"}}));
    }
    EXPECT_EQ(GetAt("k", 2), "d");
    Flush();
  }
}

// The default column alone is below the limit.
TEST_F(StampedOtherCallsTest, TheLimitOfValuesCountsAllColumns) {
  options_.merge_operator = std::make_shared<MakesColumns>();
  Reopen();
  for (const char* key : {"a", "b"}) MergeAt(key, 1, "x");
  ReadAt read(2);
  read.options.value_size_soft_limit = 3;
  ColumnFamilyHandle* families[] = {db_->DefaultColumnFamily(), db_->DefaultColumnFamily()};
  const Slice keys[] = {"a", "b"};
  PinnableWideColumns columns[2];
  Status statuses[2];
  db_->MultiGetEntity(read.options, 2, families, keys, columns, statuses);
  EXPECT_OK(statuses[0]);
  EXPECT_TRUE(statuses[1].IsAborted()) << statuses[1].ToString();
}

TEST_F(StampedOtherCallsTest, ATailingIteratorShowsTheNewestStateAtEachSeekAndAtItsEnd) {
  PutAt("a", 1, "a1");
  ReadAt read(5);
  read.options.tailing = true;
  const std::unique_ptr<Iterator> it(db_->NewIterator(read.options));
  it->SeekToFirst();
  EXPECT_EQ(Shown(it.get()), "a=a1@1");
  PutAt("a", 3, "a3");
  PutAt("b", 4, "b4");
  PutAt("c", 7, "too new");
  it->Next();
  ASSERT_TRUE(it->Valid());
  EXPECT_EQ(Shown(it.get()), "b=b4@4") << "it has looked behind its end";
  it->Next();
  EXPECT_FALSE(it->Valid());
  Flush();
  PutAt("a", 5, "a5");
  it->Seek("a");
  EXPECT_EQ(Shown(it.get()), "a=a5@5");
  it->SeekToLast();
  EXPECT_EQ(Shown(it.get()), "b=b4@4");
  RaiseLow(6);
  it->SeekToFirst();
  EXPECT_FALSE(it->Valid());
  EXPECT_TRUE(it->status().IsInvalidArgument()) << "versions at 5 may be gone";
}

TEST_F(StampedOtherCallsTest, ATailingIteratorEndsWithTheSoughtPrefixUnderAnyExtractor) {
  for (const char* key : {"aaa11", "aaa22", "aab11", "bbb11"}) PutAt(key, 1, "v");
  ReadAt read(5);
  read.options.tailing = true;
  read.options.prefix_same_as_start = true;
  for (const char* extractor : {"nullptr", "fixed:1", "fixed:5"}) {
    SCOPED_TRACE(extractor);
    ASSERT_OK(db_->SetOptions({{"prefix_extractor", "fixed:3"}}));
    const std::unique_ptr<Iterator> it(db_->NewIterator(read.options));
    it->Seek("aaa2");
    ASSERT_TRUE(it->Valid());
    EXPECT_EQ(Shown(it.get()), "aaa22=v@1");
    ASSERT_OK(db_->SetOptions({{"prefix_extractor", extractor}}));
    it->Next();
    EXPECT_FALSE(it->Valid());
    EXPECT_OK(it->status());
    it->Seek("aaa1");
    ASSERT_TRUE(it->Valid());
    EXPECT_EQ(Shown(it.get()), "aaa11=v@1");
  }
}

TEST_F(StampedOtherCallsTest, ATailingIteratorOfVersionsGoesOnBehindTheLastOne) {
  PutAt("a", 2, "a2");
  ReadAt read(1, 9);
  read.options.tailing = true;
  const std::unique_ptr<Iterator> it(db_->NewIterator(read.options));
  it->SeekToFirst();
  ASSERT_TRUE(it->Valid());
  EXPECT_EQ(it->value(), "a2");
  PutAt("a", 1, "a1");
  PutAt("a", 5, "a5");
  PutAt("b", 3, "b3");
  std::string values;
  for (it->Next(); it->Valid(); it->Next()) values += it->value().ToString() + " ";
  EXPECT_EQ(values, "a1 b3 ");
}

TEST_F(StampedOtherCallsTest, AnExplainedReadSaysWhereItsVersionIs) {
  PutAt("a", 1, "old");
  PutAt("b", 2, "b");
  Flush();
  PutAt("a", 5, "new");
  ReadExplanation explanation;
  const ReadAt early(3), late(9);
  ColumnFamilyHandle* const family = db_->DefaultColumnFamily();
  ASSERT_OK(ExplainGet(db_.get(), early.options, family, "a", &explanation));
  EXPECT_OK(explanation.status);
  EXPECT_EQ(explanation.value_bytes, 3u);
  ASSERT_EQ(explanation.places.size(), 2u);
  using Found = ExplainedPlace::Found;
  EXPECT_EQ(explanation.places[0].kind, ExplainedPlace::Kind::kMemTable);
  EXPECT_EQ(explanation.places[0].found, Found::kNothing);
  EXPECT_EQ(explanation.places[1].found, Found::kValue);
  EXPECT_EQ(explanation.places[1].seqno, 1u);
  ASSERT_OK(ExplainGet(db_.get(), late.options, family, "a", &explanation));
  EXPECT_EQ(explanation.places[0].found, Found::kValue);
  EXPECT_EQ(explanation.places[0].seqno, 3u);
  EXPECT_EQ(explanation.places[1].found, Found::kNothing) << "it has an older version";
  DeleteAt("b", 4);
  ASSERT_OK(ExplainGet(db_.get(), late.options, family, "b", &explanation));
  EXPECT_TRUE(explanation.status.IsNotFound());
  EXPECT_EQ(explanation.places[0].found, Found::kTombstone);
  ASSERT_OK(ExplainGet(db_.get(), late.options, family, "x", &explanation));
  EXPECT_TRUE(explanation.status.IsNotFound());
  for (const ExplainedRead read : {ExplainedRead::kSeek, ExplainedRead::kSeekForPrev}) {
    const Status status =
        read == ExplainedRead::kSeek
            ? ExplainSeek(db_.get(), early.options, family, "a", &explanation)
            : ExplainSeekForPrev(db_.get(), early.options, family, "az", &explanation);
    ASSERT_OK(status);
    EXPECT_TRUE(explanation.is_valid);
    EXPECT_EQ(explanation.found_key, "a");
    EXPECT_EQ(explanation.places.back().found, Found::kValue);
  }
  EXPECT_TRUE(ExplainGet(db_.get(), ReadOptions(), family, "a", &explanation).IsInvalidArgument());
}

TEST_F(StampedOtherCallsTest, AnExportedFamilyIsImportedWithAllVersions) {
  PutAt("a", 1, "a1");
  PutAt("b", 2, "b2");
  Flush();
  Compact();
  PutAt("a", 4, "a4");
  DeleteRangeAt("b", "c", 5);
  Flush();
  MergeAt("m", 6, "m6");
  Checkpoint* made = nullptr;
  ASSERT_OK(Checkpoint::Create(db_.get(), &made));
  const std::unique_ptr<Checkpoint> checkpoint(made);
  ExportImportFilesMetaData* metadata = nullptr;
  ASSERT_OK(checkpoint->ExportColumnFamily(db_->DefaultColumnFamily(), "/export", &metadata));
  const std::unique_ptr<ExportImportFilesMetaData> exported(metadata);
  ColumnFamilyHandle* imported = nullptr;
  ASSERT_OK(db_->CreateColumnFamilyWithImport(options_, "imported", ImportColumnFamilyOptions(),
                                              *exported, &imported));
  const auto scan = [&](ColumnFamilyHandle* family, uint64_t ts) {
    const ReadAt read(ts);
    std::string text;
    const std::unique_ptr<Iterator> it(db_->NewIterator(read.options, family));
    for (it->SeekToFirst(); it->Valid(); it->Next()) text += Shown(it.get()) + " ";
    EXPECT_OK(it->status());
    return text;
  };
  for (uint64_t ts = 0; ts < 8; ts++) {
    EXPECT_EQ(scan(imported, ts), scan(db_->DefaultColumnFamily(), ts)) << ts;
  }
  // Its keys in the log are known to have timestamps.
  ASSERT_OK(db_->Put(WriteOptions(), imported, "a", Stamp(7), "a7"));
  ASSERT_OK(db_->DestroyColumnFamilyHandle(imported));
  OpenAll();
  EXPECT_EQ(scan(Family("imported"), 7), "a=a7@7 m=m6@6 ");
  EXPECT_EQ(scan(Family("imported"), 4), "a=a4@4 b=b2@2 ");
}

// All versions of a key belong to one part, whatever their timestamps are.
TEST_F(StampedOtherCallsTest, PartsOfAnImportHaveNoCommonKeys) {
  const auto export_to = [&](const std::string& dir) {
    Checkpoint* made = nullptr;
    EXPECT_OK(Checkpoint::Create(db_.get(), &made));
    const std::unique_ptr<Checkpoint> checkpoint(made);
    ExportImportFilesMetaData* metadata = nullptr;
    EXPECT_OK(checkpoint->ExportColumnFamily(db_->DefaultColumnFamily(), dir, &metadata));
    return std::unique_ptr<ExportImportFilesMetaData>(metadata);
  };
  PutAt("a", 9, "a9");
  const auto newer = export_to("/newer");
  Close();
  ASSERT_OK(DestroyDB("/db", options_));
  Open();
  PutAt("a", 1, "a1");
  const auto older = export_to("/older");
  ColumnFamilyHandle* imported = nullptr;
  const Status status = db_->CreateColumnFamilyWithImport(
      options_, "imported", ImportColumnFamilyOptions(),
      std::vector<const ExportImportFilesMetaData*>{newer.get(), older.get()}, &imported);
  EXPECT_TRUE(status.IsInvalidArgument()) << status.ToString();
  EXPECT_EQ(imported, nullptr);
}

TEST_F(StampedOtherCallsTest, AClippedFamilyHasNoVersionOutsideOfTheRange) {
  for (const char* key : {"a", "b", "c", "d", "e"}) PutAt(key, 1, "1");
  Flush();
  Compact();
  for (const char* key : {"a", "c", "e"}) PutAt(key, 3, "3");
  DeleteRangeAt("a", "d", 5);
  Flush();
  PutAt("d", 6, "6");
  ColumnFamilyHandle* const family = db_->DefaultColumnFamily();
  const Snapshot* const snapshot = db_->GetSnapshot();
  EXPECT_TRUE(db_->ClipColumnFamily(family, "b", "d").IsBusy());
  db_->ReleaseSnapshot(snapshot);
  EXPECT_TRUE(db_->ClipColumnFamily(family, "d", "b").IsInvalidArgument());
  EXPECT_EQ(ScanAt(1), "a=1@1 b=1@1 c=1@1 d=1@1 e=1@1");
  ASSERT_OK(db_->ClipColumnFamily(family, "b", "d"));
  for (int opened = 0; opened < 2; opened++) {
    EXPECT_EQ(ScanAt(1), "b=1@1 c=1@1");
    EXPECT_EQ(ScanAt(4), "b=1@1 c=3@3");
    EXPECT_EQ(ScanAt(9), "");
    Reopen();
  }
  for (const LiveFileMetaData& table : Tables()) {
    EXPECT_GE(table.smallestkey.substr(0, 1), "b");
    EXPECT_LE(table.largestkey.substr(0, 1), "d");
  }
  PutAt("a", 7, "7");
  PutAt("e", 7, "7");
  EXPECT_EQ(ScanAt(9), "a=7@7 e=7@7");
}

// Also if the MANIFEST is new, so that the secondary compares it as a whole.
TEST_F(StampedTest, ASecondaryRefusesTimestampsWhoseVersionsThePrimaryMayHaveDropped) {
  for (const size_t manifest_bytes : {size_t{1} << 30, size_t{1}}) {
    options_.max_manifest_file_size = manifest_bytes;
    Close();
    ASSERT_OK(DestroyDB(dir_, options_));
    Open();
    for (const uint64_t ts : {1, 5, 10, 20}) PutAt("k", ts, "v" + std::to_string(ts));
    Flush();
    std::unique_ptr<DB> secondary;
    ASSERT_OK(DB::OpenAsSecondary(options_, dir_, "/secondary", &secondary));
    RaiseLow(15);
    CompactRangeOptions compact;
    compact.bottommost_level_compaction = BottommostLevelCompaction::kForce;
    ASSERT_OK(db_->CompactRange(compact, nullptr, nullptr));
    ASSERT_OK(secondary->TryCatchUpWithPrimary());
    std::string value;
    EXPECT_TRUE(secondary->Get(ReadAt(5).options, "k", &value).IsInvalidArgument()) << value;
    ASSERT_OK(secondary->Get(ReadAt(17).options, "k", &value));
    EXPECT_EQ(value, "v10");
  }
}

class TrimmedHistoryTest : public StampedTest {
 protected:
  TrimmedHistoryTest() { Open(); }
  Status TryTrim(const std::string& stamp) {
    Close();
    return DB::OpenAndTrimHistory(options_, dir_, {{kDefaultColumnFamilyName, options_}}, &handles_,
                                  &db_, stamp);
  }
  void Trim(uint64_t ts) { ASSERT_OK(TryTrim(Stamp(ts))); }
  void Write() {
    PutAt("a", 1, "a1");
    PutAt("b", 2, "b2");
    Flush();
    Compact();
    PutAt("a", 3, "a3");
    DeleteAt("b", 5);
    Flush();
    DeleteRangeAt("a", "c", 6);
    PutAt("c", 7, "in the log");
  }
};

TEST_F(TrimmedHistoryTest, WhatIsNewerIsGone) {
  for (const auto style : {kCompactionStyleLevel, kCompactionStyleUniversal}) {
    options_.compaction_style = style;
    Close();
    ASSERT_OK(DestroyDB(dir_, options_));
    Open();
    Write();
    Trim(4);
    EXPECT_EQ(ScanAt(9), "a=a3@3 b=b2@2");
    EXPECT_EQ(ScanAt(1), "a=a1@1");
    PutAt("b", 5, "b5");
    Reopen();
    EXPECT_EQ(ScanAt(9), "a=a3@3 b=b5@5");
    Trim(0);
    EXPECT_EQ(ScanAt(9), "");
    EXPECT_EQ(Tables().size(), 0u);
  }
}

// A move of tables, and a compaction that began when the database was opened, do not trim.
TEST_F(TrimmedHistoryTest, WhatIsNewerIsGoneWhateverOtherCompactionsDo) {
  for (int round = 0; round < 12; round++) {
    const bool is_universal = round % 4 == 0;
    options_.compaction_style = is_universal ? kCompactionStyleUniversal : kCompactionStyleLevel;
    options_.compaction_options_universal.allow_trivial_move = true;
    options_.level0_file_num_compaction_trigger = 2;
    options_.disable_auto_compactions = true;
    Close();
    ASSERT_OK(DestroyDB(dir_, options_));
    Open();
    for (uint64_t ts = 1; ts <= 9; ts++) {
      for (const char* key : {"a", "b", "c"}) PutAt(key, ts, "v");
      if (ts % 3 == 0 && !is_universal) Flush();
    }
    Flush();
    options_.disable_auto_compactions = is_universal;
    Trim(4);
    ASSERT_EQ(ScanAt(9), "a=v@4 b=v@4 c=v@4") << round;
  }
}

TEST_F(TrimmedHistoryTest, WhatIsAsOldAsTheLimitStays) {
  Write();
  Trim(6);
  EXPECT_EQ(ScanAt(9), "");
  EXPECT_EQ(ScanAt(5), "a=a3@3");
  EXPECT_EQ(ScanAt(4), "a=a3@3 b=b2@2");
}

TEST_F(TrimmedHistoryTest, NothingIsRemovedIfTheCallIsRefused) {
  Write();
  EXPECT_TRUE(TryTrim("odd").IsInvalidArgument());
  EXPECT_TRUE(handles_.empty());
  EXPECT_EQ(db_, nullptr);
  Open();
  RaiseLow(3);
  EXPECT_TRUE(TryTrim(Stamp(2)).IsInvalidArgument()) << "versions at 2 may be gone";
  options_.avoid_flush_during_recovery = true;
  EXPECT_TRUE(TryTrim(Stamp(4)).IsInvalidArgument());
  options_.avoid_flush_during_recovery = false;
  options_.compaction_style = kCompactionStyleNone;
  EXPECT_TRUE(TryTrim(Stamp(4)).IsNotSupported());
  options_.compaction_style = kCompactionStyleLevel;
  Open();
  EXPECT_EQ(ScanAt(9), "c=in the log@7");
}

TEST_F(TrimmedHistoryTest, FamiliesWithoutTimestampsAreNotChanged) {
  Options plain = options_;
  plain.comparator = BytewiseComparator();
  ColumnFamilyHandle* const other = CreateFamily("plain", plain);
  ASSERT_OK(db_->Put(WriteOptions(), other, "k", "v"));
  PutAt("a", 5, "a5");
  Close();
  ASSERT_OK(DB::OpenAndTrimHistory(options_, dir_,
                                   {{kDefaultColumnFamilyName, options_}, {"plain", plain}},
                                   &handles_, &db_, Stamp(4)));
  EXPECT_EQ(ScanAt(9), "");
  EXPECT_EQ(DbTest::Get(handles_[1], "k"), "v");
}

class FailedLimits : public DbTest {
 protected:
  FailedLimits() : DbTest(TestFiles::kSim) { options_.comparator = BytewiseComparatorWithU64Ts(); }
};

// The record of the limit is in the MANIFEST although its sync has failed.
TEST_F(FailedLimits, ALimitThatCouldNotBeRaisedStaysWhereItWas) {
  Open();
  ASSERT_OK(db_->Put(WriteOptions(), "k", Stamp(1), "value"));
  Fail(CallKind::kSync, "MANIFEST", FaultMode::kOnce, FaultError::kIO, FaultEffect::kFull);
  const std::string limit = Stamp(5);
  EXPECT_TRUE(db_->IncreaseFullHistoryTsLow(db_->DefaultColumnFamily(), limit).IsIOError());
  sim_->ClearFaults();
  ASSERT_OK(db_->Put(WriteOptions(), "k", Stamp(2), "new"));
  Kill();
  Open();
  std::string found;
  ASSERT_OK(db_->GetFullHistoryTsLow(db_->DefaultColumnFamily(), &found));
  EXPECT_EQ(found, "");
  const ReadAt read(1);
  std::string value;
  ASSERT_OK(db_->Get(read.options, "k", &value));
  EXPECT_EQ(value, "value");
}

}  // namespace
}  // namespace ashlar
