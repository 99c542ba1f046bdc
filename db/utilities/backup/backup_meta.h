// SPDX-License-Identifier: Apache-2.0
//
// BackupMeta is what the file meta/<id> says: which files a backup consists of, and their
// checksums. Between it and the file's text: docs/formats/backup.md.
//
// Bytes of a directory are foreign: whatever they are, ParseMeta() gives a backup whose names stay
// within their directories, or a status. Pure functions; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ashlar/types.h"
#include "ashlar/utilities/backup_engine.h"
#include "util/result.h"

namespace ashlar {

struct BackupFile {
  static constexpr uint64_t kUnknownBytes = UINT64_MAX;

  std::string name;                // relative to the backup directory
  std::optional<uint32_t> crc;     // CRC-32C of the file; only schema 2 may leave it out
  uint64_t bytes = kUnknownBytes;  // schema 1 says nothing of it
  Temperature temperature = Temperature::kUnknown;
};

struct BackupMeta {
  int64_t timestamp = 0;        // seconds since 1970
  SequenceNumber sequence = 0;  // a lower bound of what the backup contains
  std::string app_metadata;
  std::vector<BackupFile> files;
  std::vector<std::string> excluded;  // names of shared files that other directories have
};

inline constexpr int kLowestSchema = 1, kHighestSchema = 2;

// The text of a meta file. Schema 1 has no place for sizes, temperatures and excluded files: there
// must be none of the last.
std::string WriteMeta(const BackupMeta& meta, int schema);

// Corruption, or NotSupported for what a later version means us not to misunderstand. `path` is for
// messages; `ignored`, which may be null, gets the names of fields that are unknown and harmless.
Result<BackupMeta> ParseMeta(std::string_view text, BackupID id, const std::string& path,
                             std::vector<std::string>* ignored);

// What can be read of the names in a meta file, also of one that ParseMeta() refuses: files that
// somebody may still want.
std::vector<std::string> NamesInMeta(std::string_view text);

}  // namespace ashlar
