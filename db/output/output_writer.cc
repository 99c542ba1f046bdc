// SPDX-License-Identifier: Apache-2.0
//
// At most one table is open at a time. It may end before an entry that is the first of its user
// key.
#include "db/output/output_writer.h"

#include <cassert>
#include <utility>

#include "ashlar/sst_partitioner.h"
#include "db/manifest/version_edit.h"
#include "db/output/entry_pipe.h"
#include "env/file_util.h"
#include "env/filename.h"
#include "env/space/sst_file_manager_impl.h"
#include "util/result.h"

namespace ashlar {

// Adds the result of the next part of the key range, so tables stay in the order of their keys.
void OutputResult::Append(OutputResult part) {
  for (OutputTable& table : part.tables) tables.push_back(std::move(table));
  for (BlobFileAddition& file : part.blob_files) blob_files.push_back(std::move(file));
  AddGarbage(part.blob_garbage, &blob_garbage);
  blobs.relocated += part.blobs.relocated;
  blobs.relocated_bytes += part.blobs.relocated_bytes;
  blobs.read += part.blobs.read;
  blobs.read_bytes += part.blobs.read_bytes;
  input_entries += part.input_entries;
  output_entries += part.output_entries;
  hidden_dropped += part.hidden_dropped;
  covered_dropped += part.covered_dropped;
  tombstones_dropped += part.tombstones_dropped;
  filtered += part.filtered;
  unmatched_singles += part.unmatched_singles;
  mismatched_singles += part.mismatched_singles;
  corrupt_entries += part.corrupt_entries;
  has_skipped |= part.has_skipped;
  range_tombstones_dropped += part.range_tombstones_dropped;
  bytes_written += part.bytes_written;
  passed_blocks += part.passed_blocks;
  cpu_micros += part.cpu_micros;
}

Status OutputWriter::WriteAll(EntryStream* entries, OutputResult* result) {
  assert(entries != nullptr);
  const Status status = WriteAndFinish(entries);
  TellCounts(entries->counts(), result);
  return status;
}

Status OutputWriter::WriteAll(EntryPipe* entries, OutputResult* result) {
  assert(entries != nullptr);
  assert(options_.blobs == nullptr);  // both threads would use the flow
  const Status status = WriteAndFinish(entries);
  entries->Stop();
  TellCounts(entries->counts(), result);
  return status;
}

void OutputWriter::TellCounts(const EntryStream::Counts& counts, OutputResult* result) {
  assert(result != nullptr);
  assert(table_ == nullptr);  // WriteAndFinish() has finished or deleted it
  result_.input_entries = counts.read;
  result_.hidden_dropped = counts.hidden;
  result_.covered_dropped = counts.covered;
  result_.tombstones_dropped = counts.tombstones;
  result_.filtered = counts.filtered;
  result_.unmatched_singles = counts.unmatched_singles;
  result_.mismatched_singles = counts.mismatched_singles;
  result_.corrupt_entries = counts.corrupt;
  result_.has_skipped = counts.has_skipped;
  if (options_.blobs != nullptr) {
    result_.blob_files = options_.blobs->TakeFiles();
    result_.blob_garbage = options_.blobs->Garbage();
    result_.blobs = options_.blobs->counts();
  }
  *result = std::move(result_);
}

// The blob files are durable before the table that refers to them is complete.
template <typename Entries>
Status OutputWriter::WriteAndFinish(Entries* entries) {
  assert(table_ == nullptr);  // a writer is used once
  std::optional<OutputWriter> young;
  if (options_.young != nullptr) young.emplace(*options_.young->writer);
  Status status = young.has_value() ? WriteToBoth(entries, &*young) : WriteEntries(entries);
  if (status.ok() && options_.blobs != nullptr) status = options_.blobs->Finish();
  EndLastTable(&status);
  if (!young.has_value()) return status;
  young->EndLastTable(&status);
  for (OutputTable& table : young->result_.tables) table.is_young = true;
  result_.Append(std::move(young->result_));
  return status;
}

void OutputWriter::EndLastTable(Status* status) {
  if (status->ok() && table_ != nullptr) *status = FinishTable(/*next_key=*/nullptr);
  if (table_ != nullptr) TellEnd(table_->file_number(), nullptr, *status);
  table_.reset();
}

// A table is cut only before the first version of a key, so that all versions of a key are in one
// table. Range tombstones that begin before the key are passed on first, since they may begin or
// widen a table.
template <typename Entries>
Status OutputWriter::WriteEntries(Entries* entries) {
  assert(entries != nullptr);
  OutputCutter cutter(entries->comparator(), options_.limits);
  for (entries->SeekToFirst(); entries->Valid(); entries->Next()) {
    RETURN_IF_ERROR(WriteEntry(entries, entries->is_first_of_key(), &cutter));
  }
  RETURN_IF_ERROR(entries->status());
  return PassTombstones(/*user_key=*/nullptr, &cutter);
}

template <typename Entries>
[[gnu::always_inline]] inline Status OutputWriter::WriteEntry(Entries* entries,
                                                              bool is_first_of_key,
                                                              OutputCutter* cutter) {
  Slice key = entries->key();
  if (is_first_of_key) {
    const Slice user_key = ExtractUserKey(key);
    if (next_tombstone_ < tombstone_count()) RETURN_IF_ERROR(PassTombstones(&user_key, cutter));
    RETURN_IF_ERROR(CutBefore(user_key, cutter));
  } else {
    table_->NoteOlderVersion();
  }
  assert(table_ != nullptr);
  if (entries->offers_block()) [[unlikely]]
    table_->OfferBlock(entries->TakeBlock());
  Slice value = entries->value();
  if (options_.blobs != nullptr) [[unlikely]]
    RETURN_IF_ERROR(options_.blobs->Pass(&key, &value));
  RETURN_IF_ERROR(table_->Add(key, value));
  result_.output_entries++;
  return Status::OK();
}

// The numbers of a key descend, so its young versions come first: the newer ones go to the upper
// level. Each of the writers has the range tombstones of its own level.
template <typename Entries>
Status OutputWriter::WriteToBoth(Entries* entries, OutputWriter* young) {
  assert(options_.young != nullptr);
  const SequenceNumber first_young = options_.young->first_young;
  OutputCutter cutter(entries->comparator(), options_.limits);
  OutputCutter young_cutter(entries->comparator(), young->options_.limits);
  bool is_in_range = false, has_young = false, has_old = false;  // of the current user key
  for (entries->SeekToFirst(); entries->Valid(); entries->Next()) {
    const Slice key = entries->key();
    if (entries->is_first_of_key()) {
      is_in_range = IsYoungRange(ExtractUserKey(key));
      has_young = has_old = false;
    }
    const bool is_young = is_in_range && TrailerSeqno(ExtractTrailer(key)) >= first_young;
    assert(!(is_young && has_old));
    bool& has_any = is_young ? has_young : has_old;
    const bool is_first = !std::exchange(has_any, true);
    RETURN_IF_ERROR(is_young ? young->WriteEntry(entries, is_first, &young_cutter)
                             : WriteEntry(entries, is_first, &cutter));
  }
  RETURN_IF_ERROR(entries->status());
  RETURN_IF_ERROR(young->PassTombstones(/*user_key=*/nullptr, &young_cutter));
  return PassTombstones(/*user_key=*/nullptr, &cutter);
}

bool OutputWriter::IsYoungRange(const Slice& user_key) const {
  const InternalKeyComparator& order = *options_.table.comparator;
  const YoungOutputs& young = *options_.young;
  const int to_end = order.OrderWithoutTimestamp(user_key, young.largest);
  return order.OrderWithoutTimestamp(young.smallest, user_key) <= 0 &&
         (young.largest_is_exclusive ? to_end < 0 : to_end <= 0);
}

Status OutputWriter::PassTombstones(const Slice* user_key, OutputCutter* cutter) {
  assert(next_tombstone_ <= tombstone_count());
  constexpr uint64_t kOverheadBytes = kTrailerBytes + 3 + sizeof(uint32_t);  // lengths, restart
  for (; next_tombstone_ < tombstone_count(); next_tombstone_++) {
    const FragmentedTombstones::Fragment fragment = options_.tombstones->fragment(next_tombstone_);
    if (user_key != nullptr &&
        options_.table.comparator->OrderWithoutTimestamp(fragment.begin, *user_key) > 0) {
      break;
    }
    RETURN_IF_ERROR(CutBefore(fragment.begin, cutter));
    tombstone_bytes_ +=
        fragment.seqnos.size() * (fragment.begin.size() + fragment.end.size() + kOverheadBytes);
  }
  return Status::OK();
}

// Ends the current table if it is due, and makes sure that there is a table for the key.
Status OutputWriter::CutBefore(const Slice& user_key, OutputCutter* cutter) {
  assert(cutter != nullptr);
  const uint64_t bytes = table_ == nullptr ? 0 : table_->FileBytes() + tombstone_bytes_;
  bool is_due = cutter->ShouldCutBefore(user_key, bytes);
  if (options_.partitioner != nullptr) [[unlikely]]
    is_due = PartitionsBefore(user_key, bytes) || is_due;
  if (table_ != nullptr) {
    // A range tombstone may have begun the table at this very key.
    if (!is_due || options_.table.comparator->SameKey(user_key, table_first_key_)) {
      return Status::OK();
    }
    RETURN_IF_ERROR(FinishTable(&user_key));
  }
  assert(table_ == nullptr);
  cutter->NoteNewOutput();
  return BeginTable(user_key);
}

// Asks the program's partitioner about two neighbouring keys of one output. The begin of a range
// tombstone counts as a key too.
bool OutputWriter::PartitionsBefore(const Slice& user_key, uint64_t output_bytes) {
  bool is_due = false;
  const Slice last = last_key_;
  if (table_ != nullptr && !options_.table.comparator->SameKey(last, user_key)) {
    const PartitionerRequest request(last, user_key, output_bytes);
    is_due = options_.partitioner->ShouldPartition(request) == kRequired;
  }
  last_key_.assign(user_key.data(), user_key.size());
  return is_due;
}

// The observer gets an end for each table that begins, also if the file cannot be created.
Status OutputWriter::BeginTable(const Slice& first_key) {
  table_first_key_.assign(first_key.data(), first_key.size());
  TableOutputOptions options = options_.table;
  options.file_number = options_.new_file_number();
  if (options_.observer != nullptr) options_.observer->OnTableBegun(options.file_number);
  Result<std::unique_ptr<TableOutput>> created = TableOutput::Create(options);
  if (!created.ok()) {
    TellEnd(options.file_number, nullptr, created.status());
    return created.status();
  }
  table_ = created.Take();
  return Status::OK();
}

// Notifies the observer that a table has ended.
void OutputWriter::TellEnd(FileNumber number, const OutputTable* finished, const Status& status) {
  assert((finished != nullptr) == status.ok());
  if (options_.observer != nullptr) options_.observer->OnTableEnded(number, finished, status);
}

// Writes the tombstones before `next_key` to the current table. A tombstone that crosses the border
// between two tables is cut there and goes to both, so that neither table needs the bounds of the
// other to know its part.
Status OutputWriter::WriteTombstonesBefore(const Slice* next_key) {
  assert(table_ != nullptr);
  assert(first_tombstone_ <= tombstone_count());
  const InternalKeyComparator& order = *options_.table.comparator;
  for (; first_tombstone_ < tombstone_count(); first_tombstone_++) {
    const FragmentedTombstones::Fragment fragment = options_.tombstones->fragment(first_tombstone_);
    Slice begin = fragment.begin, end = fragment.end;
    if (table_begin_.has_value() && order.OrderWithoutTimestamp(begin, *table_begin_) < 0) {
      begin = *table_begin_;
    }
    if (next_key != nullptr && order.OrderWithoutTimestamp(begin, *next_key) >= 0) break;
    const bool goes_on = next_key != nullptr && order.OrderWithoutTimestamp(*next_key, end) < 0;
    if (goes_on) end = *next_key;
    for (size_t i = 0; i < fragment.seqnos.size(); i++) {
      const Slice stamp = fragment.stamps.empty() ? Slice() : fragment.stamps[i];
      RETURN_IF_ERROR(table_->AddTombstone({begin, end, fragment.seqnos[i], stamp}));
    }
    if (goes_on) break;
  }
  return Status::OK();
}

// Writes the tombstones that belong to the table, completes it and moves it to the result.
Status OutputWriter::FinishTable(const Slice* next_key) {
  assert(table_ != nullptr);
  RETURN_IF_ERROR(WriteTombstonesBefore(next_key));
  tombstone_bytes_ = 0;
  if (next_key != nullptr) table_begin_ = next_key->ToString();
  assert(table_->entry_count() > 0);
  OutputTable finished;
  RETURN_IF_ERROR(table_->Finish(&finished.meta));
  finished.properties = table_->properties();
  result_.bytes_written += finished.meta.file_size;
  result_.passed_blocks += table_->passed_blocks();
  assert(finished.meta.file_size > 0);
  assert(finished.meta.smallest_seqno <= finished.meta.largest_seqno);
  TellEnd(finished.meta.number, &finished, Status::OK());
  result_.tables.push_back(std::move(finished));
  table_.reset();
  return CheckSpaceLimit();
}

// Ends a compaction when the limit on space is reached. A flush continues, because writers wait for
// it; they get the error after the flush.
Status OutputWriter::CheckSpaceLimit() const {
  SstFileManagerImpl* const space = options_.table.context->space;
  if (options_.table.is_flush || space == nullptr) return Status::OK();
  return space->IsMaxAllowedSpaceReached() ? Status::SpaceLimit(kSpaceLimitReached) : Status::OK();
}

// To be called after an error, when no MANIFEST names the files.
void DeleteUnnamedFiles(const TableOutputOptions& table, OutputResult* result) {
  assert(result != nullptr);
  for (const OutputTable& output : result->tables) DeleteUnnamedTable(table, output.meta.number);
  result->tables.clear();
  for (const BlobFileAddition& blob : result->blob_files) {
    const std::string path = BlobFileName(table.blob_dir, blob.number);
    IgnoreError(DeleteFileIfExists(table.context->fs, path),
                "a file that stays is deleted at the next open");
    if (table.context->space != nullptr) table.context->space->OnDeleteFile(path);
  }
  result->blob_files.clear();
}

std::vector<std::string> PathsOf(const TableOutputOptions& table, const OutputResult& result) {
  std::vector<std::string> paths;
  for (const OutputTable& output : result.tables) {
    paths.push_back(TableFileName(table.dir, output.meta.number));
  }
  for (const BlobFileAddition& blob : result.blob_files) {
    paths.push_back(BlobFileName(table.blob_dir, blob.number));
  }
  return paths;
}

// Adds the files to the edit, which the caller records in the MANIFEST.
void DescribeOutput(const OutputResult& result, Level level, VersionEdit* edit) {
  assert(edit != nullptr);
  assert(level >= 0);
  for (const OutputTable& table : result.tables) edit->AddFile(table.LevelFor(level), table.meta);
  edit->blob_additions.insert(edit->blob_additions.end(), result.blob_files.begin(),
                              result.blob_files.end());
  edit->blob_garbage.insert(edit->blob_garbage.end(), result.blob_garbage.begin(),
                            result.blob_garbage.end());
}

}  // namespace ashlar
