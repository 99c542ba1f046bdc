// SPDX-License-Identifier: Apache-2.0
//
// Wide-column entities: the results of each kind of read, merges over entities, and damage.

#include <thread>
#include <utility>

#include "ashlar/cache.h"
#include "ashlar/write_batch.h"
#include "db/write/write_batch_internal.h"
#include "tests/db/columns/columns_fixture.h"

namespace ashlar {
namespace {

const WideColumns kThree{{"zz", "22"}, {"", "dflt"}, {"a", "1"}};
const WideColumns kNoDefault{{"b", ""}, {"c", "3"}};

TEST_F(ColumnsTest, EveryWayOfReadingAgrees) {
  PutEntity("k1", kThree);
  PutEntity("k2", kNoDefault);
  Put("k3", "plain");
  PutEntity("k4", {});
  Everywhere([this] {
    EXPECT_EQ(Get("k1"), "dflt");
    EXPECT_EQ(Get("k2"), "");
    EXPECT_EQ(Get("k3"), "plain");
    EXPECT_EQ(Get("k4"), "");
    EXPECT_EQ(GetEntity("k1"), "=dflt a=1 zz=22 ");
    EXPECT_EQ(GetEntity("k2"), "b= c=3 ");
    EXPECT_EQ(GetEntity("k3"), "=plain ");
    EXPECT_EQ(GetEntity("k4"), "");
    EXPECT_EQ(GetEntity("k5"), "NotFound: ");
    EXPECT_EQ(Scan(), "k1:dflt{=dflt a=1 zz=22 } k2:{b= c=3 } k3:plain{=plain } k4:{} ");
  });
}

TEST_F(ColumnsTest, BatchesReadWhatSingleReadsDo) {
  PutEntity("k1", kThree);
  Put("k2", "plain");
  PutEntity("k1", kNoDefault, 1);
  Merge("k3", "m", 1);
  Everywhere([this] {
    const std::vector<Slice> keys{"k1", "k2", "k1", "k3", "none"};
    std::vector<ColumnFamilyHandle*> families{handles_[0], handles_[0], handles_[1], handles_[1],
                                              handles_[0]};
    std::vector<PinnableWideColumns> columns(5);
    std::vector<Status> statuses(5);
    db_->MultiGetEntity(ReadOptions(), 5, families.data(), keys.data(), columns.data(),
                        statuses.data());
    std::string texts;
    for (size_t i = 0; i < 4; i++) {
      EXPECT_OK(statuses[i]);
      texts += Text(columns[i].columns()) + "| ";
    }
    EXPECT_EQ(texts, "=dflt a=1 zz=22 | =plain | b= c=3 | =-.m | ");
    EXPECT_TRUE(statuses[4].IsNotFound());
    EXPECT_TRUE(columns[4].columns().empty());

    std::vector<std::string> values;
    for (const Status& status : db_->MultiGet(ReadOptions(), families, keys, &values)) {
      EXPECT_TRUE(status.ok() || status.IsNotFound());
    }
    EXPECT_EQ(values, (std::vector<std::string>{"dflt", "plain", "", "-.m", ""}));
    db_->MultiGetEntity(ReadOptions(), handles_[0], 2, keys.data(), columns.data(), statuses.data(),
                        /*sorted_input=*/true);
    EXPECT_EQ(Text(columns[0].columns()) + Text(columns[1].columns()), "=dflt a=1 zz=22 =plain ");
  });
}

TEST_F(ColumnsTest, AttributeGroupsAreWrittenAndReadTogether) {
  const AttributeGroups groups{AttributeGroup(handles_[0], kThree),
                               AttributeGroup(handles_[1], kNoDefault)};
  ASSERT_OK(db_->PutEntity(WriteOptions(), "k", groups));
  Put("other", "x", 1);
  Everywhere([this] {
    PinnableAttributeGroups found;
    for (ColumnFamilyHandle* handle : handles_) found.emplace_back(handle);
    ASSERT_OK(db_->GetEntity(ReadOptions(), "k", &found));
    EXPECT_OK(found[0].status());
    EXPECT_EQ(Text(found[0].columns()), "=dflt a=1 zz=22 ");
    EXPECT_EQ(Text(found[1].columns()), "b= c=3 ");

    std::vector<PinnableAttributeGroups> many(2);
    for (PinnableAttributeGroups& one : many) {
      for (ColumnFamilyHandle* handle : handles_) one.emplace_back(handle);
    }
    const std::vector<Slice> keys{"other", "k"};
    db_->MultiGetEntity(ReadOptions(), 2, keys.data(), many.data());
    EXPECT_TRUE(many[0][0].status().IsNotFound());
    EXPECT_EQ(Text(many[0][1].columns()), "=x ");
    EXPECT_EQ(Text(many[1][0].columns()), "=dflt a=1 zz=22 ");
    EXPECT_EQ(Text(many[1][1].columns()), "b= c=3 ");
  });
  EXPECT_TRUE(db_->GetEntity(ReadOptions(), "k", nullptr).IsInvalidArgument());
  EXPECT_TRUE(db_->PutEntity(WriteOptions(), "k", AttributeGroups()).IsInvalidArgument());
}

// The default column is merged and the others stay; without a default column the value is missing.
TEST_F(ColumnsTest, MergesKeepTheOtherColumns) {
  PutEntity("k1", kThree);
  PutEntity("k2", kNoDefault);
  const Snapshot* const before = db_->GetSnapshot();
  Merge("k1", "m");
  Flush();
  Merge("k1", "n");
  Merge("k2", "o");
  EXPECT_EQ(GetEntity("k1"), "=dflt.m.n a=1 zz=22 ");
  Flush();
  Compact();
  EXPECT_EQ(GetEntity("k1", before), "=dflt a=1 zz=22 ");
  EXPECT_EQ(Scan(before), "k1:dflt{=dflt a=1 zz=22 } k2:{b= c=3 } ");
  db_->ReleaseSnapshot(before);
  Everywhere([this] {
    EXPECT_EQ(Get("k1"), "dflt.m.n");
    EXPECT_EQ(GetEntity("k1"), "=dflt.m.n a=1 zz=22 ");
    EXPECT_EQ(Get("k2"), "-.o");
    EXPECT_EQ(GetEntity("k2"), "=-.o b= c=3 ");
    EXPECT_EQ(Scan(), "k1:dflt.m.n{=dflt.m.n a=1 zz=22 } k2:-.o{=-.o b= c=3 } ");
  });
}

class FoldedColumnsTest : public ColumnsTest {};

// A write that merges its operand keeps the columns.
TEST_F(FoldedColumnsTest, SuccessiveMergesStayEntities) {
  options_.max_successive_merges = 1;
  Reopen();
  PutEntity("k", kThree);
  for (const char* operand : {"m", "n", "o"}) Merge("k", operand);
  Everywhere([this] {
    EXPECT_EQ(GetEntity("k"), "=dflt.m.n.o a=1 zz=22 ");
    EXPECT_EQ(Get("k"), "dflt.m.n.o");
  });
}

TEST_F(ColumnsTest, MergeOperandsBeginWithTheDefaultColumn) {
  PutEntity("k", kThree);
  Merge("k", "m");
  PutEntity("alone", kThree);
  Everywhere([this] {
    for (const auto& [key, expected] : {std::pair("k", "dflt m "), std::pair("alone", "dflt ")}) {
      std::vector<PinnableSlice> operands(4);
      GetMergeOperandsOptions options;
      options.expected_max_number_of_operands = 4;
      int count = 0;
      ASSERT_OK(db_->GetMergeOperands(ReadOptions(), handles_[0], key, operands.data(), &options,
                                      &count));
      std::string text;
      for (int i = 0; i < count; i++) text += operands[static_cast<size_t>(i)].ToString() + " ";
      // A compaction merges the operands to one value.
      EXPECT_TRUE(text == expected || text == "dflt.m ") << text;
    }
  });
}

// Reads the columns and creates others.
class Counter : public MergeOperator {
 public:
  const char* Name() const override { return "Counter"; }
  bool FullMergeV3(const MergeOperationInputV3& in, MergeOperationOutputV3* out) const override {
    const auto* columns = std::get_if<WideColumns>(&in.existing_value);
    if (in.operand_list.back() == Slice("first") && columns != nullptr) {
      out->new_value = columns->back().value();
      return true;
    }
    if (in.operand_list.back() == Slice("twice")) {
      out->new_value = MergeOperationOutputV3::NewColumns{{"a", "1"}, {"a", "2"}};
      return true;
    }
    MergeOperationOutputV3::NewColumns made{{"operands", std::to_string(in.operand_list.size())}};
    made.emplace_back("columns", columns == nullptr ? "-" : std::to_string(columns->size()));
    out->new_value = std::move(made);
    return true;
  }
};

TEST_F(FoldedColumnsTest, OperatorsSeeAndMakeColumns) {
  options_.merge_operator = std::make_shared<Counter>();
  Reopen();
  PutEntity("k1", kThree);
  Merge("k1", "x");
  Put("k2", "plain");
  Merge("k2", "x");
  Merge("k3", "x");
  PutEntity("k4", kThree);
  Merge("k4", "first");
  Everywhere([this] {
    EXPECT_EQ(GetEntity("k1"), "columns=3 operands=1 ");
    EXPECT_EQ(Get("k1"), "");
    EXPECT_EQ(GetEntity("k2"), "columns=- operands=1 ");
    EXPECT_EQ(GetEntity("k3"), "columns=- operands=1 ");
    EXPECT_EQ(GetEntity("k4"), "=22 ");  // one of the inputs, as a plain value
    EXPECT_EQ(Scan(),
              "k1:{columns=3 operands=1 } k2:{columns=- operands=1 } k3:{columns=- operands=1 } "
              "k4:22{=22 } ");
  });
  Merge("k1", "twice");
  EXPECT_EQ(Get("k1").substr(0, 10), "Corruption");
  EXPECT_NE(Get("k1").find("two columns of one name"), std::string::npos) << Get("k1");
}

TEST_F(ColumnsTest, OverwritesDeletesAndRanges) {
  PutEntity("k1", kThree);
  PutEntity("k2", kThree);
  PutEntity("k3", kThree);
  const Snapshot* const before = db_->GetSnapshot();
  Put("k1", "plain");
  Delete("k2");
  DeleteRange("k3", "k9");
  PutEntity("k4", kNoDefault);
  for (int i = 0; i < 2; i++) {
    EXPECT_EQ(Scan(), "k1:plain{=plain } k4:{b= c=3 } ");
    EXPECT_EQ(GetEntity("k2"), "NotFound: ");
    EXPECT_EQ(GetEntity("k3", before), "=dflt a=1 zz=22 ");
    EXPECT_EQ(GetEntity("k1", before), "=dflt a=1 zz=22 ");
    Flush();
    Compact();
  }
  db_->ReleaseSnapshot(before);
}

// Changes of direction on an entity, on its neighbours, and below many versions.
TEST_F(ColumnsTest, IteratorsTurnAroundOnEntities) {
  for (int i = 0; i < 20; i++) PutEntity("b", {{"", std::to_string(i)}, {"n", "x"}});
  Put("a", "1");
  Put("c", "3");
  Merge("d", "4");
  PutEntity("e", kThree);
  Everywhere([this] {
    const std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions(), handles_[0]));
    std::string walk;
    it->Seek("b");
    walk += Shown(*it);
    it->Prev();
    walk += Shown(*it);
    it->Next();
    walk += Shown(*it);
    it->Next();
    walk += Shown(*it);
    it->Prev();
    walk += Shown(*it);
    it->SeekForPrev("e");
    walk += Shown(*it);
    it->Prev();
    walk += Shown(*it);
    it->Next();
    walk += Shown(*it);
    EXPECT_EQ(walk,
              "b:19{=19 n=x } a:1{=1 } b:19{=19 n=x } c:3{=3 } b:19{=19 n=x } "
              "e:dflt{=dflt a=1 zz=22 } d:-.4{=-.4 } e:dflt{=dflt a=1 zz=22 } ");
    it->Next();
    EXPECT_FALSE(it->Valid());
    EXPECT_OK(it->status());
  });
}

