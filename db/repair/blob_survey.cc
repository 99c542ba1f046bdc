// SPDX-License-Identifier: Apache-2.0
//
// A record whose header is damaged hides the records behind it, because its length is unknown.
#include "db/repair/blob_survey.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <memory>

#include "db/blob/blob_file.h"
#include "db/blob/blob_format.h"
#include "env/file_writer.h"
#include "env/random_reader.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

// One pass over the records of a blob file.
class RecordWalk {
 public:
  RecordWalk(const RandomReader& file, uint64_t end) : file_(file), end_(end) {}

  // Corruption says why the walk ended before `end`.
  Status Run(std::vector<std::string>* damage);
  uint64_t count() const { return count_; }
  uint64_t offset() const { return offset_; }  // behind the last whole record

 private:
  // Reads key and value, and compares them with the checksum. The lengths fit into the file.
  Status CheckBody(const BlobRecordHeader& header);

  const RandomReader& file_;
  const uint64_t end_;
  uint64_t offset_ = kBlobHeaderBytes;
  uint64_t count_ = 0;
  std::string body_;  // key and value of the present record
};

Status RecordWalk::Run(std::vector<std::string>* damage) {
  assert(damage != nullptr);
  while (offset_ < end_) {
    if (end_ - offset_ < kBlobRecordHeaderBytes) {
      return Status::Corruption(StrCat("offset ", offset_, ": the file ends inside a record"));
    }
    std::array<char, kBlobRecordHeaderBytes> scratch;
    Slice bytes;
    RETURN_IF_ERROR(file_.ReadExactly(offset_, scratch.size(), scratch.data(), &bytes));
    BlobRecordHeader header;
    const Status status = header.DecodeFrom(bytes);
    if (!status.ok()) {
      return Status::Corruption(StrCat("offset ", offset_, ": ", status.ToString()));
    }
    assert(offset_ <= end_);
    const uint64_t rest = end_ - offset_ - kBlobRecordHeaderBytes;
    // Written so that the sum of damaged lengths cannot overflow.
    if (header.key_bytes > rest || header.value_bytes > rest - header.key_bytes) {
      return Status::Corruption(StrCat("offset ", offset_, ": the file ends inside a record"));
    }
    const Status body = CheckBody(header);
    if (!body.ok() && !body.IsCorruption()) return body;
    // A record with a damaged body is counted: its length is known, and others behind it can be
    // read.
    if (!body.ok()) damage->push_back(StrCat("offset ", offset_, ": ", body.ToString()));
    // The length is that of the header, so the walk goes on behind a damaged body.
    offset_ += BlobRecordBytes(header.key_bytes, header.value_bytes);
    count_++;
  }
  assert(offset_ >= kBlobHeaderBytes);
  return Status::OK();
}

Status RecordWalk::CheckBody(const BlobRecordHeader& header) {
  body_.resize(header.key_bytes + header.value_bytes);
  Slice bytes;
  RETURN_IF_ERROR(
      file_.ReadExactly(offset_ + kBlobRecordHeaderBytes, body_.size(), body_.data(), &bytes));
  const Slice key(bytes.data(), header.key_bytes);
  const Slice value(bytes.data() + header.key_bytes, header.value_bytes);
  if (MaskedBodyCrc(key, value) == header.masked_body_crc) return Status::OK();
  return Status::Corruption("checksum mismatch of the record");
}

// Reads the footer at the end of the file. False if the file has none that can be decoded; the
// footer has a checksum.
Result<bool> ReadFooter(const RandomReader& file, BlobFileFooter* footer) {
  assert(footer != nullptr);
  // A file that is too short has no footer; it may still have records.
  if (file.size() < kBlobHeaderBytes + kBlobFooterBytes) return false;
  std::array<char, kBlobFooterBytes> scratch;
  Slice bytes;
  RETURN_IF_ERROR(
      file.ReadExactly(file.size() - kBlobFooterBytes, scratch.size(), scratch.data(), &bytes));
  return footer->DecodeFrom(bytes).ok();
}

}  // namespace

Result<SurveyedBlobFile> SurveyBlobFile(FileSystem* fs, const FileOptions& options,
                                        const std::string& path) {
  ASSIGN_OR_RETURN(const auto file, RandomReader::Open(fs, path, options));
  if (file->size() < kBlobHeaderBytes) {
    return Status::Corruption(path, "is shorter than the header of a blob file");
  }
  std::array<char, kBlobHeaderBytes> scratch;
  Slice bytes;
  RETURN_IF_ERROR(file->ReadExactly(0, scratch.size(), scratch.data(), &bytes));
  BlobFileHeader header;
  RETURN_IF_ERROR(header.DecodeFrom(bytes));
  SurveyedBlobFile survey;
  survey.family_id = header.family_id;
  BlobFileFooter footer;
  ASSIGN_OR_RETURN(survey.has_footer, ReadFooter(*file, &footer));
  RecordWalk walk(*file, survey.has_footer ? file->size() - kBlobFooterBytes : file->size());
  const Status walked = walk.Run(&survey.damage);
  if (!walked.ok() && !walked.IsCorruption()) return walked;
  // Without a footer, only the records up to the first damaged header count.
  if (!survey.has_footer) {
    survey.damage.push_back("no footer");
    survey.blob_count = walk.count();
    assert(walk.offset() >= kBlobHeaderBytes);
    survey.blob_bytes = walk.offset() - kBlobHeaderBytes;
    return survey;
  }
  if (!walked.ok()) survey.damage.push_back(walked.ToString());
  // The footer tells the number even if some records are damaged.
  survey.blob_count = footer.blob_count;
  assert(file->size() >= kBlobHeaderBytes + kBlobFooterBytes);
  survey.blob_bytes = file->size() - kBlobHeaderBytes - kBlobFooterBytes;
  return survey;
}

Status CompleteBlobFile(FileSystem* fs, const FileOptions& options, const std::string& path,
                        const SurveyedBlobFile& survey, const std::string& temporary_path) {
  assert(!survey.has_footer);
  assert(fs != nullptr);
  ASSIGN_OR_RETURN(const auto from, RandomReader::Open(fs, path, options));
  ASSIGN_OR_RETURN(const auto to, FileWriter::Create(fs, temporary_path, options));
  constexpr uint64_t kChunkBytes = 1 << 20;
  const std::unique_ptr<char[]> scratch(new char[kChunkBytes]);
  // What follows the last whole record is not copied.
  const uint64_t end = kBlobHeaderBytes + survey.blob_bytes;
  for (uint64_t offset = 0; offset < end;) {
    assert(offset < end);
    const auto n = static_cast<size_t>(std::min(kChunkBytes, end - offset));
    Slice bytes;
    RETURN_IF_ERROR(from->ReadExactly(offset, n, scratch.get(), &bytes));
    RETURN_IF_ERROR(to->Append(bytes));
    offset += n;
  }
  std::string footer;
  BlobFileFooter{.blob_count = survey.blob_count}.AppendTo(&footer);
  RETURN_IF_ERROR(to->Append(footer));
  RETURN_IF_ERROR(to->Sync());
  // Under the temporary name: the caller renames the file when it is durable.
  return to->Close();
}

}  // namespace ashlar
