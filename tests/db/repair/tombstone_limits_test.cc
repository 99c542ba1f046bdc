// SPDX-License-Identifier: Apache-2.0
//
// Range tombstones that reach beyond the keys of their tables, without a MANIFEST.
#include "db/repair/tombstone_limits.h"

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ashlar/comparator.h"
#include "db/repair/repair_db.h"
#include "tests/support/memory_writer.h"
#include "tests/support/test_db.h"
#include "util/random.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

// A history whose tables RocksDB might have written: it stores tombstones whole in all tables to
// which a compaction splits them, while our tables store only the parts within their bounds.
class SplitTombstonesTest : public DbTest {
 protected:
  using Ranges = std::map<SequenceNumber, std::pair<std::string, std::string>>;

  SplitTombstonesTest() {
    BlockBasedTableOptions blocks;
    blocks.block_size = 256;
    options_.table_factory.reset(NewBlockBasedTableFactory(blocks));
    options_.compression = kNoCompression;
    options_.disable_auto_compactions = true;
  }

  // The ranges that were deleted, by sequence number.
  Ranges WriteHistory(uint64_t seed) {
    Random64 random(seed);
    Ranges ranges;
    for (int i = 0; i < 1200; i++) {
      const auto key = static_cast<int>(random.Uniform(300));
      if (random.OneIn(30)) {
        const std::string end = Key(key + 1 + static_cast<int>(random.Uniform(40)));
        DeleteRange(Key(key), end);
        ranges[db_->GetLatestSequenceNumber()] = {Key(key), end};
      } else {
        Put(Key(key), StrCat(i, std::string(80, 'v')));
      }
      if (!random.OneIn(60)) continue;
      Flush();
      for (int level = 0; level < 3; level++) CompactSomeOf(level, &random);
    }
    Flush();
    return ranges;
  }

  // All tables of level 0, or one of a lower level that has many.
  void CompactSomeOf(int level, Random64* random) {
    constexpr size_t kMostTables[] = {1, 3, 8};
    while (true) {
      std::vector<std::string> names = TableNames(level);
      if (names.size() <= kMostTables[level]) return;
      if (level > 0) names = {names[random->Uniform(names.size())]};
      CompactionOptions compaction;
      compaction.output_file_size_limit = 3000;
      ASSERT_OK(db_->CompactFiles(compaction, names, level + 1));
    }
  }

  // Writes the table again. Tombstones that end at its bounds become whole.
  void StoreWholeTombstones(const LiveFileMetaData& bounds, const Ranges& ranges) {
    const std::string path = StrCat(bounds.db_path, bounds.name);
    const TableReadContext context{.fs = memory_.get(),
                                   .file_options = {},
                                   .comparator = &order_,
                                   .prefix_extractor = nullptr};
    auto table = OpenTableForRepair(context, path, nullptr);
    ASSERT_TRUE(table.ok());
    if ((*table)->tombstones() == nullptr) return;
    const BlockBasedTableOptions format;
    TableBuilderOptions options;
    options.icmp = &order_;
    options.table = &format;
    options.compression = kNoCompression;
    std::string bytes;
    const std::unique_ptr<FileWriter> writer = WriterIntoString(&bytes);
    TableBuilder builder(options, writer.get());
    const std::unique_ptr<InternalIterator> it((*table)->NewIterator(ReadOptions(), nullptr));
    for (it->SeekToFirst(); it->Valid(); it->Next()) ASSERT_OK(builder.Add(it->key(), it->value()));
    for (size_t i = 0; i < (*table)->tombstones()->size(); i++) {
      const auto part = (*table)->tombstones()->fragment(i);
      for (const SequenceNumber seqno : part.seqnos) {
        const auto& [begin, end] = ranges.at(seqno);
        const Slice from = part.begin == bounds.smallestkey ? Slice(begin) : part.begin;
        const Slice to = part.end == bounds.largestkey ? Slice(end) : part.end;
        ASSERT_OK(builder.Add(MakeInternalKey(from, seqno, kTypeRangeDeletion), to));
      }
    }
    ASSERT_OK(builder.Finish());
    memory_->PutFile(path, bytes);
  }

  const InternalKeyComparator order_{BytewiseComparator()};
};

TEST_F(SplitTombstonesTest, TheyHideWhatTheyHidBeforeTheMANIFESTWasLost) {
  for (uint64_t seed = 1; seed <= 60; seed++) {
    SCOPED_TRACE(seed);
    dir_ = StrCat("/db", seed);
    Open();
    Put("a", "1");
    // All versions keep their sequence numbers.
    const Snapshot* const snapshot = db_->GetSnapshot();
    const Ranges ranges = WriteHistory(seed);
    const Contents before = ReadAll();
    const std::vector<LiveFileMetaData> tables = Tables();
    db_->ReleaseSnapshot(snapshot);
    Close();
    for (const LiveFileMetaData& table : tables) StoreWholeTombstones(table, ranges);
    for (const auto& [path, bytes] : memory_->AllFiles()) {
      if (!path.starts_with(dir_ + "/MANIFEST")) continue;
      ASSERT_OK(memory_->DeleteFile(path, IOOptions(), nullptr));
    }
    ASSERT_OK(RepairDB(dir_, options_));
    OpenAll();
    ASSERT_EQ(ReadAll(), before);
    Close();
  }
}

}  // namespace
}  // namespace ashlar
