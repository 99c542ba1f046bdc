// SPDX-License-Identifier: Apache-2.0
//
// Properties are tables of a name and a function. There are two kinds. Facts of the state are read
// under the DB mutex; each costs a few instructions for each level or family. Other properties are
// computed from a view of the family without the mutex, because they may open tables, call objects
// of the program, or take time that grows with the number of tables.
#include "db/report/properties.h"

#include <algorithm>
#include <cassert>
#include <charconv>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "ashlar/db.h"
#include "ashlar/statistics.h"
#include "db/blob/blob_file.h"
#include "db/compaction/compaction_picker.h"
#include "db/jobs/scheduler.h"
#include "db/options/table_factory.h"
#include "db/report/report_properties.h"
#include "db/state/write_control.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

using Family = ColumnFamilyData;
using Sources = PropertySources;

// Called with the DB mutex held.
using StateNumber = uint64_t (*)(const Sources&, Family&);
using StateText = std::string (*)(const Sources&, Family&);
// Called without the DB mutex.
using ViewNumber = std::optional<uint64_t> (*)(const SuperVersion&);  // none: refused
using ViewText = std::string (*)(const Sources&, const SuperVersion&);

// Sums over the immutable memtables.
uint64_t ImmutableEntries(Family& f) REQUIRES(db_mutex) {
  uint64_t count = 0;
  for (const ImmutableMemTable& immutable : f.immutables()) count += immutable.mem->num_entries();
  return count;
}
uint64_t ImmutableDeletes(Family& f) REQUIRES(db_mutex) {
  uint64_t count = 0;
  for (const ImmutableMemTable& immutable : f.immutables()) count += immutable.mem->num_deletes();
  return count;
}
// What compaction must still do, for the newest version that readers see.
CompactionNeeds NeedsOf(Family& f) REQUIRES(db_mutex) {
  return AssessCompaction(f.last_version(), f.options(), f.versions()->claims);
}
// The level below level 0. Only levelled compaction has one; for other styles it is -1, which is
// shown without a sign.
uint64_t BaseLevel(const Sources&, Family& f) REQUIRES(db_mutex) {
  if (f.options().compaction_style != kCompactionStyleLevel) return UINT64_MAX;
  return static_cast<uint64_t>(NeedsOf(f).base_level);
}
// The tables of the newest version.
uint64_t LiveTableBytes(Family& f) REQUIRES(db_mutex) {
  const Version& version = f.last_version();
  uint64_t bytes = 0;
  for (Level level = 0; level < version.num_levels(); ++level) bytes += version.level_bytes(level);
  return bytes;
}

// The bytes of all tables that exist for the family, including those that only older versions hold.
// All versions of a dropped family are retired, because it has no newest one.
uint64_t HeldTableBytes(const Sources& s, Family& f) REQUIRES(db_mutex) {
  const uint64_t retired_bytes = s.core->versions->RetiredBytesOf(*f.versions());
  return f.is_dropped() ? retired_bytes : LiveTableBytes(f) + retired_bytes;
}

// Calls visit(level, table) for each table. Tables that are not open are opened for it, and tables
// that cannot be opened are left out.
template <typename Visit>
void ForEachTable(const Version& version, const Visit& visit) {
  for (Level level = 0; level < version.num_levels(); ++level) {
    for (TableFile* file : version.files(level)) {
      Result<TableHandle> table = version.tables()->Pin(file);
      if (table.ok()) visit(level, **table);
    }
  }
}

// Estimates the number of keys: the number of entries minus two for each deletion, which are the
// deletion itself and one entry that it is assumed to hide. A key that was overwritten counts
// several times.
std::optional<uint64_t> EstimateKeys(const SuperVersion& view) {
  uint64_t entries = view.mem()->num_entries(), deletes = 2 * view.mem()->num_deletes();
  for (const MemTable* immutable : view.immutables()) {
    entries += immutable->num_entries();
    deletes += 2 * immutable->num_deletes();
  }
  ForEachTable(*view.version(), [&](int, const TableReader& table) {
    entries += table.facts().num_entries;
    deletes += 2 * table.facts().num_deletions;
  });
  return entries > deletes ? entries - deletes : 0;
}

