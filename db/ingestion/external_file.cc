// SPDX-License-Identifier: Apache-2.0
//
// Inspects external tables and stages them in the directory of the database.
//
// A file passes three steps: InspectExternalFile() opens it and checks that this family may take
// it, StageExternalFile() links or copies it into the directory of the database under a number of
// its own, and SettleChecksum() decides which checksum the MANIFEST will record. Until the MANIFEST
// names the file, the next opening deletes it.
#include "db/ingestion/external_file.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "ashlar/file_checksum.h"
#include "db/blob/blob_format.h"
#include "env/file_util.h"
#include "env/random_reader.h"
#include "table/format/table_property_names.h"
#include "table/format/unique_id.h"
#include "table/plain/bare_table_writer.h"
#include "table/sst/read/table_reader.h"
#include "util/keys/coding.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

// Errors about a file name it.
Status Refuse(const std::string& source, const std::string& why) {
  return Status::InvalidArgument(StrCat("external file ", source, ": ", why));
}

// Checks that the file may be ingested into this family. Sets takes_seqno.
Status CheckVersion(const InspectOptions& options, ExternalFile* file) {
  assert(file != nullptr);
  const UserCollectedProperties& properties = file->properties->user_collected_properties;
  const auto found = properties.find(std::string(kExternalVersionProperty));
  if (found == properties.end()) {
    if (options.ingest->allow_db_generated_files) return Status::OK();
    return Refuse(file->source,
                  "was not made by an SstFileWriter, and allow_db_generated_files is not set");
  }
  file->takes_seqno = TakesSeqno(*file->properties);
  // A file with a written number cannot get another one without being changed, which only
  // write_global_seqno permits.
  const SequenceNumber written = file->bounds.largest_seqno;
  if (written != 0 && !options.ingest->write_global_seqno) {
    return Refuse(file->source, StrCat("was ingested before, and sequence number ", written,
                                       " was written into it"));
  }
  const uint64_t family = file->properties->column_family_id;
  if (!options.ingest->allow_db_generated_files &&
      family != TablePropertiesCollectorFactory::Context::kUnknownColumnFamily &&
      family != options.family_id) {
    return Refuse(file->source,
                  StrCat("was made for column family ", family, ", not for ", options.family_id));
  }
  return Status::OK();
}

// An SstFileWriter writes all values into the table; merge operands are never in blob files.
bool MayReferToBlobs(const TableProperties& properties) {
  const auto& collected = properties.user_collected_properties;
  if (collected.contains(std::string(kExternalVersionProperty))) return false;
  return properties.num_entries != properties.num_deletions + properties.num_merge_operands;
}

// For other tables only the entries show whether they refer to blob files.
Status FindBlobs(const TableReader& table, const ReadOptions& read, InspectOptions::Blobs blobs,
                 ExternalFile* file) {
  const std::unique_ptr<InternalIterator> it(table.NewIterator(read, nullptr));
  for (it->SeekToFirst(); it->Valid(); it->Next()) {
    if (TrailerType(ExtractTrailer(it->key())) != kTypeBlobIndex) continue;
    if (blobs == InspectOptions::Blobs::kRefused) {
      return Status::NotSupported(
          StrCat("external file ", file->source,
                 ": has values in blob files, which cannot be ingested; export its column family ",
                 "with Checkpoint::ExportColumnFamily and import it, or write the file with an ",
                 "SstFileWriter from an iterator of its database"));
    }
    BlobIndex index;
    if (const Status status = index.DecodeFrom(it->value()); !status.ok()) {
      return Status::CopyAppendMessage(status, "; in ", file->source);
    }
    BlobUse& use = file->blobs[index.file];
    use.count++;
    use.bytes += BlobRecordBytes(ExtractUserKey(it->key()).size(), index.size);
    const bool overflows = index.size > UINT64_MAX - index.offset;
    use.end = std::max(use.end, overflows ? UINT64_MAX : index.offset + index.size);
  }
  return it->status();
}

// A compaction could not write what the format of the family cannot hold.
Status CheckEntries(const TableReader& table, const ReadOptions& read,
                    const BareTableFormat& format, const std::string& source) {
  Status status;
  if (table.tombstones() != nullptr) status = CheckBareEntry(format, kTypeRangeDeletion, 0);
  const std::unique_ptr<InternalIterator> it(table.NewIterator(read, nullptr));
  for (it->SeekToFirst(); status.ok() && it->Valid(); it->Next()) {
    const Slice key = it->key();
    status = CheckBareEntry(format, TrailerType(ExtractTrailer(key)), ExtractUserKey(key).size());
  }
  if (!status.ok()) return Status::CopyAppendMessage(status, "; external file ", source);
  return it->status();
}

}  // namespace