TEST_F(ColumnsTest, PinnedIteratorsShowColumns) {
  PutEntity("k1", kThree);
  Put("k2", "plain");
  ReadOptions options;
  options.pin_data = true;
  const std::unique_ptr<Iterator> it(db_->NewIterator(options, handles_[0]));
  EXPECT_EQ(Scan(it.get()), "k1:dflt{=dflt a=1 zz=22 } k2:plain{=plain } ");
}

// Several threads may call const members while no thread moves the iterator.
TEST_F(ColumnsTest, ManyThreadsAskOneIterator) {
  Put("k", "plain");
  const std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions(), handles_[0]));
  it->SeekToFirst();
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; i++) {
    threads.emplace_back([&it] { EXPECT_EQ(Text(it->columns()), "=plain "); });
  }
  for (std::thread& thread : threads) thread.join();
}

class CachedRowsTest : public ColumnsTest {};

// The row cache holds the entity, whichever kind of read filled it.
TEST_F(CachedRowsTest, RowsHoldWholeEntities) {
  options_.row_cache = NewLRUCache(1 << 20);
  Reopen();
  PutEntity("k1", kThree);
  PutEntity("k2", kThree);
  Flush();
  EXPECT_EQ(Get("k1"), "dflt");
  EXPECT_EQ(GetEntity("k2"), "=dflt a=1 zz=22 ");
  EXPECT_EQ(GetEntity("k1"), "=dflt a=1 zz=22 ");
  EXPECT_EQ(Get("k2"), "dflt");
}