// The age of the oldest data. Only known for families whose tables are never rewritten, because a
// compaction does not know the age of single entries.
std::optional<uint64_t> OldestKeyTime(const SuperVersion& view) {
  const ColumnFamilyOptions& options = view.options();
  if (options.compaction_style != kCompactionStyleFIFO ||
      options.compaction_options_fifo.allow_compaction) {
    return std::nullopt;
  }
  uint64_t oldest = UINT64_MAX;
  ForEachTable(*view.version(), [&](int, const TableReader& table) {
    oldest = std::min(oldest, table.facts().oldest_key_time);
  });
  if (oldest == 0) return std::nullopt;  // the writer of a table did not know the age
  const auto look_at = [&oldest](const MemTable& memtable) {
    const uint64_t seconds = memtable.oldest_entry_seconds();
    if (seconds != 0) oldest = std::min(oldest, seconds);
  };
  look_at(*view.mem());
  for (const MemTable* immutable : view.immutables()) look_at(*immutable);
  return oldest == UINT64_MAX ? std::nullopt : std::optional(oldest);
}

// Estimates the size of the live data. The levels are visited from the deepest upwards, and a table
// counts only if it overlaps none of those counted before, since overlapping tables may hide each
// other's entries. The bytes of blob files that are not garbage are added.
std::optional<uint64_t> EstimateLiveData(const SuperVersion& view) {
  const Version& version = *view.version();
  // Overlapping tables compare as equal, so only one of them is in the set.
  const auto lies_before = [&version](const TableFile* a, const TableFile* b) {
    return version.comparator().Compare(a->meta.largest, b->meta.smallest) < 0;
  };
  std::set<const TableFile*, decltype(lies_before)> counted(lies_before);
  uint64_t bytes = 0;
  for (int level = version.num_levels() - 1; level >= 0; level--) {
    for (const TableFile* file : version.files(Level{level})) {
      if (counted.insert(file).second) bytes += file->meta.file_size;
    }
  }
  const BlobFiles* const blobs = version.blobs();
  return blobs == nullptr ? bytes : bytes + blobs->total_blob_bytes() - blobs->garbage_bytes();
}

// A number of a cache. No value if the family has no such cache.
template <size_t (Cache::*kFact)() const>
std::optional<uint64_t> FactOf(const std::shared_ptr<Cache>& cache) {
  if (cache == nullptr) return std::nullopt;
  return uint64_t{(cache.get()->*kFact)()};
}
template <size_t (Cache::*kFact)() const>
std::optional<uint64_t> BlockCacheFact(const SuperVersion& view) {
  return FactOf<kFact>(view.version()->tables()->options().block_cache);
}
template <size_t (Cache::*kFact)() const>
std::optional<uint64_t> BlobCacheFact(const SuperVersion& view) {
  return FactOf<kFact>(view.version()->tables()->options().blob_cache);
}

uint64_t LiveBlobBytes(const Sources&, Family& f) REQUIRES(db_mutex) {
  return BlobTotalsOf(f.last_version()).bytes;
}

// The text has RocksDB's words.
std::string BlobStats(const Sources&, Family& f) REQUIRES(db_mutex) {
  const BlobTotals blobs = BlobTotalsOf(f.last_version());
  return StrCat("Number of blob files: ", blobs.files, "\nTotal size of blob files: ", blobs.bytes,
                "\nTotal size of garbage in blob files: ", blobs.garbage,
                "\nBlob file space amplification: ", blobs.SpaceAmplification(), "\n");
}

// Properties without the DB mutex.
constexpr PropertyRow<ViewNumber> kViewNumbers[] = {
    {"rocksdb.estimate-num-keys", &EstimateKeys},
    {"rocksdb.estimate-oldest-key-time", &OldestKeyTime},
    {"rocksdb.estimate-live-data-size", &EstimateLiveData},
    {"rocksdb.estimate-table-readers-mem",
     [](const SuperVersion& view) {
       return std::optional(uint64_t{view.version()->tables()->MemoryBytes()});
     }},
    {"rocksdb.block-cache-capacity", &BlockCacheFact<&Cache::GetCapacity>},
    {"rocksdb.block-cache-usage", &BlockCacheFact<&Cache::GetUsage>},
    {"rocksdb.block-cache-pinned-usage", &BlockCacheFact<&Cache::GetPinnedUsage>},
    {"rocksdb.blob-cache-capacity", &BlobCacheFact<&Cache::GetCapacity>},
    {"rocksdb.blob-cache-usage", &BlobCacheFact<&Cache::GetUsage>},
    {"rocksdb.blob-cache-pinned-usage", &BlobCacheFact<&Cache::GetPinnedUsage>},
};

