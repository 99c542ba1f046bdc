// SPDX-License-Identifier: Apache-2.0
//
// Encoding and decoding of version edits: a list of (varint32 tag, body), any order. Tags with bit
// 13 and custom file fields without bit 6 may be skipped by readers that do not know them.
#include "db/manifest/version_edit.h"

#include <cassert>

#include "util/keys/coding.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

// Numbers of the format (docs/formats/manifest.md); they never change.
enum Tag : uint32_t {
  kComparator = 1,
  kLogNumber = 2,
  kNextFileNumber = 3,
  kLastSequence = 4,
  kCompactCursor = 5,
  kDeletedFile = 6,
  kNewFile = 7,
  kPrevLogNumber = 9,
  kMinLogNumberToKeep = 10,
  kNewFile2 = 100,
  kNewFile3 = 102,
  kNewFile4 = 103,
  kColumnFamily = 200,
  kColumnFamilyAdd = 201,
  kColumnFamilyDrop = 202,
  kMaxColumnFamily = 203,
  kInAtomicGroup = 300,
  kBlobFileAddition = 400,
  kBlobFileGarbage = 401,
  kIgnorableMask = 1 << 13,
  kDbId = 8193,
  kBlobFileAdditionOld = 8194,
  kBlobFileGarbageOld = 8195,
  kWalAdditionOld = 8196,
  kWalDeletionOld = 8197,
  kFullHistoryTsLow = 8198,
  kWalAddition = 8199,
  kWalDeletion = 8200,
  kPersistUserDefinedTimestamps = 8201,
  kLastCompactedManifestBytes = 8203,
  // Ashlar's own tags begin at "as" in ASCII, far from the tags that RocksDB assigns consecutively.
  kLogSummary = 0x6173,
  kInitialRecords = 0x6174,
  kChangeBegin = 0x6175,
  kForgottenLogsEnd = 0x6176,
};
static_assert((kLogSummary & kInitialRecords & kChangeBegin & kForgottenLogsEnd & kIgnorableMask) !=
              0);

// Custom fields of a new file, also numbers of the format.
enum FileField : uint32_t {
  kEnd = 1,
  kNeedCompaction = 2,
  kMinLogNumberToKeepHack = 3,
  kOldestBlobFileNumber = 4,
  kOldestAncestorTime = 5,
  kFileCreationTime = 6,
  kFileChecksum = 7,
  kFileChecksumFunction = 8,
  kTemperature = 9,
  kMinTimestamp = 10,
  kMaxTimestamp = 11,
  kUniqueId = 12,
  kEpochNumber = 13,
  kCompensatedRangeDeletionBytes = 14,
  kTailBytes = 15,
  kTimestampsPersisted = 16,
  kPathId = 65,
  kMustUnderstandMask = 1 << 6,
};

constexpr uint32_t kMaxPathId = 3;
constexpr uint32_t kMaxLevel = 1 << 16;  // a larger level number is treated as damage

void PutTag(std::string* dst, uint32_t tag) { PutVarint32(dst, tag); }

// Nothing is written for a missing value.
template <typename T>
void PutTagged(std::string* dst, uint32_t tag, const std::optional<T>& value) {
  if (!value) return;
  PutTag(dst, tag);
  if constexpr (std::is_same_v<T, FileNumber>) {
    PutFileNumber(dst, *value);
  } else {
    PutVarint64(dst, *value);
  }
}

void PutTaggedBytes(std::string* dst, uint32_t tag, const Slice& bytes) {
  PutTag(dst, tag);
  PutLengthPrefixedSlice(dst, bytes);
}

// A varint with the length of its encoding as prefix.
void PutField64(std::string* dst, uint32_t field, uint64_t value) {
  std::string body;
  PutVarint64(&body, value);
  PutTaggedBytes(dst, field, body);
}

