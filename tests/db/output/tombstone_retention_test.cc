// SPDX-License-Identifier: Apache-2.0
//
// Range tombstones through flushes and compactions: what every reader sees stays the same, under
// any snapshots, however the outputs are cut, and whatever lies below.
#include "db/output/tombstone_retention.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "db/output/output_writer.h"
#include "env/filename.h"
#include "env/memory/memory_file_system.h"
#include "env/random_reader.h"
#include "memtable/memtable.h"
#include "table/sst/read/table_reader.h"
#include "tests/support/status_matchers.h"
#include "tests/support/table_lookup.h"
#include "util/memory/arena.h"
#include "util/random.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

const InternalKeyComparator& RetentionOrder() {
  static const InternalKeyComparator comparator(BytewiseComparator());
  return comparator;
}

FragmentedTombstones Fragmented(std::vector<RangeTombstone> tombstones) {
  return FragmentedTombstones(RetentionOrder(), std::move(tombstones));
}

FileMetadata Table(const Slice& smallest, SequenceNumber oldest, const Slice& largest,
                   SequenceNumber newest, bool is_exclusive = false) {
  FileMetadata meta;
  meta.smallest = MakeInternalKey(smallest, newest, kTypeValue);
  meta.largest = is_exclusive ? MakeInternalKey(largest, kMaxSequenceNumber, kTypeRangeDeletion)
                              : MakeInternalKey(largest, oldest, kTypeValue);
  meta.smallest_seqno = oldest;
  meta.largest_seqno = newest;
  return meta;
}

std::string TextOf(const DividedTombstones& divided) {
  return divided.young->DebugString() + "| " + divided.old->DebugString();
}

TEST(DividedTombstones, AreDividedByNumberInsideTheRange) {
  const auto tombstones = Fragmented({{"a", "c", 9}, {"c", "e", 9}, {"c", "f", 4}, {"m", "p", 8}});
  const auto divide = [&](const Slice& smallest, const Slice& largest, bool is_inclusive) {
    return DivideTombstones(tombstones, 5, {smallest, largest, is_inclusive});
  };
  const auto all = divide("a", "z", true);
  ASSERT_TRUE(all.has_value());
  for (const char* key : {"a", "b", "c", "d", "e", "f", "m", "o", "p"}) {
    const SequenceNumber young = all->young->MaxCoveringSeqno(key, kMaxSequenceNumber);
    const SequenceNumber old = all->old->MaxCoveringSeqno(key, kMaxSequenceNumber);
    EXPECT_EQ(std::max(young, old), tombstones.MaxCoveringSeqno(key, kMaxSequenceNumber)) << key;
    EXPECT_EQ(old, tombstones.MaxCoveringSeqno(key, 4)) << key;
  }
  EXPECT_EQ(all->young->smallest_seqno(), 8u);
  EXPECT_EQ(all->old->largest_seqno(), 4u);
  // An old tombstone may reach out of the range, and young ones may be outside of it.
  const auto part = divide("c", "e", true);
  ASSERT_TRUE(part.has_value());
  EXPECT_EQ(part->young->tombstone_count(), 1u) << TextOf(*part);
  EXPECT_EQ(part->old->MaxCoveringSeqno("b", kMaxSequenceNumber), 9u);
  EXPECT_EQ(part->old->MaxCoveringSeqno("o", kMaxSequenceNumber), 8u);
  EXPECT_EQ(part->old->MaxCoveringSeqno("d", kMaxSequenceNumber), 4u);
  EXPECT_EQ(part->young->MaxCoveringSeqno("d", kMaxSequenceNumber), 9u);
}

TEST(DividedTombstones, AreNotDividedIfAYoungOneReachesOutOfTheRange) {
  const auto tombstones = Fragmented({{"c", "e", 9}});
  const auto divides = [&](const Slice& smallest, const Slice& largest, bool is_inclusive) {
    return DivideTombstones(tombstones, 5, {smallest, largest, is_inclusive}).has_value();
  };
  EXPECT_FALSE(divides("d", "z", true));
  EXPECT_FALSE(divides("a", "d", true));
  EXPECT_FALSE(divides("a", "c", true));
  EXPECT_TRUE(divides("a", "c", false));
  EXPECT_TRUE(divides("e", "z", true));
  EXPECT_TRUE(divides("c", "e", false));
  EXPECT_TRUE(DivideTombstones(tombstones, 10, {"d", "z", true}).has_value());
}

