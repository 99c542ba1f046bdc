// SPDX-License-Identifier: Apache-2.0
//
// Entries other than large values and blob indexes pass unchanged.
#include "db/output/blob_flow.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <utility>

#include "db/blob/blob_store.h"
#include "util/keys/internal_key.h"
#include "util/result.h"
#include "util/text/data_in_errors.h"

namespace ashlar {
namespace {

// Returns the number below which blob files are old: values in them are written again.
FileNumber RelocatedEnd(const BlobFiles* files, double share) {
  if (files == nullptr || files->empty()) return 0;
  const auto& all = files->all();
  const double first_kept =
      std::floor(std::clamp(share, 0.0, 1.0) * static_cast<double>(all.size()));
  const auto index = static_cast<size_t>(first_kept);
  return index < all.size() ? all[index].file->meta.number : FileNumber::None();
}

}  // namespace

BlobFlowOptions BlobFlowOptionsFor(const TableOutputOptions& table,
                                   const BlobFlowRequest& request) {
  assert(table.context != nullptr);
  assert(table.family_options != nullptr);
  const ColumnFamilyOptions& family = *table.family_options;
  BlobFlowOptions flow;
  flow.files = request.files;
  flow.store = table.blob_store;
  flow.readahead_bytes = request.readahead_bytes;
  if (request.relocated_share.has_value()) {
    flow.relocated_end = RelocatedEnd(request.files, *request.relocated_share);
  }
  if (!family.enable_blob_files || table.level < family.blob_file_starting_level) return flow;
  flow.least_separated_bytes = family.min_blob_size;
  BlobWriterOptions& writer = flow.writer;
  writer.fs = table.context->fs;
  writer.file_options = FileOptionsFor(table);
  writer.writer = WriterOptionsFor(table);
  writer.dir = table.blob_dir;
  writer.family_id = table.family_id;
  writer.file_bytes = family.blob_file_size;
  writer.compression = family.blob_compression_type;
  writer.compression_options = family.blob_compression_opts;
  writer.new_file_number = request.new_file_number;
  writer.observer = request.observer;
  writer.statistics = table.context->writer_options.statistics;
  writer.space = table.context->space;
  writer.checksum_factory = table.context->checksum_factory.get();
  if (table.is_flush && family.prepopulate_blob_cache == PrepopulateBlobCache::kFlushOnly) {
    writer.prepopulated = table.blob_store;
  }
  return flow;
}

// Counts the reference, whether or not the entry is written again.
Status BlobFlow::NoteInput(const Slice& user_key, const Slice& encoded) {
  BlobIndex index;
  const Status decoded = index.DecodeFrom(encoded);
  if (!decoded.ok()) {
    return Status::CopyAppendMessage(decoded, "; of key ", KeyInError(user_key));
  }
  Through& through = through_[index.file];
  through.in_count++;
  through.in_bytes += BlobRecordBytes(user_key.size(), index.size);
  return Status::OK();
}

// Reads the value of an index. If readahead is on and the value lies outside of the range that was
// read ahead last, requests the next range of the file.
Status BlobFlow::Read(const Slice& user_key, const BlobIndex& index, const Slice& encoded,
                      PinnableSlice* value) {
  assert(value != nullptr);
  if (options_.store == nullptr) return Status::Corruption("a blob index, but no blob files");
  if (options_.readahead_bytes != 0 &&
      (index.file != ahead_file_ || index.offset + index.size > ahead_end_ ||
       index.offset + options_.readahead_bytes < ahead_end_)) {
    options_.store->Prefetch(options_.files, index, options_.readahead_bytes);
    ahead_file_ = index.file;
    ahead_end_ = index.offset + options_.readahead_bytes;
  }
  ReadOptions read_options;
  read_options.fill_cache = false;
  BlobRead read{.user_key = user_key, .index = encoded, .value = value, .status = {}};
  RETURN_IF_ERROR(options_.store->Read(options_.files, read_options, &read));
  counts_.read++;
  counts_.read_bytes += index.size;
  return Status::OK();
}

// *value is valid until the next call.
Status BlobFlow::Load(const Slice& user_key, const Slice& encoded, Slice* value) {
  assert(value != nullptr);
  BlobIndex index;
  RETURN_IF_ERROR(index.DecodeFrom(encoded));
  RETURN_IF_ERROR(Read(user_key, index, encoded, &loaded_));
  *value = loaded_;
  return Status::OK();
}

// Replaces the key by a copy with another kind of entry.
void BlobFlow::Rewrite(Slice* internal_key, ValueType type) {
  assert(internal_key != nullptr);
  const SequenceNumber seqno = TrailerSeqno(ExtractTrailer(*internal_key));
  const Slice user_key = ExtractUserKey(*internal_key);
  if (internal_key->data() != key_.data()) key_.assign(user_key.data(), user_key.size());
  key_.resize(user_key.size());
  AppendInternalKey(&key_, Slice(), PackTrailer(seqno, type));
  *internal_key = key_;
}

// Decides for each entry what happens to its value: it stays, it goes to a blob file, or its
// reference is relocated.
Status BlobFlow::Pass(Slice* internal_key, Slice* value) {
  assert(internal_key != nullptr);
  const ValueType type = TrailerType(ExtractTrailer(*internal_key));
  if (type == kTypeBlobIndex) [[unlikely]]
    return PassIndex(internal_key, value);
  if (type != kTypeValue || !options_.least_separated_bytes.has_value()) return Status::OK();
  return Separate(internal_key, value);
}

// Moves a large value to a blob file, and replaces the entry by a blob index.
Status BlobFlow::Separate(Slice* internal_key, Slice* value) {
  assert(internal_key != nullptr);
  assert(value != nullptr);
  assert(options_.least_separated_bytes.has_value());
  if (value->empty() || value->size() < *options_.least_separated_bytes) return Status::OK();
  BlobIndex index;
  bool is_stored = false;
  RETURN_IF_ERROR(writer_.Add(ExtractUserKey(*internal_key), *value, &index, &is_stored));
  if (!is_stored) return Status::OK();
  index_.clear();
  index.AppendTo(&index_);
  Rewrite(internal_key, kTypeBlobIndex);
  *value = index_;
  return Status::OK();
}

// Passes a blob index: keeps the reference, or replaces the entry by the value if its blob file is
// old.
Status BlobFlow::PassIndex(Slice* internal_key, Slice* value) {
  assert(internal_key != nullptr);
  assert(value != nullptr);
  BlobIndex index;
  RETURN_IF_ERROR(index.DecodeFrom(*value));  // NoteInput() reports the key of a malformed index
  const Slice user_key = ExtractUserKey(*internal_key);
  if (index.file >= options_.relocated_end) {
    Through& through = through_[index.file];
    through.out_count++;
    through.out_bytes += BlobRecordBytes(user_key.size(), index.size);
    return Status::OK();
  }
  RETURN_IF_ERROR(Read(user_key, index, *value, &moved_));
  counts_.relocated++;
  counts_.relocated_bytes += moved_.size();
  *value = moved_;
  Rewrite(internal_key, kTypeValue);
  return options_.least_separated_bytes.has_value() ? Separate(internal_key, value) : Status::OK();
}

// The references of each blob file that were read and not written again.
std::vector<BlobFileGarbage> BlobFlow::Garbage() const {
  std::vector<BlobFileGarbage> garbage;
  for (const auto& [number, through] : through_) {
    // Each reference that is written was read before, or belongs to an entry that was.
    assert(through.in_count >= through.out_count);
    assert(through.in_bytes >= through.out_bytes);
    if (through.in_count == through.out_count) continue;
    garbage.push_back({.number = number,
                       .garbage_count = through.in_count - through.out_count,
                       .garbage_bytes = through.in_bytes - through.out_bytes});
  }
  return garbage;
}

// Both lists may have several entries of one file; the result has one for each file, in ascending
// order of the numbers.
void AddGarbage(const std::vector<BlobFileGarbage>& more, std::vector<BlobFileGarbage>* sum) {
  assert(sum != nullptr);
  std::map<FileNumber, BlobFileGarbage> by_number;
  for (const auto* list : {&more, static_cast<const std::vector<BlobFileGarbage>*>(sum)}) {
    for (const BlobFileGarbage& garbage : *list) {
      BlobFileGarbage& all = by_number[garbage.number];
      all.number = garbage.number;
      all.garbage_count += garbage.garbage_count;
      all.garbage_bytes += garbage.garbage_bytes;
    }
  }
  sum->clear();
  for (const auto& [number, garbage] : by_number) sum->push_back(garbage);
}

}  // namespace ashlar
