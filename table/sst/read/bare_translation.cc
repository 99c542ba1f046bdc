// SPDX-License-Identifier: Apache-2.0
//
// The rows go through a TableBuilder, whose file is a string.
#include "table/sst/read/bare_translation.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "ashlar/comparator.h"
#include "ashlar/file_system.h"
#include "ashlar/filter_policy.h"
#include "ashlar/table.h"
#include "env/file_writer.h"
#include "table/plain/bare_table.h"
#include "table/plain/cuckoo_buckets.h"
#include "table/plain/plain_rows.h"
#include "table/sst/write/table_builder.h"
#include "util/keys/internal_key.h"
#include "util/text/str_cat.h"

namespace ashlar {

namespace {

class StringSink final : public FSWritableFile {
 public:
  explicit StringSink(std::string* contents) : contents_(contents) {
    assert(contents != nullptr);
  }  // outlives the sink

  using FSWritableFile::Append;
  IOStatus Append(const Slice& data, const IOOptions&, IODebugContext*) override {
    contents_->append(data.data(), data.size());
    return IOStatus::OK();
  }
  IOStatus Close(const IOOptions&, IODebugContext*) override { return IOStatus::OK(); }
  IOStatus Flush(const IOOptions&, IODebugContext*) override { return IOStatus::OK(); }
  IOStatus Sync(const IOOptions&, IODebugContext*) override { return IOStatus::OK(); }
  uint64_t GetFileSize(const IOOptions&, IODebugContext*) override { return contents_->size(); }

 private:
  std::string* const contents_;
};

// Reads are not copied. Any number of threads.
class StringFile final : public FSRandomAccessFile {
 public:
  explicit StringFile(std::string contents) : contents_(std::move(contents)) {}
  IOStatus Read(uint64_t offset, size_t n, const IOOptions&, Slice* result, char*,
                IODebugContext*) const override {
    const size_t begin = static_cast<size_t>(std::min<uint64_t>(offset, contents_.size()));
    *result = Slice(contents_.data() + begin, std::min(n, contents_.size() - begin));
    return IOStatus::OK();
  }

