// SPDX-License-Identifier: Apache-2.0
//
// The statistics texts and maps (rocksdb.stats, cfstats, dbstats, levelstats, histograms of reads,
// entries of the block cache) have RocksDB's form, as programs parse it, and the numbers of the
// operations of the test.
#include <cmath>
#include <sstream>

#include "ashlar/cache.h"
#include "ashlar/filter_policy.h"
#include "db/report/human_text.h"
#include "tests/support/level0_tables.h"
#include "tests/support/test_db.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

using Map = std::map<std::string, std::string>;

std::vector<std::string> LinesOf(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream input(text);
  for (std::string line; std::getline(input, line);) lines.push_back(line);
  return lines;
}
std::vector<std::string> WordsOf(const std::string& line) {
  std::vector<std::string> words;
  std::istringstream input(line);
  for (std::string word; input >> word;) words.push_back(word);
  return words;
}
// The words of the first line that begins with this text after leading blanks; none without one.
std::vector<std::string> LineOf(const std::string& text, const std::string& begin) {
  for (const std::string& line : LinesOf(text)) {
    const size_t start = line.find_first_not_of(' ');
    if (start != std::string::npos && line.compare(start, begin.size(), begin) == 0) {
      return WordsOf(line);
    }
  }
  return {};
}
// Numbers of the columns of a row that is split at blanks.
enum Column : size_t {
  kFiles = 1,
  kSize = 2,
  kUnit = 3,
  kAmplification = 11,
  kJobs = 16,
  kKeysIn = 18,
  kKeysDropped = 19,
  kColumns = 22,
};

class StatisticsTextsTest : public DbTest {
 protected:
  StatisticsTextsTest() {
    options_.disable_auto_compactions = true;
    options_.compression = kNoCompression;
    options_.level_compaction_dynamic_level_bytes = false;
  }

  void OpenBoth() { Open({"default", "other"}); }
  void Put(int family, int first, int last, size_t bytes = 100) {
    for (int i = first; i <= last; i++) {
      DbTest::Put(handles_[size_t(family)], Key(i), std::string(bytes, 'v'));
    }
  }
  void Flush(int family) { DbTest::Flush(handles_[size_t(family)]); }
  void WriteTable(int family, int first, int last) {
    Put(family, first, last);
    Flush(family);
  }
  // The second family is slowed down by two tables on level 0, stopped by three and free again.
  void OpenAndStall() {
    options_.disable_auto_compactions = false;
    options_.level0_file_num_compaction_trigger = 1;
    options_.level0_slowdown_writes_trigger = 2;
    options_.level0_stop_writes_trigger = 3;
    OpenBoth();
    ASSERT_NO_FATAL_FAILURE(WriteLevel0(db_.get(), handles_[1], 3));
  }
  // All reads go to the files.
  void UseNoBlockCache() {
    BlockBasedTableOptions table;
    table.no_block_cache = true;
    options_.table_factory.reset(NewBlockBasedTableFactory(table));
  }
  void Compact(int family) { DbTest::Compact(handles_[size_t(family)]); }
  void ReadAll(int family) { ReadRows({}, handles_[size_t(family)]); }
  std::string Text(int family, const std::string& name) {
    return Property(name, handles_[size_t(family)]);
  }
  Map MapOf(int family, const std::string& name) {
    Map map;
    EXPECT_TRUE(db_->GetMapProperty(handles_[size_t(family)], name, &map)) << name;
    return map;
  }
  uint64_t Number(int family, const std::string& name) {
    return DbTest::Number(name, handles_[size_t(family)]);
  }
  static double NumberIn(const Map& map, const std::string& key) {
    const auto found = map.find(key);
    if (found == map.end()) ADD_FAILURE() << "no " << key;
    return found == map.end() ? -1 : std::stod(found->second);
  }
  // The map gives bytes in GiB, rounded to a millionth.
  static void ExpectBytes(const Map& map, const std::string& key, double bytes) {
    EXPECT_NEAR(NumberIn(map, key) * kGibibyte, bytes, 1100) << key;
  }
};

