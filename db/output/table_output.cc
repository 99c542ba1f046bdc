// SPDX-License-Identifier: Apache-2.0
//
// From column family options to builder options, and from a finished builder to file metadata.
#include "db/output/table_output.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "ashlar/merge_operator.h"
#include "ashlar/statistics.h"
#include "ashlar/system_clock.h"
#include "db/blob/blob_format.h"
#include "db/options/bare_factories.h"
#include "db/options/table_factory.h"
#include "db/output/output_check.h"
#include "db/output/seqno_times.h"
#include "env/file_util.h"
#include "env/filename.h"
#include "env/space/sst_file_manager_impl.h"
#include "table/format/unique_id.h"
#include "table/sst/write/block_passing.h"
#include "util/keys/coding.h"
#include "util/statistics/statistics.h"
#include "util/text/data_in_errors.h"
#include "util/text/str_cat.h"

namespace ashlar {

namespace {

// A table with such a long row of tombstones and such a share of tombstones is marked for
// compaction. Stepping over so many tombstones, and over the entries that they hide, costs a scan
// more than a seek into another table. If a quarter of the entries are tombstones, the compaction
// below frees about as much as it costs.
constexpr uint64_t kTombstonesWorthCompacting = 4096;
constexpr uint64_t kDenseShare = 4;

// Defaults for a format without blocks, which has no use for them.
[[gnu::cold]] BlockBasedTableOptions TableOptionsFrom(const TableOutputOptions& options) {
  BlockBasedTableOptions table;
  if (BareFormatOf(*options.family_options).is_bare()) return table;
  const BlockBasedTableOptions* given =
      BlockBasedOptionsOf(options.family_options->table_factory.get());
  if (given != nullptr) table = *given;
  return options.context->write_for_7_8 ? ReadableByRocksDb78(std::move(table)) : table;
}

}  // namespace

// compression_per_level begins with level 0 and continues with the base level.
CompressionType CompressionFor(const ColumnFamilyOptions& options, Level level, Level base_level,
                               bool is_bottommost) {
  assert(base_level >= 1);
  if (is_bottommost && options.bottommost_compression != kDisableCompressionOption) {
    return options.bottommost_compression;
  }
  const std::vector<CompressionType>& by_level = options.compression_per_level;
  if (by_level.empty()) return options.compression;
  // Levels above the base level hold data only while they are being emptied.
  const auto depth = static_cast<size_t>(level);
  const auto base = static_cast<size_t>(base_level);
  const size_t entry = level == 0 ? 0 : depth < base ? 1 : depth - base + 1;
  return by_level[std::min(entry, by_level.size() - 1)];
}

CompressionType CompressionFor(const TableOutputOptions& options) {
  if (BareFormatOf(*options.family_options).is_bare()) return kNoCompression;
  if (options.compression != kDisableCompressionOption) return options.compression;
  return CompressionFor(*options.family_options, options.level, options.base_level,
                        options.is_bottommost);
}

Temperature TemperatureFor(const ColumnFamilyOptions& options, Level level, bool is_flush) {
  const bool is_last_level = !is_flush && level + 1 == options.num_levels;
  if (is_last_level && options.last_level_temperature != Temperature::kUnknown) {
    return options.last_level_temperature;
  }
  return options.default_write_temperature;
}

Temperature TemperatureFor(const TableOutputOptions& options) {
  if (options.temperature != Temperature::kUnknown) return options.temperature;
  return TemperatureFor(*options.family_options, options.level, options.is_flush);
}

uint32_t CompressionThreads(const CompressionOptions& options, CompressionType type,
                            bool has_helper) {
  const bool is_slow = type == kZSTD || type == kZlibCompression || type == kBZip2Compression ||
                       type == kLZ4HCCompression;
  return has_helper && is_slow ? std::max(options.parallel_threads, 2u) : options.parallel_threads;
}

FileWriterOptions WriterOptionsFor(const TableOutputOptions& options) {
  FileWriterOptions writer = options.context->writer_options;
  if (options.buffering.has_value()) {
    writer.buffer_bytes = options.buffering->buffer_bytes;
    writer.bytes_per_sync = options.buffering->bytes_per_sync;
  }
  // Flushes have priority over compactions, because writers wait for flushes first.
  writer.priority = options.is_flush ? Env::IO_HIGH : Env::IO_LOW;
  writer.activity = options.is_flush ? Env::IOActivity::kFlush : Env::IOActivity::kCompaction;
  return writer;
}

FileOptions FileOptionsFor(const TableOutputOptions& options) {
  FileOptions file = options.context->file_options;
  if (options.buffering.has_value()) file.strict_bytes_per_sync = options.buffering->is_strict;
  return file;
}

namespace {

// `table` and `bare` outlive the builder that is made with the result.
TableBuilderOptions BuilderOptionsFor(const TableOutputOptions& options,
                                      const BlockBasedTableOptions& table,
                                      const BareTableFormat& bare) {
  const ColumnFamilyOptions& family = *options.family_options;
  TableBuilderOptions builder;
  builder.icmp = options.comparator;
  builder.table = &table;
  builder.bare = &bare;
  builder.compression = CompressionFor(options);
  builder.compression_opts = options.is_bottommost && family.bottommost_compression_opts.enabled
                                 ? family.bottommost_compression_opts
                                 : family.compression_opts;
  builder.compression_opts.parallel_threads =
      CompressionThreads(builder.compression_opts, builder.compression, options.has_helper);
  builder.prefix_extractor = family.prefix_extractor.get();
  builder.collector_factories = &family.table_properties_collector_factories;
  builder.column_family_id = options.family_id;
  builder.column_family_name = options.family_name;
  if (family.merge_operator != nullptr) builder.merge_operator_name = family.merge_operator->Name();
  builder.db_id = options.context->db_id;
  builder.db_session_id = options.context->db_session_id;
  builder.db_host_id = options.context->db_host_id;
  builder.file_number = options.file_number;
  builder.oldest_ancestor_time = options.oldest_ancestor_time;
  builder.oldest_key_time = options.oldest_key_time;
  builder.newest_key_time =
      options.newest_key_time != 0 ? options.newest_key_time : options.creation_time;
  builder.file_creation_time = options.creation_time;
  builder.level = options.level;
  builder.target_file_bytes = options.target_file_bytes;
  builder.sample_for_compression = family.sample_for_compression;
  builder.is_flush = options.is_flush;
  builder.has_levels = family.compaction_style == kCompactionStyleLevel ||
                       family.compaction_style == kCompactionStyleUniversal;
  builder.statistics = options.context->writer_options.statistics;
  builder.level_count = family.num_levels;
  builder.block_protection_bytes = family.block_protection_bytes_per_key;
  builder.filter_shift_millibits = options.filter_shift_millibits;
  const bool is_last_level = options.is_bottommost && options.level > 0;
  builder.has_filter = !(family.optimize_filters_for_hits && is_last_level);
  return builder;
}

}  // namespace

std::optional<BlockPassing> PassingInto(const TableOutputOptions& options) {
  const BlockBasedTableOptions table = TableOptionsFrom(options);
  const BareTableFormat bare = BareFormatOf(*options.family_options);
  return BlockPassing::Into(BuilderOptionsFor(options, table, bare));
}

// The file is created at once. Until Finish() has succeeded, the destructor deletes it.
Result<std::unique_ptr<TableOutput>> TableOutput::Create(const TableOutputOptions& options) {
  assert(options.file_number > 0);
  assert(options.level >= 0);
  assert(options.context != nullptr);
  assert(options.comparator != nullptr);
  assert(!options.dir.empty());
  std::unique_ptr<TableOutput> output(new TableOutput(options));
  const TableOutputContext& context = *options.context;
  output->path_ = TableFileName(options.dir, options.file_number);
  FileWriterOptions writer = WriterOptionsFor(options);
  output->BeginChecksum();
  writer.checksum = output->checksum_.get();
  FileOptions file = FileOptionsFor(options);
  file.temperature = TemperatureFor(options);
  ASSIGN_OR_RETURN(output->file_, FileWriter::Create(context.fs, output->path_, file, writer));
  output->table_options_ = TableOptionsFrom(options);
  output->bare_format_ = BareFormatOf(*options.family_options);
  output->builder_ = std::make_unique<TableBuilder>(
      BuilderOptionsFor(options, output->table_options_, output->bare_format_),
      output->file_.get());
  return output;
}

TableOutput::TableOutput(const TableOutputOptions& options) : options_(options) {
  if (!OutputChecksFor(*options.family_options, options.is_flush).any()) return;
  entries_hash_ = std::make_unique<EntriesHash>();
}

// Called before the file is created.
void TableOutput::BeginChecksum() {
  assert(checksum_ == nullptr);
  assert(!path_.empty());
  FileChecksumGenFactory* const factory = options_.context->checksum_factory.get();
  if (factory != nullptr) checksum_ = NewChecksumGenerator(factory, path_);
}

// Called when the file is complete.
void TableOutput::NoteChecksum() {
  if (checksum_ == nullptr) return;
  checksum_->Finalize();
  meta_.has_file_checksum = true;
  meta_.file_checksum = checksum_->GetChecksum();
  meta_.file_checksum_function = checksum_->Name();
}

// Deletes the file of an output that was not finished.
TableOutput::~TableOutput() {
  if (is_finished_) return;
  if (builder_ != nullptr) builder_->Abandon();
  builder_.reset();
  file_.reset();
  IgnoreError(DeleteFileIfExists(options_.context->fs, path_),
              "an unfinished table that stays is deleted at the next open");
}

// Besides adding the entry, collects the facts that the MANIFEST records of the table: the range of
// keys, the oldest blob file and the number of tombstones.
Status TableOutput::Add(const Slice& internal_key, const Slice& value) {
  assert(!is_finished_);
  RETURN_IF_ERROR(builder_->Add(internal_key, value));
  const ValueType type = TrailerType(ExtractTrailer(internal_key));
  assert(IsPointEntryType(type));
  if (type == kTypeBlobIndex) RETURN_IF_ERROR(NoteBlob(internal_key, value));
  if (entries_hash_ != nullptr) [[unlikely]]
    entries_hash_->Add(internal_key, value);
  if (first_key_.empty()) first_key_ = internal_key.ToString();
  last_key_.assign(internal_key.data(), internal_key.size());
  CountTombstones(internal_key);
  return Status::OK();
}

// Links the table to the oldest blob file to which it refers.
Status TableOutput::NoteBlob(const Slice& internal_key, const Slice& encoded) {
  assert(TrailerType(ExtractTrailer(internal_key)) == kTypeBlobIndex);
  BlobIndex index;
  const Status decoded = index.DecodeFrom(encoded);
  if (!decoded.ok()) {
    return Status::CopyAppendMessage(decoded, "; of key ", InternalKeyInError(internal_key));
  }
  FileNumber& oldest = meta_.oldest_blob_file_number;
  oldest = oldest == 0 ? index.file : std::min(oldest, index.file);
  return Status::OK();
}

// Begin and end take part in the boundary keys of the table; the end as a sentinel, which is
// exclusive.
[[gnu::cold]] Status TableOutput::AddTombstone(const RangeTombstone& tombstone) {
  assert(!is_finished_);
  assert(options_.comparator->OrderWithoutTimestamp(tombstone.begin, tombstone.end) < 0);
  const InternalKeyComparator& order = *options_.comparator;
  // Both ends are stored with the timestamp of the tombstone, but a cut may have given them others.
  std::string begin, end;
  const Slice stamp = tombstone.stamp.empty() ? order.StampOf(tombstone.begin) : tombstone.stamp;
  begin = order.WithoutStamp(tombstone.begin).ToString() + stamp.ToString();
  end = order.WithoutStamp(tombstone.end).ToString() + stamp.ToString();
  std::string key = MakeInternalKey(begin, tombstone.seqno, kTypeRangeDeletion);
  RETURN_IF_ERROR(builder_->Add(key, end));
  end.clear();
  order.AppendFirst(&end, tombstone.end, kRangeTombstoneSentinel);
  if (first_begin_.empty() || order.Compare(key, first_begin_) < 0) first_begin_ = std::move(key);
  if (last_end_.empty() || order.Compare(end, last_end_) > 0) last_end_ = std::move(end);
  return Status::OK();
}

// Sets the boundary keys, which cover both point entries and range tombstones.
void TableOutput::SetBounds() {
  assert(!first_key_.empty() || !first_begin_.empty());  // an empty table is not finished
  meta_.smallest = std::move(first_key_);
  meta_.largest = std::move(last_key_);
  assert(first_begin_.empty() == last_end_.empty());
  if (first_begin_.empty()) return;
  const bool has_points = !meta_.smallest.empty();
  const InternalKeyComparator& order = *options_.comparator;
  if (!has_points || order.Compare(first_begin_, meta_.smallest) < 0) {
    meta_.smallest = std::move(first_begin_);
  }
  if (!has_points || order.Compare(last_end_, meta_.largest) > 0) {
    meta_.largest = std::move(last_end_);
  }
}

// Keeps the length of the current row of tombstones, and of the longest one.
void TableOutput::CountTombstones(const Slice& internal_key) {
  assert(tombstones_ <= builder_->num_entries());
  const ValueType type = TrailerType(ExtractTrailer(internal_key));
  const bool is_tombstone = IsPointTombstoneOfAnyFamily(type);
  tombstones_ += is_tombstone;
  tombstones_in_row_ = is_tombstone ? tombstones_in_row_ + 1 : 0;
  longest_row_ = std::max(longest_row_, tombstones_in_row_);
}

// Each scan over such a table steps over its tombstones and the entries that they hide. It is
// therefore merged downwards until nothing is left to hide. A bottommost table keeps its tombstones
// only for snapshots, so merging it again would not help; nor would it with a lowest one.
bool TableOutput::IsDenseWithTombstones() const {
  if (options_.is_bottommost || options_.is_lowest || longest_row_ < kTombstonesWorthCompacting)
    return false;
  return tombstones_ >= builder_->num_entries() / kDenseShare;
}

// The table is synced before the caller can name it in a MANIFEST.
[[gnu::cold]] Status TableOutput::Finish(FileMetadata* meta) {
  assert(meta != nullptr);
  assert(!is_finished_);
  if (options_.seqno_times != nullptr) {
    builder_->SetSeqnoTimes(
        options_.seqno_times->EncodeFor(builder_->smallest_seqno(), builder_->largest_seqno()));
  }
  RETURN_IF_ERROR(builder_->Finish());
  {
    const StopWatch watch(SystemClock::Default().get(), options_.context->writer_options.statistics,
                          options_.level == 0 ? TABLE_SYNC_MICROS : COMPACTION_OUTFILE_SYNC_MICROS);
    RETURN_IF_ERROR(file_->Sync());
  }
  RETURN_IF_ERROR(file_->Close());
  is_finished_ = true;
  meta_.number = options_.file_number;
  meta_.file_size = builder_->FileSize();
  NoteChecksum();
  SetBounds();
  meta_.smallest_seqno = builder_->smallest_seqno();
  meta_.largest_seqno = builder_->largest_seqno();
  meta_.min_timestamp = builder_->min_stamp();
  meta_.max_timestamp = builder_->max_stamp();
  meta_.epoch_number = options_.epoch_number;
  meta_.oldest_ancestor_time = options_.oldest_ancestor_time;
  meta_.file_creation_time = options_.creation_time;
  meta_.tail_bytes = builder_->tail_size();
  // A bottommost or lowest table has nothing below it that it could be merged with: rewriting it
  // alone would make the same table again, and a collector that still asks for a compaction would
  // get one after the other.
  const bool is_asked_for =
      builder_->NeedCompact() && !options_.is_bottommost && !options_.is_lowest;
  meta_.marked_for_compaction = is_asked_for || IsDenseWithTombstones();
  // A bottommost table keeps older versions and tombstones only for snapshots; exceptions are merge
  // operands whose operator fails, which no later job could drop either.
  meta_.keeps_for_snapshots = options_.is_bottommost && !options_.is_open_below &&
                              options_.level > 0 &&
                              options_.oldest_snapshot < meta_.largest_seqno &&
                              (has_older_versions_ || builder_->properties().num_deletions != 0);
  const TableProperties& properties = builder_->properties();
  meta_.has_only_single_values = !has_older_versions_ && properties.num_deletions == 0 &&
                                 properties.num_range_deletions == 0 &&
                                 properties.num_merge_operands == 0;
  meta_.weights = EntryWeights::Of(properties, meta_.file_size);
  meta_.newest_key_time = properties.newest_key_time;
  meta_.path_id = options_.path_id;
  meta_.temperature = static_cast<uint8_t>(TemperatureFor(options_));
  // A reader uses the id to detect another file with the same name. It stays empty if the database
  // has no identity.
  if (Result<InternalUniqueId> id = MakeInternalUniqueId(builder_->properties()); id.ok()) {
    for (const uint64_t word : id->ManifestForm()) PutFixed64(&meta_.unique_id, word);
  }
  assert(options_.comparator->Compare(meta_.smallest, meta_.largest) <= 0);
  if (entries_hash_ != nullptr) RETURN_IF_ERROR(ReadBack(meta_));
  SstFileManagerImpl* const space = options_.context->space;
  if (space != nullptr) space->OnAddFile(path_, meta_.file_size);
  *meta = std::move(meta_);
  return Status::OK();
}

// Reads the table back. A table whose contents differ from the entries written is deleted and not
// installed.
Status TableOutput::ReadBack(const FileMetadata& meta) {
  assert(is_finished_);
  assert(entries_hash_ != nullptr);
  const OutputChecks checks = OutputChecksFor(*options_.family_options, options_.is_flush);
  Status status = CheckOutput(checks, options_, meta, *entries_hash_);
  if (!status.ok()) {
    IgnoreError(DeleteFileIfExists(options_.context->fs, path_),
                "a file that stays is deleted at the next open");
  }
  return status;
}

void DeleteUnnamedTable(const TableOutputOptions& options, FileNumber file_number) {
  const std::string path = TableFileName(options.dir, file_number);
  IgnoreError(DeleteFileIfExists(options.context->fs, path),
              "a file that stays is deleted at the next open");
  if (options.context->space != nullptr) options.context->space->OnDeleteFile(path);
}

}  // namespace ashlar
