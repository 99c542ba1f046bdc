// SPDX-License-Identifier: Apache-2.0
//
// A table builder that writes to a file of its own. Every entry has sequence number 0; the table
// properties allow an ingestion to give all of them another one.
#include "ashlar/sst_file_writer.h"

#include <cassert>
#include <string>
#include <utility>

#include "ashlar/db.h"
#include "ashlar/file_checksum.h"
#include "ashlar/merge_operator.h"
#include "db/options/bare_factories.h"
#include "db/options/options_check.h"
#include "db/options/table_factory.h"
#include "db/state/db_environment.h"
#include "env/file_util.h"
#include "env/file_writer.h"
#include "table/format/table_property_names.h"
#include "table/sst/write/table_builder.h"
#include "util/keys/coding.h"
#include "util/keys/entry_limits.h"
#include "util/keys/internal_key.h"
#include "util/keys/wide_column_encoding.h"
#include "util/text/data_in_errors.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

// RocksDB's SstFileWriter records the same name as creator.
constexpr const char* kWriterDbId = "SST Writer";

// The table will probably end on the last level, so its compression is used. Tables without blocks
// are not compressed.
CompressionType CompressionOf(const ColumnFamilyOptions& options) {
  if (BareFormatOf(options).is_bare()) return kNoCompression;
  if (options.bottommost_compression != kDisableCompressionOption) {
    return options.bottommost_compression;
  }
  // The last level of the list stands for all deeper ones.
  return options.compression_per_level.empty() ? options.compression
                                               : options.compression_per_level.back();
}

// As far as the release that shall read the file allows. Defaults for a format without blocks. The
// factory is one of the library.
BlockBasedTableOptions TableOptionsOf(const Options& options) {
  if (BareFormatOf(options).is_bare()) return BlockBasedTableOptions();
  return WrittenTableOptions(options, *BlockBasedOptionsOf(options.table_factory.get()));
}

}  // namespace

// The state of a writer: its settings, and the file that is open, if any.
// Invariant: `builder` and `file` are both null or both set; the builder writes to the file.
struct [[gnu::visibility("hidden")]] SstFileWriter::Rep {
  Options options;
  FileOptions file_options;
  InternalKeyComparator icmp;
  BlockBasedTableOptions table_options;
  BareTableFormat bare_format;
  uint32_t family_id = TablePropertiesCollectorFactory::Context::kUnknownColumnFamily;
  std::string family_name;
  std::string session_id;
  std::string host_id;
  bool invalidates_page_cache = true;
  Env::IOPriority priority = Env::IO_TOTAL;
  FileNumber files_made = 0;

  std::unique_ptr<FileWriter> file;  // null: no file is open
  std::unique_ptr<TableBuilder> builder;
  ExternalSstFileInfo info;
  bool has_points = false;
  std::string internal_key;  // scratch

  explicit Rep(const Options& o, const Comparator* comparator) : options(o), icmp(comparator) {}

  FileSystem* fs() const { return options.env->GetFileSystem().get(); }
  Status Open(const std::string& path);
  TableBuilderOptions BuilderOptions();
  // Keys with their timestamp, if the comparator has any.
  Status Add(const Slice& stored_key, ValueType type, const Slice& value);
  Status AddRange(const Slice& begin, const Slice& end);
  // Check a key without a timestamp, and the timestamp of a call.
  Status CheckNoStamp() const;
  Status CheckStamp(const Slice& stamp) const;
  Status Complete();
  Status NoteChecksum();
  void GiveUp();
};

// The comparator of the options is used if none is given.
SstFileWriter::SstFileWriter(const EnvOptions& env_options, const Options& options,
                             const Comparator* user_comparator, ColumnFamilyHandle* column_family,
                             bool invalidate_page_cache, Env::IOPriority io_priority)
    : rep_(std::make_unique<Rep>(
          options, user_comparator != nullptr ? user_comparator : options.comparator)) {
  // The session is that of this writer; with the number of the file it makes each table unique.
  rep_->file_options = FileOptions(env_options);
  rep_->session_id = NewSessionId(options.env);
  rep_->host_id = HostIdFor(options);
  rep_->invalidates_page_cache = invalidate_page_cache;
  rep_->priority = io_priority;
  // Without a family the properties say that it is not known, and any family may take the table.
  if (column_family == nullptr) return;
  rep_->family_id = column_family->GetID();
  rep_->family_name = column_family->GetName();
}

