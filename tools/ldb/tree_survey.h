// SPDX-License-Identifier: Apache-2.0
//
// What `ldb report` draws: the tree of each family, what lies in the directory, and what the info
// logs say of flushes and compactions. Plain values; the database is not opened.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "ashlar/file_system.h"
#include "db/manifest/file_metadata.h"
#include "tools/ldb/file_places.h"
#include "tools/ldb/manifest_state.h"
#include "util/result.h"

namespace ashlar {

struct SurveyedTable {
  FileMetadata meta;
  uint64_t entries = 0;
  uint64_t deletions = 0;  // of single keys
  uint64_t range_deletions = 0;
  uint64_t filter_bytes = 0;
  uint64_t filter_entries = 0;
  uint64_t data_time = 0;  // seconds since 1970 of its oldest data; 0: unknown
  // Where it lies among the keys of the family, from 0 to 1, by the bytes of all tables.
  double left = 0, right = 1;
};

// What flushes and compactions of a family have written, by the info logs.
struct WrittenBytes {
  uint64_t flushed = 0;
  uint64_t flushes = 0;
  std::map<int, uint64_t> compacted;  // by output level
  uint64_t compactions = 0;

  uint64_t CompactedBytes() const;
  // 0: unknown.
  double Amplification() const;
};

struct SurveyedFamily {
  std::string name;
  std::string comparator;
  bool is_order_known = true;                      // else keys are placed bytewise
  std::vector<std::vector<SurveyedTable>> levels;  // level 0 newest first, deeper ones in key order
  std::vector<FamilyState::BlobFile> blobs;
  FileNumber log_number = 0;  // logs before it hold nothing that it needs
  WrittenBytes written;

  uint64_t TableBytes() const;
  uint64_t TableCount() const;
  uint64_t BlobBytes() const;
  uint64_t BlobGarbageBytes() const;
};

// A file of the directory that no family owns.
struct SurveyedFile {
  std::string name;
  FileNumber number = 0;
  uint64_t bytes = 0;
};

struct TreeSurvey {
  std::string path;
  std::vector<SurveyedFamily> families;
  std::vector<SurveyedFile> needed_logs, unneeded_logs;
  std::vector<SurveyedFile> obsolete;  // tables and blob files that no version has
  uint64_t temporary_bytes = 0;        // what a crash or a running job has left
  uint64_t other_bytes = 0;            // MANIFEST, OPTIONS, info logs and the like
  uint64_t first_event_micros = 0, last_event_micros = 0;  // that info logs tell of; 0: none
};

// Corruption or IOError for the first file that cannot be read. `logs`: the directory of the WALs,
// perhaps the database's own; `state`: of the live MANIFEST.
Result<TreeSurvey> SurveyTree(FileSystem* fs, const FilePlaces& places, const std::string& logs,
                              const ManifestState& state);

// event_survey.cc: adds what an info log, as text, says. Both ours and RocksDB's are understood.
void AddEvents(const std::string& text, TreeSurvey* survey);

}  // namespace ashlar
