// SPDX-License-Identifier: Apache-2.0
//
// Families with timestamps: how long what a read has shown stays, and errors of iterators over
// versions.
#include <memory>

#include "ashlar/memtablerep.h"
#include "ashlar/merge_operator.h"
#include "db/options/stock_merge_operators.h"
#include "tests/db/stamps/stamped_db.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

class StampedIteratorsTest : public StampedTest {
 protected:
  StampedIteratorsTest() { options_.merge_operator = NewStringAppendOperator(","); }
  void MergeAt(const std::string& key, uint64_t ts, const std::string& operand) {
    ASSERT_OK(db_->Merge(WriteOptions(), db_->DefaultColumnFamily(), key, Stamp(ts), operand));
  }
};

// Long operands are not copied while they are gathered.
TEST_F(StampedIteratorsTest, OperandsStayWhenTheirMemTableIsGone) {
  options_.allow_concurrent_memtable_write = false;  // a vector excludes it
  for (const bool is_vector : {false, true}) {
    SCOPED_TRACE(is_vector);
    if (is_vector) options_.memtable_factory = std::make_shared<VectorRepFactory>();
    is_vector ? Reopen() : Open();
    const std::string key = StrCat("k", is_vector);
    const std::string older(4000, 'o'), newer(4000, 'n');
    MergeAt(key, 1, older);
    MergeAt(key, 2, newer);
    const ReadAt read(5);
    PinnableSlice operands[2];
    GetMergeOperandsOptions options;
    options.expected_max_number_of_operands = 2;
    int count = 0;
    ASSERT_OK(db_->GetMergeOperands(read.options, db_->DefaultColumnFamily(), key, operands,
                                    &options, &count));
    ASSERT_EQ(count, 2);
    Flush();
    for (uint64_t i = 0; i < 50; i++) MergeAt("other", 10 + i, std::string(4000, 'x'));
    Flush();
    EXPECT_EQ(operands[0].ToString(), older);
    EXPECT_EQ(operands[1].ToString(), newer);
    EXPECT_FALSE(operands[0].IsPinned()) << "nothing keeps the memtable, so it is a copy";
    EXPECT_FALSE(operands[1].IsPinned());
  }
}

TEST_F(StampedIteratorsTest, ASeekMayGoToAPartOfTheKeyItShows) {
  Open();
  PutAt("a", 1, "a1");
  PutAt("k", 1, "k1");
  PutAt("k", 2, "k2");
  PutAt("m", 1, "m1");
  const ReadAt read(1, 5);
  const std::unique_ptr<Iterator> it(db_->NewIterator(read.options));
  for (const bool is_forward : {true, false}) {
    SCOPED_TRACE(is_forward);
    is_forward ? it->SeekToFirst() : it->SeekToLast();
    while (it->Valid() && it->value() != (is_forward ? "k1" : "k2")) {
      is_forward ? it->Next() : it->Prev();
    }
    ASSERT_TRUE(it->Valid());
    const Slice user_key(it->key().data(), 1);
    ASSERT_EQ(user_key, "k");
    is_forward ? it->Seek(user_key) : it->SeekForPrev(user_key);
    ASSERT_TRUE(it->Valid());
    EXPECT_EQ(it->value(), is_forward ? "k2" : "k1");
  }
}

// Such a seek gives up the memtable that contains the value.
TEST_F(StampedIteratorsTest, ATailingIteratorMaySeekToTheValueItShows) {
  Open();
  const std::string target = "k" + std::string(4000, 'k');
  PutAt("a", 1, target);
  PutAt(target, 1, "found");
  ReadAt read(5);
  read.options.tailing = true;
  const std::unique_ptr<Iterator> it(db_->NewIterator(read.options));
  for (const bool is_forward : {true, false}) {
    SCOPED_TRACE(is_forward);
    it->Seek("a");
    ASSERT_TRUE(it->Valid());
    ASSERT_EQ(it->value(), target);
    Flush();
    PutAt("a", 2, target);  // the next round is in a memtable too
    is_forward ? it->Seek(it->value()) : it->SeekForPrev(it->value());
    ASSERT_TRUE(it->Valid());
    EXPECT_EQ(it->value(), "found");
  }
}

// Four keys with an operand in each of two tables; each entry is a block, and none is cached.
class StampedIteratorErrorsTest : public DbTest {
 protected:
  static constexpr int kKeys = 4;

  StampedIteratorErrorsTest() : DbTest(TestFiles::kSim) {
    options_.comparator = BytewiseComparatorWithU64Ts();
    options_.merge_operator = NewStringAppendOperator(",");
    options_.disable_auto_compactions = true;
    BlockBasedTableOptions table;
    table.block_size = 1;
    table.no_block_cache = true;
    table.max_auto_readahead_size = 0;
    options_.table_factory.reset(NewBlockBasedTableFactory(table));
    Open();
    for (uint64_t ts = 1; ts <= 2; ts++) {
      for (int i = 0; i < kKeys; i++) {
        EXPECT_OK(db_->Merge(WriteOptions(), db_->DefaultColumnFamily(), StrCat("key", i),
                             Stamp(ts), StrCat(i, "@", ts)));
      }
      Flush();
    }
  }
};

// Another read of a table fails in each walk, until no read is left to fail. A merged version is
// shown after a seek back to its first operand, which can fail too.
TEST_F(StampedIteratorErrorsTest, VersionsAreRightUntilTheErrorIsTold) {
  std::vector<std::string> values;
  for (int i = 0; i < kKeys; i++) {
    values.push_back(StrCat(i, "@1,", i, "@2"));
    values.push_back(StrCat(i, "@1"));
  }
  const ReadAt read(1, 5);
  for (const bool is_forward : {true, false}) {
    SCOPED_TRACE(is_forward);
    uint64_t injected = 1;
    int failed_walks = 0;
    for (uint64_t skipped = 0; injected > 0; skipped++) {
      SCOPED_TRACE(StrCat("after ", skipped, " reads"));
      const std::unique_ptr<Iterator> it(db_->NewIterator(read.options));
      const uint64_t injected_before = sim_->Stats().TotalInjected();
      sim_->AddFault({.first_call = sim_->CallCount() + skipped,
                      .kinds = KindBit(CallKind::kRead),
                      .path_part = ".sst"});
      size_t shown = 0;
      is_forward ? it->SeekToFirst() : it->SeekToLast();
      for (; it->Valid(); is_forward ? it->Next() : it->Prev(), shown++) {
        ASSERT_OK(it->status()) << "valid with an error";
        ASSERT_LT(shown, values.size());
        ASSERT_EQ(it->value(), is_forward ? values[shown] : values[values.size() - 1 - shown]);
      }
      sim_->ClearFaults();
      injected = sim_->Stats().TotalInjected() - injected_before;
      EXPECT_EQ(it->status().ok(), injected == 0) << it->status().ToString();
      EXPECT_TRUE(injected > 0 || shown == values.size()) << shown << " versions";
      failed_walks += injected > 0;
    }
    EXPECT_GT(failed_walks, kKeys);
  }
}

}  // namespace
}  // namespace ashlar
