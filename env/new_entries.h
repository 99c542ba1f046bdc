// SPDX-License-Identifier: Apache-2.0
//
// NewEntries makes the directory entries of new files durable, and knows when it cannot.
//
// When the sync of a directory fails the kernel may drop what was not on disk yet and call the
// directory clean: a later sync that succeeds says nothing of the entries that were there before.
// So whoever makes files asks first, and is told if any sync of the directory, by anybody in this
// process, has failed since. Then the files are made anew, under other names.
//
//   const NewEntries entries(fs, dir);
//   ... make files in `dir`, and sync them ...
//   RETURN_IF_ERROR(entries.Sync());
//
// A directory is known by its path, whatever the file system: where two have the same path, an
// error in one costs the other at most files made anew. Any thread.
#pragma once

#include <cstdint>
#include <string>

#include "ashlar/file_system.h"
#include "ashlar/status.h"

namespace ashlar {

class NewEntries {
 public:
  // Before the first of the files is made. The file system outlives the object.
  NewEntries(FileSystem* fs, std::string dir);

  // All entries made since then are durable when it answers OK. `renamed_name`: the file just
  // renamed into place, if that is the reason.
  Status Sync(const std::string& renamed_name = "") const;
  // The same through a handle of the directory.
  Status SyncThrough(FSDirectory* directory, const DirFsyncOptions& reason) const;
  // OK, or that a sync of the directory has failed since: no other makes these entries durable.
  Status Check() const;

 private:
  FileSystem* fs_;
  std::string dir_;
  std::string key_;  // the path without what can be written in several ways
  uint64_t failures_before_;
};

}  // namespace ashlar
