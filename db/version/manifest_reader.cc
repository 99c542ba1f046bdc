// SPDX-License-Identifier: Apache-2.0
//
// Records come from the log reader; atomic groups are held back until their last edit is read.
#include "db/version/manifest_reader.h"

#include <utility>

#include "db/wal/log_reader.h"
#include "env/file_util.h"
#include "env/filename.h"
#include "env/sequential_reader.h"
#include "util/str_cat.h"

namespace ashlar {

Result<std::string> ReadCurrent(FileSystem* fs, const std::string& dir) {
  const std::string path = CurrentFileName(dir);
  auto contents = ReadWholeFile(fs, path);
  if (!contents.ok()) return contents.status();
  std::string name = contents.Take();
  if (name.empty() || name.back() != '\n') {
    return Status::Corruption(StrCat(path, ": does not end with newline"));
  }
  name.pop_back();
  uint64_t number;
  FileType type;
  if (!ParseFileName(name, &number, &type) || type != kDescriptorFile) {
    return Status::Corruption(StrCat(path, ": expected the name of a MANIFEST, found \"",
                                     Slice(name).ToString(/*hex=*/false), "\""));
  }
  return name;
}

// Keeps the first damage: any damage of a MANIFEST is final.
class ManifestReader::Reporter final : public LogReader::Reporter {
 public:
  void OnDamage(const LogDamage& damage) override {
    if (first.ok()) first = damage.reason;
  }
  Status first;
};

ManifestReader::ManifestReader() = default;
ManifestReader::~ManifestReader() = default;

Result<std::unique_ptr<ManifestReader>> ManifestReader::Open(FileSystem* fs,
                                                             const std::string& path) {
  auto file = SequentialReader::Open(fs, path, FileOptions());
  if (!file.ok()) {
    if (!file.status().IsPathNotFound() && !file.status().IsNotFound()) return file.status();
    return Status::Corruption(
        StrCat(path, ": CURRENT names this MANIFEST, but it does not exist"));
  }
  std::unique_ptr<ManifestReader> reader(new ManifestReader());
  reader->path_ = path;
  reader->reporter_ = std::make_unique<Reporter>();
  LogReader::Options options;
  options.mode = WALRecoveryMode::kTolerateCorruptedTailRecords;
  reader->log_ = std::make_unique<LogReader>(NewFileLogSource(file.Take()), options,
                                             reader->reporter_.get());
  return reader;
}

bool ManifestReader::Fail(const std::string& what) {
  status_ = Status::Corruption(
      StrCat(path_, ": record ", records_, " at offset ", log_->record_offset(), ": ", what));
  return false;
}

bool ManifestReader::ReadRecord(VersionEdit* edit) {
  Slice record;
  const bool has_record = log_->ReadRecord(&record);
  if (!reporter_->first.ok()) {
    status_ = reporter_->first;
    return false;
  }
  if (!has_record) {
    status_ = log_->status();
    torn_tail_bytes_ += log_->torn_tail_bytes();
    return false;
  }
  records_++;
  Status decoded = edit->DecodeFrom(record);
  if (decoded.ok()) return true;
  status_ = Status::CopyAppendMessage(decoded, ", in ", path_);
  return false;
}

bool ManifestReader::Next(VersionEdit* edit) {
  if (!status_.ok()) return false;
  if (ready_.empty()) {
    VersionEdit next;
    if (!ReadRecord(&next)) return false;
    if (!next.atomic_group_remaining.has_value()) {
      *edit = std::move(next);
      return true;
    }
    if (!CollectGroup(std::move(next))) return false;
  }
  *edit = std::move(ready_.front());
  ready_.pop_front();
  return true;
}

// The edits of a group count down to 0 without a gap. An incomplete group was never applied by its
// writer.
bool ManifestReader::CollectGroup(VersionEdit first) {
  const uint64_t group_offset = log_->record_offset();
  uint32_t remaining = *first.atomic_group_remaining;
  std::deque<VersionEdit> group;
  group.push_back(std::move(first));
  while (remaining > 0) {
    VersionEdit next;
    if (!ReadRecord(&next)) {
      if (status_.ok()) torn_tail_bytes_ += log_->record_end() - group_offset;
      return false;
    }
    if (!next.atomic_group_remaining.has_value() || *next.atomic_group_remaining != remaining - 1) {
      return Fail(StrCat("expected an edit of an atomic group with ", remaining - 1, " to follow"));
    }
    remaining--;
    group.push_back(std::move(next));
  }
  ready_ = std::move(group);
  return true;
}

}  // namespace ashlar
