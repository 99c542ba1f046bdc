// SPDX-License-Identifier: Apache-2.0
//
// Point lookups of many keys at once. There are two ways.
//
// In memory, inside an epoch: each stage runs for all keys before the next stage begins, and it
// ends with a prefetch of the memory that the next stage will read. So the cache misses of 32 keys
// take little more time than those of one key:
//
//   filter lines | index heads | slot | block | heads of its entries | place | entry, value
//
// With files, outside of epochs: first the needed blocks are found. Then all those that are not in
// memory are read together. Then each key is searched for.
#include <algorithm>
#include <array>
#include <cassert>
#include <span>
#include <utility>
#include <vector>

#include "ashlar/options.h"
#include "table/sst/read/block_batch.h"
#include "table/sst/read/index_cursor.h"
#include "table/sst/read/table_reader.h"
#include "util/threads/epoch.h"

namespace ashlar {

// The lookups inside one epoch. The object lives on the stack. It allocates nothing, takes no locks
// or references, and writes to no shared memory.
class TableReader::EpochBatch {
 public:
  EpochBatch(TableProbe* probes, size_t count) : probes_(probes), probe_count_(count) {
    assert(InEpoch());
    assert(count <= kMaxProbes);
  }

  void Run() {
    AskFilters();
    FindEntries();
    FindBlocks();
    FindPlaces();
    for (size_t i = 0; i < count_; ++i) Finish(&items_[i], searches_[i]);
  }

 private:
  // A probe that has passed its filter. AskFilters() makes the items. Members have no defaults,
  // because making an array of items must cost nothing.
  struct Item {
    TableProbe* probe;
    PointLookup::Mark before;
    const IndexBlock* index_block;
    size_t entry;       // the entry of the index that names the block
    DataBlock* block;   // the block of that entry
    bool is_searching;  // its search is in searches_; false: the result is cheap to find
    const TableReader& table() const { return *probe->table; }
    const FlatIndex& index() const { return *index_block->index; }
    const LookupKey& key() const { return probe->lookup->key(); }
  };

  // The stages, in this order.
  void AskFilters();
  void FindEntries();
  void FindBlocks();
  void FindPlaces();
  void Finish(Item* item, const HeadSearch& search);
  Status Offer(Item* item, const HeadSearch& search, BlockRead* read);
  // Runs `stage` for all items and keeps those for which it returns true, in their order.
  template <typename Stage>
  void Filter(Stage stage);

