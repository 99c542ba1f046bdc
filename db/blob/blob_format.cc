// SPDX-License-Identifier: Apache-2.0
//
// Each field is checked before later fields are used.
#include "db/blob/blob_format.h"

#include <cassert>

#include "util/hash/crc32c.h"
#include "util/keys/coding.h"
#include "util/result.h"
#include "util/text/data_in_errors.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

constexpr uint32_t kMagic = 2395959;
constexpr uint32_t kVersion = 1;
constexpr uint8_t kHasTtl = 1;  // flag in a file header
constexpr uint8_t kInFile = 1;  // kind of blob index
// The checksum covers the bytes before this offset.
constexpr size_t kRecordCrcOffset = 24;
constexpr size_t kFooterCrcOffset = 28;

Status CheckMagic(uint32_t magic) {
  if (magic == kMagic) return Status::OK();
  return Status::Corruption(StrCat("bad magic number ", magic, ", expected ", kMagic));
}

Status CheckCrc(const char* what, const Slice& bytes, uint32_t stored) {
  const uint32_t crc = crc32c::Value(bytes.data(), bytes.size());
  if (crc == crc32c::Unmask(stored)) return Status::OK();
  return Status::Corruption(StrCat("checksum mismatch of the ", what, ": stored ",
                                   crc32c::Unmask(stored), ", computed ", crc));
}

// Values with an expiry time belong to the old BlobDB, which is not supported.
Status RefuseTtl(const char* what) {
  return Status::NotSupported(StrCat("the ", what, " says that values expire"));
}

}  // namespace

void BlobFileHeader::AppendTo(std::string* dst) const {
  [[maybe_unused]] const size_t begin = dst->size();
  PutFixed32(dst, kMagic);
  PutFixed32(dst, kVersion);
  PutFixed32(dst, family_id);
  // No flags. The two numbers after the compression are a range of expiry times, which is empty.
  dst->push_back(0);
  dst->push_back(static_cast<char>(compression));
  PutFixed64(dst, 0);
  PutFixed64(dst, 0);
  assert(dst->size() - begin == kBlobHeaderBytes);
}

// The header has no checksum, so each of its fields must have a known value.
Status BlobFileHeader::DecodeFrom(const Slice& bytes) {
  assert(bytes.size() == kBlobHeaderBytes);
  const char* p = bytes.data();
  RETURN_IF_ERROR(CheckMagic(DecodeFixed32(p)));
  const uint32_t version = DecodeFixed32(p + 4);
  // The format has no later version.
  if (version != kVersion) {
    return Status::Corruption(StrCat("unknown version ", version, ", expected ", kVersion));
  }
  family_id = DecodeFixed32(p + 8);
  const auto flags = static_cast<uint8_t>(p[12]);
  if ((flags & ~kHasTtl) != 0) return Status::Corruption(StrCat("unknown flags ", int{flags}));
  if (flags != 0 || DecodeFixed64(p + 14) != 0 || DecodeFixed64(p + 22) != 0) {
    return RefuseTtl("header");
  }
  compression = static_cast<CompressionType>(p[13]);
  return Status::OK();
}

void BlobFileFooter::AppendTo(std::string* dst) const {
  assert(dst != nullptr);
  const size_t begin = dst->size();
  PutFixed32(dst, kMagic);
  PutFixed64(dst, blob_count);
  // The range of expiry times, as in the header.
  PutFixed64(dst, 0);
  PutFixed64(dst, 0);
  PutFixed32(dst, crc32c::Mask(crc32c::Value(dst->data() + begin, kFooterCrcOffset)));
  assert(dst->size() - begin == kBlobFooterBytes);
}

Status BlobFileFooter::DecodeFrom(const Slice& bytes) {
  assert(bytes.size() == kBlobFooterBytes);
  const char* p = bytes.data();
  RETURN_IF_ERROR(CheckMagic(DecodeFixed32(p)));
  RETURN_IF_ERROR(
      CheckCrc("footer", Slice(p, kFooterCrcOffset), DecodeFixed32(p + kFooterCrcOffset)));
  if (DecodeFixed64(p + 12) != 0 || DecodeFixed64(p + 20) != 0) return RefuseTtl("footer");
  blob_count = DecodeFixed64(p + 4);
  return Status::OK();
}