// Three flushes and a compaction of 9,000 entries, 2,000 of which are overwritten.
TEST_F(StatisticsTextsTest, LevelsTellWhatWasDoneOnThem) {
  OpenBoth();
  for (int i = 0; i < 3; i++) WriteTable(1, 1 + 2000 * i, 3000 + 2000 * i);
  const double flushed = static_cast<double>(Number(1, "rocksdb.live-sst-files-size"));
  Compact(1);
  const double compacted = static_cast<double>(Number(1, "rocksdb.live-sst-files-size"));
  const Map map = MapOf(1, "rocksdb.cfstats");
  EXPECT_EQ(NumberIn(map, "compaction.L0.CompCount"), 3);
  EXPECT_EQ(NumberIn(map, "compaction.L0.NumFiles"), 0);
  EXPECT_EQ(NumberIn(map, "compaction.L0.WriteAmp"), 1);
  ExpectBytes(map, "compaction.L0.WriteGB", flushed);
  ExpectBytes(map, "compaction.L0.ReadGB", 0);
  EXPECT_EQ(NumberIn(map, "compaction.L1.CompCount"), 1);
  EXPECT_EQ(NumberIn(map, "compaction.L1.KeyIn"), 9000);
  EXPECT_EQ(NumberIn(map, "compaction.L1.KeyDrop"), 2000);
  EXPECT_EQ(NumberIn(map, "compaction.L1.SizeBytes"), compacted);
  EXPECT_NEAR(NumberIn(map, "compaction.L1.WriteAmp"), compacted / flushed, 1e-5);
  ExpectBytes(map, "compaction.L1.RnGB", flushed);
  ExpectBytes(map, "compaction.L1.Rnp1GB", 0);
  ExpectBytes(map, "compaction.L1.ReadGB", flushed);
  ExpectBytes(map, "compaction.L1.WriteGB", compacted);
  ExpectBytes(map, "compaction.L1.WnewGB", compacted);
  EXPECT_EQ(NumberIn(map, "compaction.Sum.CompCount"), 4);
  EXPECT_NEAR(NumberIn(map, "compaction.Sum.WriteAmp"), (flushed + compacted) / flushed, 1e-5);
  ExpectBytes(map, "compaction.Sum.WriteGB", flushed + compacted);
  EXPECT_GT(NumberIn(map, "compaction.Sum.CompSec"), 0);
  EXPECT_FALSE(map.contains("compaction.L2.NumFiles")) << "nothing is or was there";
  // The other family did nothing.
  const Map idle = MapOf(0, "rocksdb.cfstats");
  EXPECT_FALSE(idle.contains("compaction.L0.NumFiles"));
  EXPECT_EQ(NumberIn(idle, "compaction.Sum.CompCount"), 0);
  // The text has the same numbers.
  const std::string text = Text(1, "rocksdb.cfstats");
  const auto level0 = LineOf(text, "L0"), level1 = LineOf(text, "L1"), sum = LineOf(text, "Sum");
  ASSERT_EQ(level0.size(), size_t(kColumns)) << text;
  ASSERT_EQ(level1.size(), size_t(kColumns)) << text;
  EXPECT_EQ(level0[kFiles], "0/0");
  EXPECT_EQ(level0[kJobs], "3");
  EXPECT_EQ(level1[kFiles], "1/0");
  EXPECT_EQ(StrCat(level1[kSize], " ", level1[kUnit]), HumanBytes(uint64_t(compacted)));
  EXPECT_EQ(level1[kKeysIn], "9000");
  EXPECT_EQ(level1[kKeysDropped], "2000");
  EXPECT_EQ(sum[kJobs], "4");
  EXPECT_EQ(sum[kAmplification], Format("%.1f", (flushed + compacted) / flushed));
  EXPECT_EQ(LineOf(text, "Low")[kJobs], "1");
  EXPECT_EQ(LineOf(text, "High")[kJobs], "3");
  EXPECT_TRUE(LineOf(text, "L2").empty());
  EXPECT_EQ(LineOf(text, "Flush(GB):")[2], Format("%.3f,", flushed / kGibibyte));
  EXPECT_NE(text.find("** Compaction Stats [other] **\nLevel    Files   Size     Score"),
            std::string::npos);
}

TEST_F(StatisticsTextsTest, MovedTablesAreNeitherReadNorWritten) {
  options_.disable_auto_compactions = false;
  options_.level0_file_num_compaction_trigger = 1;
  OpenBoth();
  WriteTable(0, 1, 3000);
  WaitForJobs();
  const Map map = MapOf(0, "rocksdb.cfstats");
  EXPECT_EQ(NumberIn(map, "compaction.L1.CompCount"), 0);
  EXPECT_EQ(NumberIn(map, "compaction.L1.WriteAmp"), 0);
  ExpectBytes(map, "compaction.L1.WriteGB", 0);
  ExpectBytes(map, "compaction.L1.MovedGB", NumberIn(map, "compaction.L1.SizeBytes"));
}