// Fields with their default value are left out, except for the two times.
void EncodeNewFile(std::string* dst, const VersionEdit::NewFile& file) {
  assert(file.level >= 0);
  const FileMetadata& meta = file.meta;
  PutTag(dst, kNewFile4);
  PutVarint32(dst, static_cast<uint32_t>(file.level));
  PutFileNumber(dst, meta.number);
  PutVarint64(dst, meta.file_size);
  PutLengthPrefixedSlice(dst, meta.smallest);
  PutLengthPrefixedSlice(dst, meta.largest);
  PutVarint64(dst, meta.smallest_seqno);
  PutVarint64(dst, meta.largest_seqno);

  PutField64(dst, kOldestAncestorTime, meta.oldest_ancestor_time);
  PutField64(dst, kFileCreationTime, meta.file_creation_time);
  if (meta.epoch_number != 0) PutField64(dst, kEpochNumber, meta.epoch_number);
  if (meta.has_file_checksum) {
    PutTaggedBytes(dst, kFileChecksum, meta.file_checksum);
    PutTaggedBytes(dst, kFileChecksumFunction, meta.file_checksum_function);
  }
  // The formats have one byte for each of these.
  const auto put_byte = [dst](FileField field, uint32_t value) {
    const char byte = static_cast<char>(value);
    PutTaggedBytes(dst, field, Slice(&byte, 1));
  };
  if (meta.path_id != 0) put_byte(kPathId, meta.path_id);
  if (meta.temperature != 0) put_byte(kTemperature, meta.temperature);
  // Both reasons have one field. A reader need not know which it was.
  if (meta.marked_for_compaction || meta.keeps_for_snapshots) put_byte(kNeedCompaction, 1);
  if (meta.oldest_blob_file_number != 0) {
    PutField64(dst, kOldestBlobFileNumber, meta.oldest_blob_file_number.value());
  }
  if (!meta.min_timestamp.empty()) PutTaggedBytes(dst, kMinTimestamp, meta.min_timestamp);
  if (!meta.max_timestamp.empty()) PutTaggedBytes(dst, kMaxTimestamp, meta.max_timestamp);
  if (!meta.unique_id.empty()) PutTaggedBytes(dst, kUniqueId, meta.unique_id);
  if (meta.compensated_range_deletion_bytes != 0) {
    PutField64(dst, kCompensatedRangeDeletionBytes, meta.compensated_range_deletion_bytes);
  }
  if (meta.tail_bytes != 0) PutField64(dst, kTailBytes, meta.tail_bytes);
  if (!meta.timestamps_persisted) put_byte(kTimestampsPersisted, 0);
  for (const auto& [field, body] : meta.unknown_fields) PutTaggedBytes(dst, field, body);
  PutTag(dst, kEnd);
}

// A 0 ends the list of custom fields, which is empty.
void EncodeBlobFile(std::string* dst, const BlobFileAddition& blob) {
  PutTag(dst, kBlobFileAddition);
  PutFileNumber(dst, blob.number);
  PutVarint64(dst, blob.blob_count);
  PutVarint64(dst, blob.blob_bytes);
  PutLengthPrefixedSlice(dst, blob.checksum_method);
  PutLengthPrefixedSlice(dst, blob.checksum_value);
  PutVarint32(dst, 0);
}

// Decoder walks one record. The first parse error is kept with its offset; after that every call
// fails.
class Decoder {
 public:
  Decoder(const Slice& record, VersionEdit* edit) : record_(record), rest_(record), edit_(edit) {
    assert(edit != nullptr);
  }

  // Decodes field by field, until the end or the first error. The position and the tag of the
  // current field are kept for the text of an error.
  Status Run() {
    while (!rest_.empty() && status_.ok()) {
      field_offset_ = record_.size() - rest_.size();
      uint32_t tag;
      if (GetVarint32(&rest_, &tag)) {
        tag_ = tag;
        if (!DecodeField(tag) && status_.ok()) Fail("does not parse");
      } else {
        tag_ = 0;
        Fail("does not parse: bad tag");
      }
    }
    return status_;
  }

 private:
  // The offset is that of the field, in bytes from the start of the record.
  bool Fail(const std::string& what) {
    if (status_.ok()) {
      status_ = Status::Corruption(
          StrCat("MANIFEST record: field ", tag_, " at byte ", field_offset_, " ", what));
    }
    return false;
  }
  // The file may be intact, so that this is not Corruption.
  bool Unsupported(const std::string& what) {
    status_ = Status::NotSupported(StrCat("MANIFEST record: ", what, " at byte ", field_offset_,
                                          "; it was written by a newer version"));
    return false;
  }