TEST(HidingTombstones, SpareWhatASnapshotSees) {
  const auto tombstones = Fragmented({{"b", "d", 10}, {"f", "g", 4}});
  const std::vector<SequenceNumber> snapshots{6};
  HidingTombstones hiding(&tombstones, snapshots, Slice());
  EXPECT_FALSE(hiding.Hides("a", 1));
  EXPECT_FALSE(hiding.Hides("b", 11));
  EXPECT_TRUE(hiding.Hides("b", 7));
  EXPECT_FALSE(hiding.Hides("b", 6));  // snapshot 6 sees it and not the tombstone
  EXPECT_FALSE(hiding.Hides("d", 7));
  EXPECT_FALSE(hiding.Hides("f", 4));  // its own number does not hide
  EXPECT_TRUE(hiding.Hides("f", 3));
  EXPECT_FALSE(hiding.Hides("g", 3));
}

TEST(TombstonesToKeep, KeepTheNewestOfEachStripe) {
  const auto all = Fragmented({{"a", "c", 9}, {"a", "c", 8}, {"a", "c", 5}, {"a", "c", 4}});
  const std::vector<SequenceNumber> snapshots{5};
  EXPECT_EQ(TombstonesToKeep(all, {.snapshots = snapshots})->DebugString(), "[a, c) 9 5\n");
  EXPECT_EQ(TombstonesToKeep(all, {})->DebugString(), "[a, c) 9\n");
}

TEST(TombstonesToKeep, GoAtTheBottomOnceEverybodySeesThem) {
  const auto all = Fragmented({{"a", "c", 9}, {"a", "c", 5}});
  EXPECT_TRUE(TombstonesToKeep(all, {.is_bottommost = true})->empty());
  const std::vector<SequenceNumber> snapshots{6};
  EXPECT_EQ(TombstonesToKeep(all, {.snapshots = snapshots, .is_bottommost = true})->DebugString(),
            "[a, c) 9\n");
}

TEST(TombstonesToKeep, GoWhereNothingLiesBelow) {
  const auto all = Fragmented({{"a", "c", 9}, {"c", "e", 8}, {"x", "z", 7}});
  TableFile below(Table("c", 1, "d", 2));
  TableFile* const files[] = {&below};
  DeeperLevels levels(RetentionOrder(), {DeeperLevels::Tables(files)});
  EXPECT_EQ(TombstonesToKeep(all, {.below = &levels})->DebugString(), "[c, e) 8\n");
}

TEST(TombstonesToKeep, AreThoseOfTheRange) {
  const auto all = Fragmented({{"a", "f", 9}, {"g", "h", 8}});
  EXPECT_EQ(TombstonesToKeep(all, {.begin = Slice("c"), .end = Slice("g")})->DebugString(),
            "[c, f) 9\n");
  EXPECT_EQ(TombstonesToKeep(all, {.begin = Slice("f"), .end = {}})->DebugString(), "[g, h) 8\n");
  EXPECT_EQ(TombstonesToKeep(all, {.begin = {}, .end = Slice("b")})->DebugString(), "[a, b) 9\n");
}

TEST(CoversTable, NeedsEveryKeyAndEveryReader) {
  const auto all = Fragmented({{"b", "d", 10}, {"d", "f", 12}});
  EXPECT_TRUE(CoversTable(all, Table("b", 1, "e", 9), {}));
  EXPECT_TRUE(CoversTable(all, Table("c", 1, "f", 9, /*is_exclusive=*/true), {}));
  EXPECT_FALSE(CoversTable(all, Table("c", 1, "f", 9), {}));
  EXPECT_FALSE(CoversTable(all, Table("a", 1, "e", 9), {}));
  EXPECT_FALSE(CoversTable(all, Table("b", 1, "e", 10), {}));  // some entry may be newer
  EXPECT_FALSE(CoversTable(all, Table("x", 1, "y", 2), {}));
  const std::vector<SequenceNumber> sees_old{5}, sees_both{11}, before{0};
  EXPECT_FALSE(CoversTable(all, Table("b", 1, "e", 9), sees_old));
  EXPECT_FALSE(CoversTable(all, Table("b", 1, "e", 9), sees_both));  // [d, f) is newer than it
  EXPECT_TRUE(CoversTable(all, Table("b", 1, "c", 9), sees_both));
  EXPECT_TRUE(CoversTable(all, Table("b", 1, "c", 9), before));
  EXPECT_FALSE(CoversTable(all, Table("b", 0, "c", 9), before));
}

