// SPDX-License-Identifier: Apache-2.0
//
// The bytes of blob files, and of the blob indexes that tables hold in place of values.
// docs/formats/blob.md, sections 1 and 3.
//
// Plain values and functions without state; any thread. Decoders do not trust their input. An error
// message contains the expectation and the finding; the caller adds file and offset.
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

// Integers are little-endian; see the format page for the offsets.
// The first bytes of a blob file.
struct BlobFileHeader {
  uint32_t family_id = 0;
  CompressionType compression = kNoCompression;  // of all values of the file

  void AppendTo(std::string* dst) const;
  // `bytes`: exactly kBlobHeaderBytes. NotSupported for files whose values have an expiry time.
  Status DecodeFrom(const Slice& bytes);
};

// The last bytes of a blob file.
struct BlobFileFooter {
  uint64_t blob_count = 0;

  void AppendTo(std::string* dst) const;
  // `bytes`: exactly kBlobFooterBytes.
  Status DecodeFrom(const Slice& bytes);
};

// The header of a record, which is followed by the user key and the stored value.
struct BlobRecordHeader {
  uint64_t key_bytes = 0;
  uint64_t value_bytes = 0;
  uint32_t masked_body_crc = 0;  // of key and value

  void AppendTo(std::string* dst) const;
  // `bytes`: exactly kBlobRecordHeaderBytes.
  Status DecodeFrom(const Slice& bytes);
};
// The masked CRC-32C of key and stored value, as it is in the record.
uint32_t MaskedBodyCrc(const Slice& user_key, const Slice& stored_value);
// The size of a record; the MANIFEST counts bytes of additions and garbage in this way.
inline uint64_t BlobRecordBytes(uint64_t key_bytes, uint64_t value_bytes) {
  return kBlobRecordHeaderBytes + key_bytes + value_bytes;
}

// Checks a complete record, including its header, against the expected key and stored size.
// Corruption tells which part does not fit. The caller adds file and offset.
Status CheckBlobRecord(const Slice& record, const Slice& user_key, uint64_t value_bytes);

// The location of a value in a blob file; a table stores it in place of the value.
struct BlobIndex {
  FileNumber file = 0;
  uint64_t offset = 0;  // of the stored value itself, inside its record
  uint64_t size = 0;    // as stored
  CompressionType compression = kNoCompression;

  void AppendTo(std::string* dst) const;
  // Corruption with the malformed field. Values with an expiry time or inside the index are
  // Corruption too.
  Status DecodeFrom(const Slice& bytes);
  std::string DebugString() const;
};

}  // namespace ashlar
