// SPDX-License-Identifier: Apache-2.0
//
// BackupMeta is the content of a file meta/<id>: the files of a backup and their checksums. The
// functions convert it from and to the text of the file; see docs/formats/backup.md.
//
// The text is untrusted input. ParseMeta() returns either a status, or a BackupMeta whose names
// stay within the directories of the backup. Pure functions; any thread.
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
  std::optional<uint32_t> crc;     // CRC-32C of the file; optional in schema 2
  uint64_t bytes = kUnknownBytes;  // schema 1 has no sizes
  Temperature temperature = Temperature::kUnknown;
};

struct BackupMeta {
  int64_t timestamp = 0;        // seconds since 1970
  SequenceNumber sequence = 0;  // the backup contains at least the writes up to it
  std::string app_metadata;
  std::vector<BackupFile> files;
  std::vector<std::string> excluded;  // names of shared files that are not copied
};

inline constexpr int kLowestSchema = 1, kHighestSchema = 2;

// The text of a meta file. Schema 1 has no sizes and temperatures; it must not be used if there are
// excluded files.
std::string WriteMeta(const BackupMeta& meta, int schema);

// Corruption, or NotSupported for a newer schema and for unknown fields that must not be ignored.
// `path` is used in messages. The names of ignored unknown fields are appended to `ignored`, which
// may be null.
Result<BackupMeta> ParseMeta(std::string_view text, BackupID id, const std::string& path,
                             std::vector<std::string>* ignored);

// All file names in a meta file that can be recognised, also if ParseMeta() refuses the file.
// Garbage collection keeps these files.
std::vector<std::string> NamesInMeta(std::string_view text);

}  // namespace ashlar