// A history of writes, half of which lie in a run below, and what readers see of all of it.
class History {
 public:
  static constexpr int kKeys = 14;

  explicit History(uint64_t seed) : random_(seed) {
    below_ = NewMemTable();
    for (MemTable*& part : parts_) part = NewMemTable();
    last_ = 10 + random_.Uniform(40);
    const SequenceNumber below_until = random_.OneIn(3) ? 0 : random_.Uniform(last_);
    for (SequenceNumber seqno = 1; seqno <= last_; seqno++) {
      Write(seqno,
            seqno <= below_until ? below_ : parts_[seqno <= (below_until + last_) / 2 ? 1 : 0]);
      if (random_.OneIn(6)) snapshots_.push_back(seqno);
      seen_[seqno] = now_;
    }
  }
  ~History() {
    below_->Unref();
    for (MemTable* part : parts_) part->Unref();
  }

  static std::string Key(uint64_t i) { return std::string(1, static_cast<char>('a' + i)); }
  // Newest first.
  const std::vector<MemTable*>& parts() const { return parts_; }
  MemTable* below() const { return below_; }
  const std::vector<SequenceNumber>& snapshots() const { return snapshots_; }
  std::vector<SequenceNumber> Readers() const {
    std::vector<SequenceNumber> readers = snapshots_;
    readers.push_back(last_);
    return readers;
  }
  std::string Expected(SequenceNumber reader, const std::string& key) const {
    const auto& then = seen_.at(reader);
    const auto found = then.find(key);
    return found == then.end() ? "" : found->second;
  }

 private:
  static MemTable* NewMemTable() { return new MemTable(RetentionOrder(), MemTableOptions(), 1); }
  void Write(SequenceNumber seqno, MemTable* to) {
    const std::string key = Key(random_.Uniform(kKeys));
    if (random_.OneIn(3)) {
      const std::string end = Key(random_.Uniform(kKeys + 1));
      ASSERT_OK(to->Add(seqno, kTypeRangeDeletion, key, end));
      if (key < end) now_.erase(now_.lower_bound(key), now_.lower_bound(end));
    } else if (random_.OneIn(4)) {
      ASSERT_OK(to->Add(seqno, kTypeDeletion, key, ""));
      now_.erase(key);
    } else {
      now_[key] = std::to_string(seqno);
      ASSERT_OK(to->Add(seqno, kTypeValue, key, now_[key]));
    }
  }

  Random64 random_;
  SequenceNumber last_ = 0;
  std::vector<MemTable*> parts_{2};
  MemTable* below_ = nullptr;
  std::vector<SequenceNumber> snapshots_;
  std::map<std::string, std::string> now_;
  std::map<SequenceNumber, std::map<std::string, std::string>> seen_;
};

// The history's upper half as tables, cut after every so many bytes.
class Compacted {
 public:
  Compacted(const History& history, uint64_t target_bytes) {
    EXPECT_TRUE(fs_.CreateDir("/db", IOOptions(), nullptr).ok());
    context_.fs = &fs_;
    options_.table.context = &context_;
    options_.table.family_options = std::make_shared<const ColumnFamilyOptions>();
    options_.table.comparator = &RetentionOrder();
    options_.table.dir = "/db";
    options_.limits.target_bytes = target_bytes;
    options_.new_file_number = [this] { return FileNumber{++last_number_}; };
    Write(history);
    OpenTables();
  }

  // As a version searches a level: tables whose bounds hold the key, in their order.
  void LookUpIn(PointLookup* lookup) const {
    const Slice key = lookup->key().user_key;
    for (size_t i = 0; i < tables_.size() && !lookup->decided(); i++) {
      const FileMetadata& meta = result_.tables[i].meta;
      if (key.compare(meta.smallest_user_key()) < 0) continue;
      if (key.compare(meta.largest_user_key()) > 0) continue;
      EXPECT_OK(LookUp(*tables_[i], ReadOptions(), lookup));
    }
  }
  const OutputResult& result() const { return result_; }