TEST_F(StatisticsTextsTest, AnIntervalBeginsWhereTheTextBeforeEnded) {
  OpenBoth();
  WriteTable(0, 1, 100);
  EXPECT_EQ(LineOf(Text(0, "rocksdb.cfstats"), "Int")[kJobs], "1");
  EXPECT_EQ(LineOf(Text(0, "rocksdb.cfstats-no-file-histogram"), "Int")[kJobs], "0");
  WriteTable(0, 1, 100);
  EXPECT_EQ(NumberIn(MapOf(0, "rocksdb.cfstats"), "compaction.Sum.CompCount"), 2);
  const std::string text = Text(0, "rocksdb.stats");
  EXPECT_EQ(LineOf(text, "Int")[kJobs], "1") << "a map begins no interval";
  EXPECT_EQ(LineOf(text, "Sum")[kJobs], "2");
  EXPECT_EQ(LineOf(text, "Interval writes:")[2], "200");
  Put(0, 1, 10);
  EXPECT_EQ(LineOf(Text(0, "rocksdb.dbstats"), "Interval writes:")[2], "10");
}

TEST_F(StatisticsTextsTest, WritesAreCounted) {
  OpenBoth();
  const size_t put_bytes = 12 + 1 + 1 + 9 + 1 + 100;  // header, kind, lengths, key, value
  Put(0, 1, 10);
  WriteBatch batch;
  for (int i = 0; i < 3; i++) ASSERT_OK(batch.Put(handles_[1], StrCat("key", i), "value"));
  for (int i = 0; i < 2; i++) ASSERT_OK(db_->Write(Synced(), &batch));
  WriteBatch last;
  ASSERT_OK(last.Delete("key"));
  ASSERT_OK(db_->Write(Unlogged(), &last));
  const size_t logged = 10 * put_bytes + 2 * batch.GetDataSize();
  const Map map = MapOf(0, "rocksdb.dbstats");
  EXPECT_EQ(NumberIn(map, "db.user_keys_written"), 10 + 6 + 1);
  EXPECT_EQ(NumberIn(map, "db.user_writes_by_self"), 13);
  EXPECT_EQ(NumberIn(map, "db.user_writes_by_other"), 0);
  EXPECT_EQ(NumberIn(map, "db.user_writes_with_wal"), 12);
  EXPECT_EQ(NumberIn(map, "db.wal_bytes_written"), logged);
  EXPECT_EQ(NumberIn(map, "db.user_bytes_written"), logged + last.GetDataSize());
  EXPECT_EQ(NumberIn(map, "db.wal_syncs"), 2);
  EXPECT_EQ(NumberIn(map, "db.user_write_stall_micros"), 0);
  EXPECT_GE(NumberIn(map, "db.uptime"), 0);
  const std::string text = Text(1, "rocksdb.dbstats");
  const auto writes = LineOf(text, "Cumulative writes:"), log = LineOf(text, "Cumulative WAL:");
  EXPECT_EQ(writes[2] + writes[3] + writes[4] + writes[5], "13writes,17keys,");
  EXPECT_EQ(log[2] + log[3] + log[4] + log[5] + log[6], "12writes,2syncs,6.00");
  EXPECT_EQ(LineOf(text, "Cumulative stall:")[2], "00:00:0.000");
}

TEST_F(StatisticsTextsTest, CountersBeginAtOpening) {
  OpenBoth();
  WriteTable(0, 1, 3000);
  Reopen();
  const Map map = MapOf(0, "rocksdb.cfstats");
  EXPECT_EQ(NumberIn(map, "compaction.L0.NumFiles"), 1);
  EXPECT_GT(NumberIn(map, "compaction.L0.SizeBytes"), 0);
  EXPECT_EQ(NumberIn(map, "compaction.L0.CompCount"), 0);
  EXPECT_EQ(NumberIn(map, "compaction.Sum.WriteGB"), 0);
  EXPECT_EQ(NumberIn(MapOf(0, "rocksdb.dbstats"), "db.user_keys_written"), 0);
  Put(0, 1, 5);
  EXPECT_EQ(NumberIn(MapOf(0, "rocksdb.dbstats"), "db.user_keys_written"), 5);
}

