// SPDX-License-Identifier: Apache-2.0
//
// Names of the files of a database directory, built and parsed: formats/files.md section 1. Numbers
// are decimal, padded with zeros to six digits when written; any number of digits is read.
// Pure functions; any thread.
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
std::string CurrentFileName(const std::string& dir);
std::string LockFileName(const std::string& dir);
std::string IdentityFileName(const std::string& dir);
// "<dir>/OPTIONS-000007" and "<dir>/OPTIONS-000006.dbtmp"
std::string OptionsFileName(const std::string& dir, FileNumber number);
std::string TempOptionsFileName(const std::string& dir, FileNumber number);
// "<dir>/000005.dbtmp"
std::string TempFileName(const std::string& dir, FileNumber number);

// The text log: "<db>/LOG", or "<log_dir>/<flattened absolute db path>_LOG" if log_dir is not
// empty.
std::string InfoLogFileName(const std::string& db_path, const std::string& log_dir = "",
                            const std::string& absolute_db_path = "");
// The same name followed by ".old.<micros>".
std::string OldInfoLogFileName(const std::string& info_log_name, uint64_t micros);
// What stands before ".old" in the names of this database's text logs: "LOG", or the flattened
// path and "_LOG".
std::string InfoLogPrefix(const std::string& log_dir, const std::string& absolute_db_path);

// A name within a database directory (no slash). False for names that belong to nobody.
// `*number` is the file number, the micros of an old text log (0 for LOG itself), or 0.
// Names in `archive/` parse too, with or without that prefix; `*is_archived` may be null.
bool ParseFileName(const std::string& name, FileNumber* number, FileType* type,
                   bool* is_archived = nullptr);
// The same with the prefix of the text log, for a directory of logs of several databases.
bool ParseFileName(const std::string& name, uint64_t* number, const Slice& info_log_prefix,
                   FileType* type);

// The part before or after the last slash.
std::string DirectoryOf(const std::string& path);
std::string BaseNameOf(const std::string& path);

// Whether it is what a manager of space made of a table, a blob file or a log, to delete it in its
// own time (env/space/).
bool IsTrashFileName(const std::string& name);

}  // namespace ashlar