void BlobRecordHeader::AppendTo(std::string* dst) const {
  assert(dst != nullptr);
  const size_t begin = dst->size();
  PutFixed64(dst, key_bytes);
  PutFixed64(dst, value_bytes);
  PutFixed64(dst, 0);
  PutFixed32(dst, crc32c::Mask(crc32c::Value(dst->data() + begin, kRecordCrcOffset)));
  PutFixed32(dst, masked_body_crc);
  assert(dst->size() - begin == kBlobRecordHeaderBytes);
}

Status BlobRecordHeader::DecodeFrom(const Slice& bytes) {
  assert(bytes.size() == kBlobRecordHeaderBytes);
  const char* p = bytes.data();
  RETURN_IF_ERROR(
      CheckCrc("record's header", Slice(p, kRecordCrcOffset), DecodeFixed32(p + kRecordCrcOffset)));
  key_bytes = DecodeFixed64(p);
  value_bytes = DecodeFixed64(p + 8);
  masked_body_crc = DecodeFixed32(p + 28);
  if (DecodeFixed64(p + 16) != 0) return RefuseTtl("record");
  return Status::OK();
}

uint32_t MaskedBodyCrc(const Slice& user_key, const Slice& stored_value) {
  // The CRC of the key is extended by the value, so that nothing is copied.
  const uint32_t crc_of_key = crc32c::Value(user_key.data(), user_key.size());
  return crc32c::Mask(crc32c::Extend(crc_of_key, stored_value.data(), stored_value.size()));
}

Status CheckBlobRecord(const Slice& record, const Slice& user_key, uint64_t value_bytes) {
  assert(record.size() == BlobRecordBytes(user_key.size(), value_bytes));
  BlobRecordHeader header;
  RETURN_IF_ERROR(header.DecodeFrom(Slice(record.data(), kBlobRecordHeaderBytes)));
  // A wrong length is found before the checksum is computed.
  if (header.key_bytes != user_key.size() || header.value_bytes != value_bytes) {
    return Status::Corruption(StrCat("the record is of a key of ", header.key_bytes,
                                     " bytes and a value of ", header.value_bytes, ", expected ",
                                     user_key.size(), " and ", value_bytes));
  }
  const Slice body(record.data() + kBlobRecordHeaderBytes, record.size() - kBlobRecordHeaderBytes);
  RETURN_IF_ERROR(CheckCrc("record", body, header.masked_body_crc));
  const Slice key(body.data(), user_key.size());
  if (key == user_key) return Status::OK();
  return Status::Corruption(
      StrCat("the record is of key ", KeyInError(key), ", expected ", KeyInError(user_key)));
}

void BlobIndex::AppendTo(std::string* dst) const {
  assert(dst != nullptr);
  assert(file > 0);
  dst->push_back(static_cast<char>(kInFile));
  PutFileNumber(dst, file);
  PutVarint64(dst, offset);
  PutVarint64(dst, size);
  dst->push_back(static_cast<char>(compression));
}

// Every length and number is checked here, because the bytes come from a table and may be damaged.
// Whether the offset lies inside the blob file is checked by the reader of that file.
Status BlobIndex::DecodeFrom(const Slice& bytes) {
  if (bytes.empty()) return Status::Corruption("blob index: empty");
  const auto kind = static_cast<uint8_t>(bytes[0]);
  if (kind != kInFile) {
    return Status::Corruption(StrCat("blob index: kind ", int{kind}, ", expected ", int{kInFile}));
  }
  Slice rest(bytes.data() + 1, bytes.size() - 1);
  if (!GetFileNumber(&rest, &file) || !GetVarint64(&rest, &offset) || !GetVarint64(&rest, &size)) {
    return Status::Corruption("blob index: ends inside of a number");
  }
  if (rest.size() != 1) {
    return Status::Corruption(
        StrCat("blob index: ", rest.size(), " bytes behind its numbers, expected 1"));
  }
  if (file == 0 || file > kMaxFileNumber) {
    return Status::Corruption(StrCat("blob index: impossible file number ", file));
  }
  compression = static_cast<CompressionType>(rest[0]);
  return Status::OK();
}

std::string BlobIndex::DebugString() const {
  return StrCat("blob file ", file, ", offset ", offset, ", ", size, " bytes, compression ",
                static_cast<int>(compression));
}

}  // namespace ashlar
