// SPDX-License-Identifier: Apache-2.0
//
// Iterators of a database with range tombstones: their rows, compared with maps, while the tree
// changes, and which files they do not open.
#include <utility>

#include "ashlar/cache.h"
#include "ashlar/perf_context.h"
#include "tests/support/test_db.h"
#include "util/random.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

std::string CoveredKey(uint64_t i) { return StrCat("key", 100000 + i); }

class IteratorTombstonesTest : public DbTest {
 protected:
  IteratorTombstonesTest() : DbTest(TestFiles::kSim) {
    BlockBasedTableOptions table;
    table.block_size = 256;
    options_.table_factory.reset(NewBlockBasedTableFactory(table));
    options_.disable_auto_compactions = true;
    options_.compression = kNoCompression;
    options_.write_buffer_size = 1 << 20;
    options_.target_file_size_base = 4 << 10;  // many files on a level
  }

  void Open() {
    DbTest::Open(names_);
    rows_.resize(names_.size());
  }

  void Put(size_t family, const std::string& key, const std::string& value) {
    DbTest::Put(handles_[family], key, value);
    rows_[family][key] = value;
  }
  void Delete(size_t family, const std::string& key) {
    DbTest::Delete(handles_[family], key);
    rows_[family].erase(key);
  }
  void DeleteRange(size_t family, const std::string& begin, const std::string& end) {
    DbTest::DeleteRange(handles_[family], begin, end);
    Rows& rows = rows_[family];
    if (begin < end) rows.erase(rows.lower_bound(begin), rows.lower_bound(end));
  }
  void Flush(size_t family = 0) { DbTest::Flush(handles_[family]); }
  void Compact(size_t family = 0, const Slice* begin = nullptr, const Slice* end = nullptr) {
    ASSERT_OK(db_->CompactRange(CompactRangeOptions(), handles_[family], begin, end));
  }

  static Rows RowsOf(Iterator* it, bool forwards) {
    Rows rows;
    std::string last;
    for (forwards ? it->SeekToFirst() : it->SeekToLast(); it->Valid();
         forwards ? it->Next() : it->Prev()) {
      const std::string key = it->key().ToString();
      EXPECT_TRUE(last.empty() || (forwards ? last < key : last > key));
      rows[key] = it->value().ToString();
      last = key;
    }
    EXPECT_OK(it->status());
    return rows;
  }

  std::vector<std::string> names_ = {"default"};
  std::vector<Rows> rows_;  // the current rows of each family
};

// Iterators that were created at different times, each with the rows that it must show.
class IteratorTombstonesModel : public IteratorTombstonesTest {
 protected:
  struct Reader {
    size_t family;
    Rows rows;
    std::string lower, upper;  // empty: no bound
    Slice lower_slice, upper_slice;
    std::unique_ptr<Iterator> iterator;
    Rows::const_iterator at;
  };

  std::string RandomKey() { return CoveredKey(random_.Uniform(kKeys)); }
  void Write();
  void ChangeTheTree();
  std::unique_ptr<Reader> NewReader();
  void MoveAndCheck(Reader* reader);

  static constexpr uint64_t kKeys = 1200;
  Random64 random_{11};
  std::vector<std::pair<const Snapshot*, std::vector<Rows>>> snapshots_;
  int writes_ = 0;
};

void IteratorTombstonesModel::Write() {
  const size_t family = random_.Uniform(names_.size());
  const uint64_t what = random_.Uniform(20);
  if (what == 0) {
    const uint64_t begin = random_.Uniform(kKeys);
    const uint64_t width = random_.OneIn(8) ? kKeys / 4 : 40;
    DeleteRange(family, CoveredKey(begin), CoveredKey(begin + random_.Uniform(width)));
  } else if (what <= 3) {
    Delete(family, RandomKey());
  } else {
    Put(family, RandomKey(), StrCat("value", ++writes_, std::string(random_.Uniform(30), 'x')));
  }
}

void IteratorTombstonesModel::ChangeTheTree() {
  const size_t family = random_.Uniform(names_.size());
  switch (random_.Uniform(8)) {
    case 0: snapshots_.emplace_back(db_->GetSnapshot(), rows_); break;
    case 1:
      if (snapshots_.size() < 4) break;
      db_->ReleaseSnapshot(snapshots_[1].first);
      snapshots_.erase(snapshots_.begin() + 1);
      break;
    case 2: {
      std::string begin = RandomKey(), end = RandomKey();
      if (end < begin) std::swap(begin, end);
      const Slice first = begin, last = end;
      Compact(family, &first, &last);
      break;
    }
    case 3:
      if (random_.OneIn(8)) Compact(family);
      break;
    default: Flush(family); WaitForJobs();
  }
}

