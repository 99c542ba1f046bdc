// SPDX-License-Identifier: Apache-2.0
//
// One record is in memory at a time.
#include "tools/lib/blob_dump.h"

#include <cassert>
#include <memory>
#include <string_view>

#include "ashlar/convenience.h"
#include "db/blob/blob_format.h"
#include "env/random_reader.h"
#include "table/format/compression.h"
#include "tools/lib/console.h"
#include "util/result.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

// The name that the properties of a table use: "NoCompression", "LZ4".
std::string CompressionText(CompressionType type) {
  return std::string(CompressionPropertyName(type));
}

// The name that an options file uses: "kNoCompression". An unknown type is printed as its number.
std::string OptionText(CompressionType type) {
  std::string text = StrCat("unknown (", static_cast<int>(type), ")");
  IgnoreError(GetStringFromCompressionType(&text, type), "text keeps its default");
  return text;
}

// Prints one blob file. `file` and `dump` outlive the object.
class BlobFilePrinter {
 public:
  BlobFilePrinter(const RandomReader& file, const BlobDump& dump) : file_(file), dump_(dump) {}

  Status Print();

 private:
  // *result points into *scratch or into memory of the file system, and is valid until the next
  // read.
  Status ReadAt(uint64_t offset, size_t bytes, std::string* scratch, Slice* result) const {
    assert(scratch != nullptr);
    scratch->resize(bytes);
    return file_.ReadExactly(offset, bytes, scratch->data(), result);
  }
  Status PrintHeader();
  Status PrintFooter();
  Status PrintRecord(uint64_t* offset);
  Status PrintBlob(const Slice& stored);
  // Adds the path and the offset to an error.
  Status InFile(const Status& status, uint64_t offset) const {
    return Status::CopyAppendMessage(status, "; in ", StrCat(file_.path(), " at ", offset));
  }

  const RandomReader& file_;
  const BlobDump& dump_;
  CompressionType compression_ = kNoCompression;
  uint64_t end_ = 0;  // where the records end
  std::string scratch_, raw_;
  uint64_t records_ = 0, key_bytes_ = 0, blob_bytes_ = 0, raw_bytes_ = 0;
};

Status BlobFilePrinter::PrintHeader() {
  Slice bytes;
  RETURN_IF_ERROR(ReadAt(0, kBlobHeaderBytes, &scratch_, &bytes));
  BlobFileHeader header;
  if (Status status = header.DecodeFrom(bytes); !status.ok()) return InFile(status, 0);
  compression_ = header.compression;
  PrintLine(
      StrCat("Blob log header:\n  Version          : 1\n  Column Family ID : ", header.family_id,
             "\n  Compression      : ", OptionText(compression_), "\n  Expiration range : nil"));
  return Status::OK();
}

// A file that was not finished has no footer. The bytes in its place belong to a record then, so a
// footer that does not decode is no error: the records go on to the end of the file.
Status BlobFilePrinter::PrintFooter() {
  end_ = file_.size();
  if (file_.size() >= kBlobHeaderBytes + kBlobFooterBytes) {
    Slice bytes;
    RETURN_IF_ERROR(ReadAt(file_.size() - kBlobFooterBytes, kBlobFooterBytes, &scratch_, &bytes));
    BlobFileFooter footer;
    if (footer.DecodeFrom(bytes).ok()) {
      end_ -= kBlobFooterBytes;
      PrintLine(StrCat("Blob log footer:\n  Blob count       : ", footer.blob_count,
                       "\n  Expiration Range : nil"));
      return Status::OK();
    }
  }
  PrintLine("No blob log footer.");
  return Status::OK();
}

// The blob is uncompressed even if it is printed as stored, because the summary counts raw bytes.
Status BlobFilePrinter::PrintBlob(const Slice& stored) {
  Slice raw = stored;
  if (compression_ != kNoCompression) {
    RETURN_IF_ERROR(UncompressToString(compression_, stored, /*dict=*/nullptr, &raw_));
    raw = raw_;
  }
  raw_bytes_ += raw.size();
  PrintLine(StrCat(dump_.uncompresses ? "  raw blob   : " : "  blob       : ",
                   (dump_.uncompresses ? raw : stored).ToString(dump_.hex_values)));
  return Status::OK();
}