 private:
  void Write(const History& history) {
    Arena arena;
    SortedRuns runs{.runs = {}, .home = IteratorHome::kArena};
    std::vector<RangeTombstone> all;
    for (MemTable* part : history.parts()) {
      runs.runs.emplace_back(part->NewIterator(&arena));
      if (const auto list = part->Tombstones()) list->AppendTo(&all);
    }
    const FragmentedTombstones tombstones(RetentionOrder(), std::move(all));
    TableFile below(BelowBounds(history));
    TableFile* const files[] = {&below};
    const bool is_bottommost = history.below()->IsEmpty();
    std::vector<DeeperLevels::Tables> levels;
    if (!is_bottommost) levels.emplace_back(files);
    DeeperLevels below_entries(RetentionOrder(), levels),
        below_tombstones(RetentionOrder(), levels);
    EntryStreamOptions stream;
    stream.comparator = &RetentionOrder();
    stream.snapshots = history.snapshots();
    stream.below = &below_entries;
    stream.is_bottommost = is_bottommost;
    stream.tombstones = &tombstones;
    const auto kept = TombstonesToKeep(tombstones, {.snapshots = history.snapshots(),
                                                    .below = &below_tombstones,
                                                    .is_bottommost = is_bottommost});
    options_.tombstones = kept.get();
    EntryStream entries(stream, std::move(runs));
    ASSERT_OK(OutputWriter(options_).WriteAll(&entries, &result_));
  }
  // Where the older half has entries, or a little more.
  static FileMetadata BelowBounds(const History& history) {
    std::string smallest = "zz", largest;
    const std::unique_ptr<InternalIterator> it(history.below()->NewIterator(nullptr));
    for (it->SeekToFirst(); it->Valid(); it->Next()) {
      smallest = std::min(smallest, ExtractUserKey(it->key()).ToString());
      largest = std::max(largest, ExtractUserKey(it->key()).ToString());
    }
    return Table(smallest, 1, largest, 1);
  }
  void OpenTables() {
    for (size_t i = 0; i < result_.tables.size(); i++) {
      const FileMetadata& meta = result_.tables[i].meta;
      EXPECT_LE(RetentionOrder().Compare(meta.smallest, meta.largest), 0);
      if (i > 0) {
        EXPECT_LT(RetentionOrder().Compare(result_.tables[i - 1].meta.largest, meta.smallest), 0);
      }
      auto file = RandomReader::Open(&fs_, TableFileName("/db", meta.number), FileOptions());
      ASSERT_TRUE(file.ok());
      const auto border = FragmentedTombstones::BorderOf(meta.smallest, meta.largest);
      TableReaderOptions options;
      options.icmp = &RetentionOrder();
      options.border = &border;
      auto table = TableReader::Open(file.Take(), options);
      ASSERT_TRUE(table.ok()) << table.status().ToString();
      EXPECT_OK((*table)->VerifyChecksums(ReadOptions()));
      tables_.push_back(table.Take());
    }
  }

  MemoryFileSystem fs_;
  TableOutputContext context_;
  OutputWriterOptions options_;
  OutputResult result_;
  std::vector<std::unique_ptr<TableReader>> tables_;
  uint64_t last_number_ = 0;
};

std::string Read(const History& history, const Compacted& compacted, SequenceNumber reader,
                 const std::string& user_key) {
  const LookupKey key(user_key, reader, KeyOrder::kBytewise);
  PinnableSlice value;
  PointLookup lookup(key, &value);
  compacted.LookUpIn(&lookup);
  if (!lookup.decided()) history.below()->Get(key, &lookup);
  return lookup.outcome() == PointLookup::Outcome::kFound ? value.ToString() : "";
}

TEST(CompactedTombstones, LeaveEveryReaderWhatItSaw) {
  size_t table_count = 0;
  for (uint64_t seed = 1; seed <= 600; seed++) {
    const History history(seed);
    const Compacted compacted(history, seed % 4 == 0 ? UINT64_MAX : 1 + seed % 60);
    table_count += compacted.result().tables.size();
    for (const SequenceNumber reader : history.Readers()) {
      for (uint64_t i = 0; i < History::kKeys; i++) {
        const std::string key = History::Key(i);
        ASSERT_EQ(Read(history, compacted, reader, key), history.Expected(reader, key))
            << "seed " << seed << ", key " << key << " at " << reader;
      }
    }
  }
  EXPECT_GT(table_count, 1000u);
}

}  // namespace
}  // namespace ashlar
