// SPDX-License-Identifier: Apache-2.0
//
// One table is open at a time; an entry that begins a user key may end it.
#include "db/output/output_writer.h"

#include <cassert>
#include <iterator>
#include <utility>

namespace ashlar {

void OutputResult::Append(OutputResult part) {
  tables.insert(tables.end(), std::make_move_iterator(part.tables.begin()),
                std::make_move_iterator(part.tables.end()));
  input_entries += part.input_entries;
  output_entries += part.output_entries;
  hidden_dropped += part.hidden_dropped;
  tombstones_dropped += part.tombstones_dropped;
  bytes_written += part.bytes_written;
}

Status OutputWriter::WriteAll(EntryStream* entries, OutputResult* result) {
  Status status = WriteEntries(entries);
  if (status.ok() && table_ != nullptr) status = FinishTable();
  table_.reset();
  result_.input_entries = entries->counts().read;
  result_.hidden_dropped = entries->counts().hidden;
  result_.tombstones_dropped = entries->counts().tombstones;
  *result = std::move(result_);
  return status;
}

Status OutputWriter::WriteEntries(EntryStream* entries) {
  OutputCutter cutter(entries->comparator(), options_.limits);
  for (entries->SeekToFirst(); entries->Valid(); entries->Next()) {
    const Slice key = entries->key();
    if (entries->is_first_of_key()) RETURN_IF_ERROR(CutBefore(ExtractUserKey(key), &cutter));
    assert(table_ != nullptr);
    RETURN_IF_ERROR(table_->Add(key, entries->value()));
    result_.output_entries++;
  }
  return entries->status();
}

// Afterwards there is a table for the key.
Status OutputWriter::CutBefore(const Slice& user_key, OutputCutter* cutter) {
  const bool is_due =
      cutter->ShouldCutBefore(user_key, table_ == nullptr ? 0 : table_->FileBytes());
  if (table_ != nullptr) {
    if (!is_due) return Status::OK();
    RETURN_IF_ERROR(FinishTable());
  }
  cutter->NoteNewOutput();
  TableOutputOptions options = options_.table;
  options.file_number = options_.new_file_number();
  ASSIGN_OR_RETURN(table_, TableOutput::Create(options));
  return Status::OK();
}

Status OutputWriter::FinishTable() {
  assert(table_ != nullptr);
  assert(table_->entry_count() > 0);
  OutputTable finished;
  RETURN_IF_ERROR(table_->Finish(&finished.meta));
  finished.properties = table_->properties();
  result_.bytes_written += finished.meta.file_size;
  result_.tables.push_back(std::move(finished));
  table_.reset();
  return Status::OK();
}

void DeleteUnnamedTables(const TableOutputOptions& table, OutputResult* result) {
  for (const OutputTable& output : result->tables) DeleteUnnamedTable(table, output.meta.number);
  result->tables.clear();
}

}  // namespace ashlar