// The record header has its own checksum, so the sizes in it can be used to read the body; they
// must not reach beyond the records.
Status BlobFilePrinter::PrintRecord(uint64_t* offset) {
  assert(offset != nullptr);
  assert(*offset >= kBlobHeaderBytes);
  assert(*offset <= end_ && end_ - *offset >= kBlobRecordHeaderBytes);
  PrintLine(StrCat("Read record with offset ", Hex(*offset), " (", *offset, "):"));
  Slice bytes;
  RETURN_IF_ERROR(ReadAt(*offset, kBlobRecordHeaderBytes, &scratch_, &bytes));
  BlobRecordHeader header;
  RETURN_IF_ERROR(header.DecodeFrom(bytes));
  const uint64_t room = end_ - *offset - kBlobRecordHeaderBytes;
  // Both sizes are compared with what is left instead of being added, because their sum may
  // overflow.
  if (header.key_bytes > room || header.value_bytes > room - header.key_bytes) {
    return Status::Corruption(StrCat("a record of ", header.key_bytes, " + ", header.value_bytes,
                                     " bytes, but only ", room, " are left"));
  }
  RETURN_IF_ERROR(ReadAt(*offset + kBlobRecordHeaderBytes, header.key_bytes + header.value_bytes,
                         &scratch_, &bytes));
  const Slice key(bytes.data(), header.key_bytes);
  const Slice stored(bytes.data() + header.key_bytes, header.value_bytes);
  PrintLine(StrCat("  key size   : ", key.size(), "\n  value size : ", stored.size(),
                   "\n  expiration : 0\n  key        : ", key.ToString(dump_.hex_keys)));
  if (MaskedBodyCrc(key, stored) != header.masked_body_crc) {
    return Status::Corruption("the checksum of the record's key and value is wrong");
  }
  RETURN_IF_ERROR(PrintBlob(stored));
  records_++;
  key_bytes_ += key.size();
  blob_bytes_ += stored.size();
  *offset += BlobRecordBytes(key.size(), stored.size());
  assert(*offset <= end_);
  return Status::OK();
}

// Prints the records up to the first damaged one, then the sums of those that were printed. The
// length of a damaged record is not reliable, so there is no way to find the next one.
Status BlobFilePrinter::Print() {
  RETURN_IF_ERROR(PrintHeader());
  RETURN_IF_ERROR(PrintFooter());
  Status status;
  uint64_t offset = kBlobHeaderBytes;
  while (status.ok() && offset < end_) {
    const uint64_t begin = offset;
    if (end_ - offset < kBlobRecordHeaderBytes) {
      status = InFile(Status::Corruption(StrCat(end_ - offset, " bytes are not a record")), begin);
    } else if (Status record = PrintRecord(&offset); !record.ok()) {
      status = InFile(record, begin);
    }
  }
  PrintLine(StrCat("Summary:\n  total records: ", records_, "\n  total key size: ", key_bytes_,
                   "\n  total blob size: ", blob_bytes_));
  if (compression_ != kNoCompression) PrintLine(StrCat("  total raw blob size: ", raw_bytes_));
  return status;
}

}  // namespace

Status DumpBlobFile(FileSystem* fs, const std::string& path, const BlobDump& dump) {
  assert(fs != nullptr);
  ASSIGN_OR_RETURN(const auto file, RandomReader::Open(fs, path, FileOptions()));
  return BlobFilePrinter(*file, dump).Print();
}

std::string BlobReferenceText(const Slice& encoded) {
  BlobIndex index;
  if (const Status status = index.DecodeFrom(encoded); !status.ok()) return status.ToString();
  return StrCat("[blob ref] file:", index.file, " offset:", index.offset, " size:", index.size,
                " compression: ", CompressionText(index.compression));
}

}  // namespace ashlar
