// SPDX-License-Identifier: Apache-2.0
//
// A file is looked at when a table names it for the first time, and copied when all tables are
// known.
#include "db/ingestion/imported_blobs.h"

#include <algorithm>
#include <cassert>
#include <memory>

#include "ashlar/options.h"
#include "db/blob/blob_format.h"
#include "env/file_util.h"
#include "env/file_writer.h"
#include "env/filename.h"
#include "env/random_reader.h"
#include "table/sst/read/table_reader.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

constexpr size_t kCopyBytes = size_t{1} << 20;

Status InFile(const Status& status, const std::string& path, const char* what) {
  return Status::CopyAppendMessage(status, "; in ", StrCat(what, " of ", path));
}

// Decodes the header of an open blob file.
Status ReadHeader(const RandomReader& reader, BlobFileHeader* header) {
  assert(header != nullptr);
  char scratch[kBlobHeaderBytes];
  Slice bytes;
  RETURN_IF_ERROR(reader.ReadExactly(0, kBlobHeaderBytes, scratch, &bytes));
  const Status status = header->DecodeFrom(bytes);
  return status.ok() ? status : InFile(status, reader.path(), "the header");
}

// Appends the bytes from `offset` to the end of the file.
Status AppendRest(const RandomReader& reader, uint64_t offset, FileWriter* writer) {
  assert(writer != nullptr);
  const auto scratch = std::make_unique<char[]>(kCopyBytes);
  while (offset < reader.size()) {
    const auto n = static_cast<size_t>(std::min<uint64_t>(kCopyBytes, reader.size() - offset));
    Slice bytes;
    RETURN_IF_ERROR(reader.ReadExactly(offset, n, scratch.get(), &bytes));
    RETURN_IF_ERROR(writer->Append(bytes));
    offset += n;
  }
  return Status::OK();
}

}  // namespace

// Checks that the references of a table fit the blob file: they end before its footer, and all
// tables together refer to no more values than it has.
Status ImportedBlobs::Add(const ExternalFile& table) {
  const std::string dir = DirectoryOf(table.source);
  for (const auto& [number, used] : table.blobs) {
    const std::string path = BlobFileName(dir, number);
    const auto [found, is_new] = files_.try_emplace({dir, number});
    File& file = found->second;
    if (is_new) {
      const Status status = Inspect(path, &file.addition);
      if (IsMissing(status)) {
        return Status::InvalidArgument(
            StrCat("import of a column family: ", table.source, " has values in ", path,
                   ", which does not exist; export the column family again"));
      }
      RETURN_IF_ERROR(status);
    }
    file.used.count += used.count;
    file.used.bytes += used.bytes;
    const uint64_t end = file.addition.file_bytes() - kBlobFooterBytes;
    if (used.end > end) {
      return Status::Corruption(StrCat(table.source, ": has a value that ends at offset ", used.end,
                                       " of ", path, ", whose values end at ", end));
    }
    if (file.used.count > file.addition.blob_count || file.used.bytes > file.addition.blob_bytes) {
      return Status::Corruption(StrCat("import of a column family: its tables have ",
                                       file.used.count, " values of ", file.used.bytes,
                                       " bytes in ", path, ", which has only ",
                                       file.addition.blob_count, " of ", file.addition.blob_bytes));
    }
  }
  return Status::OK();
}

// The counts are those of the footer; the number is set when the file is copied.
Status ImportedBlobs::Inspect(const std::string& path, BlobFileAddition* addition) const {
  assert(addition != nullptr);
  assert(addition->number == 0);
  const auto& environment = core_->environment;
  ASSIGN_OR_RETURN(const auto reader,
                   RandomReader::Open(environment.fs.get(), path, environment.file_options));
  constexpr uint64_t kLeast = kBlobHeaderBytes + kBlobFooterBytes;
  if (reader->size() < kLeast) {
    return Status::Corruption(
        StrCat(path, ": ", reader->size(), " bytes, but a blob file has at least ", kLeast));
  }
  BlobFileHeader header;
  RETURN_IF_ERROR(ReadHeader(*reader, &header));
  char scratch[kBlobFooterBytes];
  Slice bytes;
  const uint64_t footer_offset = reader->size() - kBlobFooterBytes;
  RETURN_IF_ERROR(reader->ReadExactly(footer_offset, kBlobFooterBytes, scratch, &bytes));
  BlobFileFooter footer;
  if (const Status status = footer.DecodeFrom(bytes); !status.ok()) {
    return InFile(status, path, "the footer");
  }
  addition->blob_count = footer.blob_count;
  addition->blob_bytes = reader->size() - kLeast;
  return Status::OK();
}

// The map is ordered by directory and number, and so are the new numbers.
Status ImportedBlobs::CopyAll(uint32_t family_id, const std::string& dir) {
  for (auto& [place, file] : files_) {
    RETURN_IF_ERROR(Copy(BlobFileName(place.first, place.second), family_id, dir, &file));
  }
  return Status::OK();
}

