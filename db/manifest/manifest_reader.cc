// SPDX-License-Identifier: Apache-2.0
//
// Records come from the log reader; the edits of an atomic group are held back until the last one
// is read.
#include "db/manifest/manifest_reader.h"

#include <cassert>
#include <functional>
#include <utility>

#include "ashlar/db.h"
#include "db/wal/log_reader.h"
#include "env/file_util.h"
#include "env/filename.h"
#include "env/sequential_reader.h"
#include "util/rare_sort.h"
#include "util/text/str_cat.h"

namespace ashlar {

Result<std::string> ReadCurrent(FileSystem* fs, const std::string& dir) {
  const std::string path = CurrentFileName(dir);
  auto contents = ReadWholeFile(fs, path);
  if (!contents.ok()) return contents.status();
  std::string name = contents.Take();
  // CURRENT is replaced by a rename, so that it is never half written, except by other programs.
  if (name.empty() || name.back() != '\n') {
    return Status::Corruption(StrCat(path, ": does not end with newline"));
  }
  name.pop_back();
  FileNumber number;
  FileType type;
  if (!ParseFileName(name, &number, &type) || type != kDescriptorFile) {
    return Status::Corruption(StrCat(path, ": expected the name of a MANIFEST, found \"",
                                     Slice(name).ToString(/*hex=*/false), "\""));
  }
  return name;
}

// Keeps the first reported damage, because no record after it is used.
class ManifestReader::Reporter final : public LogReader::Reporter {
 public:
  void OnDamage(const LogDamage& damage) override {
    if (!first.has_value()) first = damage;
  }
  std::optional<LogDamage> first;
};

namespace {

// Opens a log reader at the block that contains `start_offset`.
Result<std::unique_ptr<LogReader>> OpenLog(FileSystem* fs, const std::string& path,
                                           uint64_t start_offset, LogReader::Reporter* reporter,
                                           bool is_tailing = false) {
  assert(fs != nullptr);
  ASSIGN_OR_RETURN(auto file,
                   SequentialReader::Open(fs, path, fs->OptimizeForManifestRead(FileOptions())));
  RETURN_IF_ERROR(file->Skip(LogReader::BlockOf(start_offset)));
  LogReader::Options options;
  options.mode = WALRecoveryMode::kTolerateCorruptedTailRecords;
  options.start_offset = start_offset;
  options.is_tailing = is_tailing;
  return std::make_unique<LogReader>(NewFileLogSource(std::move(file)), options, reporter);
}

}  // namespace

ManifestReader::ManifestReader(FileSystem* fs, const std::string& path) : fs_(fs), path_(path) {}
ManifestReader::~ManifestReader() = default;

Result<std::unique_ptr<ManifestReader>> ManifestReader::Open(FileSystem* fs,
                                                             const std::string& path, End end) {
  std::unique_ptr<ManifestReader> reader(new ManifestReader(fs, path));
  reader->reporter_ = std::make_unique<Reporter>();
  auto log = OpenLog(fs, path, 0, reader->reporter_.get(), end == End::kForNow);
  // A missing file means that CURRENT and the directory disagree.
  if (!log.ok()) {
    if (!log.status().IsPathNotFound() && !log.status().IsNotFound()) return log.status();
    return Status::Corruption(StrCat(path, ": CURRENT names this MANIFEST, but it does not exist"));
  }
  reader->log_ = log.Take();
  return reader;
}

bool ManifestReader::Fail(const std::string& what) {
  assert(status_.ok());  // the first error is kept
  status_ = Status::Corruption(
      StrCat(path_, ": record ", records_, " at offset ", log_->record_offset(), ": ", what));
  return false;
}

bool ManifestReader::ReadRecord(VersionEdit* edit) {
  assert(edit != nullptr);
  assert(status_.ok());
  assert(log_ != nullptr);
  Slice record;
  const bool has_record = log_->ReadRecord(&record);
  const std::optional<LogDamage>& damage = reporter_->first;
  if (damage.has_value() && !IsUnsyncedTail()) {
    // Everything behind the damage is unusable, because changes build on each other.
    status_ = damage->reason;
    return false;
  }
  if (!has_record) {
    status_ = log_->status();
    torn_tail_bytes_ = damage.has_value() ? damage->dropped_bytes : log_->torn_tail_bytes();
    if (status_.ok()) CheckInitialRecords();
    return false;
  }
  records_++;
  Status decoded = edit->DecodeFrom(record);
  // The number is taken even if the rest of the record does not decode, because the check at the
  // end of the file needs it.
  if (edit->initial_records) initial_records_ = *edit->initial_records;
  if (decoded.ok()) return true;
  status_ = Status::CopyAppendMessage(decoded, ", in ", path_);
  return false;
}

// Whether a crash during a write can explain the damage. This is so for a sector that was never
// written (zeros) if all intact records after it belong to a change that began before the sector:
// this change was not synced, so it was never installed. A record of a later change proves that the
// sector was synced, so the damage is Corruption.
bool ManifestReader::IsUnsyncedTail() const {
  assert(reporter_->first.has_value());
  const uint64_t damage_offset = reporter_->first->offset;
  LogDamage damage = *reporter_->first;
  // Each round skips one zero sector of the unsynced part.
  while (damage.is_unwritten && damage.good_record_behind.has_value()) {
    Reporter reporter;
    auto log = OpenLog(fs_, path_, *damage.good_record_behind, &reporter);
    if (!log.ok()) return false;
    Slice record;
    while ((*log)->ReadRecord(&record)) {
      VersionEdit edit;
      // A record that does not decode proves nothing, but was not written by a crash.
      const bool is_of_change = edit.DecodeFrom(record).ok() && edit.change_begin.has_value() &&
                                *edit.change_begin <= damage_offset;
      if (!is_of_change) return false;
    }
    if (!(*log)->status().ok()) return false;
    if (!reporter.first.has_value()) return true;
    damage = *reporter.first;
  }
  return damage.is_unwritten;
}

// The initial records were synced before CURRENT was switched, so a crash cannot remove any of
// them: a missing one is Corruption.
void ManifestReader::CheckInitialRecords() {
  assert(status_.ok());
  if (records_ >= initial_records_) return;
  status_ = Status::Corruption(StrCat(path_, ": ends after ", records_, " whole records at offset ",
                                      log_->record_end(), ", but had ", initial_records_,
                                      " when CURRENT was switched to it; restore the file"));
}

bool ManifestReader::Next(VersionEdit* edit) {
  if (!status_.ok()) return false;
  while (ready_.empty()) {
    VersionEdit next;
    if (!ReadRecord(&next)) {
      // An incomplete group counts as torn, although its records are whole.
      if (status_.ok() && !group_.empty()) torn_tail_bytes_ += log_->record_end() - group_offset_;
      return false;
    }
    if (!AddToGroup(std::move(next))) return false;
  }
  *edit = std::move(ready_.front());
  ready_.pop_front();
  return true;
}

// The edits of a group count down to 0 without a gap; an edit outside a group is a group of one. A
// writer never installed an incomplete group.
bool ManifestReader::AddToGroup(VersionEdit edit) {
  assert(ready_.empty());
  if (group_.empty()) {
    group_offset_ = log_->record_offset();
  } else {
    // Group members count down, so that a missing or foreign record is noticed.
    const uint32_t expected = *group_.back().atomic_group_remaining - 1;
    if (edit.atomic_group_remaining != expected) {
      return Fail(StrCat("expected an edit of an atomic group with ", expected, " to follow"));
    }
  }
  group_.push_back(std::move(edit));
  if (group_.back().atomic_group_remaining.value_or(0) == 0) ready_ = std::exchange(group_, {});
  return true;
}

Result<std::vector<FileNumber>> ListManifests(FileSystem* fs, const std::string& dir) {
  ASSIGN_OR_RETURN(const std::vector<std::string> names, ListDirectory(fs, dir));
  std::vector<FileNumber> manifests;
  for (const std::string& name : names) {
    FileNumber number;
    FileType type;
    if (ParseFileName(name, &number, &type) && type == kDescriptorFile) manifests.push_back(number);
  }
  SortRarely(&manifests, std::greater<>());
  return manifests;
}

namespace {

// The families of one MANIFEST.
Result<std::vector<std::string>> FamiliesOfManifest(FileSystem* fs, const std::string& path) {
  ASSIGN_OR_RETURN(auto reader, ManifestReader::Open(fs, path));
  // The default family has no record of its own.
  std::map<uint32_t, std::string> names{{0, kDefaultColumnFamilyName}};
  bool has_counters = false;
  VersionEdit edit;
  while (reader->Next(&edit)) {
    has_counters |= edit.next_file_number.has_value();
    if (edit.added_family) names[edit.column_family] = *edit.added_family;
    if (edit.is_family_drop) names.erase(edit.column_family);
  }
  RETURN_IF_ERROR(reader->status());
  // Each MANIFEST begins with the counters, even that of an empty database.
  if (!has_counters) {
    return Status::Corruption(StrCat(path, ": holds no state of a database"));
  }
  std::vector<std::string> result;
  for (auto& [id, name] : names) result.push_back(std::move(name));
  return result;
}

}  // namespace

// A process that writes the database may switch CURRENT to another MANIFEST after the name was read
// here, and delete the old one.
Result<std::vector<std::string>> ListFamilies(FileSystem* fs, const std::string& dir) {
  constexpr int kMostAttempts = 10;
  ASSIGN_OR_RETURN(std::string manifest, ReadCurrent(fs, dir));
  for (int attempt = 1;; attempt++) {
    auto families = FamiliesOfManifest(fs, dir + "/" + manifest);
    if (families.ok() || attempt == kMostAttempts) return families;
    auto now = ReadCurrent(fs, dir);
    if (!now.ok() || *now == manifest) return families;
    manifest = now.Take();
  }
}

Status CheckManifestFile(FileSystem* fs, const std::string& path, uint64_t written_bytes) {
  auto opened = ManifestReader::Open(fs, path);
  if (!opened.ok()) return opened.status();
  const std::unique_ptr<ManifestReader> reader = opened.Take();
  VersionEdit edit;
  // Only errors matter; the edits are dropped.
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

}  // namespace ashlar