  // Readers of single values. They advance rest_, and return false if it ends too early.
  bool Get64(std::optional<uint64_t>* value) { return GetVarint64(&rest_, &value->emplace()); }
  bool Get64(std::optional<FileNumber>* number) {
    assert(number != nullptr);
    return GetFileNumber(&rest_, &number->emplace());
  }
  bool GetBytes(std::string* value) {
    assert(value != nullptr);
    Slice bytes;
    if (!GetLengthPrefixedSlice(&rest_, &bytes)) return false;
    value->assign(bytes.data(), bytes.size());
    return true;
  }
  bool GetLevel(Level* level) {
    uint32_t v;
    if (!GetVarint32(&rest_, &v)) return false;
    if (v >= kMaxLevel) return Fail(StrCat("has level ", v));
    *level = Level{static_cast<int>(v)};
    return true;
  }
  bool GetInternalKey(std::string* key) {
    assert(key != nullptr);
    if (!GetBytes(key)) return false;
    return key->size() >= kTrailerBytes || Fail("has a boundary key without sequence number");
  }

  // Decoders of one field each. False means malformed, or an error in status_.
  bool DecodeField(uint32_t tag);
  bool DecodeFamilyField(uint32_t tag);
  bool DecodeIgnorableField(uint32_t tag);
  bool DecodeCompactCursor();
  bool DecodeDeletedFile();
  bool DecodeNewFile(uint32_t tag);
  bool DecodeFileFields(FileMetadata* meta);
  bool DecodeFileField(uint32_t field, const Slice& body, FileMetadata* meta);
  bool DecodeBlobAddition();
  bool DecodeBlobGarbage();
  bool SkipBlobFields();
  bool DecodeWalAddition(Slice* from);
  bool DecodeLogSummary(Slice* from);

  const Slice record_;
  Slice rest_;
  // Filled field by field; incomplete after an error.
  VersionEdit* const edit_;
  Status status_;
  size_t field_offset_ = 0;
  uint32_t tag_ = 0;
};

// Fields of files and counters; others are decoded by the functions below.
bool Decoder::DecodeField(uint32_t tag) {
  switch (tag) {
    case kComparator: return GetBytes(&edit_->comparator.emplace());
    case kLogNumber: return Get64(&edit_->log_number);
    case kNextFileNumber: return Get64(&edit_->next_file_number);
    case kLastSequence: return Get64(&edit_->last_sequence);
    case kPrevLogNumber: return Get64(&edit_->prev_log_number);
    case kMinLogNumberToKeep: return Get64(&edit_->min_log_number_to_keep);
    case kCompactCursor: return DecodeCompactCursor();
    case kDeletedFile: return DecodeDeletedFile();
    case kNewFile:
    case kNewFile2:
    case kNewFile3:
    case kNewFile4: return DecodeNewFile(tag);
    case kBlobFileAddition:
    case kBlobFileAdditionOld: return DecodeBlobAddition();
    case kBlobFileGarbage:
    case kBlobFileGarbageOld: return DecodeBlobGarbage();
    default: return DecodeFamilyField(tag);
  }
}

// Fields of families and groups. A field that is unknown and not ignorable was written by a newer
// version.
bool Decoder::DecodeFamilyField(uint32_t tag) {
  switch (tag) {
    case kColumnFamily: return GetVarint32(&rest_, &edit_->column_family);
    case kColumnFamilyAdd: return GetBytes(&edit_->added_family.emplace());
    case kColumnFamilyDrop: edit_->is_family_drop = true; return true;
    case kMaxColumnFamily: return GetVarint32(&rest_, &edit_->max_column_family.emplace());
    case kInAtomicGroup: return GetVarint32(&rest_, &edit_->atomic_group_remaining.emplace());
    case kWalAdditionOld: return DecodeWalAddition(&rest_);
    case kWalDeletionOld: return Get64(&edit_->wal_deletion);
    default:
      if ((tag & kIgnorableMask) == 0) return Unsupported(StrCat("unknown field ", tag));
      return DecodeIgnorableField(tag);
  }
}