// Only the present version of the property has a place for a sequence number.
bool TakesSeqno(const TableProperties& properties) {
  const auto found =
      properties.user_collected_properties.find(std::string(kExternalVersionProperty));
  return found != properties.user_collected_properties.end() && found->second.size() == 4 &&
         DecodeFixed32(found->second.data()) == kExternalTableVersion;
}

std::string ExternalFile::DebugString() const {
  return StrCat("external file ", source, ": ", bytes, " bytes, ",
                Slice(bounds.begin()).ToString(/*hex=*/true), " to ",
                Slice(bounds.end()).ToString(/*hex=*/true),
                path.empty() ? ", not staged" : ", staged as ", path, "\n");
}

// The checks of an import, and those for a file of an SstFileWriter.
Result<ExternalFile> InspectExternalFile(const InspectOptions& options, const std::string& source) {
  ASSIGN_OR_RETURN(ExternalFile file, InspectImportedTable(options, source));
  RETURN_IF_ERROR(CheckVersion(options, &file));
  return file;
}

// Opens the table and finds its bounds. Corruption of any block that is read is reported here,
// before the table is staged.
Result<ExternalFile> InspectImportedTable(const InspectOptions& options,
                                          const std::string& source) {
  assert(options.fs != nullptr && options.comparator != nullptr && options.ingest != nullptr);
  ASSIGN_OR_RETURN(auto reader, RandomReader::Open(options.fs, source, options.file_options));
  ExternalFile file;
  file.source = source;
  file.bytes = reader->size();
  TableReaderOptions table_options;
  table_options.icmp = options.comparator;
  table_options.prefix_extractor = options.prefix_extractor;
  ASSIGN_OR_RETURN(const auto table, TableReader::Open(std::move(reader), table_options));
  file.properties = table->shared_properties();
  ReadOptions read;
  read.fill_cache = false;
  read.readahead_size = options.ingest->verify_checksums_readahead_size;
  if (options.ingest->verify_checksums_before_ingest) RETURN_IF_ERROR(table->VerifyChecksums(read));
  Result<TableBounds> bounds = FindTableBounds(*table, *options.comparator);
  if (!bounds.ok()) return bounds.status();
  file.bounds = bounds.Take();
  if (file.bounds.empty()) return Refuse(source, "has no entries");
  if (options.bare != nullptr && options.bare->is_bare()) {
    RETURN_IF_ERROR(CheckEntries(*table, read, *options.bare, source));
  }
  const bool may_have_blobs = options.ingest->allow_db_generated_files &&
                              options.blobs != InspectOptions::Blobs::kKnownNone;
  if (!may_have_blobs || !MayReferToBlobs(*file.properties)) return file;
  // The whole table is read next, so the largest readahead pays off.
  if (read.readahead_size == 0) read.readahead_size = table_options.max_auto_readahead_bytes;
  RETURN_IF_ERROR(FindBlobs(*table, read, options.blobs, &file));
  return file;
}

// A call gives checksums for all files or for none.
std::optional<FileChecksum> GivenChecksum(const IngestExternalFileArg& arg, size_t i) {
  if (arg.files_checksums.empty()) return std::nullopt;
  assert(i < arg.files_checksums.size() && i < arg.files_checksum_func_names.size());
  return FileChecksum{.value = arg.files_checksums[i],
                      .function = arg.files_checksum_func_names[i]};
}

// The file is read at most once, after it was staged, so that the checksum is that of the copy.
Status SettleChecksum(const InspectOptions& options, const std::optional<FileChecksum>& given,
                      ExternalFile* file) {
  assert(file != nullptr);
  assert(!file->path.empty());
  FileChecksumGenFactory* const factory = options.checksum_factory;
  if (!given.has_value()) {
    if (factory == nullptr) return Status::OK();
    ASSIGN_OR_RETURN(file->checksum,
                     ChecksumFile(options.fs, file->path, options.file_options, factory));
    return Status::OK();
  }
  if (options.ingest->verify_file_checksum) {
    FileChecksumGenFactory* const known =
        factory != nullptr ? factory : GetFileChecksumGenCrc32cFactory().get();
    RETURN_IF_ERROR(CheckFileChecksum(options.fs, file->path, options.file_options, known, *given));
  }
  if (factory == nullptr) return Status::OK();
  if (NewChecksumGenerator(factory, file->path, given->function) == nullptr) {
    return Refuse(file->source, StrCat("has a checksum of function ", given->function,
                                       ", which file_checksum_gen_factory does not offer"));
  }
  file->checksum = *given;
  return Status::OK();
}