 private:
  const std::string contents_;
};

BlockBasedTableOptions FormatInMemory() {
  BlockBasedTableOptions options;
  options.checksum = kNoChecksum;  // of memory; the file had none either
  options.filter_policy.reset(NewBloomFilterPolicy(10));
  return options;
}

TableBuilderOptions BuilderOptions(const TableProperties& from, const TableReaderOptions& options) {
  TableBuilderOptions result;
  result.icmp = options.icmp;
  result.prefix_extractor = options.prefix_extractor;
  result.column_family_id = static_cast<uint32_t>(from.column_family_id);
  result.column_family_name = from.column_family_name;
  result.merge_operator_name = from.merge_operator_name;
  result.db_id = from.db_id;
  result.db_session_id = from.db_session_id;
  result.db_host_id = from.db_host_id;
  result.file_number = FileNumber{from.orig_file_number};
  result.oldest_ancestor_time = from.creation_time;
  result.oldest_key_time = from.oldest_key_time;
  result.newest_key_time = from.newest_key_time;
  result.file_creation_time = from.file_creation_time;
  return result;
}

Status CheckComparator(const RandomReader& file, const TableProperties& properties,
                       const TableReaderOptions& options) {
  const std::string& written_with = properties.comparator_name;
  const char* const name = options.icmp->user_comparator()->Name();
  if (written_with.empty() || written_with == name) return Status::OK();
  return Status::InvalidArgument(
      StrCat(file.path(), ": comparator ", written_with, " in the table, ", name, " given"));
}

// Adds an entry; an error names the file. Rows may share a prefix of any length, so a few kilobytes
// of a damaged file may stand for gigabytes of keys; a translation that grows out of all proportion
// to the file ends early.
Status AddEntry(const RandomReader& file, const TableProperties& properties, const Slice& key,
                const Slice& value, TableBuilder* builder) {
  assert(builder != nullptr);
  constexpr uint64_t kMostTimesTheFile = 64;
  constexpr uint64_t kBytesForEveryFile = 64 << 20;
  if (builder->num_entries() >= properties.num_entries) {
    return DamagedBareTable(
        file, StrCat("more than the ", properties.num_entries, " rows of the properties"));
  }
  const uint64_t bytes = builder->EstimatedFileSize();
  if (bytes > kBytesForEveryFile && bytes / kMostTimesTheFile > file.size()) {
    return DamagedBareTable(file,
                            StrCat("the first ", builder->num_entries(), " rows have ", bytes,
                                   " bytes in a table with blocks, more than ", kMostTimesTheFile,
                                   " times the size of a file of ", file.size(), " bytes"));
  }
  const Status added = builder->Add(key, value);
  if (added.ok()) return added;
  return Status::CopyAppendMessage(added, "; table ", file.path());
}

Status CopyPlain(const RandomReader& file, const TableProperties& properties, const Slice& bytes,
                 TableBuilder* builder) {
  PlainRowFormat format;
  ASSIGN_OR_RETURN(format, PlainRowFormatOf(file, properties));
  PlainRows rows(bytes, format);
  while (rows.Next()) {
    RETURN_IF_ERROR(AddEntry(file, properties, rows.key(), rows.value(), builder));
  }
  if (rows.status().ok()) return Status::OK();
  return Status::CopyAppendMessage(rows.status(), "; table ", file.path());
}

// The value of a deletion means nothing.
Status CopyCuckoo(const RandomReader& file, const TableProperties& properties, const Slice& bytes,
                  const InternalKeyComparator& order, TableBuilder* builder) {
  CuckooFormat format;
  ASSIGN_OR_RETURN(format, CuckooFormatOf(file, properties));
  const Result<std::vector<CuckooEntry>> entries = SortedEntries(bytes, format, order);
  if (!entries.ok()) {
    return Status::CopyAppendMessage(entries.status(), "; table ", file.path());
  }
  for (const auto& [key, value] : entries.value()) {
    const bool is_deletion = TrailerType(ExtractTrailer(key)) == kTypeDeletion;
    RETURN_IF_ERROR(AddEntry(file, properties, key, is_deletion ? Slice() : value, builder));
  }
  return Status::OK();
}

Status CopyRows(const RandomReader& file, const BareTable& table,
                const InternalKeyComparator& order, TableBuilder* builder) {
  const TableProperties& properties = table.properties;
  std::string memory(static_cast<size_t>(properties.data_size), '\0');
  Slice bytes;
  RETURN_IF_ERROR(file.ReadExactly(0, memory.size(), memory.data(), &bytes));
  RETURN_IF_ERROR(table.kind == BareTableKind::kCuckoo
                      ? CopyCuckoo(file, properties, bytes, order, builder)
                      : CopyPlain(file, properties, bytes, builder));
  const uint64_t count = builder->num_entries();
  if (count == properties.num_entries) return Status::OK();
  return Status::Corruption(StrCat("table ", file.path(), ": ", count, " rows, but ",
                                   properties.num_entries, " in the properties"));
}

}  // namespace

Result<std::unique_ptr<RandomReader>> TranslateBareTable(const RandomReader& file,
                                                         const TableReaderOptions& options) {
  BareTable table;
  ASSIGN_OR_RETURN(table, ReadBareTable(file));
  RETURN_IF_ERROR(CheckComparator(file, table.properties, options));
  std::string image;
  {
    FileWriterOptions unbuffered;
    unbuffered.buffer_bytes = 0;
    const std::unique_ptr<FileWriter> writer =
        FileWriter::Wrap(std::make_unique<StringSink>(&image), file.path(), 0, unbuffered);
    const BlockBasedTableOptions format = FormatInMemory();
    TableBuilderOptions builder_options = BuilderOptions(table.properties, options);
    builder_options.table = &format;
    TableBuilder builder(builder_options, writer.get());
    const Status copied = CopyRows(file, table, *options.icmp, &builder);
    if (!copied.ok()) {
      builder.Abandon();
      return copied;
    }
    RETURN_IF_ERROR(builder.Finish());
    RETURN_IF_ERROR(writer->Close());
  }
  const uint64_t size = image.size();
  return std::make_unique<RandomReader>(std::make_unique<StringFile>(std::move(image)), file.path(),
                                        size);
}

}  // namespace ashlar