// Only the header changes.
Status ImportedBlobs::Copy(const std::string& source, uint32_t family_id, const std::string& dir,
                           File* file) {
  assert(file != nullptr);
  assert(file->copy.empty());
  const auto& environment = core_->environment;
  ASSIGN_OR_RETURN(const auto reader,
                   RandomReader::Open(environment.fs.get(), source, environment.file_options));
  if (reader->size() != file->addition.file_bytes()) {
    return Status::Corruption(StrCat(source, ": ", file->addition.file_bytes(),
                                     " bytes when it was looked at, ", reader->size(),
                                     " when it was taken"));
  }
  BlobFileHeader header;
  RETURN_IF_ERROR(ReadHeader(*reader, &header));
  header.family_id = family_id;
  std::string begin;
  header.AppendTo(&begin);
  file->addition.number = numbers_->NewNumber();
  const std::string path = BlobFileName(dir, file->addition.number);
  FileWriterOptions options = environment.outputs.writer_options;
  std::unique_ptr<FileChecksumGenerator> checksum;
  if (FileChecksumGenFactory* const factory = environment.outputs.checksum_factory.get()) {
    checksum = NewChecksumGenerator(factory, path);
  }
  options.checksum = checksum.get();
  file->copy = path;  // from here on the file may exist and must be deleted on failure
  ASSIGN_OR_RETURN(
      const auto writer,
      FileWriter::Create(environment.fs.get(), path, environment.outputs.file_options, options));
  RETURN_IF_ERROR(writer->Append(begin));
  RETURN_IF_ERROR(AppendRest(*reader, kBlobHeaderBytes, writer.get()));
  // Synced before the MANIFEST names the file, as all files of the database are.
  RETURN_IF_ERROR(writer->Sync());
  RETURN_IF_ERROR(writer->Close());
  if (checksum == nullptr) return Status::OK();
  checksum->Finalize();
  file->addition.checksum_method = checksum->Name();
  file->addition.checksum_value = checksum->GetChecksum();
  return Status::OK();
}

// Every entry and every range tombstone is written with its own sequence number.
Status ImportedBlobs::WriteTable(const ExternalFile& table, const InspectOptions& inspect,
                                 const TableOutputOptions& output, FileMetadata* meta) const {
  ASSIGN_OR_RETURN(auto reader, RandomReader::Open(inspect.fs, table.source, inspect.file_options));
  TableReaderOptions options;
  options.icmp = inspect.comparator;
  options.prefix_extractor = inspect.prefix_extractor;
  ASSIGN_OR_RETURN(const auto source, TableReader::Open(std::move(reader), options));
  ASSIGN_OR_RETURN(const auto written, TableOutput::Create(output));
  ReadOptions read;
  read.fill_cache = false;
  read.total_order_seek = true;
  read.readahead_size = options.max_auto_readahead_bytes;
  const std::string dir = DirectoryOf(table.source);
  const std::unique_ptr<InternalIterator> it(source->NewIterator(read, nullptr));
  std::string renumbered;
  for (it->SeekToFirst(); it->Valid(); it->Next()) {
    if (TrailerType(ExtractTrailer(it->key())) != kTypeBlobIndex) {
      RETURN_IF_ERROR(written->Add(it->key(), it->value()));
      continue;
    }
    BlobIndex index;
    RETURN_IF_ERROR(index.DecodeFrom(it->value()));
    index.file = NewNumberOf(dir, index.file);
    if (index.file == 0) {
      return Status::Corruption(table.source, "has changed since it was looked at");
    }
    renumbered.clear();
    index.AppendTo(&renumbered);
    RETURN_IF_ERROR(written->Add(it->key(), renumbered));
  }
  RETURN_IF_ERROR(it->status());
  if (source->tombstones() != nullptr) {
    std::vector<RangeTombstone> tombstones;
    source->tombstones()->AppendTo(&tombstones);
    for (const RangeTombstone& tombstone : tombstones) {
      RETURN_IF_ERROR(written->AddTombstone(tombstone));
    }
  }
  return written->Finish(meta);
}

// 0: the file is not part of the import.
FileNumber ImportedBlobs::NewNumberOf(const std::string& dir, FileNumber old) const {
  const auto found = files_.find({dir, old});
  return found == files_.end() ? FileNumber{} : found->second.addition.number;
}

// A file is imported only if some table refers to it, so it is never all garbage.
void ImportedBlobs::Describe(VersionEdit* edit) const {
  assert(edit != nullptr);
  for (const auto& [place, file] : files_) {
    assert(file.addition.number != 0 && file.used.count > 0);
    edit->blob_additions.push_back(file.addition);
    const uint64_t garbage_count = file.addition.blob_count - file.used.count;
    if (garbage_count == 0) continue;
    edit->blob_garbage.push_back({.number = file.addition.number,
                                  .garbage_count = garbage_count,
                                  .garbage_bytes = file.addition.blob_bytes - file.used.bytes});
  }
}

// The space of the copies counts from now on.
void ImportedBlobs::NoteAdded() const {
  if (core_->resources.space == nullptr) return;
  for (const auto& [place, file] : files_) {
    core_->resources.space->OnAddFile(file.copy, file.addition.file_bytes());
  }
}

std::vector<std::string> ImportedBlobs::CopyPaths() const {
  std::vector<std::string> paths;
  for (const auto& [place, file] : files_) {
    if (!file.copy.empty()) paths.push_back(file.copy);
  }
  return paths;
}

void ImportedBlobs::DeleteCopies() const {
  for (const std::string& path : CopyPaths()) {
    IgnoreError(DeleteFileIfExists(core_->environment.fs.get(), path),
                "what stays is deleted at the next open");
  }
}

void ImportedBlobs::DeleteSources() const {
  for (const auto& [place, file] : files_) {
    IgnoreError(
        DeleteFileIfExists(core_->environment.fs.get(), BlobFileName(place.first, place.second)),
        "the values are in the database; their other file does no harm");
  }
}

}  // namespace ashlar
