// SPDX-License-Identifier: Apache-2.0
//
// A wave is a set of keys, each with one table to search. Level 0 needs one wave for each of its
// files, newest first. A deeper level needs one wave, and more only for the few keys whose older
// versions may be in the next file.
#include "db/search/batch_search.h"

#include <algorithm>
#include <cassert>
#include <climits>
#include <optional>
#include <utility>

#include "ashlar/options.h"
#include "ashlar/perf_context.h"
#include "db/search/batch_reads.h"
#include "db/search/level_perf.h"
#include "db/table_cache/table_cache.h"
#include "db/version/version.h"
#include "table/iterator/point_lookup.h"
#include "util/text/str_cat.h"
#include "util/threads/epoch.h"

namespace ashlar {
namespace {

// Blocks of indexes and filters that this thread has read from files.
uint64_t MetadataBlocksRead() {
  const PerfContext& context = *get_perf_context();
  return context.index_block_read_count + context.filter_block_read_count;
}

}  // namespace

BatchSearch::BatchSearch(const Version& version, const ReadOptions& options,
                         std::span<PointLookup* const> lookups, BatchReads* reads)
    : version_(version), options_(options), reads_(reads) {
  assert(lookups.size() <= kMaxKeys);
  for (PointLookup* lookup : lookups) {
    if (lookup->decided()) continue;
    keys_[count_++] = {.lookup = lookup, .waits_for = nullptr, .level = 0, .file = 0};
  }
}

bool BatchSearch::RunInEpoch() {
  assert(InEpoch());
  RunLevel0();
  for (Level level = 1; level <= version_.deepest_level(); ++level) {
    if (count_ == 0) return true;
    if (!version_.files(level).empty()) RunLevel(level);
  }
  const auto waits = [](const Key& key) { return key.waits_for != nullptr; };
  return std::none_of(keys_.begin(), keys_.begin() + static_cast<ptrdiff_t>(count_), waits);
}

// Each file of level 0 is a wave of its own, because newer files must be searched first.
void BatchSearch::RunLevel0() {
  const InternalKeyComparator& order = version_.comparator();
  const std::vector<TableFile*>& files = version_.files(0);
  for (uint32_t i = 0; i < files.size() && count_ != 0; ++i) {
    TableFile* const file = files[i];
    const Slice smallest = file->meta.smallest_user_key();
    const Slice largest = file->meta.largest_user_key();
    Wave wave;
    for (Key* key = keys_.data(); key != keys_.data() + count_; ++key) {
      if (key->level != 0 || key->file != i || key->waits_for != nullptr) continue;
      const Slice& user_key = key->lookup->key().user_key;
      if (order.OrderWithoutTimestamp(user_key, smallest) < 0 ||
          order.OrderWithoutTimestamp(user_key, largest) > 0) {
        GoBehind(key, *file);
      } else {
        Add(&wave, key, file);
      }
    }
    if (wave.count != 0) Run(wave);
  }
  for (Key* key = keys_.data(); key != keys_.data() + count_; ++key) {
    if (key->level != 0 || key->waits_for != nullptr) continue;
    assert(key->file == files.size());
    key->level = 1;
    key->file = kNotSearched;
  }
}

void BatchSearch::RunLevel(Level level) {
  assert(level > 0);
  while (true) {
    Wave wave;
    for (Key* key = keys_.data(); key != keys_.data() + count_; ++key) {
      if (key->level > level || key->waits_for != nullptr) continue;
      // The key skipped levels without files, so its file on this level is not determined yet.
      if (key->level < level) key->file = kNotSearched;
      key->level = level;
      if (TableFile* const file = NextTable(key)) {
        Add(&wave, key, file);
      } else {
        key->level = level.Next();
        key->file = kNotSearched;
      }
    }
    if (wave.count == 0) return;
    Run(wave);
  }
}

// The next table to search for the key on its level, which is below level 0; null if there is none.
TableFile* BatchSearch::NextTable(Key* key) const {
  assert(key != nullptr);
  assert(key->level > 0);
  const Slice& user_key = key->lookup->key().user_key;
  const std::vector<TableFile*>& files = version_.files(key->level);
  if (key->file == kNotSearched) {
    key->file = static_cast<uint32_t>(version_.FindFile(key->level, user_key));
  }
  if (key->file >= files.size()) return nullptr;
  TableFile* const file = files[key->file];
  const InternalKeyComparator& order = version_.comparator();
  const bool is_before = order.OrderWithoutTimestamp(user_key, file->meta.smallest_user_key()) < 0;
  return is_before ? nullptr : file;
}

// Advances the key past `file`, which has been searched.
void BatchSearch::GoBehind(Key* key, const TableFile& file) const {
  assert(key->file != kNotSearched);
  key->waits_for = nullptr;
  if (key->lookup->decided()) key->lookup->counters.level = key->level;
  ++key->file;
  // The next file may hold older versions of the key.
  if (key->level != 0 &&
      version_.comparator().SameKey(key->lookup->key().user_key, file.meta.largest_user_key())) {
    return;
  }
  // A tombstone of this run covers the key, and all remaining tables are older: the key is deleted.
  if (key->lookup->is_covered() && !key->lookup->decided()) key->lookup->EndCovered();
  if (key->level == 0) return;
  ++key->level;
  key->file = kNotSearched;
}

void BatchSearch::Add(Wave* wave, Key* key, TableFile* file) const {
  assert(key != nullptr);
  assert(wave->count < kMaxKeys);
  assert(key->waits_for == nullptr);
  wave->keys[wave->count] = key;
  wave->files[wave->count] = file;
  ++wave->count;
}

// Neighbours of a wave are searched in the same table if the keys are sorted.
[[gnu::cold]] void BatchSearch::NoteSearches(const Wave& wave) const {
  assert(reads_ != nullptr);
  for (size_t i = 0, next = 0; i < wave.count; i = next) {
    while (next < wave.count && wave.files[next] == wave.files[i]) ++next;
    reads_->AddSearch(next - i);
  }
}

// Tables that are not open, and probes that need a block from a file, make their keys wait.
void BatchSearch::Run(const Wave& wave) {
  if (reads_ != nullptr) [[unlikely]]
    NoteSearches(wave);
  std::array<TableProbe, kMaxKeys> probes;
  std::array<uint8_t, kMaxKeys> places;  // index in the wave of each probe
  size_t probe_count = 0;
  for (size_t i = 0; i < wave.count; ++i) {
    const TableReader* const reader = version_.tables()->FindOpen(wave.files[i]);
    wave.keys[i]->waits_for = wave.files[i];  // reset once the table has been searched
    if (reader == nullptr) continue;
    places[probe_count] = static_cast<uint8_t>(i);
    probes[probe_count++] = {.table = reader, .lookup = wave.keys[i]->lookup, .is_over = false};
  }
  std::optional<LevelPerf> perf;
  if (LevelPerf::IsWanted()) [[unlikely]]
    perf.emplace(probes.data(), probe_count);
  TableReader::GetManyInEpoch(probes.data(), probe_count);
  if (perf.has_value()) [[unlikely]] {
    perf->End();
    for (size_t i = 0; i < probe_count; ++i) perf->Add(i, wave.keys[i]->level);
  }
  bool any_decided = false;
  for (size_t i = 0; i < probe_count; ++i) {
    if (!probes[i].is_over) continue;
    GoBehind(wave.keys[places[i]], *wave.files[places[i]]);
    any_decided |= probes[i].lookup->decided();
  }
  if (any_decided) DropDone();
}

void BatchSearch::DropDone() {
  const auto end = keys_.begin() + static_cast<ptrdiff_t>(count_);
  const auto kept_end =
      std::remove_if(keys_.begin(), end, [](const Key& key) { return key.lookup->decided(); });
  count_ = static_cast<size_t>(kept_end - keys_.begin());
}

// Counts the tables of which data blocks have been read. The probes of a table are neighbours.
void BatchSearch::NoteTables(std::span<const TableProbe> probes, std::span<Key* const> keys,
                             std::span<const uint32_t> misses_before) const {
  assert(reads_ != nullptr);
  const TableReader* counted = nullptr;
  for (size_t i = 0; i < probes.size(); ++i) {
    const bool has_read = keys[i]->lookup->counters.block_misses != misses_before[i];
    if (!has_read || probes[i].table == counted) continue;
    counted = probes[i].table;
    reads_->AddTable(keys[i]->level);
  }
}

// Reads for the keys that wait on the highest level or, with optimize_multiget_for_io, for the
// waiting keys of all levels at once.
void BatchSearch::ReadMissing() {
  assert(!InEpoch());
  constexpr Level kNoLimit = INT_MAX;
  Level first_level = kNoLimit;
  for (size_t i = 0; i < count_; ++i) {
    if (keys_[i].waits_for != nullptr) first_level = std::min(first_level, keys_[i].level);
  }
  const Level last_level = options_.optimize_multiget_for_io ? kNoLimit : first_level;

  std::array<TableHandle, kMaxKeys> tables;  // without duplicates
  std::array<const TableFile*, kMaxKeys> files;
  size_t table_count = 0;
  std::array<TableProbe, kMaxKeys> probes;
  std::array<Key*, kMaxKeys> keys;
  std::array<uint32_t, kMaxKeys> misses_before;
  size_t probe_count = 0;
  for (Key* key = keys_.data(); key != keys_.data() + count_; ++key) {
    if (key->waits_for == nullptr || key->level > last_level) continue;
    const auto known = std::find(files.begin(), files.begin() + table_count, key->waits_for);
    const auto table = static_cast<size_t>(known - files.begin());
    if (table == table_count) {
      const uint64_t metadata_before = MetadataBlocksRead();
      Result<TableHandle> pinned = version_.tables()->PinFor(options_, key->waits_for);
      if (reads_ != nullptr)
        reads_->AddMetadata(key->level, MetadataBlocksRead() - metadata_before);
      if (!pinned.ok()) {
        key->lookup->Fail(pinned.status());
        continue;
      }
      tables[table_count] = pinned.Take();
      files[table_count++] = key->waits_for;
    }
    keys[probe_count] = key;
    misses_before[probe_count] = key->lookup->counters.block_misses;
    probes[probe_count++] = {.table = &*tables[table], .lookup = key->lookup, .is_over = false};
  }
  std::optional<LevelPerf> perf;
  if (LevelPerf::IsWanted()) perf.emplace(probes.data(), probe_count);
  const uint64_t metadata_before = MetadataBlocksRead();
  TableReader::GetMany(options_, probes.data(), probe_count);
  if (reads_ != nullptr && probe_count != 0) {
    // They are read together for all levels, and count for the first one.
    reads_->AddMetadata(first_level, MetadataBlocksRead() - metadata_before);
    NoteTables({probes.data(), probe_count}, {keys.data(), probe_count},
               {misses_before.data(), probe_count});
  }
  if (perf.has_value()) {
    perf->End();
    for (size_t i = 0; i < probe_count; ++i) perf->Add(i, keys[i]->level);
  }
  for (size_t i = 0; i < probe_count; ++i) {
    assert(probes[i].is_over);
    GoBehind(keys[i], *keys[i]->waits_for);
  }
  DropDone();
}

[[gnu::cold]] std::string BatchSearch::DebugString() const {
  std::string text;
  for (size_t i = 0; i < count_; ++i) {
    const Key& key = keys_[i];
    StrAppend(&text, key.lookup->key().user_key, ": level ", key.level);
    if (key.file != kNotSearched) StrAppend(&text, ", file ", key.file);
    if (key.waits_for != nullptr) StrAppend(&text, ", waits for #", key.waits_for->meta.number);
    StrAppend(&text, "\n");
  }
  return text;
}

}  // namespace ashlar
