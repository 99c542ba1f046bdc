// SPDX-License-Identifier: Apache-2.0
//
// What comes out of sorted runs, and how it is cut into tables.
//
// Runs are text, one a string: "a9 a5- b3" are keys of one letter with sequence numbers, '-' for
// deletes, '~' for SingleDeletes. What comes out is written alike, '|' between tables.
#include "db/output/entry_stream.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "db/output/output_writer.h"
#include "env/memory/memory_file_system.h"
#include "memtable/memtable.h"
#include "table/iterator/internal_iterator.h"
#include "tests/db/output/tables_of_keys.h"
#include "tests/support/status_matchers.h"
#include "util/memory/arena.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

const InternalKeyComparator& StreamOrder() {
  static const InternalKeyComparator comparator(BytewiseComparator());
  return comparator;
}

// Memtables made from text, with the arena of their iterators.
class TextRuns {
 public:
  explicit TextRuns(const std::vector<std::string>& runs) {
    for (const std::string& run : runs) {
      memtables_.push_back(new MemTable(StreamOrder(), MemTableOptions(), memtables_.size() + 1));
      std::istringstream entries(run);
      for (std::string entry; entries >> entry;) {
        const ValueType type = entry.back() == '-'   ? kTypeDeletion
                               : entry.back() == '~' ? kTypeSingleDeletion
                                                     : kTypeValue;
        EXPECT_OK(memtables_.back()->Add(std::stoull(entry.substr(1)), type, entry.substr(0, 1),
                                         type == kTypeValue ? "v" + entry : ""));
      }
    }
  }
  ~TextRuns() {
    for (MemTable* memtable : memtables_) memtable->Unref();
  }

  SortedRuns Open() {
    SortedRuns runs{.runs = {}, .home = IteratorHome::kArena};
    for (MemTable* memtable : memtables_) runs.runs.emplace_back(memtable->NewIterator(&arena_));
    return runs;
  }

 private:
  std::vector<MemTable*> memtables_;
  Arena arena_;
};

std::string EntryText(const Slice& key) {
  const uint64_t trailer = ExtractTrailer(key);
  const ValueType type = TrailerType(trailer);
  return StrCat(ExtractUserKey(key).ToString(), TrailerSeqno(trailer),
                type == kTypeDeletion         ? "-"
                : type == kTypeSingleDeletion ? "~"
                                              : "");
}

std::string Stream(const std::vector<std::string>& runs, EntryStreamOptions options = {},
                   EntryStream::Counts* counts = nullptr, Status* status = nullptr) {
  TextRuns text(runs);
  options.comparator = &StreamOrder();
  EntryStream entries(options, text.Open());
  std::string out;
  for (entries.SeekToFirst(); entries.Valid(); entries.Next()) {
    StrAppend(&out, out.empty() ? "" : " ", EntryText(entries.key()));
  }
  if (counts != nullptr) *counts = entries.counts();
  if (status != nullptr) *status = entries.status();
  return out;
}

// Tables of a writer in memory.
class EntriesToTables {
 public:
  EntriesToTables() {
    context_.fs = &fs_;
    options_.table.context = &context_;
    options_.table.family_options = std::make_shared<const ColumnFamilyOptions>();
    options_.table.comparator = &StreamOrder();
    options_.table.dir = "/db";
    options_.new_file_number = [this] { return FileNumber{++last_number_}; };
    EXPECT_TRUE(fs_.CreateDir("/db", IOOptions(), nullptr).ok());
  }

  OutputWriterOptions& options() { return options_; }
  OutputResult& result() { return result_; }
  std::string Write(const std::vector<std::string>& runs, EntryStreamOptions stream = {}) {
    TextRuns text(runs);
    stream.comparator = &StreamOrder();
    EntryStream entries(stream, text.Open());
    status_ = OutputWriter(options_).WriteAll(&entries, &result_);
    std::string out;
    for (const OutputTable& table : result_.tables) {
      StrAppend(&out, out.empty() ? "" : " | ", EntryText(table.meta.smallest), "..",
                EntryText(table.meta.largest));
    }
    return out;
  }
  const Status& status() const { return status_; }
  size_t FileCount() {
    std::vector<std::string> names;
    EXPECT_TRUE(fs_.GetChildren("/db", IOOptions(), &names, nullptr).ok());
    return static_cast<size_t>(std::count_if(names.begin(), names.end(), [](const auto& name) {
      return name.find(".sst") != std::string::npos;
    }));
  }

