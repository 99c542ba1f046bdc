// SPDX-License-Identifier: Apache-2.0
//
// NewEntries makes the directory entries of new files durable, and detects when that is not
// possible.
//
// If the sync of a directory fails, the kernel may drop the entries that were not on the disk yet
// and mark the directory as clean. A later successful sync then says nothing about the entries that
// existed before. So code that makes files creates this object first, and gets an error if any sync
// of the directory in this process has failed since. The files must then be made again with other
// names.
//
//   const NewEntries entries(fs, dir);
//   ... make files in `dir`, and sync them ...
//   RETURN_IF_ERROR(entries.Sync());
//
// A directory is identified by its path, whatever its file system is. If two file systems have the
// same path, an error in one of them makes the other one at most make files again. Any thread.
#pragma once

#include <cstdint>
#include <string>

#include "ashlar/file_system.h"
#include "ashlar/status.h"

namespace ashlar {

// A value that is cheap to create: it looks up one number in a map of the process.
class NewEntries {
 public:
  // Create it before the first of the files. The file system outlives this object.
  NewEntries(FileSystem* fs, std::string dir);

  // Syncs the directory. OK means that all entries made since the construction are durable.
  // `renamed_name`: the file that was renamed, if that is the reason for the sync.
  Status Sync(const std::string& renamed_name = "") const;
  // Syncs as above, but through a handle of the directory that the caller has open.
  Status SyncThrough(FSDirectory* directory, const DirFsyncOptions& reason) const;
  // OK; or the error that a sync of the directory has failed since the construction, so that no
  // sync can make these entries durable.
  // Needs no I/O.
  Status Check() const;

 private:
  FileSystem* fs_;
  std::string dir_;
  std::string key_;  // the path in a normalised form
  // How many syncs of the directory had failed when this object was created.
  uint64_t failures_before_;
};

}  // namespace ashlar