// Ignorable fields have a length, so unknown ones can be kept.
bool Decoder::DecodeIgnorableField(uint32_t tag) {
  std::string body;
  if (!GetBytes(&body)) return false;
  // Bytes that follow a known number are ignored: a later version may append to the field.
  Slice rest(body);
  uint64_t number;
  switch (tag) {
    case kDbId: edit_->db_id = std::move(body); return true;
    case kFullHistoryTsLow:
      if (body.empty()) return Fail("is an empty timestamp");
      edit_->full_history_ts_low = std::move(body);
      return true;
    case kWalAddition: return DecodeWalAddition(&rest);
    case kWalDeletion: return GetFileNumber(&rest, &edit_->wal_deletion.emplace());
    case kPersistUserDefinedTimestamps:
      if (body.size() != 1) return Fail(StrCat("has ", body.size(), " bytes, expected 1"));
      edit_->persist_user_defined_timestamps = body[0] == 1;
      return true;
    case kLastCompactedManifestBytes:
      if (!GetVarint64(&rest, &number)) return false;
      edit_->last_compacted_manifest_bytes = number;
      return true;
    case kLogSummary: return DecodeLogSummary(&rest);
    case kInitialRecords: return GetVarint64(&rest, &edit_->initial_records.emplace());
    case kChangeBegin: return GetVarint64(&rest, &edit_->change_begin.emplace());
    case kForgottenLogsEnd: return GetFileNumber(&rest, &edit_->forgotten_logs_end.emplace());
    default: edit_->unknown_fields.emplace_back(tag, std::move(body)); return true;
  }
}

// Bytes after the known numbers are ignored: later versions may add more numbers.
bool Decoder::DecodeLogSummary(Slice* from) {
  LogSummary log;
  if (!GetFileNumber(from, &log.number) || !GetVarint64(from, &log.first_seqno) ||
      !GetVarint64(from, &log.synced_bytes) || !GetVarint64(from, &log.end_bytes)) {
    return false;
  }
  edit_->logs.push_back(log);
  return true;
}

bool Decoder::DecodeCompactCursor() {
  VersionEdit::CompactCursor cursor;
  if (!GetLevel(&cursor.level) || !GetInternalKey(&cursor.key)) return false;
  edit_->compact_cursors.push_back(std::move(cursor));
  return true;
}

bool Decoder::DecodeDeletedFile() {
  VersionEdit::DeletedFile file;
  if (!GetLevel(&file.level) || !GetFileNumber(&rest_, &file.number)) return false;
  edit_->deleted_files.push_back(file);
  return true;
}

// The four tags are successive forms of the record. The oldest one has no sequence numbers.
bool Decoder::DecodeNewFile(uint32_t tag) {
  VersionEdit::NewFile file;
  FileMetadata& meta = file.meta;
  if (!GetLevel(&file.level) || !GetFileNumber(&rest_, &meta.number)) return false;
  if (tag == kNewFile3) {
    if (!GetVarint32(&rest_, &meta.path_id)) return false;
    if (meta.path_id > kMaxPathId) return Fail(StrCat("has path id ", meta.path_id));
  }
  if (!GetVarint64(&rest_, &meta.file_size)) return false;
  if (!GetInternalKey(&meta.smallest) || !GetInternalKey(&meta.largest)) return false;
  if (tag == kNewFile) {
    meta.smallest_seqno = 0;
    meta.largest_seqno = 0;
  } else {
    if (!GetVarint64(&rest_, &meta.smallest_seqno)) return false;
    if (!GetVarint64(&rest_, &meta.largest_seqno)) return false;
  }
  if (tag == kNewFile4 && !DecodeFileFields(&meta)) return false;
  edit_->new_files.push_back(std::move(file));
  return true;
}

// Reads the custom fields of a file up to the end mark.
bool Decoder::DecodeFileFields(FileMetadata* meta) {
  while (true) {
    uint32_t field;
    if (!GetVarint32(&rest_, &field)) return false;
    if (field == kEnd) return true;
    Slice body;
    if (!GetLengthPrefixedSlice(&rest_, &body)) return false;
    if (!DecodeFileField(field, body, meta)) {
      return Fail(
          StrCat("has file field ", field, " of ", body.size(), " bytes that is not valid"));
    }
  }
}