  TableProbe* const probes_;
  const size_t probe_count_;
  size_t count_ = 0;  // number of items in items_
  std::array<Item, kMaxProbes> items_;
  std::array<HeadSearch, kMaxProbes> searches_;  // search i belongs to item i
};

// A search that has ended before it begins. It fills the places of items that need no search.
constexpr uint64_t kNoHeads[1] = {0};
constexpr HeadSearch kNoSearch = {.base = kNoHeads, .rest = 1, .head = 0};

template <typename Stage>
void TableReader::EpochBatch::Filter(Stage stage) {
  size_t kept = 0;
  for (size_t i = 0; i < count_; ++i) {
    if (stage(&items_[i], searches_[i])) items_[kept++] = items_[i];
  }
  count_ = kept;
}

// Asks the filters. A key that its filter rejects is done. A key that needs a block of a filter or
// index that is not in memory is left for a read outside of the epoch.
void TableReader::EpochBatch::AskFilters() {
  for (size_t i = 0; i < probe_count_; ++i) probes_[i].table->PrefetchFilter(probes_[i].lookup);
  for (TableProbe* probe = probes_; probe != probes_ + probe_count_; ++probe) {
    assert(!probe->lookup->decided());
    const TableReader& table = *probe->table;
    if (table.is_partitioned_) [[unlikely]] {
      probe->is_over = table.GetInEpoch(probe->lookup);
      continue;
    }
    BlockRead read;
    read.in_epoch = true;
    Result<bool> may_contain = table.MayContain(probe->lookup, &read);
    if (!may_contain.ok()) [[unlikely]] {
      assert(may_contain.status().IsIncomplete());  // a partition of the filter must be read
      continue;
    }
    if (!*may_contain) {
      probe->is_over = true;
      continue;
    }
    const IndexBlock* const index = table.IndexInEpoch(&read);
    if (index == nullptr) [[unlikely]]
      continue;
    items_[count_++] = {.probe = probe,
                        .before = probe->lookup->mark(),
                        .index_block = index,
                        .entry = 0,
                        .block = nullptr,
                        .is_searching = false};
  }
}

// Finds the index entries that name the blocks, and prefetches their slots.
void TableReader::EpochBatch::FindEntries() {
  for (size_t i = 0; i < count_; ++i) {
    Item& item = items_[i];
    item.is_searching = item.index().BeginFind(item.key().user_key, &searches_[i]);
    if (!item.is_searching) searches_[i] = kNoSearch;
  }
  AdvanceHeadSearches(searches_.data(), count_);
  Filter([](Item* item, const HeadSearch& search) {
    const FlatIndex& index = item->index();
    const LookupKey& key = item->key();
    item->entry = item->is_searching ? index.EndFind(search, key.user_key, key.trailer)
                                     : index.Find(key.user_key, key.trailer);
    if (item->entry < index.size()) {
      const SlotTable* const slots = item->index_block->slots;
      if (slots != nullptr) slots->Prefetch(item->entry);
      return true;
    }
    item->table().CountSearch(BlockRead(), item->before, item->probe->lookup);
    item->probe->is_over = true;
    return false;
  });
}

// Finds the blocks through their slots. A key is left for a read outside of the epoch if its block
// is not in memory, or if the block should be decoded.
void TableReader::EpochBatch::FindBlocks() {
  for (size_t i = 0; i < count_; ++i) {
    items_[i].table().store_.PrefetchData(*items_[i].index_block, items_[i].entry);
  }
  const DataBlock* prefetched = nullptr;
  Filter([&prefetched](Item* item, const HeadSearch& /*unused*/) {
    const TableReader& table = item->table();
    DataBlock* block = table.store_.Peek(*item->index_block, item->entry);
    if (block == nullptr) {
      BlockRead read;
      read.in_epoch = true;
      auto cached = table.store_.Data(*item->index_block, item->entry, &read);
      assert(cached.ok());  // nothing was read, so nothing can have failed
      block = cached->get();
    }
    if (block == nullptr || table.store_.ShouldDecode(block)) return false;
    item->block = block;
    if (block == prefetched) return true;
    prefetched = block;
    block->is_decoded ? block->decoded.Prefetch() : block->block.PrefetchTail();
    return true;
  });
}

// Finds the entries in decoded blocks. Other blocks are searched by Finish().
void TableReader::EpochBatch::FindPlaces() {
  for (size_t i = 0; i < count_; ++i) {
    Item& item = items_[i];
    item.is_searching =
        item.block->is_decoded &&
        item.block->decoded.BeginLowerBound(item.table().icmp_, item.key().user_key, &searches_[i]);
    if (!item.is_searching) searches_[i] = kNoSearch;
  }
  AdvanceHeadSearches(searches_.data(), count_);
  for (size_t i = 0; i < count_; ++i) {
    if (items_[i].is_searching) items_[i].block->decoded.PrefetchEntry(searches_[i]);
  }
}

// Offers the versions of the key to the lookup. If a further block is needed and it is not in
// memory, the lookup goes back to its state before this table.
void TableReader::EpochBatch::Finish(Item* item, const HeadSearch& search) {
  assert(item != nullptr);
  PointLookup* const lookup = item->probe->lookup;
  assert(item->block != nullptr);
  BlockRead read;
  read.in_epoch = true;
  read.hits = 1;
  read.hit_bytes = item->block->MemoryBytes();
  Status status = Offer(item, search, &read);
  if (!status.ok() && status.IsIncomplete()) [[unlikely]] {
    lookup->GoBackTo(item->before);  // the lookup will be repeated outside of the epoch
    return;
  }
  if (!status.ok()) lookup->Fail(std::move(status));
  item->table().CountSearch(read, item->before, lookup);
  item->probe->is_over = true;
}

Status TableReader::EpochBatch::Offer(Item* item, const HeadSearch& search, BlockRead* read) {
  assert(item != nullptr);
  const TableReader& table = item->table();
  PointLookup* const lookup = item->probe->lookup;
  const LookupKey& key = item->key();
  ObjectRef<DataBlock> held;
  Search result;
  if (item->is_searching) [[likely]] {
    const size_t i = item->block->decoded.EndLowerBound(table.icmp_, search,
                                                        SeekTarget(key.user_key, key.trailer));
    result = table.OfferDecoded(i, item->block, &held, lookup);
  } else {
    Status status;
    result =
        table.SearchBlock(item->block, item->index().handle(item->entry), &held, lookup, &status);
    if (result == Search::kDamaged) return status;
  }
  if (result == Search::kDone) return Status::OK();
  if (!item->index().ContinuesBehind(item->entry, key.user_key)) return Status::OK();
  return table.GetFromSlots(*item->index_block, item->entry + 1, lookup, read);
}

void TableReader::GetManyInEpoch(TableProbe* probes, size_t count) {
  EpochBatch(probes, count).Run();
}

// The lookups outside of epochs. These may allocate memory and read files.
class TableReader::ReadBatch {
 public:
  // `clock` serves the deadline of the options; null: the default clock.
  ReadBatch(const ReadOptions& options, SystemClock* clock)
      : deadline_(options, clock), is_memory_only_(options.read_tier == kBlockCacheTier) {
    assert(!InEpoch());
    how_.fill_cache = options.fill_cache;
    how_.is_lookup = true;
    how_.cache_only = is_memory_only_;
    how_.deadline = &deadline_;
    how_.activity = Env::IOActivity::kMultiGet;
    how_.held = &held_;
  }