// Properties under the DB mutex.
constexpr PropertyRow<StateNumber> kStateNumbers[] = {
    {"rocksdb.num-immutable-mem-table",
     [](const Sources&, Family& f) REQUIRES(db_mutex) { return uint64_t{f.immutables().size()}; }},
    {"rocksdb.num-immutable-mem-table-flushed",
     [](const Sources&, Family&) { return uint64_t{0}; }},  // none is kept after its flush
    {"rocksdb.mem-table-flush-pending",
     [](const Sources&, Family& f) REQUIRES(db_mutex) { return uint64_t{f.is_flush_due()}; }},
    {"rocksdb.compaction-pending",
     [](const Sources&, Family& f) REQUIRES(db_mutex) { return uint64_t{NeedsOf(f).IsNeeded()}; }},
    {"rocksdb.num-running-compactions",
     [](const Sources& s, Family&)
         REQUIRES(db_mutex) { return static_cast<uint64_t>(s.core->jobs.compactions()); }},
    {"rocksdb.num-running-compaction-sorted-runs",
     [](const Sources& s, Family&)
         REQUIRES(db_mutex) { return s.compactions->SortedRunsLocked(); }},
    {"rocksdb.compaction-abort-count",
     [](const Sources& s, Family& f)
         REQUIRES(db_mutex) { return s.compactions->AbortCountLocked(f); }},
    {"rocksdb.num-unscheduled-compactions",
     [](const Sources& s, Family&)
         REQUIRES(db_mutex) { return s.scheduler->UnscheduledCompactionsLocked(); }},
    {"rocksdb.num-running-flushes",
     [](const Sources& s, Family&)
         REQUIRES(db_mutex) { return static_cast<uint64_t>(s.core->jobs.unsettled_flushes()); }},
    {"rocksdb.background-errors",
     [](const Sources& s, Family&)
         REQUIRES(db_mutex) { return s.core->errors.raised_count() - s.baselines->errors_before; }},
    {"rocksdb.cur-size-active-mem-table",
     [](const Sources&, Family& f)
         REQUIRES(db_mutex) { return uint64_t{f.mem()->ApproximateMemoryUsage()}; }},
    {"rocksdb.cur-size-all-mem-tables",
     [](const Sources&, Family& f) REQUIRES(db_mutex) { return uint64_t{f.MemTableBytes()}; }},
    {"rocksdb.size-all-mem-tables",
     [](const Sources&, Family& f) REQUIRES(db_mutex) { return uint64_t{f.MemTableBytes()}; }},
    {"rocksdb.num-entries-active-mem-table",
     [](const Sources&, Family& f) REQUIRES(db_mutex) { return f.mem()->num_entries(); }},
    {"rocksdb.num-entries-imm-mem-tables",
     [](const Sources&, Family& f) REQUIRES(db_mutex) { return ImmutableEntries(f); }},
    {"rocksdb.num-deletes-active-mem-table",
     [](const Sources&, Family& f) REQUIRES(db_mutex) { return f.mem()->num_deletes(); }},
    {"rocksdb.num-deletes-imm-mem-tables",
     [](const Sources&, Family& f) REQUIRES(db_mutex) { return ImmutableDeletes(f); }},
    {"rocksdb.is-file-deletions-enabled",
     [](const Sources& s, Family&)
         REQUIRES(db_mutex) { return uint64_t{s.core->kept_files.deletions_disabled == 0}; }},
    {"rocksdb.num-snapshots", [](const Sources& s, Family&) REQUIRES(
                                  db_mutex) { return uint64_t{s.core->snapshots.count()}; }},
    {"rocksdb.oldest-snapshot-time",
     [](const Sources& s, Family&)
         REQUIRES(db_mutex) { return static_cast<uint64_t>(s.core->snapshots.OldestTime()); }},
    {"rocksdb.oldest-snapshot-sequence",
     [](const Sources& s, Family&)
         REQUIRES(db_mutex) { return s.core->snapshots.OldestSequenceNumber(); }},
    {"rocksdb.num-live-versions",
     [](const Sources& s, Family& f)
         REQUIRES(db_mutex) { return uint64_t{s.core->versions->LiveVersionsOf(*f.versions())}; }},
    {"rocksdb.current-super-version-number",
     [](const Sources&, Family& f) REQUIRES(db_mutex) { return f.super_version_number(); }},
    {"rocksdb.min-log-number-to-keep",
     [](const Sources& s, Family&)
         REQUIRES(db_mutex) { return s.core->versions->min_log_number_to_keep().value(); }},
    {"rocksdb.min-obsolete-sst-number-to-keep",
     [](const Sources& s, Family&) REQUIRES(db_mutex) {
       const std::vector<FileNumber> pending = s.core->jobs.ProtectedFiles();
       return pending.empty() ? UINT64_MAX : pending.front().value();
     }},
    {"rocksdb.total-sst-files-size", &HeldTableBytes},
    {"rocksdb.obsolete-sst-files-size",
     [](const Sources& s, Family&)
         REQUIRES(db_mutex) { return s.core->versions->ObsoleteTableBytes(); }},
    {"ashlar.seconds-until-slowdown",
     [](const Sources& s, Family& f) REQUIRES(db_mutex) {
       return f.work.forecast.SecondsUntilSlowdown(s.core->environment.NowMicros(),
                                                   StallProximity(DebtOf(&f), f.options()));
     }},
    {"rocksdb.live-sst-files-size",
     [](const Sources&, Family& f) REQUIRES(db_mutex) { return LiveTableBytes(f); }},
    {"rocksdb.base-level", &BaseLevel},
    {"rocksdb.estimate-pending-compaction-bytes",
     [](const Sources&, Family& f) REQUIRES(db_mutex) { return NeedsOf(f).pending_bytes; }},
    {"rocksdb.actual-delayed-write-rate",
     [](const Sources& s, Family&) REQUIRES(db_mutex) { return s.writes->delayed_write_rate(); }},
    {"rocksdb.is-write-stopped",
     [](const Sources& s, Family&)
         REQUIRES(db_mutex) { return uint64_t{s.writes->AreWritesStoppedLocked()}; }},
    {"rocksdb.num-blob-files", [](const Sources&, Family& f) REQUIRES(
                                   db_mutex) { return BlobTotalsOf(f.last_version()).files; }},
    {"rocksdb.total-blob-file-size",
     [](const Sources& s, Family& f)
         REQUIRES(db_mutex) { return s.core->versions->HeldBlobBytesOf(*f.versions()); }},
    {"rocksdb.live-blob-file-size", &LiveBlobBytes},
    {"rocksdb.live-blob-file-garbage-size",
     [](const Sources&, Family& f)
         REQUIRES(db_mutex) { return BlobTotalsOf(f.last_version()).garbage; }},
};