 private:
  MemoryFileSystem fs_;
  TableOutputContext context_;
  OutputWriterOptions options_;
  OutputResult result_;
  Status status_;
  uint64_t last_number_ = 0;
};

}  // namespace

TEST(EntryStream, MergesRunsAndKeepsWhatReadersSee) {
  EXPECT_EQ(Stream({"a9 b3", "a5 c4", "b8-"}), "a9 b8- c4");
  EXPECT_EQ(Stream({"a9 b3", "a5 c4", "b8-"}, {.snapshots = {5}, .begin = {}, .end = {}}),
            "a9 a5 b8- b3 c4");
}

TEST(EntryStream, OfNothingComesNothing) {
  EXPECT_EQ(Stream({}), "");
  EXPECT_EQ(Stream({"", ""}), "");
}

TEST(EntryStream, StaysInItsRange) {
  EntryStream::Counts counts;
  EXPECT_EQ(Stream({"a1 b2 c3 d4"}, {.begin = Slice("b"), .end = Slice("d")}, &counts), "b2 c3");
  EXPECT_EQ(counts.read, 2u);
}

TEST(EntryStream, CountsWhyEntriesWent) {
  EntryStream::Counts counts;
  const TablesOfKeys tables("c");
  DeeperLevels below(StreamOrder(), {tables.files()});
  EXPECT_EQ(Stream({"a9 a5 b8- b3 c7- c2"}, {.below = &below, .begin = {}, .end = {}}, &counts),
            "a9 c7-");
  EXPECT_EQ(counts.read, 6u);
  EXPECT_EQ(counts.hidden, 3u);
  EXPECT_EQ(counts.tombstones, 1u);
}

// Those that go without having met a value, and the others that met none.
TEST(EntryStream, CountsSingleDeletesThatMeetNoValue) {
  const TablesOfKeys tables("c");
  DeeperLevels below(StreamOrder(), {tables.files()});
  const struct {
    const char* entries;
    const char* kept;
    uint64_t unmatched, mismatched;
  } kCases[] = {
      {"a9~ a5", "", 0, 0},        {"a9~ b5", "b5", 1, 0},    {"a9~ a5~ a2", "", 0, 1},
      {"a9~ a5-", "", 0, 1},       {"c9~ c5", "", 0, 0},      {"c9~", "c9~", 0, 0},
      {"c9~ c5- c2", "c9~", 0, 1}, {"a9~ b9 b5", "b9", 1, 0}, {"a9~ c9~ c5", "", 1, 0},
      {"a9~ a5 a4~", "", 0, 0},    {"a9 a5~ a4", "a9", 0, 0},
  };
  for (const auto& c : kCases) {
    EntryStream::Counts counts;
    EXPECT_EQ(Stream({c.entries}, {.below = &below, .begin = {}, .end = {}}, &counts), c.kept);
    EXPECT_EQ(counts.unmatched_singles, c.unmatched) << c.entries;
    EXPECT_EQ(counts.mismatched_singles, c.mismatched) << c.entries;
  }
}

// Whatever lies below: whoever keeps to the contract has another SingleDelete for what lies there.
TEST(EntryStream, ASingleDeleteAndItsValueVanishTogether) {
  const struct {
    std::vector<std::string> runs;
    const char* kept;
    uint64_t hidden, tombstones;
    std::vector<SequenceNumber> snapshots = {};
  } kCases[] = {
      {{"a9~ a5"}, "", 1, 1},
      {{"a9~", "a5 b4"}, "b4", 1, 1},
      {{"a9~ a8 a7~ a6 b5"}, "b5", 2, 2},
      {{"a9~ a8", "a7~"}, "a7~", 1, 1},
      {{"a9~ a8~ a7 b1~ c9~ c3"}, "b1~", 2, 3},
      {{"a9 a8~ a7 b1"}, "a9 b1", 1, 1},
      // Nothing that a snapshot sees goes, nor what hides it from the others.
      {{"a9~ a5 b1"}, "a9~ a5 b1", 0, 0, {6}},
      {{"a9~ a8 a7~ a4"}, "a7~ a4", 1, 1, {5}},
      // One that is alone is kept, also behind a newer version: a later one may take that along.
      {{"a9~ b3"}, "a9~ b3", 0, 0},
      {{"a9 a5~ b1"}, "a9 a5~ b1", 0, 0},
      {{"a9 a5~", "a3- b1"}, "a9 a5~ b1", 1, 0},
      // Two values and one SingleDelete: it goes on hiding whatever there is.
      {{"a9~ a5 a3 b1"}, "a9~ b1", 2, 0},
      {{"a9~ a5 a3"}, "a9~ a3", 1, 0, {4}},
      {{"a9~ a5 a3-"}, "a9~", 2, 0},
  };
  for (const auto& c : kCases) {
    EntryStream::Counts counts;
    EntryStreamOptions options;
    options.snapshots = c.snapshots;
    EXPECT_EQ(Stream(c.runs, options, &counts), c.kept);
    EXPECT_EQ(counts.hidden, c.hidden) << c.runs[0];
    EXPECT_EQ(counts.tombstones, c.tombstones) << c.runs[0];
  }
}