std::unique_ptr<IteratorTombstonesModel::Reader> IteratorTombstonesModel::NewReader() {
  auto reader = std::make_unique<Reader>();
  reader->family = random_.Uniform(names_.size());
  ReadOptions read;
  reader->rows = rows_[reader->family];
  if (!snapshots_.empty() && random_.OneIn(2)) {
    const auto& [snapshot, rows] = snapshots_[random_.Uniform(snapshots_.size())];
    read.snapshot = snapshot;
    reader->rows = rows[reader->family];
  }
  const auto bound = [&](std::string* key, Slice* slice) -> const Slice* {
    if (!random_.OneIn(3)) return nullptr;
    *key = RandomKey();
    *slice = *key;
    return slice;
  };
  read.iterate_lower_bound = bound(&reader->lower, &reader->lower_slice);
  read.iterate_upper_bound = bound(&reader->upper, &reader->upper_slice);
  std::erase_if(reader->rows, [&](const auto& row) {
    return row.first < reader->lower || (!reader->upper.empty() && row.first >= reader->upper);
  });
  reader->iterator.reset(db_->NewIterator(read, handles_[reader->family]));
  reader->at = reader->rows.end();
  return reader;
}

void IteratorTombstonesModel::MoveAndCheck(Reader* reader) {
  Iterator* const it = reader->iterator.get();
  const Rows& rows = reader->rows;
  const auto before = [&](Rows::const_iterator at) {
    return at == rows.begin() ? rows.end() : std::prev(at);
  };
  const uint64_t move = random_.Uniform(it->Valid() ? 16 : 4);
  const std::string target = RandomKey();
  if (move == 0) {
    it->SeekToFirst();
    reader->at = rows.begin();
  } else if (move == 1) {
    it->SeekToLast();
    reader->at = before(rows.end());
  } else if (move == 2) {
    it->Seek(target);
    reader->at = rows.lower_bound(target);
  } else if (move == 3) {
    it->SeekForPrev(target);
    reader->at = before(rows.upper_bound(target));
  } else if (move < 10) {
    it->Next();
    ++reader->at;
  } else {
    it->Prev();
    reader->at = before(reader->at);
  }
  ASSERT_OK(it->status());
  ASSERT_EQ(it->Valid(), reader->at != rows.end()) << "move " << move << " " << target;
  if (!it->Valid()) return;
  ASSERT_EQ(it->key().ToString(), reader->at->first) << "move " << move << " " << target;
  ASSERT_EQ(it->value().ToString(), reader->at->second);
}

// Small levels, so that several of them have tombstones in many files.
TEST_F(IteratorTombstonesModel, ShowWhatTheMapsHold) {
  names_ = {"default", "other"};
  options_.disable_auto_compactions = false;
  options_.level0_file_num_compaction_trigger = 2;
  options_.level_compaction_dynamic_level_bytes = false;
  options_.target_file_size_base = 2 << 10;
  options_.max_bytes_for_level_base = 6 << 10;
  options_.max_bytes_for_level_multiplier = 3;
  Open();
  std::vector<std::unique_ptr<Reader>> readers;
  for (int round = 0; round < 600 && !HasFatalFailure(); ++round) {
    for (int i = 0; i < 30; ++i) Write();
    if (random_.OneIn(3)) ChangeTheTree();
    readers.push_back(NewReader());
    if (readers.size() > 6) readers.erase(readers.begin() + random_.Uniform(readers.size()));
    for (const auto& reader : readers) {
      for (int i = 0; i < 40 && !HasFatalFailure(); ++i) MoveAndCheck(reader.get());
    }
    if (round % 200 == 199) {
      readers.clear();
      for (const auto& [snapshot, rows] : snapshots_) db_->ReleaseSnapshot(snapshot);
      snapshots_.clear();
      Close();
      Open();
    }
  }
  readers.clear();
  for (const auto& [snapshot, rows] : snapshots_) db_->ReleaseSnapshot(snapshot);
}