// The sums over the tables of one level, or of all levels.
std::string Aggregated(const Version& version, std::optional<Level> only_level) {
  TableProperties sum;
  ForEachTable(version, [&](Level level, const TableReader& table) {
    if (!only_level || level == *only_level) sum.Add(table.properties());
  });
  return sum.ToString();
}

// Like Aggregated(), as a map for programs.
PropertyMap AggregatedMap(const Version& version, std::optional<Level> only_level) {
  TableProperties sum;
  ForEachTable(version, [&](Level level, const TableReader& table) {
    if (!only_level || level == *only_level) sum.Add(table.properties());
  });
  PropertyMap map;
  for (const auto& [name, number] : sum.GetAggregatablePropertiesAsMap()) {
    map[name] = std::to_string(number);
  }
  return map;
}

// Texts that are made from a view of the family.
constexpr PropertyRow<ViewText> kViewTexts[] = {
    {"rocksdb.sstables",
     [](const Sources&, const SuperVersion& view) { return view.version()->DebugString(); }},
    {"rocksdb.aggregated-table-properties",
     [](const Sources&, const SuperVersion& view) { return Aggregated(*view.version(), {}); }},
    {"rocksdb.options-statistics",
     [](const Sources& s, const SuperVersion&) {
       return s.core->services.statistics == nullptr ? std::string()
                                                     : s.core->services.statistics->ToString();
     }},
};

