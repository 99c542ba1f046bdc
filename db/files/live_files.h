// SPDX-License-Identifier: Apache-2.0
//
// LiveFiles is which files make up the database at one moment: what a copy of it needs. Capturing
// it takes a reference on each version and copies a few numbers under the DB mutex; the lists are
// made of it without the mutex, and without asking the file system.
//
// The tables stay as long as this lives; logs and the other files as long as deletions are disabled
// (DB::DisableFileDeletions).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/file_checksum.h"
#include "ashlar/metadata.h"
#include "ashlar/options.h"
#include "db/state/db_core.h"
#include "db/version/version_ref.h"
#include "util/keys/file_number.h"

namespace ashlar {

struct LiveFiles {
  std::vector<VersionRef> versions;  // the current one of each family
  FileNumber manifest_number = 0;
  uint64_t manifest_bytes = 0;
  std::vector<WalSet::Info> logs;
  FileNumber options_number = 0;  // 0: none
  uint64_t options_bytes = 0;
};

LiveFiles CaptureLiveFiles(const DbCore& core) REQUIRES(db_mutex);

// Pure functions of what was captured.

// Tables, CURRENT, MANIFEST and OPTIONS file, each with a slash in front.
std::vector<std::string> NamesOf(const LiveFiles& live);
// All of them, logs too. `place` says where they are.
std::vector<LiveFileStorageInfo> StorageInfoOf(const LiveFiles& live, const DbPaths& paths,
                                               bool with_checksums);
Status AddChecksumsOf(const LiveFiles& live, FileChecksumList* list);
// Its name, as users know it, if there is none.
std::string ChecksumFunctionOf(const FileMetadata& meta);
// UINT64_MAX if there is no table, 0 if that of some table is unknown.
uint64_t OldestCreationTimeOf(const LiveFiles& live);

}  // namespace ashlar
