// SPDX-License-Identifier: Apache-2.0
//
// ManifestTail reads the MANIFEST of a database that another process writes: each time the records
// that were added since, or, when CURRENT names another MANIFEST, that one from its beginning.
//
// What was read is kept until the caller says that it has taken effect. Threads: one at a time.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ashlar/file_system.h"
#include "db/manifest/manifest_reader.h"
#include "db/manifest/version_edit.h"

namespace ashlar {

class ManifestTail {
 public:
  // `name` and `reader`: the MANIFEST that was read so far, and where to continue in it. `fs`
  // outlives the tail.
  ManifestTail(FileSystem* fs, const std::string& dir, std::string name,
               std::unique_ptr<ManifestReader> reader)
      : fs_(fs), dir_(dir), name_(std::move(name)), reader_(std::move(reader)) {}

  // Adds to edits() what the file has now. After an error the next call begins with the whole file.
  // TryAgain: CURRENT was switched at this moment.
  Status Read();
  // The edits that were read and are not marked as done. If is_whole(), they are all edits of one
  // MANIFEST, and replace the state before.
  const std::vector<VersionEdit>& edits() const { return edits_; }
  bool is_whole() const { return is_whole_; }
  bool empty() const { return edits_.empty() && !is_whole_; }
  void MarkDone();
  // The edits contradict what is there: the next Read() begins with the whole file.
  void StartOver();
  // Whether the edits may let logs go, which the primary deletes then.
  bool MayLetLogsGo() const;
  // Whether the edits may change the contents without an entry in a log: tables were ingested,
  // deleted without new ones in their place, or flushed with writes that skipped the log.
  bool MayChangeContents() const;

  const std::string& name() const { return name_; }

 private:
  Status OpenCurrent(const std::string& current);

  FileSystem* const fs_;
  const std::string dir_;
  std::string name_;
  std::unique_ptr<ManifestReader> reader_;
  std::vector<VersionEdit> edits_;
  bool is_whole_ = false;
};

}  // namespace ashlar
