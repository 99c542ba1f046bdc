// SPDX-License-Identifier: Apache-2.0
//
// Each event is one line. The member names are those of RocksDB, whose tools read them, and a few
// of our own.
#include "db/jobs/job_events.h"

#include <algorithm>
#include <cassert>

#include "ashlar/file_checksum.h"
#include "db/blob/blob_file.h"
#include "env/event_log.h"
#include "memtable/memtable.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

// The table properties that the event of a new table contains: numbers and texts.
struct NumberRow {
  const char* name;
  uint64_t TableProperties::*member;
};
constexpr NumberRow kNumbers[] = {
    {"data_size", &TableProperties::data_size},
    {"index_size", &TableProperties::index_size},
    {"index_partitions", &TableProperties::index_partitions},
    {"top_level_index_size", &TableProperties::top_level_index_size},
    {"index_key_is_user_key", &TableProperties::index_key_is_user_key},
    {"index_value_is_delta_encoded", &TableProperties::index_value_is_delta_encoded},
    {"filter_size", &TableProperties::filter_size},
    {"raw_key_size", &TableProperties::raw_key_size},
    {"raw_value_size", &TableProperties::raw_value_size},
    {"num_data_blocks", &TableProperties::num_data_blocks},
    {"num_entries", &TableProperties::num_entries},
    {"num_filter_entries", &TableProperties::num_filter_entries},
    {"num_deletions", &TableProperties::num_deletions},
    {"num_merge_operands", &TableProperties::num_merge_operands},
    {"num_range_deletions", &TableProperties::num_range_deletions},
    {"format_version", &TableProperties::format_version},
    {"fixed_key_len", &TableProperties::fixed_key_len},
    {"column_family_id", &TableProperties::column_family_id},
    {"creation_time", &TableProperties::creation_time},
    {"oldest_key_time", &TableProperties::oldest_key_time},
    {"file_creation_time", &TableProperties::file_creation_time},
    {"slow_compression_estimated_data_size",
     &TableProperties::slow_compression_estimated_data_size},
    {"fast_compression_estimated_data_size",
     &TableProperties::fast_compression_estimated_data_size},
    {"orig_file_number", &TableProperties::orig_file_number},
};

struct TextRow {
  const char* name;
  std::string TableProperties::*member;
};
constexpr TextRow kTexts[] = {
    {"filter_policy", &TableProperties::filter_policy_name},
    {"column_family_name", &TableProperties::column_family_name},
    {"comparator", &TableProperties::comparator_name},
    {"merge_operator", &TableProperties::merge_operator_name},
    {"prefix_extractor_name", &TableProperties::prefix_extractor_name},
    {"property_collectors", &TableProperties::property_collectors_names},
    {"compression", &TableProperties::compression_name},
    {"compression_options", &TableProperties::compression_options},
    {"db_id", &TableProperties::db_id},
    {"db_session_id", &TableProperties::db_session_id},
};

// An empty function name means that the file has no checksum.
void AddChecksum(const std::string& checksum, const std::string& function, EventLine* line) {
  line->Add("file_checksum", Slice(checksum).ToString(/*hex=*/true))
      .Add("file_checksum_func_name", function.empty() ? kUnknownFileChecksumFuncName : function);
}

JsonWriter Describe(const TableProperties& properties) {
  JsonWriter json;
  for (const NumberRow& row : kNumbers) json.Add(row.name, properties.*row.member);
  const uint64_t entries = std::max<uint64_t>(properties.num_entries, 1);
  json.Add("raw_average_key_size", properties.raw_key_size / entries)
      .Add("raw_average_value_size", properties.raw_value_size / entries);
  for (const TextRow& row : kTexts) json.Add(row.name, properties.*row.member);
  for (const auto& [name, value] : properties.readable_properties) json.Add(name, value);
  json.Finish();
  return json;
}

}  // namespace

// The number of files on each level after a job. The job calls this under the DB mutex and writes
// the line later, without it.
FamilyShape ShapeOf(const ColumnFamilyData& family) {
  const Version& version = family.last_version();
  FamilyShape shape;
  for (Level level = 0; level < version.num_levels(); ++level) {
    shape.tables.push_back(version.files(level).size());
  }
  const BlobFiles* const blobs = version.blobs();
  if (blobs != nullptr && !blobs->empty()) {
    shape.oldest_blob_file = blobs->all().front().file->meta.number.value();
    shape.newest_blob_file = blobs->all().back().file->meta.number.value();
  }
  shape.immutable_memtables = family.immutables().size();
  return shape;
}