// Tables and tickers stay; all counters of the texts begin at 0 again, in all families.
TEST_F(StatisticsTextsTest, CountersBeginAnewWhenTheyAreReset) {
  UseNoBlockCache();
  options_.statistics = CreateDBStatistics();
  OpenAndStall();
  WriteTable(0, 1, 3000);
  ASSERT_OK(db_->SyncWAL());
  WaitForJobs();
  ReadAll(0);
  const uint64_t written = Ticks(FLUSH_WRITE_BYTES);
  Text(0, "rocksdb.stats");  // the next interval begins here
  ASSERT_OK(db_->ResetStats());

  for (int family : {0, 1}) {
    const Map map = MapOf(family, "rocksdb.cfstats");
    for (const char* name : {"compaction.Sum.CompCount", "compaction.Sum.WriteGB",
                             "io_stalls.total_slowdown", "io_stalls.total_stop"}) {
      EXPECT_EQ(NumberIn(map, name), 0) << name;
    }
    EXPECT_EQ(NumberIn(map, "compaction.Sum.NumFiles"), 1)
        << "the number of tables is not a counter";
    EXPECT_EQ(Text(family, "rocksdb.cf-file-histogram").find("Count:"), std::string::npos);
  }
  const Map writes = MapOf(0, "rocksdb.dbstats");
  for (const char* name : {"db.user_keys_written", "db.user_writes_by_self", "db.wal_syncs",
                           "db.wal_bytes_written", "db.user_write_stall_micros"}) {
    EXPECT_EQ(NumberIn(writes, name), 0) << name;
  }
  EXPECT_EQ(Ticks(FLUSH_WRITE_BYTES), written);

  ASSERT_OK(db_->SetOptions(handles_[0], {{"disable_auto_compactions", "true"}}));
  WriteTable(0, 1, 10);
  const std::string text = Text(0, "rocksdb.stats");
  EXPECT_EQ(LineOf(text, "Sum")[kJobs], "1");
  EXPECT_EQ(LineOf(text, "Int")[kJobs], "1");
  EXPECT_EQ(LineOf(text, "Cumulative writes:")[2], "10");
  EXPECT_EQ(LineOf(text, "Interval writes:")[2], "10");
}

TEST_F(StatisticsTextsTest, StallsAreCountedByCause) {
  OpenAndStall();
  const Map map = MapOf(1, "rocksdb.cfstats");
  EXPECT_EQ(NumberIn(map, "io_stalls.level0_slowdown"), 1);
  EXPECT_EQ(NumberIn(map, "io_stalls.level0_numfiles"), 1);
  EXPECT_EQ(NumberIn(map, "io_stalls.level0_numfiles_with_compaction"), 0);
  EXPECT_EQ(NumberIn(map, "io_stalls.memtable_compaction"), 0);
  EXPECT_EQ(NumberIn(map, "io_stalls.total_slowdown"), 1);
  EXPECT_EQ(NumberIn(map, "io_stalls.total_stop"), 1);
  const std::string text = Text(1, "rocksdb.cfstats");
  EXPECT_NE(text.find("Stalls(count): 1 level0_slowdown, 0 level0_slowdown_with_compaction, 1 "
                      "level0_numfiles, "),
            std::string::npos);
  EXPECT_NE(text.find(", interval 2 total count\n"), std::string::npos);
  const Map stalls = MapOf(1, "rocksdb.cf-write-stall-stats");
  EXPECT_EQ(NumberIn(stalls, "total-delays"), 1);
  EXPECT_EQ(NumberIn(stalls, "total-stops"), 1);
  EXPECT_EQ(NumberIn(stalls, "l0-file-count-limit-stops"), 1);
  EXPECT_EQ(NumberIn(stalls, "memtable-limit-delays"), 0);
  EXPECT_EQ(NumberIn(MapOf(0, "rocksdb.cf-write-stall-stats"), "total-delays"), 0);
  EXPECT_EQ(NumberIn(MapOf(0, "rocksdb.db-write-stall-stats"), "write-buffer-manager-limit-stops"),
            0);
}

TEST_F(StatisticsTextsTest, LevelStatsCountTables) {
  OpenBoth();
  WriteTable(0, 1, 20000);
  Compact(0);
  WriteTable(0, 1, 10);
  const auto lines = LinesOf(Text(0, "rocksdb.levelstats"));
  ASSERT_EQ(lines.size(), 2u + 7);
  EXPECT_EQ(lines[0], "Level Files Size(MB)");
  EXPECT_EQ(lines[1], "--------------------");
  EXPECT_EQ(lines[2], "  0        1        0");
  EXPECT_EQ(lines[3], "  1        1        2");
  EXPECT_EQ(lines[8], "  6        0        0");
}

