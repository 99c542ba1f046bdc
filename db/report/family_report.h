// SPDX-License-Identifier: Apache-2.0
//
// FamilyReport is what the statistics texts say of one column family, gathered in one moment under
// the DB mutex and put into words without it. The forms of lines and the names in maps are
// RocksDB's: there are programs that parse them.
//
//   rocksdb.cfstats, rocksdb.levelstats, rocksdb.cf-write-stall-stats, and their like
//
// A plain value.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "db/column_family/column_family_data.h"
#include "db/column_family/family_work.h"
#include "db/report/report_baselines.h"
#include "util/keys/level.h"

namespace ashlar {

class LevelHistograms;

// Of the blob files of a version.
struct BlobTotals {
  uint64_t files = 0;
  uint64_t bytes = 0;    // of the files
  uint64_t garbage = 0;  // of these
  // How much more is stored than is alive; 0: nothing is alive.
  double SpaceAmplification() const;
};
BlobTotals BlobTotalsOf(const Version& version);

struct FamilyReport {
  struct OfLevel {
    uint64_t files = 0;
    uint64_t compacting = 0;  // of the files
    uint64_t bytes = 0;
    double score = 0;
    JobWork work;
  };
  std::string name;
  std::vector<OfLevel> levels;
  BlobTotals blobs;
  JobWork flushes, compactions;
  StallCounts stalls;
  WorkTotals now;
  WorkTotals reported;  // as of the last text: the interval in a text begins there
};

// `now_micros`: of the clock of `baselines`.
FamilyReport ReportOn(const ColumnFamilyData& family, const ReportBaselines& baselines,
                      uint64_t now_micros) REQUIRES(db_mutex);

using PropertyMap = std::map<std::string, std::string>;

// The tables of levels and of priorities, and the totals.
std::string FamilyStatsText(const FamilyReport& report);
PropertyMap FamilyStatsMap(const FamilyReport& report);
std::string LevelStatsText(const FamilyReport& report);
PropertyMap FamilyStallsMap(const FamilyReport& report);
// A map of stalls, of a family or of the database, as a line.
std::string StallsText(const PropertyMap& stalls);
// Of reads of tables, by level; `times` may be null.
std::string FileHistogramText(const std::string& family, const LevelHistograms* times);

}  // namespace ashlar
