// SPDX-License-Identifier: Apache-2.0
//
// Facts are gathered under the mutex and turned into text without it. Texts that show an interval
// begin the next one; maps show no intervals.
#include "db/report/report_properties.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "db/report/cache_report.h"
#include "db/report/space_ledger.h"
#include "db/report/write_report.h"

namespace ashlar {
namespace {

using Family = ColumnFamilyData;
using Sources = PropertySources;

// The facts about a family as of now. Does not begin a new interval.
FamilyReport ReportOnFamily(const Sources& s, const Family& family) EXCLUDES(db_mutex) {
  MutexLock lock(&s.core->mutex);
  return ReportOn(family, *s.baselines, s.core->environment.NowMicros());
}

// The baseline of a family, which is created at the first question. At that point the entries of
// dropped families are removed. A handle of a dropped family may still ask; its counts then begin
// at zero again.
ReportBaselines::OfFamily& BaselineOf(const Sources& s, const Family& family) REQUIRES(db_mutex) {
  auto& families = s.baselines->families;
  if (families.count(family.id()) == 0) {
    std::erase_if(families, [&s](const auto& entry) REQUIRES(db_mutex) {
      return s.core->families.Find(entry.first) == nullptr;
    });
  }
  return families[family.id()];
}

// Like ReportOnFamily(), but for a text: it begins the interval of the next text.
FamilyReport TakeFamilyReport(const Sources& s, const Family& family) EXCLUDES(db_mutex) {
  MutexLock lock(&s.core->mutex);
  FamilyReport report = ReportOn(family, *s.baselines, s.core->environment.NowMicros());
  BaselineOf(s, family).reported_work = report.now;
  return report;
}

// Whether the entries of a cache are counted, which visits all of them.
enum class CacheWalk : uint8_t {
  kAlways,
  kIfOld,  // a recent count is good enough
};

// No value for a family without a block cache.
std::optional<CacheReport> ReportOnCache(const Sources& s, Family& family, CacheWalk walk)
    EXCLUDES(db_mutex) {
  constexpr uint64_t kOldMicros = 180'000'000;
  Cache* const cache = family.versions()->tables->options().block_cache.get();
  if (cache == nullptr) return std::nullopt;
  // Called without the mutex, because a cache of the program may wait.
  CacheReport report = ReportOn(*cache);
  const uint64_t start_micros = s.core->environment.NowMicros();
  {
    MutexLock lock(&s.core->mutex);
    CacheEntryStats& known = BaselineOf(s, family).cache_entries;
    const bool is_fresh =
        known.collections > 0 && start_micros < known.collected_micros + kOldMicros;
    // Another thread may have counted meanwhile; its result is as good.
    if (walk == CacheWalk::kIfOld && is_fresh) {
      known.copies++;
      report.entries = known;
      report.now_micros = std::max(start_micros, known.collected_micros);
      return report;
    }
  }
  // Visits all entries of the cache, which may take seconds.
  report.entries = CountCacheEntries(cache);
  report.now_micros = report.entries.collected_micros = s.core->environment.NowMicros();
  report.entries.duration_micros = report.now_micros - start_micros;
  MutexLock lock(&s.core->mutex);
  // Looked up again, because the mutex was released.
  CacheEntryStats& known = BaselineOf(s, family).cache_entries;
  report.entries.collections = known.collections + 1;
  known = report.entries;
  return report;
}

// The text of one family: levels, cache, and optionally the histograms of table reads.
void AppendFamilyText(const Sources& s, Family& family, bool with_histogram, std::string* text) {
  assert(text != nullptr);
  *text += FamilyStatsText(TakeFamilyReport(s, family));
  const std::optional<CacheReport> cache = ReportOnCache(s, family, CacheWalk::kIfOld);
  if (cache.has_value()) *text += CacheEntriesText(*cache);
  if (with_histogram) {
    *text += FileHistogramText(family.name(), family.versions()->tables->read_times());
  }
}

// The text about all writes. Begins the next interval of that text.
void AppendWriteText(const Sources& s, std::string* text) EXCLUDES(db_mutex) {
  assert(text != nullptr);
  WriteTotals now, reported;
  {
    MutexLock lock(&s.core->mutex);
    now = TotalsOfWrites(*s.core, *s.writes, *s.baselines);
    reported = std::exchange(s.baselines->reported_writes, now);
  }
  *text += WriteStatsText(now, reported);
}

// False if the family has no block cache.
bool CacheText(const Sources& s, Family& family, CacheWalk walk, std::string* text) {
  assert(text != nullptr);
  const std::optional<CacheReport> report = ReportOnCache(s, family, walk);
  if (report.has_value()) *text += CacheEntriesText(*report);
  return report.has_value();
}

// Stalls that concern all families.
PropertyMap DatabaseStalls(const Sources& s) EXCLUDES(db_mutex) {
  MutexLock lock(&s.core->mutex);
  return DatabaseStallsMap(s.writes->memory_stops());
}

// The functions append to the text. They return false if the family has no such data.
using ReportText = bool (*)(const Sources&, Family&, std::string*);
constexpr PropertyRow<ReportText> kReportTexts[] = {
    {"rocksdb.stats",
     [](const Sources& s, Family& f, std::string* text) {
       AppendFamilyText(s, f, /*with_histogram=*/true, text);
       AppendWriteText(s, text);
       return true;
     }},
    {"rocksdb.cfstats",
     [](const Sources& s, Family& f, std::string* text) {
       AppendFamilyText(s, f, /*with_histogram=*/true, text);
       return true;
     }},
    {"rocksdb.cfstats-no-file-histogram",
     [](const Sources& s, Family& f, std::string* text) {
       AppendFamilyText(s, f, /*with_histogram=*/false, text);
       return true;
     }},
    {"rocksdb.cf-file-histogram",
     [](const Sources&, Family& f, std::string* text) {
       *text += FileHistogramText(f.name(), f.versions()->tables->read_times());
       return true;
     }},
    {"rocksdb.cf-write-stall-stats",
     [](const Sources& s, Family& f, std::string* text) {
       *text += StallsText(FamilyStallsMap(ReportOnFamily(s, f)));
       return true;
     }},
    {"rocksdb.db-write-stall-stats",
     [](const Sources& s, Family&, std::string* text) {
       *text += StallsText(DatabaseStalls(s));
       return true;
     }},
    {"rocksdb.dbstats",
     [](const Sources& s, Family&, std::string* text) {
       AppendWriteText(s, text);
       return true;
     }},
    {"rocksdb.levelstats",
     [](const Sources& s, Family& f, std::string* text) {
       *text += LevelStatsText(ReportOnFamily(s, f));
       return true;
     }},
    {"ashlar.space-ledger",
     [](const Sources& s, Family&, std::string* text) {
       *text += TakeSpaceLedger(s).ToString();
       return true;
     }},
    {"rocksdb.block-cache-entry-stats",
     [](const Sources& s, Family& f, std::string* text) {
       return CacheText(s, f, CacheWalk::kAlways, text);
     }},
    {"rocksdb.fast-block-cache-entry-stats",
     [](const Sources& s, Family& f, std::string* text) {
       return CacheText(s, f, CacheWalk::kIfOld, text);
     }},
};

// A map that is made from the report of a family.
template <PropertyMap (*kWords)(const FamilyReport&)>
bool FamilyMap(const Sources& s, Family& family, PropertyMap* map) {
  assert(map != nullptr);
  *map = kWords(ReportOnFamily(s, family));
  return true;
}

// A map about the block cache. False if the family has none.
template <CacheWalk kWalk>
bool CacheMap(const Sources& s, Family& family, PropertyMap* map) {
  assert(map != nullptr);
  const std::optional<CacheReport> report = ReportOnCache(s, family, kWalk);
  if (report.has_value()) *map = CacheEntriesMap(*report);
  return report.has_value();
}

// The functions set the map. They return false if the family has no such data.
using ReportMap = bool (*)(const Sources&, Family&, PropertyMap*);
constexpr PropertyRow<ReportMap> kReportMaps[] = {
    {"rocksdb.cfstats", &FamilyMap<&FamilyStatsMap>},
    {"rocksdb.cf-write-stall-stats", &FamilyMap<&FamilyStallsMap>},
    {"rocksdb.dbstats",
     [](const Sources& s, Family&, PropertyMap* map) {
       MutexLock lock(&s.core->mutex);
       *map = WriteStatsMap(TotalsOfWrites(*s.core, *s.writes, *s.baselines));
       return true;
     }},
    {"rocksdb.db-write-stall-stats",
     [](const Sources& s, Family&, PropertyMap* map) {
       *map = DatabaseStalls(s);
       return true;
     }},
    {"ashlar.space-ledger",
     [](const Sources& s, Family&, PropertyMap* map) {
       *map = TakeSpaceLedger(s).ToMap();
       return true;
     }},
    {"rocksdb.block-cache-entry-stats", &CacheMap<CacheWalk::kAlways>},
    {"rocksdb.fast-block-cache-entry-stats", &CacheMap<CacheWalk::kIfOld>},
};

}  // namespace

// nullopt: the name is none of a report.
std::optional<bool> GetReportText(const PropertySources& sources, ColumnFamilyData* family,
                                  const Slice& name, std::string* text) {
  assert(text != nullptr);
  const ReportText report = FindPropertyRow(kReportTexts, name);
  if (report == nullptr) return std::nullopt;
  text->clear();
  return report(sources, *family, text);
}

std::optional<bool> GetReportMap(const PropertySources& sources, ColumnFamilyData* family,
                                 const Slice& name, PropertyMap* map) {
  const ReportMap report = FindPropertyRow(kReportMaps, name);
  if (report == nullptr) return std::nullopt;
  return report(sources, *family, map);
}

// Everything happens under one hold of the mutex, so all counts restart at the same moment.
void ResetReports(const PropertySources& sources) {
  const DbCore& core = *sources.core;
  MutexLock lock(&core.mutex);
  ResetWriteTotals(core, *sources.writes, sources.baselines);
  sources.baselines->errors_before = core.errors.raised_count();
  for (auto& [id, of_family] : sources.baselines->families) of_family.reported_work = WorkTotals();
  for (ColumnFamilyData* family : core.families.All()) {
    family->work.Clear();
    family->versions()->tables->ForgetReadTimes();
  }
}

}  // namespace ashlar