TEST_F(StatisticsTextsTest, ReadTimesAreThoseOfTheLevelThatATableHasNow) {
  UseNoBlockCache();
  options_.statistics = CreateDBStatistics();
  OpenBoth();
  WriteTable(1, 1, 3000);
  ReadAll(1);
  const std::string title = "\n** File Read Latency Histogram By Level [other] **\n";
  const std::string before = Text(1, "rocksdb.cf-file-histogram");
  EXPECT_EQ(before.find(StrCat(title, "** Level 0 read latency histogram (micros):\nCount: ")), 0u);
  EXPECT_EQ(before.find("Level 1"), std::string::npos);
  // The table is moved down without being rewritten or reopened.
  ASSERT_OK(db_->SetOptions(handles_[1], {{"disable_auto_compactions", "false"},
                                          {"level0_file_num_compaction_trigger", "1"}}));
  WaitForJobs();
  ASSERT_EQ(Text(1, "rocksdb.num-files-at-level1"), "1");
  ReadAll(1);
  const std::string after = Text(1, "rocksdb.cf-file-histogram");
  EXPECT_NE(after.find("** Level 1 read latency histogram (micros):\n"), std::string::npos);
  uint64_t count = 0;
  for (const std::string& line : LinesOf(after)) {
    if (line.rfind("Count: ", 0) == 0) count += std::stoull(WordsOf(line)[1]);
  }
  EXPECT_EQ(LineOf(before, "Count:")[1], LineOf(after, "Count:")[1]) << "level 0 is read no more";
  HistogramData all;
  options_.statistics->histogramData(SST_READ_MICROS, &all);
  EXPECT_EQ(count, all.count);
  EXPECT_EQ(Text(0, "rocksdb.cf-file-histogram"),
            "\n** File Read Latency Histogram By Level [default] **\n");
  EXPECT_NE(Text(1, "rocksdb.cfstats").find(after), std::string::npos);
  EXPECT_EQ(Text(1, "rocksdb.cfstats-no-file-histogram").find("Histogram"), std::string::npos);
}

TEST_F(StatisticsTextsTest, EntriesOfTheBlockCacheAreCountedByRole) {
  const std::shared_ptr<Cache> cache = NewLRUCache(64 << 20);
  BlockBasedTableOptions table;
  table.block_cache = cache;
  options_.table_factory.reset(NewBlockBasedTableFactory(table));
  options_.statistics = CreateDBStatistics();
  OpenBoth();
  WriteTable(0, 1, 3000);
  ReadAll(0);
  const std::string name = "rocksdb.block-cache-entry-stats";
  const Map map = MapOf(0, name);
  const auto blocks = static_cast<double>(Ticks(BLOCK_CACHE_DATA_ADD));
  ASSERT_GT(blocks, 50);
  EXPECT_EQ(NumberIn(map, "count.data-block"), blocks);
  EXPECT_GT(NumberIn(map, "bytes.data-block"), 300'000);
  EXPECT_LE(NumberIn(map, "bytes.data-block"), static_cast<double>(cache->GetUsage()));
  EXPECT_NEAR(NumberIn(map, "percent.data-block"),
              100 * NumberIn(map, "bytes.data-block") / (64 << 20), 1e-5);
  EXPECT_EQ(NumberIn(map, "count.filter-block"), 0);
  EXPECT_EQ(NumberIn(map, "capacity"), 64 << 20);
  EXPECT_EQ(map.at("id").rfind(cache->Name(), 0), 0u);
  // The fast property returns the last count while it is recent.
  WriteTable(0, 3001, 6000);
  ReadAll(0);
  EXPECT_EQ(NumberIn(MapOf(0, "rocksdb.fast-block-cache-entry-stats"), "count.data-block"), blocks);
  EXPECT_GT(NumberIn(MapOf(0, name), "count.data-block"), blocks);
  const std::string text = Text(0, name);
  const auto lines = LinesOf(text);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0].rfind(StrCat("Block cache ", map.at("id"), " capacity: 64.00 MB usage: "), 0),
            0u);
  EXPECT_NE(lines[0].find(" collections: 3 last_copies: 0 last_secs: "), std::string::npos) << text;
  EXPECT_EQ(lines[1].rfind("Block cache entry stats(count,size,portion): DataBlock(", 0), 0u);
  EXPECT_NE(Text(0, "rocksdb.stats").find(" collections: 3 last_copies: 1 "), std::string::npos);
}