// Returns false if the body of a known field is malformed.
bool Decoder::DecodeFileField(uint32_t field, const Slice& body, FileMetadata* meta) {
  assert(meta != nullptr);
  Slice rest = body;
  const auto get_byte = [&body](auto* value) {
    if (body.size() != 1) return false;
    *value = static_cast<uint8_t>(body[0]);
    return true;
  };
  switch (field) {
    case kNeedCompaction: return get_byte(&meta->marked_for_compaction);
    // An old way to store a counter of the database in a record of a file.
    case kMinLogNumberToKeepHack:
      if (body.size() != 8) return false;
      edit_->min_log_number_to_keep = FileNumber{DecodeFixed64(body.data())};
      return true;
    case kOldestBlobFileNumber: return GetFileNumber(&rest, &meta->oldest_blob_file_number);
    case kOldestAncestorTime: return GetVarint64(&rest, &meta->oldest_ancestor_time);
    case kFileCreationTime: return GetVarint64(&rest, &meta->file_creation_time);
    case kFileChecksum:
      meta->has_file_checksum = true;
      meta->file_checksum = body.ToString();
      return true;
    case kFileChecksumFunction:
      meta->has_file_checksum = true;
      meta->file_checksum_function = body.ToString();
      return true;
    case kTemperature: return get_byte(&meta->temperature);
    case kMinTimestamp: meta->min_timestamp = body.ToString(); return true;
    case kMaxTimestamp: meta->max_timestamp = body.ToString(); return true;
    case kUniqueId:
      meta->unique_id = body.ToString();
      // RocksDB writes 16 zero bytes if it has no id.
      if (meta->unique_id == std::string(16, '\0')) meta->unique_id.clear();  // unknown
      return body.size() == 16;
    case kEpochNumber: return GetVarint64(&rest, &meta->epoch_number);
    case kCompensatedRangeDeletionBytes:
      return GetVarint64(&rest, &meta->compensated_range_deletion_bytes);
    case kTailBytes: return GetVarint64(&rest, &meta->tail_bytes);
    case kTimestampsPersisted: return get_byte(&meta->timestamps_persisted);
    case kPathId: return get_byte(&meta->path_id) && meta->path_id <= kMaxPathId;
    default:
      if ((field & kMustUnderstandMask) != 0) {
        return Unsupported(StrCat("unknown custom file field ", field));
      }
      meta->unknown_fields.emplace_back(field, body.ToString());
      return true;
  }
}

bool Decoder::DecodeBlobAddition() {
  BlobFileAddition blob;
  if (!GetFileNumber(&rest_, &blob.number) || !GetVarint64(&rest_, &blob.blob_count) ||
      !GetVarint64(&rest_, &blob.blob_bytes) || !GetBytes(&blob.checksum_method) ||
      !GetBytes(&blob.checksum_value) || !SkipBlobFields()) {
    return false;
  }
  edit_->blob_additions.push_back(std::move(blob));
  return true;
}

bool Decoder::DecodeBlobGarbage() {
  BlobFileGarbage garbage;
  if (!GetFileNumber(&rest_, &garbage.number) || !GetVarint64(&rest_, &garbage.garbage_count) ||
      !GetVarint64(&rest_, &garbage.garbage_bytes) || !SkipBlobFields()) {
    return false;
  }
  edit_->blob_garbage.push_back(garbage);
  return true;
}

// Skips fields that may be ignored, up to the end mark 0.
bool Decoder::SkipBlobFields() {
  while (true) {
    uint32_t field;
    if (!GetVarint32(&rest_, &field)) return false;
    if (field == 0) return true;
    if ((field & kMustUnderstandMask) != 0) {
      return Fail(StrCat("has unknown blob file field ", field));
    }
    Slice body;
    if (!GetLengthPrefixedSlice(&rest_, &body)) return false;
  }
}

// RocksDB's record of a WAL: a number, then fields up to an end mark.
bool Decoder::DecodeWalAddition(Slice* from) {
  enum : uint32_t { kTerminate = 1, kSyncedBytes = 2 };
  WalAddition wal;
  if (!GetFileNumber(from, &wal.log_number)) return false;
  while (true) {
    uint32_t field;
    if (!GetVarint32(from, &field)) return false;
    if (field == kTerminate) break;
    if (field != kSyncedBytes) return Fail(StrCat("has unknown log field ", field));
    if (!GetVarint64(from, &wal.synced_bytes.emplace())) return false;
  }
  edit_->wal_additions.push_back(wal);
  return true;
}