SstFileWriter::~SstFileWriter() { rep_->GiveUp(); }

// Abandons the table: an unfinished one is useless.
void SstFileWriter::Rep::GiveUp() {
  // The builder must not write to the file any more when the file is closed.
  if (builder != nullptr) builder->Abandon();
  builder.reset();
  if (file == nullptr) return;
  // Closed before it is deleted.
  const std::string path = file->path();
  file.reset();
  IgnoreError(DeleteFileIfExists(fs(), path), "the first error counts");
}

// The settings of the next table. Each file gets another number, which is part of its unique id.
TableBuilderOptions SstFileWriter::Rep::BuilderOptions() {
  TableBuilderOptions builder;
  // The pointers lead to members of this object, which outlives the builder.
  builder.icmp = &icmp;
  builder.table = &table_options;
  builder.bare = &bare_format;
  builder.compression = CompressionOf(options);
  builder.compression_opts = options.bottommost_compression_opts.enabled
                                 ? options.bottommost_compression_opts
                                 : options.compression_opts;
  builder.prefix_extractor = options.prefix_extractor.get();
  builder.collector_factories = &options.table_properties_collector_factories;
  builder.column_family_id = family_id;
  builder.column_family_name = family_name;
  if (options.merge_operator != nullptr) {
    builder.merge_operator_name = options.merge_operator->Name();
  }
  builder.db_id = kWriterDbId;
  builder.db_session_id = session_id;
  builder.db_host_id = host_id;
  builder.file_number = files_made = files_made.Next();
  builder.statistics = options.statistics.get();
  builder.is_external_file = true;
  return builder;
}

// Checks everything before the file is created.
Status SstFileWriter::Rep::Open(const std::string& path) {
  if (file != nullptr) {
    return Status::InvalidArgument("SstFileWriter::Open: a file is open already", file->path());
  }
  // The same corrections as when a database is opened, so that both accept the same options.
  static_cast<ColumnFamilyOptions&>(options) = SanitizeColumnFamilyOptions(options, options);
  const TableFactory* const factory = options.table_factory.get();
  if (BlockBasedOptionsOf(factory) == nullptr) {
    return Status::NotSupported(
        StrCat("SstFileWriter::Open: table_factory ", factory->Name(),
               ": a class of the program is not supported; use NewBlockBasedTableFactory()"));
  }
  RETURN_IF_ERROR(CheckTableOptionsSupported(TableOptionsOf(options)));
  // Kept as a member, because the builder refers to it.
  table_options = TableOptionsOf(options);
  bare_format = BareFormatOf(options);
  RETURN_IF_ERROR(CheckBareFormat(bare_format));
  if (bare_format.is_bare() && icmp.stamp_bytes() != 0) {
    return Status::NotSupported(
        StrCat("SstFileWriter::Open: ", bare_format.name(), " has no keys with timestamps"));
  }
  RETURN_IF_ERROR(CheckTableOptionsWritable(table_options, CompressionOf(options)));
  // What both have comes from the EnvOptions, as in RocksDB; only these know nothing of use_fsync.
  FileWriterOptions writer;
  writer.buffer_bytes = file_options.writable_file_max_buffer_size;
  writer.bytes_per_sync = file_options.bytes_per_sync;
  writer.use_fsync = options.use_fsync;
  writer.rate_limiter = file_options.rate_limiter;
  writer.priority = priority;
  writer.statistics = options.statistics.get();
  ASSIGN_OR_RETURN(file, FileWriter::Create(fs(), path, file_options, writer));
  builder = std::make_unique<TableBuilder>(BuilderOptions(), file.get());
  // Facts of an earlier file must not be mixed with those of this one.
  info = ExternalSstFileInfo();
  info.file_path = path;
  info.version = kExternalTableVersion;
  has_points = false;
  return Status::OK();
}

// Temperatures are not used for external files.
Status SstFileWriter::Open(const std::string& file_path, Temperature /*temp*/) {
  return rep_->Open(file_path);
}

Status SstFileWriter::OpenWithEmbeddedBlobs(const std::string&,
                                            const SstFileWriterEmbeddedBlobOptions&, Temperature) {
  return Status::NotSupported("SstFileWriter::OpenWithEmbeddedBlobs: not built yet");
}

