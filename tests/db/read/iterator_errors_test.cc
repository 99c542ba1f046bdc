// SPDX-License-Identifier: Apache-2.0
//
// Iterators over files that cannot be read: they show correct rows while they are valid, and then
// the error. In both directions, from each kind of seek, for each read that fails.
#include <functional>
#include <utility>

#include "tests/support/test_db.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

using Row = std::pair<std::string, std::string>;

constexpr int kFailingKeys = 12;

std::string FailingKey(int i) { return StrCat("key", 100 + i); }

class IteratorErrorsTest : public DbTest {
 protected:
  // Two tables of level 0 with one entry in a block. The newer one has every other key.
  IteratorErrorsTest() : DbTest(TestFiles::kSim) {
    options_.disable_auto_compactions = true;
    BlockBasedTableOptions table;
    table.block_size = 1;
    table.no_block_cache = true;
    table.max_auto_readahead_size = 0;
    options_.table_factory.reset(NewBlockBasedTableFactory(table));
    Open();
    for (int i = 0; i < kFailingKeys; ++i) Put(i, "old");
    Flush();
    for (int i = 0; i < kFailingKeys; i += 2) Put(i, "new");
    Flush();
  }
  void Put(int i, const std::string& value) { DbTest::Put(FailingKey(i), value); }

  static std::vector<Row> RowsBetween(int from, int to) {
    std::vector<Row> rows;
    for (int i = from; from <= to ? i <= to : i >= to; from <= to ? ++i : --i) {
      rows.emplace_back(FailingKey(i), i % 2 == 0 ? "new" : "old");
    }
    return rows;
  }

  // Repeats the walk and lets another read of a table fail each time, until no read is left to
  // fail.
  void ExpectRowsOrError(const std::function<void(Iterator*)>& seek,
                         const std::function<void(Iterator*)>& step, const std::vector<Row>& rows) {
    uint64_t injected = 1;
    int failed_walks = 0;
    for (uint64_t skipped = 0; injected > 0; ++skipped) {
      SCOPED_TRACE(StrCat("after ", skipped, " reads"));
      const std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
      const uint64_t injected_before = sim_->Stats().TotalInjected();
      sim_->AddFault({.first_call = sim_->CallCount() + skipped,
                      .kinds = KindBit(CallKind::kRead),
                      .path_part = ".sst"});
      size_t shown = 0;
      for (seek(it.get()); it->Valid(); step(it.get()), ++shown) {
        ASSERT_OK(it->status()) << "valid with an error";
        ASSERT_LT(shown, rows.size());
        ASSERT_EQ(Row(it->key().ToString(), it->value().ToString()), rows[shown]);
      }
      sim_->ClearFaults();
      injected = sim_->Stats().TotalInjected() - injected_before;
      EXPECT_EQ(it->status().ok(), injected == 0) << it->status().ToString();
      EXPECT_TRUE(injected > 0 || shown == rows.size()) << shown << " rows";
      failed_walks += injected > 0;
    }
    EXPECT_GT(failed_walks, kFailingKeys);
  }
};

TEST_F(IteratorErrorsTest, ForwardsRowsAreRightUntilTheErrorIsTold) {
  ExpectRowsOrError([](Iterator* it) { it->SeekToFirst(); }, [](Iterator* it) { it->Next(); },
                    RowsBetween(0, kFailingKeys - 1));
  ExpectRowsOrError([](Iterator* it) { it->Seek(FailingKey(2)); }, [](Iterator* it) { it->Next(); },
                    RowsBetween(2, kFailingKeys - 1));
}

TEST_F(IteratorErrorsTest, BackwardsRowsAreRightUntilTheErrorIsTold) {
  ExpectRowsOrError([](Iterator* it) { it->SeekToLast(); }, [](Iterator* it) { it->Prev(); },
                    RowsBetween(kFailingKeys - 1, 0));
  ExpectRowsOrError([](Iterator* it) { it->SeekForPrev(FailingKey(9)); },
                    [](Iterator* it) { it->Prev(); }, RowsBetween(9, 0));
}

// One step back, two steps forward: 5 4 6 5 7 6 8 ...
TEST_F(IteratorErrorsTest, RowsAreRightAcrossChangesOfDirection) {
  std::vector<Row> rows = RowsBetween(5, 5);
  for (int i = 5; i < kFailingKeys; ++i) {
    rows.push_back(RowsBetween(i - 1, i - 1)[0]);
    if (i + 1 < kFailingKeys) rows.push_back(RowsBetween(i + 1, i + 1)[0]);
  }
  // After the last row the iterator is not valid and cannot turn back.
  bool goes_back = true;
  ExpectRowsOrError(
      [&](Iterator* it) {
        goes_back = true;
        it->Seek(FailingKey(5));
      },
      [&](Iterator* it) {
        if (goes_back) {
          it->Prev();
        } else {
          it->Next();
          if (it->Valid()) it->Next();
        }
        goes_back = !goes_back;
      },
      rows);
}

// An error ends one iteration; the next seek of the same iterator reads the files again. There are
// more tables than may be open, so the seek must open some of them.
TEST_F(IteratorErrorsTest, ATableThatDidNotOpenIsTriedAgainByTheNextSeek) {
  options_.max_open_files = 20;
  for (int i = 0; i < 30; ++i) {
    DbTest::Put(StrCat("z", i), "z");
    Flush();
  }
  for (const int level : {0, 1}) {
    SCOPED_TRACE(level);
    if (level == 1) Compact();
    Reopen();
    const std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
    for (const bool forwards : {true, false}) {
      sim_->AddFault({.first_call = sim_->CallCount(),
                      .mode = FaultMode::kSticky,
                      .kinds = KindBit(CallKind::kRead) | KindBit(CallKind::kOpenRead),
                      .path_part = ".sst"});
      forwards ? it->Seek(FailingKey(3)) : it->SeekForPrev(FailingKey(3));
      EXPECT_FALSE(it->Valid());
      EXPECT_FALSE(it->status().ok());
      sim_->ClearFaults();
      forwards ? it->Seek(FailingKey(3)) : it->SeekForPrev(FailingKey(3));
      ASSERT_TRUE(it->Valid()) << it->status().ToString();
      EXPECT_OK(it->status());
      EXPECT_EQ(it->key().ToString(), FailingKey(3));
    }
  }
}

}  // namespace
}  // namespace ashlar
