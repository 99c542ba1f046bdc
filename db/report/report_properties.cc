// SPDX-License-Identifier: Apache-2.0
//
// Facts are gathered under the mutex, and put into words without it. A text about intervals begins
// the next one; maps have no intervals.
#include "db/report/report_properties.h"

#include <algorithm>
#include <utility>

#include "db/report/cache_report.h"
#include "db/report/space_ledger.h"
#include "db/report/write_report.h"

namespace ashlar {
namespace {

using Family = ColumnFamilyData;
using Sources = PropertySources;

FamilyReport ReportOnFamily(const Sources& s, const Family& family) EXCLUDES(db_mutex) {
  MutexLock lock(&s.core->mutex);
  return ReportOn(family, *s.baselines, s.core->environment.NowMicros());
}

// Those of dropped families are forgotten where a new one comes: ids are not used again. A handle
// may still ask for one of them, which then begins anew.
ReportBaselines::OfFamily& BaselineOf(const Sources& s, const Family& family) REQUIRES(db_mutex) {
  auto& families = s.baselines->families;
  if (families.count(family.id()) == 0) {
    std::erase_if(families, [&s](const auto& entry) REQUIRES(db_mutex) {
      return s.core->families.Find(entry.first) == nullptr;
    });
  }
  return families[family.id()];
}

// The same for a text: the interval of the next one begins here.
FamilyReport TakeFamilyReport(const Sources& s, const Family& family) EXCLUDES(db_mutex) {
  MutexLock lock(&s.core->mutex);
  FamilyReport report = ReportOn(family, *s.baselines, s.core->environment.NowMicros());
  BaselineOf(s, family).reported_work = report.now;
  return report;
}

enum class CacheWalk : uint8_t {
  kAlways,
  kIfOld,  // what was counted lately will do
};

// Nothing for a family without a block cache.
std::optional<CacheReport> ReportOnCache(const Sources& s, Family& family, CacheWalk walk)
    EXCLUDES(db_mutex) {
  constexpr uint64_t kOldMicros = 180'000'000;
  Cache* const cache = family.versions()->tables->options().block_cache.get();
  if (cache == nullptr) return std::nullopt;
  CacheReport report = ReportOn(*cache);
  const uint64_t start_micros = s.core->environment.NowMicros();
  {
    MutexLock lock(&s.core->mutex);
    CacheEntryStats& known = BaselineOf(s, family).cache_entries;
    const bool is_fresh =
        known.collections > 0 && start_micros < known.collected_micros + kOldMicros;
    if (walk == CacheWalk::kIfOld && is_fresh) {
      known.copies++;
      report.entries = known;
      report.now_micros = std::max(start_micros, known.collected_micros);
      return report;
    }
  }
  report.entries = CountCacheEntries(cache);
  report.now_micros = report.entries.collected_micros = s.core->environment.NowMicros();
  report.entries.duration_micros = report.now_micros - start_micros;
  MutexLock lock(&s.core->mutex);
  CacheEntryStats& known = BaselineOf(s, family).cache_entries;
  report.entries.collections = known.collections + 1;
  known = report.entries;
  return report;
}

void AppendFamilyText(const Sources& s, Family& family, bool with_histogram, std::string* text) {
  *text += FamilyStatsText(TakeFamilyReport(s, family));
  const std::optional<CacheReport> cache = ReportOnCache(s, family, CacheWalk::kIfOld);
  if (cache.has_value()) *text += CacheEntriesText(*cache);
  if (with_histogram) {
    *text += FileHistogramText(family.name(), family.versions()->tables->read_times());
  }
}

void AppendWriteText(const Sources& s, std::string* text) EXCLUDES(db_mutex) {
  WriteTotals now, reported;
  {
    MutexLock lock(&s.core->mutex);
    now = TotalsOfWrites(*s.core, *s.writes, *s.baselines);
    reported = std::exchange(s.baselines->reported_writes, now);
  }
  *text += WriteStatsText(now, reported);
}

bool CacheText(const Sources& s, Family& family, CacheWalk walk, std::string* text) {
  const std::optional<CacheReport> report = ReportOnCache(s, family, walk);
  if (report.has_value()) *text += CacheEntriesText(*report);
  return report.has_value();
}

PropertyMap DatabaseStalls(const Sources& s) EXCLUDES(db_mutex) {
  MutexLock lock(&s.core->mutex);
  return DatabaseStallsMap(s.writes->memory_stops());
}

// False for a family that lacks what is asked for. Appends.
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

template <PropertyMap (*kWords)(const FamilyReport&)>
bool FamilyMap(const Sources& s, Family& family, PropertyMap* map) {
  *map = kWords(ReportOnFamily(s, family));
  return true;
}

template <CacheWalk kWalk>
bool CacheMap(const Sources& s, Family& family, PropertyMap* map) {
  const std::optional<CacheReport> report = ReportOnCache(s, family, kWalk);
  if (report.has_value()) *map = CacheEntriesMap(*report);
  return report.has_value();
}

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

std::optional<bool> GetReportText(const PropertySources& sources, ColumnFamilyData* family,
                                  const Slice& name, std::string* text) {
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
