// SPDX-License-Identifier: Apache-2.0
//
// The bytes of blob files, and of the blob indexes that tables hold in place of values.
// docs/formats/blob.md, sections 1 and 3.
//
// Plain values and functions without state; any thread. Decoding trusts nothing: bytes are foreign.
// A message says what was expected and found; whoever read the bytes adds file and offset.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "ashlar/compression_type.h"
#include "ashlar/slice.h"
#include "ashlar/status.h"
#include "util/keys/file_number.h"

namespace ashlar {

inline constexpr size_t kBlobHeaderBytes = 30;
inline constexpr size_t kBlobFooterBytes = 32;
inline constexpr size_t kBlobRecordHeaderBytes = 32;

struct BlobFileHeader {
  uint32_t family_id = 0;
  CompressionType compression = kNoCompression;  // of all values of the file

  void AppendTo(std::string* dst) const;
  // `bytes`: exactly kBlobHeaderBytes. NotSupported for files whose values expire.
  Status DecodeFrom(const Slice& bytes);
};

struct BlobFileFooter {
  uint64_t blob_count = 0;

  void AppendTo(std::string* dst) const;
  // `bytes`: exactly kBlobFooterBytes.
  Status DecodeFrom(const Slice& bytes);
};

// A record is this header, the user key, the stored value.
struct BlobRecordHeader {
  uint64_t key_bytes = 0;
  uint64_t value_bytes = 0;
  uint32_t masked_body_crc = 0;  // of key and value

  void AppendTo(std::string* dst) const;
  // `bytes`: exactly kBlobRecordHeaderBytes.
  Status DecodeFrom(const Slice& bytes);
};
uint32_t MaskedBodyCrc(const Slice& user_key, const Slice& stored_value);
// Of a whole record; what additions and garbage count.
inline uint64_t BlobRecordBytes(uint64_t key_bytes, uint64_t value_bytes) {
  return kBlobRecordHeaderBytes + key_bytes + value_bytes;
}

// Checks a whole record, header and all, that should be the one of this key and stored size.
Status CheckBlobRecord(const Slice& record, const Slice& user_key, uint64_t value_bytes);

// Where a value is: what a table holds for it.
struct BlobIndex {
  FileNumber file = 0;
  uint64_t offset = 0;  // of the stored value itself, inside its record
  uint64_t size = 0;    // as stored
  CompressionType compression = kNoCompression;

  void AppendTo(std::string* dst) const;
  // Corruption, which says what is wrong, also for the kinds that expire or lie inside.
  Status DecodeFrom(const Slice& bytes);
  std::string DebugString() const;
};

}  // namespace ashlar