TEST_F(StatisticsTextsTest, WithoutABlockCacheNothingIsSaidOfIt) {
  UseNoBlockCache();
  OpenBoth();
  std::string text;
  Map map;
  EXPECT_FALSE(db_->GetProperty("rocksdb.block-cache-entry-stats", &text));
  EXPECT_FALSE(db_->GetMapProperty("rocksdb.block-cache-entry-stats", &map));
  EXPECT_EQ(Text(0, "rocksdb.cfstats").find("Block cache"), std::string::npos);
}

TEST_F(StatisticsTextsTest, LiveVersionsAreThoseOfTheFamily) {
  OpenBoth();
  Put(0, 1, 1);
  Put(1, 1, 1);
  std::unique_ptr<Iterator> iterator(db_->NewIterator(ReadOptions(), handles_[1]));
  // The flush thread releases the version that it replaced before it is idle.
  const auto flush = [this](int family) {
    Flush(family);
    WaitForJobs();
  };
  flush(0);
  EXPECT_EQ(Number(0, "rocksdb.num-live-versions"), 1u);
  EXPECT_EQ(Number(1, "rocksdb.num-live-versions"), 1u);
  flush(1);
  EXPECT_EQ(Number(0, "rocksdb.num-live-versions"), 1u);
  EXPECT_EQ(Number(1, "rocksdb.num-live-versions"), 2u) << "the iterator holds one";
  uint64_t sum = 0;
  EXPECT_TRUE(db_->GetAggregatedIntProperty("rocksdb.num-live-versions", &sum));
  EXPECT_EQ(sum, 3u);
}

TEST_F(StatisticsTextsTest, AllNamesAreKnownOfADroppedFamilyToo) {
  OpenBoth();
  const std::vector<std::string> texts = {"rocksdb.stats",
                                          "rocksdb.cfstats",
                                          "rocksdb.cfstats-no-file-histogram",
                                          "rocksdb.dbstats",
                                          "rocksdb.levelstats",
                                          "rocksdb.block-cache-entry-stats",
                                          "rocksdb.cf-file-histogram",
                                          "rocksdb.fast-block-cache-entry-stats"};
  const std::vector<std::string> maps = {"rocksdb.cfstats",
                                         "rocksdb.dbstats",
                                         "rocksdb.cf-write-stall-stats",
                                         "rocksdb.db-write-stall-stats",
                                         "rocksdb.block-cache-entry-stats",
                                         "rocksdb.fast-block-cache-entry-stats",
                                         "rocksdb.aggregated-table-properties",
                                         "rocksdb.aggregated-table-properties-at-level0"};
  for (const std::string& name : texts) EXPECT_NE(Text(1, name), "") << name;
  for (const std::string& name : maps) EXPECT_FALSE(MapOf(1, name).empty()) << name;
  std::string text;
  Map map;
  EXPECT_FALSE(db_->GetMapProperty("rocksdb.stats", &map));
  EXPECT_FALSE(db_->GetMapProperty("rocksdb.levelstats", &map));
  ASSERT_OK(db_->DropColumnFamily(handles_[1]));
  for (const std::string& name : texts) EXPECT_NE(Text(1, name), "") << name;
  for (const std::string& name : maps) EXPECT_FALSE(MapOf(1, name).empty()) << name;
}

// The forms of numbers in the texts.
TEST(HumanText, HasTheFormsOfRocksDb) {
  EXPECT_EQ(HumanCount(0), "0");
  EXPECT_EQ(HumanCount(9999), "9999");
  EXPECT_EQ(HumanCount(10999), "10K");
  EXPECT_EQ(HumanCount(22021), "22K");
  EXPECT_EQ(HumanCount(10'000'000), "10M");
  EXPECT_EQ(HumanCount(10'000'000'000), "10G");
  EXPECT_EQ(HumanBytes(0), "0.00 KB");
  EXPECT_EQ(HumanBytes(92), "0.09 KB");
  EXPECT_EQ(HumanBytes(1048575), "1024.00 KB");
  EXPECT_EQ(HumanBytes(8356390), "7.97 MB");
  EXPECT_EQ(HumanBytes(3ull << 30), "3.00 GB");
  EXPECT_EQ(HumanMicros(24'000), "00:00:0.024");
  EXPECT_EQ(HumanMicros(3'723'004'000), "01:02:3.004");
  EXPECT_EQ(PerSecond(3, 0), 0);
  EXPECT_EQ(PerSecond(3, 1'500'000), 2);
}

}  // namespace
}  // namespace ashlar