// Shows what a database waits for.
std::string StateOf(const Sources& s, Family& f) REQUIRES(db_mutex) {
  return StrCat(s.writes->DebugStringLocked(), s.core->errors.DebugString(),
                s.core->pipeline->DebugString(), s.core->wals->DebugString(),
                s.core->versions->DebugString(), s.core->snapshots.DebugString(),
                f.super_version()->DebugString(), f.versions()->claims.DebugString(),
                f.versions()->tables->DebugString());
}

// Properties whose value is a text that is made while the DB mutex is held.
constexpr PropertyRow<StateText> kStateTexts[] = {
    {"ashlar.background-work",
     [](const Sources& s, Family&) REQUIRES(db_mutex) { return s.scheduler->DebugStringLocked(); }},
    {"ashlar.state", &StateOf},
    {"rocksdb.blob-stats", &BlobStats},
    {"ashlar.recovery-report",
     [](const Sources& s, Family&) REQUIRES(db_mutex) { return s.core->findings.recovery_report; }},
    {"ashlar.prepared-sections",
     [](const Sources& s, Family&) REQUIRES(db_mutex) { return s.core->prepared_logs.Describe(); }},
};

// Parses a name that consists of the prefix and a number.
bool TakeNumber(const Slice& name, std::string_view prefix, int* number) {
  assert(number != nullptr);
  if (!name.starts_with(Slice(prefix))) return false;
  const char* begin = name.data() + prefix.size();
  const char* end = name.data() + name.size();
  const auto parsed = std::from_chars(begin, end, *number);
  return parsed.ec == std::errc() && parsed.ptr == end;
}

// Parses a name that consists of the prefix and the number of an existing level.
bool TakeLevel(const Slice& name, std::string_view prefix, const Version& version, Level* level) {
  int number = 0;
  if (!TakeNumber(name, prefix, &number)) return false;
  *level = Level{number};
  return number >= 0 && number < version.num_levels();
}

// The ratio of the bytes of keys and values to the bytes of the files. The files also contain
// metadata.
double CompressionRatio(const Version& version, Level only_level) {
  uint64_t raw = 0, stored = 0;
  ForEachTable(version, [&](Level level, const TableReader& table) {
    if (level != only_level) return;
    raw += table.facts().raw_key_size + table.facts().raw_value_size;
    stored += table.file_size();
  });
  return stored == 0 ? -1.0 : static_cast<double>(raw) / static_cast<double>(stored);
}

// The bytes in tables of this temperature, as the MANIFEST records it.
uint64_t BytesAtTemperature(const Version& version, int temperature) {
  uint64_t bytes = 0;
  for (Level level = 0; level < version.num_levels(); ++level) {
    for (const TableFile* file : version.files(level)) {
      if (file->meta.temperature == temperature) bytes += file->meta.file_size;
    }
  }
  return bytes;
}

// Properties whose names end in a level or a temperature.
bool GetLevelProperty(const Version& version, const Slice& name, std::string* value) {
  Level level;
  int temperature = 0;
  if (TakeLevel(name, "rocksdb.num-files-at-level", version, &level)) {
    *value = std::to_string(version.files(level).size());
  } else if (TakeLevel(name, "rocksdb.aggregated-table-properties-at-level", version, &level)) {
    *value = Aggregated(version, level);
  } else if (TakeLevel(name, "rocksdb.compression-ratio-at-level", version, &level)) {
    *value = std::to_string(CompressionRatio(version, level));
  } else if (TakeNumber(name, "rocksdb.live-sst-files-size-at-temperature", &temperature)) {
    *value = std::to_string(BytesAtTemperature(version, temperature));
  } else {
    return false;
  }
  return true;
}