TEST_F(IteratorTombstonesTest, TheOptionShowsWhatIsHidden) {
  Open();
  for (uint64_t i = 0; i < 10; ++i) Put(0, CoveredKey(i), "v");
  Flush();
  DeleteRange(0, CoveredKey(2), CoveredKey(7));
  ReadOptions read;
  for (const bool is_flushed : {false, true}) {
    if (is_flushed) Flush();
    read.ignore_range_deletions = false;
    EXPECT_EQ(RowsOf(std::unique_ptr<Iterator>(db_->NewIterator(read)).get(), true).size(), 5u);
    read.ignore_range_deletions = true;
    EXPECT_EQ(RowsOf(std::unique_ptr<Iterator>(db_->NewIterator(read)).get(), true).size(), 10u);
  }
}

// A plain iterator sees new tombstones only after Refresh().
TEST_F(IteratorTombstonesTest, RefreshAndTailingSeeNewTombstones) {
  Open();
  for (uint64_t i = 0; i < 10; ++i) Put(0, CoveredKey(i), "v");
  ReadOptions read;
  const std::unique_ptr<Iterator> plain(db_->NewIterator(read));
  read.tailing = true;
  const std::unique_ptr<Iterator> tailing(db_->NewIterator(read));
  const Rows before = rows_[0];
  DeleteRange(0, CoveredKey(3), CoveredKey(8));
  for (const bool forwards : {true, false}) {
    EXPECT_EQ(RowsOf(plain.get(), forwards), before);
    EXPECT_EQ(RowsOf(tailing.get(), forwards), rows_[0]);
  }
  ASSERT_OK(plain->Refresh());
  EXPECT_EQ(RowsOf(plain.get(), true), rows_[0]);
}

TEST_F(IteratorTombstonesTest, ATailingIteratorGoesOnBehindItsEnd) {
  Open();
  Put(0, "b", "1");
  Put(0, "d", "gone");
  Delete(0, "d");
  ReadOptions read;
  read.tailing = true;
  const std::unique_ptr<Iterator> it(db_->NewIterator(read));
  it->SeekToFirst();
  Put(0, "a", "before");
  Put(0, "c", "2");
  Put(0, "e", "3");
  Flush();
  ASSERT_TRUE(it->Valid());
  it->Next();
  ASSERT_TRUE(it->Valid());
  EXPECT_EQ(it->key(), "c");
  it->Next();
  ASSERT_TRUE(it->Valid());
  EXPECT_EQ(it->key(), "e");
  it->Next();
  EXPECT_FALSE(it->Valid());
  ASSERT_OK(it->status());
}

// An empty memtable is not a run of an iterator. Entries that it receives later are shown after
// Refresh().
TEST_F(IteratorTombstonesTest, WritesToAMemtableThatWasEmptyAreSeenAfterRefresh) {
  Open();
  ReadOptions read;
  for (const bool has_tables : {false, true}) {
    if (has_tables) Flush();
    const Rows before = rows_[0];
    const std::unique_ptr<Iterator> plain(db_->NewIterator(read));
    read.tailing = true;
    const std::unique_ptr<Iterator> tailing(db_->NewIterator(read));
    read.tailing = false;
    for (uint64_t i = 0; i < 10; ++i) Put(0, CoveredKey(i), has_tables ? "new" : "old");
    if (has_tables) DeleteRange(0, CoveredKey(3), CoveredKey(8));
    for (const bool forwards : {true, false}) {
      EXPECT_EQ(RowsOf(plain.get(), forwards), before);
      EXPECT_EQ(RowsOf(tailing.get(), forwards), rows_[0]);
    }
    ASSERT_OK(plain->Refresh());
    for (const bool forwards : {true, false}) EXPECT_EQ(RowsOf(plain.get(), forwards), rows_[0]);
  }
}

// A memtable that only has a range tombstone is a run.
TEST_F(IteratorTombstonesTest, AMemtableOfATombstoneAloneHides) {
  Open();
  for (uint64_t i = 0; i < 10; ++i) Put(0, CoveredKey(i), "v");
  Flush();
  DeleteRange(0, CoveredKey(3), CoveredKey(8));
  const std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
  for (const bool forwards : {true, false}) EXPECT_EQ(RowsOf(it.get(), forwards), rows_[0]);
}

