// SPDX-License-Identifier: Apache-2.0
//
// The live MANIFEST is read as the next opening will read it.
#include <cassert>

#include "db/version/manifest_reader.h"
#include "db/version/version_set.h"
#include "env/file_util.h"
#include "env/filename.h"
#include "util/scope_exit.h"
#include "util/str_cat.h"

namespace ashlar {
namespace {

Status ReadThrough(FileSystem* fs, const std::string& path, uint64_t written_bytes) {
  auto opened = ManifestReader::Open(fs, path);
  if (!opened.ok()) return opened.status();
  const std::unique_ptr<ManifestReader> reader = opened.Take();
  VersionEdit edit;
  while (reader->Next(&edit)) {
  }
  RETURN_IF_ERROR(reader->status());
  ASSIGN_OR_RETURN(const uint64_t bytes, FileSizeOf(fs, path));
  if (bytes < written_bytes || reader->torn_tail_bytes() > 0) {
    return Status::Corruption(StrCat(path, ": ", bytes, " bytes, of which ",
                                     reader->torn_tail_bytes(), " are no whole change, but ",
                                     written_bytes, " were written"));
  }
  return Status::OK();
}

}  // namespace

Status VersionSet::CheckManifest(DbMutex* mutex) {
  mutex->AssertHeld();
  if (turn_ == nullptr) turn_ = std::make_unique<CondVar>(mutex);
  while (is_writing_) turn_->Wait();
  assert(manifest_number_ > 0);
  is_writing_ = true;
  const ScopeExit end_turn([this]() REQUIRES(db_mutex) {
    is_writing_ = false;
    turn_->SignalAll();
  });
  const std::string path = DescriptorFileName(options_.dir, manifest_number_);
  const uint64_t written_bytes = manifest_bytes_;
  MutexUnlock unlock(mutex);
  const Status status = ReadThrough(options_.fs, path, written_bytes);
  if (status.IsCorruption()) manifest_.Abandon();
  return status;
}

}  // namespace ashlar