// RocksDB's records of WALs, and then our own summaries.
void EncodeLogs(std::string* dst, const VersionEdit& edit) {
  for (const WalAddition& wal : edit.wal_additions) {
    std::string body;
    PutFileNumber(&body, wal.log_number);
    if (wal.synced_bytes) {
      PutVarint32(&body, 2);
      PutVarint64(&body, *wal.synced_bytes);
    }
    PutVarint32(&body, 1);
    PutTaggedBytes(dst, kWalAddition, body);
  }
  if (edit.wal_deletion) PutField64(dst, kWalDeletion, edit.wal_deletion->value());
  for (const LogSummary& log : edit.logs) {
    std::string body;
    PutFileNumber(&body, log.number);
    PutVarint64(&body, log.first_seqno);
    PutVarint64(&body, log.synced_bytes);
    PutVarint64(&body, log.end_bytes);
    PutTaggedBytes(dst, kLogSummary, body);
  }
}

}  // namespace

void VersionEdit::EncodeTo(std::string* dst) const {
  if (db_id) PutTaggedBytes(dst, kDbId, *db_id);
  if (comparator) PutTaggedBytes(dst, kComparator, *comparator);
  PutTagged(dst, kLogNumber, log_number);
  PutTagged(dst, kPrevLogNumber, prev_log_number);
  // In the order of RocksDB, which some tools expect.
  PutTagged(dst, kNextFileNumber, next_file_number);
  PutTagged(dst, kMaxColumnFamily, max_column_family);
  PutTagged(dst, kMinLogNumberToKeep, min_log_number_to_keep);
  PutTagged(dst, kLastSequence, last_sequence);
  for (const CompactCursor& cursor : compact_cursors) {
    PutTag(dst, kCompactCursor);
    PutVarint32(dst, static_cast<uint32_t>(cursor.level));
    PutLengthPrefixedSlice(dst, cursor.key);
  }
  for (const DeletedFile& file : deleted_files) {
    PutTag(dst, kDeletedFile);
    PutVarint32(dst, static_cast<uint32_t>(file.level));
    PutFileNumber(dst, file.number);
  }
  for (const NewFile& file : new_files) EncodeNewFile(dst, file);
  for (const BlobFileAddition& blob : blob_additions) EncodeBlobFile(dst, blob);
  for (const BlobFileGarbage& garbage : blob_garbage) {
    PutTag(dst, kBlobFileGarbage);
    PutFileNumber(dst, garbage.number);
    PutVarint64(dst, garbage.garbage_count);
    PutVarint64(dst, garbage.garbage_bytes);
    PutVarint32(dst, 0);
  }
  EncodeLogs(dst, *this);
  // Family 0 is the default, and is not written.
  if (column_family != 0) {
    PutTag(dst, kColumnFamily);
    PutVarint32(dst, column_family);
  }
  if (added_family) PutTaggedBytes(dst, kColumnFamilyAdd, *added_family);
  if (is_family_drop) PutTag(dst, kColumnFamilyDrop);
  PutTagged(dst, kInAtomicGroup, atomic_group_remaining);
  if (full_history_ts_low) PutTaggedBytes(dst, kFullHistoryTsLow, *full_history_ts_low);
  if (persist_user_defined_timestamps) {
    const char byte = *persist_user_defined_timestamps ? 1 : 0;
    PutTaggedBytes(dst, kPersistUserDefinedTimestamps, Slice(&byte, 1));
  }
  if (last_compacted_manifest_bytes) {
    PutField64(dst, kLastCompactedManifestBytes, *last_compacted_manifest_bytes);
  }
  if (forgotten_logs_end) PutField64(dst, kForgottenLogsEnd, forgotten_logs_end->value());
  if (initial_records) PutField64(dst, kInitialRecords, *initial_records);
  if (change_begin) PutField64(dst, kChangeBegin, *change_begin);
  for (const auto& [tag, body] : unknown_fields) PutTaggedBytes(dst, tag, body);
}

Status VersionEdit::DecodeFrom(const Slice& record) {
  *this = VersionEdit();
  return Decoder(record, this).Run();
}

}  // namespace ashlar