// A link is tried if the program gives the file away or promises not to change it. The writer of
// the file may not have synced it, so it is synced here.
Status StageExternalFile(const InspectOptions& options, const std::string& path,
                         ExternalFile* file) {
  assert(file != nullptr);
  assert(file->path.empty() && !path.empty());
  const IngestExternalFileOptions& ingest = *options.ingest;
  bool is_linked = false;
  if (ingest.move_files || ingest.link_files) {
    const Status linked = options.fs->LinkFile(file->source, path, IOOptions(), nullptr);
    const bool may_copy = linked.IsNotSupported() && ingest.failed_move_fall_back_to_copy;
    if (!linked.ok() && !may_copy) return linked;
    is_linked = linked.ok();
  }
  file->path = path;  // from here on the file may exist and must be deleted on failure
  if (is_linked) {
    const Status synced = options.fs->SyncFile(path, options.file_options, IOOptions(),
                                               /*use_fsync=*/true, nullptr);
    // If the file system cannot open a file for syncing, the writer of the file must have synced
    // it.
    if (!synced.ok() && !synced.IsNotSupported()) return synced;
  } else {
    RETURN_IF_ERROR(CopyFileTo(options.fs, file->source, path, UINT64_MAX, file->temperature));
  }
  // The program may have changed the file since it was inspected. A change of its size is noticed
  // here; other changes break the checksums of blocks.
  ASSIGN_OR_RETURN(const uint64_t bytes, FileSizeOf(options.fs, path));
  if (bytes == file->bytes) return Status::OK();
  return Status::Corruption(StrCat("external file ", file->source, ": ", file->bytes,
                                   " bytes when it was looked at, ", bytes, " when it was taken"));
}

// The MANIFEST record of the staged file. If the file takes a sequence number, all its entries have
// `seqno`, also its first and its last key; the file itself still has 0 in its keys.
FileMetadata MetadataOf(const ExternalFile& file, SequenceNumber seqno) {
  assert(file.takes_seqno || seqno == 0);
  FileMetadata meta;
  meta.number = file.number;
  meta.file_size = file.bytes;
  meta.smallest = file.bounds.smallest;
  meta.largest = file.bounds.largest;
  meta.smallest_seqno = file.bounds.smallest_seqno;
  meta.largest_seqno = file.bounds.largest_seqno;
  if (file.takes_seqno) {
    meta.smallest_seqno = meta.largest_seqno = seqno;
    const auto renumber = [seqno](std::string* key) {
      const uint64_t trailer = ExtractTrailer(*key);
      if (trailer == kRangeTombstoneSentinel) return;  // the key marks an end and is not an entry
      *key = MakeInternalKey(ExtractUserKey(*key), seqno, TrailerType(trailer));
    };
    renumber(&meta.smallest);
    renumber(&meta.largest);
  }
  meta.temperature = static_cast<uint8_t>(file.temperature);
  meta.has_file_checksum = !file.checksum.function.empty();
  meta.file_checksum = file.checksum.value;
  meta.file_checksum_function = file.checksum.function;
  const TableProperties& properties = *file.properties;
  if (properties.tail_start_offset > 0 && properties.tail_start_offset < file.bytes) {
    meta.tail_bytes = file.bytes - properties.tail_start_offset;
  }
  if (Result<InternalUniqueId> id = MakeInternalUniqueId(properties); id.ok()) {
    for (const uint64_t word : id->ManifestForm()) PutFixed64(&meta.unique_id, word);
  }
  return meta;
}

// Overwrites eight bytes at a place that the properties give. Readers of older releases take the
// number from there. The checksum of the file changes with it, so it is computed again.
Status WriteGlobalSeqno(const InspectOptions& options, const ExternalFile& file,
                        FileMetadata* meta) {
  assert(meta != nullptr);
  assert(file.takes_seqno && !file.path.empty());
  const uint64_t offset = file.properties->external_sst_file_global_seqno_offset;
  if (offset == 0 || offset + sizeof(uint64_t) > file.bytes) {
    return Refuse(file.source, "has no place for a sequence number");
  }
  std::unique_ptr<FSRandomRWFile> opened;
  RETURN_IF_ERROR(options.fs->NewRandomRWFile(file.path, options.file_options, &opened, nullptr));
  std::string bytes;
  PutFixed64(&bytes, meta->largest_seqno);
  RETURN_IF_ERROR(opened->Write(offset, bytes, IOOptions(), nullptr));
  RETURN_IF_ERROR(opened->Fsync(IOOptions(), nullptr));
  RETURN_IF_ERROR(opened->Close(IOOptions(), nullptr));
  if (!meta->has_file_checksum) return Status::OK();
  ASSIGN_OR_RETURN(
      const FileChecksum changed,
      ChecksumFile(options.fs, file.path, options.file_options, options.checksum_factory));
  meta->file_checksum = changed.value;
  meta->file_checksum_function = changed.function;
  return Status::OK();
}

}  // namespace ashlar
