// SPDX-License-Identifier: Apache-2.0
//
// CURRENT is read in each round. This costs little, and nothing else shows that the MANIFEST was
// replaced.
#include "db/following/manifest_tail.h"

#include <algorithm>
#include <utility>

namespace ashlar {

Status ManifestTail::Read() {
  ASSIGN_OR_RETURN(const std::string current, ReadCurrent(fs_, dir_));
  if (current != name_ || reader_ == nullptr) RETURN_IF_ERROR(OpenCurrent(current));
  VersionEdit edit;
  while (reader_->Next(&edit)) edits_.push_back(std::move(edit));
  if (reader_->status().ok()) return Status::OK();
  const Status status = reader_->status();
  // An error may be due to a MANIFEST that is being replaced, so the next call opens it again.
  StartOver();
  return status;
}

// Opens a MANIFEST from its start. Before CURRENT names a MANIFEST it is complete, so the whole
// state can be read.
Status ManifestTail::OpenCurrent(const std::string& current) {
  auto opened = ManifestReader::Open(fs_, dir_ + "/" + current, ManifestReader::End::kForNow);
  if (!opened.ok()) {
    auto now = ReadCurrent(fs_, dir_);
    if (now.ok() && *now != current) return Status::TryAgain("CURRENT was switched meanwhile");
    return opened.status();
  }
  edits_.clear();
  is_whole_ = true;
  reader_ = opened.Take();
  name_ = current;
  return Status::OK();
}

void ManifestTail::MarkDone() {
  edits_.clear();
  is_whole_ = false;
}

void ManifestTail::StartOver() {
  edits_.clear();
  is_whole_ = false;
  reader_.reset();
}

// Whether the new edits can make logs obsolete.
bool ManifestTail::MayLetLogsGo() const {
  return is_whole_ || std::any_of(edits_.begin(), edits_.end(), [](const VersionEdit& edit) {
           return edit.log_number.has_value() || edit.min_log_number_to_keep.has_value();
         });
}

// A compaction has new and deleted files. Flushes of logged entries, and compactions without
// output, cannot be told apart from such changes, which costs one more round.
bool ManifestTail::MayChangeContents() const {
  return is_whole_ || std::any_of(edits_.begin(), edits_.end(), [](const VersionEdit& edit) {
           return edit.new_files.empty() != edit.deleted_files.empty();
         });
}

}  // namespace ashlar