// Below a tombstone over most of the keys there are many files. Only the files at its borders are
// opened and read.
TEST_F(IteratorTombstonesTest, FilesThatATombstoneHidesAreNotOpened) {
  options_.max_open_files = 12;
  BlockBasedTableOptions table;
  table.no_block_cache = true;
  table.block_size = 256;
  options_.table_factory.reset(NewBlockBasedTableFactory(table));
  Open();
  constexpr uint64_t kMany = 4000;
  for (uint64_t i = 0; i < kMany; ++i) Put(0, CoveredKey(i), std::string(20, 'v'));
  Flush();
  Compact();
  const std::vector<LiveFileMetaData> files = Tables();
  ASSERT_GT(files.size(), 30u);
  DeleteRange(0, CoveredKey(100), CoveredKey(kMany - 100));
  for (const bool is_flushed : {false, true}) {
    if (is_flushed) Flush();
    for (const bool forwards : {true, false}) {
      SCOPED_TRACE(StrCat("flushed ", is_flushed, ", forwards ", forwards));
      const uint64_t opened = sim_->Stats().calls[static_cast<size_t>(CallKind::kOpenRead)];
      get_perf_context()->Reset();
      const std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
      EXPECT_EQ(RowsOf(it.get(), forwards), rows_[0]);
      it->Seek(CoveredKey(kMany / 2));
      ASSERT_TRUE(it->Valid());
      EXPECT_EQ(it->key().ToString(), CoveredKey(kMany - 100));
      it->SeekForPrev(CoveredKey(kMany / 2));
      ASSERT_TRUE(it->Valid());
      EXPECT_EQ(it->key().ToString(), CoveredKey(99));
      EXPECT_LE(sim_->Stats().calls[static_cast<size_t>(CallKind::kOpenRead)] - opened, 12u);
      EXPECT_LE(get_perf_context()->block_read_count, 120u);
      EXPECT_GE(get_perf_context()->internal_range_del_reseek_count, 1u);
    }
  }
}

// The tombstones of three runs overlap. Nothing is read between the remaining entries, in both
// directions.
TEST_F(IteratorTombstonesTest, TombstonesOfSeveralRunsAreOneGap) {
  Open();
  constexpr uint64_t kMany = 3000;
  for (uint64_t i = 0; i < kMany; ++i) Put(0, CoveredKey(i), "v");
  Flush();
  Compact();
  for (uint64_t i = 0; i + 200 < kMany; i += 150) {
    DeleteRange(0, CoveredKey(i + 10), CoveredKey(i + 200));
    if (i % 450 == 0) Flush();
  }
  const std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
  for (const bool forwards : {true, false}) {
    get_perf_context()->Reset();
    EXPECT_EQ(RowsOf(it.get(), forwards), rows_[0]);
    EXPECT_LE(get_perf_context()->internal_range_del_reseek_count, 12u);
  }
}

// A file whose tombstones reach beyond its last entry, between other files of its level.
TEST_F(IteratorTombstonesTest, ATombstoneOutlivesTheLastEntryOfItsFile) {
  Open();
  for (uint64_t i = 0; i < 1000; ++i) Put(0, CoveredKey(i), "old");
  Flush();
  Compact();
  const Snapshot* const snapshot = db_->GetSnapshot();  // keeps the hidden entries
  const Rows all = rows_[0];
  for (uint64_t i = 0; i < 1000; i += 100) {
    Put(0, CoveredKey(i), "new");
    DeleteRange(0, CoveredKey(i + 10), CoveredKey(i + 90));
  }
  Flush();
  for (const bool is_compacted : {false, true}) {
    if (is_compacted) Compact();
    for (const bool forwards : {true, false}) {
      ReadOptions read;
      EXPECT_EQ(RowsOf(std::unique_ptr<Iterator>(db_->NewIterator(read)).get(), forwards),
                rows_[0]);
      read.snapshot = snapshot;
      EXPECT_EQ(RowsOf(std::unique_ptr<Iterator>(db_->NewIterator(read)).get(), forwards), all);
    }
    const std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
    for (uint64_t i = 0; i < 1000; i += 100) {
      it->Seek(CoveredKey(i + 50));
      ASSERT_TRUE(it->Valid());
      EXPECT_EQ(it->key().ToString(), CoveredKey(i + 90));
      it->SeekForPrev(CoveredKey(i + 50));
      ASSERT_TRUE(it->Valid());
      EXPECT_EQ(it->key().ToString(), CoveredKey(i + 9));
    }
  }
  db_->ReleaseSnapshot(snapshot);
}

}  // namespace
}  // namespace ashlar
