// SPDX-License-Identifier: Apache-2.0
//
// FamilyReport has the facts about one column family for the statistics texts. They are gathered in
// one moment under the DB mutex and formatted without it. The formats of lines and the names in
// maps are RocksDB's, because programs parse them.
//
//   rocksdb.cfstats, rocksdb.levelstats, rocksdb.cf-write-stall-stats, and similar properties
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

// The sums over the blob files of a version.
struct BlobTotals {
  uint64_t files = 0;
  uint64_t bytes = 0;    // the size of the files
  uint64_t garbage = 0;  // the part of them that no table refers to
  // The ratio of stored bytes to live bytes; 0: no byte is live.
  double SpaceAmplification() const;
};
BlobTotals BlobTotalsOf(const Version& version);

struct FamilyReport {
  // `score`: how urgent the compaction of the level is; from 1 on it is due.
  struct OfLevel {
    uint64_t files = 0;
    uint64_t compacting = 0;  // of the files
    uint64_t bytes = 0;
    // The work of jobs whose output was on this level.
    double score = 0;
    JobWork work;
  };
  std::string name;
  std::vector<OfLevel> levels;
  BlobTotals blobs;
  JobWork flushes, compactions;
  StallCounts stalls;
  WorkTotals now;
  WorkTotals reported;  // at the time of the last text, where the interval of a text begins
};

// `now_micros` is of the same clock as `baselines`.
FamilyReport ReportOn(const ColumnFamilyData& family, const ReportBaselines& baselines,
                      uint64_t now_micros) REQUIRES(db_mutex);

using PropertyMap = std::map<std::string, std::string>;

// The tables of levels and of priorities, and totals.
std::string FamilyStatsText(const FamilyReport& report);
PropertyMap FamilyStatsMap(const FamilyReport& report);
std::string LevelStatsText(const FamilyReport& report);
PropertyMap FamilyStallsMap(const FamilyReport& report);
// Formats a map of stalls, of a family or of the database, as one line.
std::string StallsText(const PropertyMap& stalls);
// Histograms of the times of table reads, by level; `times` may be null.
std::string FileHistogramText(const std::string& family, const LevelHistograms* times);

}  // namespace ashlar
