// SPDX-License-Identifier: Apache-2.0
//
// Builds and parses the names of the files of a database directory: formats/files.md section 1.
// Numbers are decimal. Written numbers are padded with zeros to six digits; any number of digits is
// accepted. Pure functions; any thread.
#pragma once

#include <cstdint>
#include <string>

#include "ashlar/slice.h"
#include "ashlar/types.h"
#include "util/keys/file_number.h"

namespace ashlar {

// "<dir>/000004.log"
std::string LogFileName(const std::string& dir, FileNumber number);
// "<dir>/archive/000004.log" and "<dir>/archive"
std::string ArchivedLogFileName(const std::string& dir, FileNumber number);
std::string ArchivalDirectory(const std::string& dir);
// "<dir>/000009.sst"
std::string TableFileName(const std::string& dir, FileNumber number);
// "<dir>/000012.blob"
std::string BlobFileName(const std::string& dir, FileNumber number);
// "<dir>/MANIFEST-000005"
std::string DescriptorFileName(const std::string& dir, FileNumber number);
// The name of the present MANIFEST, the lock of the process that has the database open, and the id
// of the database.
std::string CurrentFileName(const std::string& dir);
std::string LockFileName(const std::string& dir);
std::string IdentityFileName(const std::string& dir);
// "<dir>/OPTIONS-000007" and "<dir>/OPTIONS-000006.dbtmp"
std::string OptionsFileName(const std::string& dir, FileNumber number);
std::string TempOptionsFileName(const std::string& dir, FileNumber number);
// "<dir>/000005.dbtmp"
std::string TempFileName(const std::string& dir, FileNumber number);

// The text log: "<db>/LOG"; or "<log_dir>/<flattened absolute db path>_LOG" if log_dir is not
// empty.
std::string InfoLogFileName(const std::string& db_path, const std::string& log_dir = "",
                            const std::string& absolute_db_path = "");
// The name of the info log followed by ".old.<micros>": the name that the log has after it was
// rolled.
std::string OldInfoLogFileName(const std::string& info_log_name, uint64_t micros);
// The part before ".old" in the names of the text logs of this database: "LOG", or the flattened
// path followed by "_LOG".
std::string InfoLogPrefix(const std::string& log_dir, const std::string& absolute_db_path);

// Parses a name within a database directory (without a slash). False if it is not the name of a
// database file. `*number` is the file number, or the micros of an old text log (0 for LOG itself),
// or 0. Names of files in `archive/` are parsed too, with or without that prefix. `*is_archived`
// may be null.
bool ParseFileName(const std::string& name, FileNumber* number, FileType* type,
                   bool* is_archived = nullptr);
// The same with a given prefix of the text log, for a directory with the logs of several databases.
bool ParseFileName(const std::string& name, uint64_t* number, const Slice& info_log_prefix,
                   FileType* type);

// The part of a path before its last slash, and the part behind it. The directory of a relative
// name without a slash is ".", that of a file in the root is "/".
std::string DirectoryOf(const std::string& path);
std::string BaseNameOf(const std::string& path);

// True for the name that a manager of space gives to a table, a blob file or a log before it
// deletes the file gradually (env/space/).
bool IsTrashFileName(const std::string& name);

}  // namespace ashlar
