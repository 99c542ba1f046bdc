// SPDX-License-Identifier: Apache-2.0
//
// ManifestContent is the state that a MANIFEST describes, as far as the MANIFEST can be read: the
// families with their tables and blob files, and the counters. Repair starts from it.
//
// A plain value. Nothing is checked against the files that it names, and nothing is written.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "ashlar/file_system.h"
#include "db/blob/blob_file.h"
#include "db/manifest/manifest_counters.h"
#include "db/manifest/version_edit.h"
#include "util/keys/file_number.h"
#include "util/result.h"

namespace ashlar {

// One blob file, with the garbage of all records about it summed up.
struct BlobFileContent {
  BlobFileAddition addition;
  uint64_t garbage_count = 0;
  uint64_t garbage_bytes = 0;
};

// One family, as the records up to now describe it.
struct FamilyContent {
  std::string name;
  std::optional<std::string> comparator;
  FileNumber log_number = 0;
  std::map<FileNumber, VersionEdit::NewFile> tables;
  std::map<FileNumber, BlobFileContent> blobs;
  std::optional<std::string> full_history_ts_low;
  std::optional<bool> persist_user_defined_timestamps;
  std::vector<std::pair<uint32_t, std::string>> unknown_fields;
};

struct ManifestContent {
  std::string name;         // of the file, without its directory; empty: no MANIFEST can be used
  bool is_current = false;  // CURRENT names it or, if there is no CURRENT, no newer one exists
  Status damage;            // ended the reading; OK: it was read to its end
  uint64_t torn_bytes = 0;  // of an incomplete change at its end
  ManifestCounters counters;
  std::map<uint32_t, FamilyContent> families;  // by id
  std::set<FileNumber> named_tables;           // by any of its records

  // It is the last state of the database: any table that it does not name is obsolete, or the
  // output of a job that did not end.
  bool IsFinal() const { return is_current && damage.ok() && torn_bytes == 0; }
};

// Reads one MANIFEST. The name in the result is empty if the readable part does not describe a
// whole database; `damage` then says why. The returned errors are only those of the file system.
Result<ManifestContent> ReadManifestContent(FileSystem* fs, const std::string& dir,
                                            const std::string& name);

// The content of the MANIFEST that CURRENT names or, if that cannot be used, of the newest one that
// can. Adds a line to `notes` for each MANIFEST that cannot be used or not be read to its end.
Result<ManifestContent> FindManifestContent(FileSystem* fs, const std::string& dir,
                                            std::vector<std::string>* notes);

}  // namespace ashlar
