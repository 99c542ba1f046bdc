// SPDX-License-Identifier: Apache-2.0
//
// The data that `ldb report` draws: the tree of each family, the files of the directory, and the
// flushes and compactions that the info logs report. Plain values; the database is not opened.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "ashlar/file_system.h"
#include "db/manifest/file_metadata.h"
#include "tools/ldb/file_locations.h"
#include "tools/ldb/manifest_state.h"
#include "util/result.h"

namespace ashlar {

// A live table: its record in the MANIFEST, and the properties that were read from its file.
struct SurveyedTable {
  FileMetadata meta;
  uint64_t entries = 0;
  uint64_t deletions = 0;  // of single keys
  uint64_t range_deletions = 0;
  uint64_t filter_bytes = 0;
  uint64_t filter_entries = 0;
  uint64_t data_time = 0;  // of its oldest data, in seconds since 1970; 0: unknown
  // Its position along the keys of the family, from 0 to 1; see tree_survey.cc.
  double left = 0, right = 1;
};

// Bytes that flushes and compactions of a family have written, according to the info logs.
struct WrittenBytes {
  uint64_t flushed = 0;
  uint64_t flushes = 0;
  std::map<int, uint64_t> compacted;  // by output level
  uint64_t compactions = 0;

  uint64_t CompactedBytes() const;
  // 0: unknown.
  double Amplification() const;
};

// A column family with everything that belongs to it alone.
struct SurveyedFamily {
  std::string name;
  std::string comparator;
  bool is_order_known = true;                      // otherwise keys are placed bytewise
  std::vector<std::vector<SurveyedTable>> levels;  // level 0 newest first, deeper ones in key order
  std::vector<FamilyState::BlobFile> blobs;
  FileNumber log_number = 0;  // the family does not need logs with smaller numbers
  WrittenBytes written;

  uint64_t TableBytes() const;
  uint64_t TableCount() const;
  uint64_t BlobBytes() const;
  uint64_t BlobGarbageBytes() const;
};

// A file of the directory that is not a live file of a family.
struct SurveyedFile {
  std::string name;
  FileNumber number = 0;
  uint64_t bytes = 0;
};

// Everything that the page shows. Complete once SurveyTree() has returned it.
struct TreeSurvey {
  std::string path;
  std::vector<SurveyedFamily> families;
  std::vector<SurveyedFile> needed_logs, unneeded_logs;
  std::vector<SurveyedFile> obsolete;  // tables and blob files that the MANIFEST does not have
  uint64_t temporary_bytes = 0;        // of files that a crash left or a running job writes
  uint64_t other_bytes = 0;            // MANIFEST, OPTIONS, info logs and the like
  uint64_t first_event_micros = 0, last_event_micros = 0;  // of the info logs; 0: none
};

// Corruption or IOError for the first file that cannot be read. `logs` is the directory of the
// WALs, `state` that of the live MANIFEST.
Result<TreeSurvey> SurveyTree(FileSystem* fs, const FileLocations& locations,
                              const std::string& logs, const ManifestState& state);

}  // namespace ashlar