TEST(EntryStream, AtTheBottomNoSingleDeleteIsLeft) {
  EXPECT_EQ(Stream({"a9 a5~ b8~ b3 c4~"}, {.is_bottommost = true, .begin = {}, .end = {}}), "a0");
}

TEST(EntryStream, AnErrorOfTheProgressBehindASingleDeleteEndsIt) {
  EntryStreamOptions options;
  options.entries_a_step = 2;
  options.on_progress = [](uint64_t read) {
    return read < 2 ? Status::OK() : Status::Incomplete("stopped");
  };
  Status status;
  EXPECT_EQ(Stream({"a1 b9~ b2 c3"}, options, nullptr, &status), "a1");
  EXPECT_TRUE(status.IsIncomplete()) << status.ToString();
}

TEST(EntryStream, AtTheBottomNumbersBecomeZero) {
  EXPECT_EQ(Stream({"a9 b3-"}, {.is_bottommost = true, .begin = {}, .end = {}}), "a0");
}

TEST(EntryStream, ReportsProgressAtTheBeginningEveryStepAndAtTheEnd) {
  std::vector<uint64_t> reports;
  EntryStreamOptions options;
  options.entries_a_step = 2;
  options.on_progress = [&reports](uint64_t read) {
    reports.push_back(read);
    return Status::OK();
  };
  Stream({"a1 b2 c3 d4 e5"}, options);
  EXPECT_EQ(reports, (std::vector<uint64_t>{0, 2, 4, 5}));
}

TEST(EntryStream, AnErrorOfTheProgressEndsIt) {
  EntryStreamOptions options;
  options.entries_a_step = 2;
  options.on_progress = [](uint64_t read) {
    return read < 2 ? Status::OK() : Status::Incomplete("stopped");
  };
  Status status;
  EXPECT_EQ(Stream({"a1 b2 c3 d4 e5"}, options, nullptr, &status), "a1 b2");
  EXPECT_TRUE(status.IsIncomplete()) << status.ToString();
}

TEST(OutputWriter, NeverCutsBetweenVersionsOfAUserKey) {
  EntriesToTables tables;
  tables.options().limits.target_bytes = 1;  // cut wherever it is allowed
  EXPECT_EQ(tables.Write({"a1 b9 b8 b7 b6 c2"}, {.snapshots = {6, 7, 8}, .begin = {}, .end = {}}),
            "a1..a1 | b9..b6 | c2..c2");
  EXPECT_OK(tables.status());
  EXPECT_EQ(tables.FileCount(), 3u);
}

TEST(OutputWriter, MakesNoTableWithoutEntries) {
  EntriesToTables tables;
  EXPECT_EQ(tables.Write({"a5-"}, {.is_bottommost = true, .begin = {}, .end = {}}), "");
  EXPECT_OK(tables.status());
  EXPECT_EQ(tables.FileCount(), 0u);
  EXPECT_EQ(tables.result().input_entries, 1u);
}

TEST(OutputWriter, AfterAnErrorOnlyFinishedTablesAreLeft) {
  EntriesToTables tables;
  tables.options().limits.target_bytes = 1;
  EntryStreamOptions stream;
  stream.entries_a_step = 2;
  stream.on_progress = [](uint64_t read) {
    return read < 2 ? Status::OK() : Status::Incomplete("stopped");
  };
  EXPECT_EQ(tables.Write({"a1 b2 c3 d4"}, stream), "a1..a1");
  EXPECT_TRUE(tables.status().IsIncomplete());
  EXPECT_EQ(tables.FileCount(), 1u);
  DeleteUnnamedFiles(tables.options().table, &tables.result());
  EXPECT_EQ(tables.FileCount(), 0u);
  EXPECT_TRUE(tables.result().tables.empty());
}

}  // namespace ashlar
