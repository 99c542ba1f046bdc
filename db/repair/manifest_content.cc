// SPDX-License-Identifier: Apache-2.0
//
// The records are applied one after the other; the first contradiction counts as damage.
#include "db/repair/manifest_content.h"

#include <algorithm>
#include <cassert>
#include <memory>
#include <utility>

#include "ashlar/db.h"
#include "db/manifest/manifest_reader.h"
#include "env/file_util.h"
#include "env/filename.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

// Whether the status describes what is in the files, rather than a failure of the file system.
bool IsAboutContents(const Status& status) { return status.IsCorruption() || IsMissing(status); }

// Applies the records of one MANIFEST to its content.
class ContentReader {
 public:
  explicit ContentReader(ManifestContent* content) : content_(*content) {
    content_.families[0].name = kDefaultColumnFamilyName;
  }

  // OK also if the end of the file cannot be read; the damage is noted in the content.
  Status Read(ManifestReader* reader) {
    assert(reader != nullptr);
    VersionEdit edit;
    while (reader->Next(&edit)) {
      content_.damage = Apply(edit);
      if (!content_.damage.ok()) return Status::OK();
    }
    content_.damage = reader->status();
    content_.torn_bytes = reader->torn_tail_bytes();
    return content_.damage.ok() || IsAboutContents(content_.damage) ? Status::OK()
                                                                    : content_.damage;
  }
  // Whether the records describe a whole database. Otherwise the file ends too early, or its first
  // records are missing.
  bool IsUsable() const {
    return has_log_number_ && has_next_file_ && has_last_sequence_ && edits_ >= initial_edits_;
  }

 private:
  Status Apply(const VersionEdit& edit);
  void ApplyToFamily(const VersionEdit& edit, FamilyContent* family);

  ManifestContent& content_;
  uint64_t edits_ = 0, initial_edits_ = 0;
  bool has_log_number_ = false, has_next_file_ = false, has_last_sequence_ = false;
};

// Applies one record. Corruption if it contradicts the earlier ones; nothing of it is applied then,
// except counters.
Status ContentReader::Apply(const VersionEdit& edit) {
  if (edit.last_sequence.value_or(0) >= kMaxSequenceNumber) {
    return Status::Corruption(StrCat("impossible last sequence number ", *edit.last_sequence));
  }
  if (edit.next_file_number && *edit.next_file_number > kMaxFileNumber) {
    return Status::Corruption(StrCat("impossible next file number ", *edit.next_file_number));
  }
  // Counted before the checks below, which refuse a record that was read all the same.
  edits_++;
  initial_edits_ = edit.initial_records.value_or(initial_edits_);
  has_log_number_ |= edit.log_number.has_value();
  has_next_file_ |= edit.next_file_number.has_value();
  has_last_sequence_ |= edit.last_sequence.has_value();
  content_.counters.Apply(edit);
  uint32_t& max_family = content_.counters.max_column_family;
  // A record of a family proves that its id was used.
  max_family = std::max(max_family, edit.column_family);
  if (edit.added_family) {
    FamilyContent added;
    added.name = *edit.added_family;
    content_.families[edit.column_family] = std::move(added);
  }
  if (edit.is_family_drop) {
    content_.families.erase(edit.column_family);
    return Status::OK();
  }
  // A record may name a family that was never added or that is dropped.
  const auto family = content_.families.find(edit.column_family);
  if (family == content_.families.end()) {
    return Status::Corruption(StrCat("unknown column family ", edit.column_family));
  }
  ApplyToFamily(edit, &family->second);
  return Status::OK();
}

void ContentReader::ApplyToFamily(const VersionEdit& edit, FamilyContent* family) {
  // The level does not matter here, because numbers are unique in the whole database.
  assert(family != nullptr);
  if (edit.comparator) family->comparator = edit.comparator;
  if (edit.log_number) family->log_number = std::max(family->log_number, *edit.log_number);
  for (const auto& [level, number] : edit.deleted_files) {
    family->tables.erase(number);
    content_.named_tables.insert(number);
  }
  for (const VersionEdit::NewFile& added : edit.new_files) {
    family->tables[added.meta.number] = added;
    content_.named_tables.insert(added.meta.number);
  }
  for (const BlobFileAddition& blob : edit.blob_additions) {
    family->blobs[blob.number].addition = blob;
  }
  for (const BlobFileGarbage& garbage : edit.blob_garbage) {
    const auto blob = family->blobs.find(garbage.number);
    // RocksDB writes no garbage for files that do not exist.
    if (blob == family->blobs.end()) continue;
    blob->second.garbage_count += garbage.garbage_count;
    blob->second.garbage_bytes += garbage.garbage_bytes;
  }
  if (edit.full_history_ts_low) family->full_history_ts_low = edit.full_history_ts_low;
  if (edit.persist_user_defined_timestamps) {
    family->persist_user_defined_timestamps = edit.persist_user_defined_timestamps;
  }
  // Later values of a field replace earlier ones.
  for (const auto& field : edit.unknown_fields) {
    std::erase_if(family->unknown_fields,
                  [&](const auto& old) { return old.first == field.first; });
    family->unknown_fields.push_back(field);
  }
}

}  // namespace

Result<ManifestContent> ReadManifestContent(FileSystem* fs, const std::string& dir,
                                            const std::string& name) {
  ManifestContent content;
  assert(fs != nullptr);
  auto reader = ManifestReader::Open(fs, StrCat(dir, "/", name));
  if (!reader.ok()) {
    if (!IsAboutContents(reader.status())) return reader.status();
    content.damage = reader.status();
    return content;
  }
  ContentReader state(&content);
  RETURN_IF_ERROR(state.Read(reader->get()));
  // Without a name the caller knows that this file is of no use.
  if (state.IsUsable()) {
    content.name = name;
  } else if (content.damage.ok()) {
    content.damage = Status::Corruption("it ends before it has described a database");
  }
  return content;
}

// CURRENT comes first, then the other MANIFESTs from the newest to the oldest.
Result<ManifestContent> FindManifestContent(FileSystem* fs, const std::string& dir,
                                            std::vector<std::string>* notes) {
  assert(notes != nullptr);
  Result<std::string> current = ReadCurrent(fs, dir);
  if (!current.ok()) {
    if (!IsAboutContents(current.status())) return current.status();
    notes->push_back(StrCat("CURRENT: ", current.status().ToString()));
  }
  std::vector<std::string> names;
  if (current.ok()) names.push_back(*current);
  ASSIGN_OR_RETURN(const std::vector<FileNumber> manifests, ListManifests(fs, dir));
  for (const FileNumber number : manifests) {
    std::string name = BaseNameOf(DescriptorFileName(dir, number));
    if (names.empty() || name != names.front()) names.push_back(std::move(name));
  }
  for (const std::string& name : names) {
    ASSIGN_OR_RETURN(ManifestContent content, ReadManifestContent(fs, dir, name));
    // Without CURRENT, the newest MANIFEST counts as the current one.
    assert(!names.empty());
    content.is_current = name == names.front();
    if (content.name.empty()) {
      notes->push_back(StrCat(name, ": not used: ", content.damage.ToString()));
      continue;
    }
    if (!content.damage.ok()) {
      notes->push_back(StrCat(name, ": read up to its damage: ", content.damage.ToString()));
    }
    if (content.torn_bytes > 0) {
      notes->push_back(
          StrCat(name, ": ", content.torn_bytes, " bytes of an incomplete change at its end"));
    }
    return content;
  }
  return ManifestContent();
}

}  // namespace ashlar