// Whether the sum includes the block cache of this family already: a cache that several families
// share counts once. The hidden family for statistics has no cache of its own, and is skipped.
bool IsCounted(ColumnFamilyData* family, std::set<const Cache*>* counted) {
  assert(family != nullptr);
  assert(counted != nullptr);
  const ReadView view = family->AcquireView();
  const Cache* const cache = view.super_version()->version()->tables()->options().block_cache.get();
  if (cache == nullptr) return family->name() == kPersistentStatsColumnFamilyName;
  return !counted->insert(cache).second;
}

}  // namespace

// Numbers of one family. False if there is no such property, or if the family does not have it.
bool GetIntProperty(const PropertySources& sources, ColumnFamilyData* family, const Slice& name,
                    uint64_t* value) {
  assert(family != nullptr);
  // A name is in at most one of the two tables. The table of state is first, since reading state is
  // cheap.
  if (const StateNumber compute = FindPropertyRow(kStateNumbers, name)) {
    MutexLock lock(&sources.core->mutex);
    *value = compute(sources, *family);
    return true;
  }
  const ViewNumber compute = FindPropertyRow(kViewNumbers, name);
  if (compute == nullptr) return false;
  // The view keeps the tables open while the property is computed.
  const ReadView view = family->AcquireView();
  const std::optional<uint64_t> number = compute(*view.super_version());
  *value = number.value_or(0);
  return number.has_value();
}

// The families are pinned, so the mutex is free while the parts are computed; each part is of a
// slightly different moment.
bool GetAggregatedIntProperty(const PropertySources& sources, const Slice& name, uint64_t* value) {
  assert(value != nullptr);
  std::vector<FamilyRef> families;
  {
    MutexLock lock(&sources.core->mutex);
    families = sources.core->families.PinAll();
  }
  *value = 0;
  const bool is_of_block_cache = name == "rocksdb.block-cache-capacity" ||
                                 name == "rocksdb.block-cache-usage" ||
                                 name == "rocksdb.block-cache-pinned-usage";
  std::set<const Cache*> counted;
  for (const FamilyRef& family : families) {
    if (is_of_block_cache && IsCounted(family.get(), &counted)) continue;
    uint64_t part = 0;
    // A property that one family lacks has no sum.
    if (!GetIntProperty(sources, family.get(), name, &part)) return false;
    *value += part;
  }
  return true;
}

bool GetTextProperty(const PropertySources& sources, ColumnFamilyData* family, const Slice& name,
                     std::string* value) {
  assert(family != nullptr);
  uint64_t number;
  // Numbers come first: their names are the most frequent.
  if (GetIntProperty(sources, family, name, &number)) {
    *value = std::to_string(number);
    return true;
  }
  if (const StateText compute = FindPropertyRow(kStateTexts, name)) {
    MutexLock lock(&sources.core->mutex);
    *value = compute(sources, *family);
    return true;
  }
  // The view is acquired without the mutex, because it may have to be made first.
  const ReadView view = family->AcquireView();
  if (const std::optional<bool> known = GetReportText(sources, family, name, value)) return *known;
  if (const ViewText compute = FindPropertyRow(kViewTexts, name)) {
    *value = compute(sources, *view.super_version());
    return true;
  }
  return GetLevelProperty(*view.super_version()->version(), name, value);
}

bool GetMapProperty(const PropertySources& sources, ColumnFamilyData* family, const Slice& name,
                    std::map<std::string, std::string>* value) {
  assert(value != nullptr);
  assert(family != nullptr);
  value->clear();
  const ReadView view = family->AcquireView();
  if (const std::optional<bool> known = GetReportMap(sources, family, name, value)) return *known;
  const Version& version = *view.super_version()->version();
  Level level;
  if (TakeLevel(name, "rocksdb.aggregated-table-properties-at-level", version, &level)) {
    *value = AggregatedMap(version, level);
  } else if (name == Slice("rocksdb.aggregated-table-properties")) {
    *value = AggregatedMap(version, {});
  }
  // An empty map means that there is no such property.
  return !value->empty();
}

}  // namespace ashlar