TEST_F(ColumnsTest, SequenceNumbersGoAtTheBottom) {
  PutEntity("k", kThree);
  Flush();
  Compact();
  TablePropertiesCollection tables;
  ASSERT_OK(db_->GetPropertiesOfAllTables(handles_[0], &tables));
  ASSERT_EQ(tables.size(), 1u);
  EXPECT_EQ(tables.begin()->second->key_largest_seqno, 0u);
}

// Bytes that are not an entity are refused with an error that names the key.
TEST_F(ColumnsTest, MalformedEntitiesAreRefused) {
  for (const std::string& entity :
       {std::string(), std::string("\x01"), std::string("\x01\x01\x01"),
        std::string("\x01\x02\x01"
                    "b\x00\x01"
                    "a\x00",
                    8),
        std::string("\x01\x01\x00\x02x", 5), std::string("\x01\x01\x00\x00y", 5),
        std::string("\x03\x00", 2)}) {
    WriteBatch batch;
    ASSERT_OK(WriteBatchInternal::PutEntity(&batch, 0, "key", entity));
    const Status status = db_->Write(WriteOptions(), &batch);
    EXPECT_TRUE(status.IsCorruption() || status.IsNotSupported()) << status.ToString();
    EXPECT_NE(status.ToString().find("of key (3 bytes)"), std::string::npos) << status.ToString();
  }
  EXPECT_EQ(Scan(), "");
}

TEST_F(ColumnsTest, DuplicateColumnsAreRefused) {
  EXPECT_TRUE(
      db_->PutEntity(WriteOptions(), handles_[0], "k", {{"a", "1"}, {"a", "2"}}).IsCorruption());
  EXPECT_TRUE(db_->GetEntity(ReadOptions(), handles_[0], "k", nullptr).IsInvalidArgument());
}

}  // namespace
}  // namespace ashlar