Status SstFileWriter::Rep::CheckNoStamp() const {
  if (icmp.stamp_bytes() == 0) return Status::OK();
  return Status::InvalidArgument("SstFileWriter: the comparator needs a timestamp");
}

Status SstFileWriter::Rep::CheckStamp(const Slice& stamp) const {
  // A comparator without timestamps accepts no stamp at all, not even an empty one.
  if (icmp.stamp_bytes() != 0 && stamp.size() == icmp.stamp_bytes()) return Status::OK();
  return Status::InvalidArgument(StrCat("SstFileWriter: the comparator has timestamps of ",
                                        icmp.stamp_bytes(), " bytes, found ", stamp.size()));
}

// Points must come in strictly ascending order: of one key, the newest timestamp comes first. All
// have sequence number 0.
Status SstFileWriter::Rep::Add(const Slice& user_key, ValueType type, const Slice& value) {
  if (builder == nullptr) return Status::InvalidArgument("File is not opened");
  if (user_key.size() + value.size() > kMaxUserEntryBytes) {
    return Status::InvalidArgument(StrCat("SstFileWriter: a key and its value of ",
                                          user_key.size() + value.size(), " bytes, more than ",
                                          kMaxUserEntryBytes));
  }
  // Compared with the timestamps, because `largest_key` contains them.
  if (has_points && icmp.user_comparator()->Compare(user_key, info.largest_key) <= 0) {
    return Status::InvalidArgument(
        "Keys must be added in strict ascending order.",
        StrCat("after ", KeyInError(info.largest_key), " came ", KeyInError(user_key)));
  }
  // An error of the builder would be final, but this one leaves the file as it is.
  RETURN_IF_ERROR(CheckBareEntry(bare_format, type, user_key.size()));
  internal_key.clear();
  // Sequence number 0: an ingestion gives all entries of the table one number, which is stored in
  // one place.
  AppendInternalKey(&internal_key, user_key, PackTrailer(0, type));
  RETURN_IF_ERROR(builder->Add(internal_key, value));
  if (!has_points) info.smallest_key.assign(user_key.data(), user_key.size());
  info.largest_key.assign(user_key.data(), user_key.size());
  assert(icmp.user_comparator()->Compare(info.smallest_key, info.largest_key) <= 0);
  has_points = true;
  info.num_entries++;
  // An estimate until Finish(): the builder still holds the last block.
  info.file_size = builder->FileSize();
  return Status::OK();
}

// An empty range hides nothing, so it is not written.
Status SstFileWriter::Rep::AddRange(const Slice& begin, const Slice& end) {
  if (builder == nullptr) return Status::InvalidArgument("File is not opened");
  // A table without blocks has no place for range tombstones; the check returns the error.
  if (bare_format.is_bare()) return CheckBareEntry(bare_format, kTypeRangeDeletion, begin.size());
  if (begin.size() + end.size() > kMaxUserEntryBytes) {
    return Status::InvalidArgument("SstFileWriter::DeleteRange: the keys are too large");
  }
  const Comparator& comparator = *icmp.user_comparator();
  const int order = icmp.OrderWithoutTimestamp(begin, end);
  if (order > 0) return Status::InvalidArgument("end key comes before start key");
  if (order == 0) return Status::OK();
  internal_key.clear();
  // Range tombstones may come in any order and overlap, so only their bounds are compared.
  AppendInternalKey(&internal_key, begin, PackTrailer(0, kTypeRangeDeletion));
  RETURN_IF_ERROR(builder->Add(internal_key, end));
  const bool is_first = info.num_range_del_entries++ == 0;
  if (is_first || comparator.Compare(begin, info.smallest_range_del_key) < 0) {
    info.smallest_range_del_key.assign(begin.data(), begin.size());
  }
  if (is_first || comparator.Compare(end, info.largest_range_del_key) > 0) {
    info.largest_range_del_key.assign(end.data(), end.size());
  }
  info.file_size = builder->FileSize();
  return Status::OK();
}