  void Run(TableProbe* probes, size_t count) {
    items_.reserve(count);
    missing_.reserve(count);
    if (!is_memory_only_) ReadPartitions({probes, count}, TableObjectKind::kFilter);
    for (size_t i = 0; i < count; ++i) AskFilter(&probes[i]);
    if (!is_memory_only_) ReadPartitions({probes, count}, TableObjectKind::kIndex);
    std::erase_if(items_, [this](Item& item) { return !TryLocate(&item); });
    if (!missing_.empty()) ReadMissingBlocks(missing_, how_);
    for (Item& item : items_) Search(&item);
  }

 private:
  static constexpr size_t kNone = SIZE_MAX;
  // A key that may be in its table.
  struct Item {
    TableProbe* probe = nullptr;
    PointLookup::Mark before;
    BlockRead read;
    IndexCursor index;           // at the first block that may hold the key
    ObjectRef<DataBlock> block;  // set if the block was in memory
    size_t missing = kNone;      // otherwise the position of the block in missing_
  };

  void ReadPartitions(std::span<const TableProbe> probes, TableObjectKind kind);
  void AskFilter(TableProbe* probe);
  bool TryLocate(Item* item);
  Status Locate(Item* item);
  void Search(Item* item);

  // Note: how_ points to deadline_ and held_.
  const IoDeadline deadline_;
  const bool is_memory_only_;
  HeldPartitions held_;
  BlockRead how_;  // each key starts with a copy of it
  std::vector<Item> items_;
  std::vector<MissingBlock> missing_;
};

// Asks the filter, and makes an item if the table may contain the key.
void TableReader::ReadBatch::AskFilter(TableProbe* probe) {
  assert(probe != nullptr);
  assert(!probe->lookup->decided());
  const TableReader& table = *probe->table;
  probe->is_over = true;
  BlockRead read = how_;
  Result<bool> may_contain = table.MayContain(probe->lookup, &read);
  if (!may_contain.ok()) return probe->lookup->Fail(may_contain.status());
  if (!*may_contain) return;
  items_.push_back({.probe = probe,
                    .before = probe->lookup->mark(),
                    .read = read,
                    .index = IndexCursor(table.IndexSource()),
                    .block = {}});
}

// Reads all missing partitions of filters, or of indexes, together. Afterwards the lookups find
// them in the cache or in held_. A partition that cannot be read is left out, and the lookup that
// needs it gets the error.
void TableReader::ReadBatch::ReadPartitions(std::span<const TableProbe> probes,
                                            TableObjectKind kind) {
  std::vector<MissingBlock> missing;
  const auto note = [&](const TableReader& table, const IndexBlock& top, size_t entry) {
    const bool is_noted = std::any_of(missing.begin(), missing.end(), [&](const MissingBlock& m) {
      return m.index == &top && m.entry == entry;
    });
    if (is_noted || entry >= top.index->size()) return;
    if (!table.store_.WantsPartition(kind, top, entry)) return;
    missing.push_back(
        {.store = &table.store_, .index = &top, .entry = entry, .kind = kind, .held = &held_});
  };
  if (kind == TableObjectKind::kFilter) {
    for (const TableProbe& probe : probes) {
      const TableFilter& filter = probe.table->filter_;
      if (filter.IsCached()) note(*probe.table, *filter.top(), 0);
      if (!filter.IsPartitioned()) continue;
      note(*probe.table, *filter.top(), filter.PartitionFor(probe.lookup->key()));
    }
  } else {
    for (const Item& item : items_) {
      const TableReader& table = *item.probe->table;
      // An index that is not kept in memory is read like a partition. A top level that is not kept
      // is read by the lookup, later.
      if (!table.index_ && !table.is_partitioned_) note(table, *table.index_place_, 0);
      if (!table.index_ || !table.is_partitioned_) continue;
      const LookupKey& key = item.probe->lookup->key();
      note(table, *table.index_, table.index_->index->Find(key.user_key, key.trailer));
    }
  }
  if (missing.size() > 1) ReadMissingBlocks(missing, how_);
}

// Returns false after an error, which the lookup has then.
bool TableReader::ReadBatch::TryLocate(Item* item) {
  Status status = Locate(item);
  if (status.ok()) return true;
  item->probe->lookup->Fail(std::move(status));
  return false;
}

// Finds the block that may contain the key. If it is not in memory, it is noted in missing_, once
// for all keys that need it.
Status TableReader::ReadBatch::Locate(Item* item) {
  assert(item != nullptr);
  assert(!item->probe->lookup->decided());
  const LookupKey& key = item->probe->lookup->key();
  RETURN_IF_ERROR(item->index.Seek(SeekTarget(key.user_key, key.trailer), &item->read));
  if (!item->index.Valid()) return Status::OK();
  const BlockStore& store = item->probe->table->store_;
  const IndexBlock& leaf = item->index.leaf();
  const size_t entry = item->index.entry();
  item->block = store.FindData(leaf, entry, &item->read);
  if (item->block) {
    auto decoded = store.DecodeIfHot(leaf, entry, item->block.get());
    if (decoded) item->block = std::move(decoded);
    return Status::OK();
  }
  if (is_memory_only_) return store.NotInCache(item->index.handle());
  const auto same = std::find_if(missing_.begin(), missing_.end(), [&](const MissingBlock& block) {
    return block.store == &store && block.handle().offset == item->index.handle().offset;
  });
  item->missing = static_cast<size_t>(same - missing_.begin());
  if (same == missing_.end()) missing_.push_back({.store = &store, .index = &leaf, .entry = entry});
  return Status::OK();
}

// Searches the block, which is in memory by now, and further blocks if the key continues there.
void TableReader::ReadBatch::Search(Item* item) {
  assert(item != nullptr);
  assert(item->missing == kNone || item->missing < missing_.size());
  PointLookup* const lookup = item->probe->lookup;
  if (item->missing != kNone) {
    const MissingBlock& missing = missing_[item->missing];
    if (!missing.status.ok()) return lookup->Fail(missing.status);
    missing.block->Ref();  // each key of the block has its own reference
    item->block = ObjectRef<DataBlock>::Own(missing.block.get());
  }
  const TableReader& table = *item->probe->table;
  Status status = table.GetFromCursor(&item->index, std::move(item->block), lookup, &item->read);
  if (!status.ok()) lookup->Fail(std::move(status));
  table.CountSearch(item->read, item->before, lookup);
}

void TableReader::GetMany(const ReadOptions& options, TableProbe* probes, size_t count) {
  if (count != 0) ReadBatch(options, probes[0].table->options_.clock).Run(probes, count);
}

}  // namespace ashlar
