// SPDX-License-Identifier: Apache-2.0
//
// After a failed append or sync the contents of the file on disk are unknown, so the file is never
// written again.
#include "db/manifest/manifest_file.h"

#include <cassert>
#include <utility>

#include "ashlar/statistics.h"
#include "ashlar/system_clock.h"
#include "db/wal/log_writer.h"
#include "env/file_util.h"
#include "env/file_writer.h"
#include "env/filename.h"
#include "env/new_entries.h"
#include "util/result.h"
#include "util/statistics/statistics.h"

namespace ashlar {
namespace {

// The directory entries of the MANIFEST and of the files it names must be durable before CURRENT
// names the MANIFEST; otherwise a crash could preserve only the rename of CURRENT. Sets
// `*may_be_current` before CURRENT is touched.
Status SetCurrentFile(const ManifestFileOptions& options, FileNumber manifest_number,
                      const NewEntries& entries, bool* may_be_current) {
  assert(manifest_number > 0);
  assert(may_be_current != nullptr);
  RETURN_IF_ERROR(entries.Sync());
  *may_be_current = true;
  const std::string& dir = options.dir;
  const std::string contents = BaseNameOf(DescriptorFileName(dir, manifest_number)) + "\n";
  return WriteFileAtomically(options.fs, dir, BaseNameOf(TempFileName(dir, manifest_number)),
                             BaseNameOf(CurrentFileName(dir)), contents,
                             options.file_options.temperature);
}

// One sync for all records: they are one change.
Status AddAndSync(LogWriter* log, const std::vector<std::string>& records, Statistics* statistics) {
  assert(log != nullptr);
  for (const std::string& record : records) RETURN_IF_ERROR(log->AddRecord(record));
  // Only the sync is measured, which is nearly all of the time.
  const StopWatch watch(SystemClock::Default().get(), statistics, MANIFEST_FILE_SYNC_MICROS);
  return log->Sync();
}

}  // namespace

ManifestFile::ManifestFile(const ManifestFileOptions& options)
    : options_(options),
      max_bytes_(options.max_bytes),
      preallocate_bytes_(options.preallocate_bytes) {}
ManifestFile::~ManifestFile() = default;

bool ManifestFile::WantsNewFile() const {
  return log_ == nullptr || bytes() >= max_bytes_.load(std::memory_order_relaxed);
}
void ManifestFile::SetLimits(const ManifestLimits& limits) {
  max_bytes_.store(limits.max_bytes, std::memory_order_relaxed);
  preallocate_bytes_.store(limits.preallocate_bytes, std::memory_order_relaxed);
}
// The next change starts a new file.
Status ManifestFile::Close() { return log_ == nullptr ? Status::OK() : log_->Close(); }
void ManifestFile::Abandon() { log_.reset(); }
uint64_t ManifestFile::bytes() const { return log_ == nullptr ? 0 : log_->size(); }

Status ManifestFile::Start(FileNumber number, const std::vector<std::string>& records) {
  assert(!records.empty());
  log_.reset();
  may_be_current_ = false;
  Status status = WriteNew(number, records);
  if (status.ok()) return status;
  // The next change starts another file.
  log_.reset();
  // If CURRENT may name this one, it is left in place. Otherwise it is deleted now: each repetition
  // of the change has a file of its own, and they would fill the disk.
  if (!may_be_current_) {
    IgnoreError(DeleteFileIfExists(options_.fs, DescriptorFileName(options_.dir, number)),
                "a file that stays is deleted at the next open");
  }
  return status;
}

Status ManifestFile::WriteNew(FileNumber number, const std::vector<std::string>& records) {
  assert(log_ == nullptr);  // the previous file is closed
  // Before the file is created, so that every failed sync of the directory from now on is noticed.
  const NewEntries entries(options_.fs, options_.dir);
  FileWriterOptions writer;
  // Unsynced or incomplete, the file does no harm: CURRENT does not name it.
  writer.use_fsync = options_.use_fsync;
  writer.preallocate_bytes = preallocate_bytes_.load(std::memory_order_relaxed);
  ASSIGN_OR_RETURN(auto file,
                   FileWriter::Create(options_.fs, DescriptorFileName(options_.dir, number),
                                      options_.file_options, writer));
  log_ = std::make_unique<LogWriter>(std::move(file));
  RETURN_IF_ERROR(AddAndSync(log_.get(), records, options_.statistics));
  return SetCurrentFile(options_, number, entries, &may_be_current_);
}

Status ManifestFile::Append(const std::vector<std::string>& records) {
  assert(!records.empty());
  assert(log_ != nullptr);
  // A crash during the write leaves a part of the change. The reader drops it, because the change
  // was never installed.
  Status status = AddAndSync(log_.get(), records, options_.statistics);
  if (!status.ok()) log_.reset();
  return status;
}

}  // namespace ashlar