Status SstFileWriter::Put(const Slice& user_key, const Slice& value) {
  RETURN_IF_ERROR(rep_->CheckNoStamp());
  return rep_->Add(user_key, kTypeValue, value);
}
Status SstFileWriter::Put(const Slice& user_key, const Slice& timestamp, const Slice& value) {
  RETURN_IF_ERROR(rep_->CheckStamp(timestamp));
  return rep_->Add(user_key.ToString() + timestamp.ToString(), kTypeValue, value);
}
Status SstFileWriter::PutEntity(const Slice& user_key, const WideColumns& columns) {
  RETURN_IF_ERROR(rep_->CheckNoStamp());
  std::string entity;
  RETURN_IF_ERROR(AppendEncodedColumns(columns, &entity));
  return rep_->Add(user_key, kTypeWideColumnEntity, entity);
}
Status SstFileWriter::Merge(const Slice& user_key, const Slice& value) {
  RETURN_IF_ERROR(rep_->CheckNoStamp());
  return rep_->Add(user_key, kTypeMerge, value);
}
Status SstFileWriter::Delete(const Slice& user_key) {
  RETURN_IF_ERROR(rep_->CheckNoStamp());
  return rep_->Add(user_key, kTypeDeletion, Slice());
}
Status SstFileWriter::Delete(const Slice& user_key, const Slice& timestamp) {
  RETURN_IF_ERROR(rep_->CheckStamp(timestamp));
  return rep_->Add(user_key.ToString() + timestamp.ToString(), kTypeDeletionWithTimestamp, Slice());
}
Status SstFileWriter::DeleteRange(const Slice& begin_key, const Slice& end_key) {
  RETURN_IF_ERROR(rep_->CheckNoStamp());
  return rep_->AddRange(begin_key, end_key);
}
Status SstFileWriter::DeleteRange(const Slice& begin_key, const Slice& end_key,
                                  const Slice& timestamp) {
  RETURN_IF_ERROR(rep_->CheckStamp(timestamp));
  return rep_->AddRange(begin_key.ToString() + timestamp.ToString(),
                        end_key.ToString() + timestamp.ToString());
}

// Computes the checksum of the bytes that are on disk.
Status SstFileWriter::Rep::NoteChecksum() {
  info.file_checksum_func_name = kUnknownFileChecksumFuncName;
  if (options.file_checksum_gen_factory == nullptr) return Status::OK();
  const auto generator =
      NewChecksumGenerator(options.file_checksum_gen_factory.get(), info.file_path);
  if (generator == nullptr) return Status::OK();
  RETURN_IF_ERROR(ChecksumFile(fs(), info.file_path, file_options, generator.get()));
  info.file_checksum = generator->GetChecksum();
  info.file_checksum_func_name = generator->Name();
  return Status::OK();
}

// The file is durable, but its directory entry is not: an ingestion syncs the directory.
Status SstFileWriter::Rep::Complete() {
  assert(builder != nullptr && file != nullptr);
  RETURN_IF_ERROR(builder->Finish());
  info.file_size = builder->FileSize();
  assert(info.num_entries + info.num_range_del_entries == builder->num_entries());
  RETURN_IF_ERROR(file->Sync());
  if (invalidates_page_cache) {
    IgnoreError(file->file()->InvalidateCache(0, 0), "it is a hint");
  }
  RETURN_IF_ERROR(file->Close());
  // The checksum is computed after the file is closed, because only then all bytes are written.
  return NoteChecksum();
}

// After an error the file is deleted, because it is not complete.
Status SstFileWriter::Finish(ExternalSstFileInfo* file_info) {
  Rep& rep = *rep_;
  if (rep.builder == nullptr) return Status::InvalidArgument("File is not opened");
  if (rep.builder->num_entries() == 0) {
    // An ingestion needs the bounds of a table, and an empty one has none.
    return Status::InvalidArgument("Cannot create sst file with no entries");
  }
  const Status status = rep.Complete();
  if (!status.ok()) {
    rep.GiveUp();
    return status;
  }
  // The writer can now open another file.
  rep.builder.reset();
  rep.file.reset();
  if (file_info != nullptr) *file_info = rep.info;
  return status;
}

// The size of the blocks that were written so far; final after Finish().
uint64_t SstFileWriter::FileSize() { return rep_->info.file_size; }

// Files of the writer have a property with their version.
bool SstFileWriter::CreatedBySstFileWriter(const TableProperties& table_properties) {
  return table_properties.user_collected_properties.contains(std::string(kExternalVersionProperty));
}

}  // namespace ashlar