void AddShape(const FamilyShape& shape, EventLine* line) {
  assert(line != nullptr);
  line->Add("lsm_state", shape.tables);
  if (shape.newest_blob_file > 0) {
    line->Add("blob_file_head", shape.oldest_blob_file)
        .Add("blob_file_tail", shape.newest_blob_file);
  }
  line->Add("immutable_memtables", shape.immutable_memtables);
}

void LogFlushStarted(const DbCore& core, const ColumnFamilyData& family, int job_id,
                     const std::vector<MemTable*>& memtables, FlushReason reason) {
  uint64_t entries = 0, deletes = 0, data_bytes = 0, memory_bytes = 0;
  for (const MemTable* memtable : memtables) {
    entries += memtable->num_entries();
    deletes += memtable->num_deletes();
    data_bytes += memtable->raw_bytes();
    memory_bytes += memtable->ApproximateMemoryUsage();
  }
  core.services.events->Event("flush_started")
      .Add("job", job_id)
      .Add("cf_name", family.name())
      .Add("num_memtables", memtables.size())
      .Add("num_entries", entries)
      .Add("num_deletes", deletes)
      .Add("total_data_size", data_bytes)
      .Add("memory_usage", memory_bytes)
      .Add("flush_reason", GetFlushReasonString(reason));
}

void LogCompactionStarted(const DbCore& core, const ColumnFamilyData& family, int job_id,
                          const CompactionPlan& plan,
                          std::optional<SequenceNumber> oldest_snapshot) {
  EventLine line = core.services.events->Event("compaction_started");
  line.Add("job", job_id)
      .Add("cf_name", family.name())
      .Add("compaction_reason", GetCompactionReasonString(plan.reason));
  for (const LevelFiles& level : plan.inputs) {
    std::vector<uint64_t> numbers;
    for (const TableFile* file : level.files) numbers.push_back(file->meta.number.value());
    line.Add(StrCat("files_L", level.level), numbers);
  }
  line.Add("score", plan.score)
      .Add("input_data_size", plan.InputBytes())
      .Add("oldest_snapshot_seqno",
           oldest_snapshot.has_value() ? static_cast<int64_t>(*oldest_snapshot) : int64_t{-1});
}

void LogTrivialMove(const DbCore& core, const ColumnFamilyData& family, int job_id,
                    const CompactionPlan& plan) {
  assert(plan.is_trivial_move);
  core.services.events->Event("trivial_move")
      .Add("job", job_id)
      .Add("cf_name", family.name())
      .Add("destination_level", plan.output_level)
      .Add("files", plan.InputFileCount())
      .Add("total_files_size", plan.InputBytes());
}

void LogTableCreated(const DbCore& core, const ColumnFamilyData& family, int job_id,
                     const OutputTable& table) {
  EventLine line = core.services.events->Event("table_file_creation");
  line.Add("cf_name", family.name())
      .Add("job", job_id)
      .Add("file_number", table.meta.number)
      .Add("file_size", table.meta.file_size);
  const FileMetadata& meta = table.meta;
  AddChecksum(meta.has_file_checksum ? meta.file_checksum : "",
              meta.has_file_checksum ? meta.file_checksum_function : "", &line);
  line.Add("smallest_seqno", table.meta.smallest_seqno)
      .Add("largest_seqno", table.meta.largest_seqno)
      .Add("table_properties", Describe(table.properties));
  if (table.meta.oldest_blob_file_number > 0) {
    line.Add("oldest_blob_file_number", table.meta.oldest_blob_file_number);
  }
}

void LogBlobFileCreated(const DbCore& core, const ColumnFamilyData& family, int job_id,
                        const BlobFileAddition& file) {
  EventLine line = core.services.events->Event("blob_file_creation");
  line.Add("cf_name", family.name())
      .Add("job", job_id)
      .Add("file_number", file.number)
      .Add("total_blob_count", file.blob_count)
      .Add("total_blob_bytes", file.blob_bytes);
  AddChecksum(file.checksum_value, file.checksum_method, &line);
  line.Add("status", "OK");  // failed files have no event
}

}  // namespace ashlar
