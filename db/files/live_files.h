// SPDX-License-Identifier: Apache-2.0
//
// LiveFiles is the set of files that make up the database at one moment, for a copy of the
// database. Capturing it takes a reference on each version and copies a few numbers under the DB
// mutex. The lists are made from it without the mutex and without access to the file system.
//
// The tables are not deleted as long as this object lives; logs and other files are not deleted as
// long as deletions are disabled (DB::DisableFileDeletions).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/file_checksum.h"
#include "ashlar/metadata.h"
#include "ashlar/options.h"
#include "db/files/prepared_file_info.h"
#include "db/state/db_core.h"
#include "db/version/version_ref.h"
#include "util/keys/file_number.h"

namespace ashlar {

// A captured set of files. Movable; may be destroyed with or without the DB mutex. Sizes are in
// bytes; what is appended to a file later does not belong to the set.
struct LiveFiles {
  std::vector<VersionRef> versions;  // the current version of each family
  FileNumber manifest_number = 0;
  uint64_t manifest_bytes = 0;
  std::vector<WalSet::Info> logs;
  FileNumber options_number = 0;  // 0: there is no OPTIONS file
  uint64_t options_bytes = 0;
};

// Does no I/O, and takes time in proportion to the families and logs, but not to the tables.
LiveFiles CaptureLiveFiles(const DbCore& core) REQUIRES(db_mutex);

// Pure functions of a captured set:

// The names of tables, blob files, CURRENT, MANIFEST and OPTIONS file, each with a leading slash.
std::vector<std::string> NamesOf(const LiveFiles& live);
// All files with their directories and sizes, including logs. `paths`: the directories.
std::vector<LiveFileStorageInfo> StorageInfoOf(const LiveFiles& live, const DbPaths& paths,
                                               bool with_checksums);
// What is known about the live table with this number; null if there is none.
std::shared_ptr<const PreparedFileInfo> PreparedInfoOf(const LiveFiles& live, FileNumber number);
// Adds the checksums of all tables and blob files to the list.
Status AddChecksumsOf(const LiveFiles& live, FileChecksumList* list);
// The name of the table's checksum function; if the table has none, the public name for an unknown
// function.
std::string ChecksumFunctionOf(const FileMetadata& meta);
// The oldest creation time of a table, in seconds since 1970. UINT64_MAX without tables, 0 if the
// time of any table is unknown.
uint64_t OldestCreationTimeOf(const LiveFiles& live);

}  // namespace ashlar
