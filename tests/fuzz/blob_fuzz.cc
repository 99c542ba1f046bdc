// SPDX-License-Identifier: Apache-2.0
//
// Arbitrary bytes as parts of a blob file and as a blob index: decoding ends with a Status, and
// data that was decoded is the same after encoding it again.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "db/blob/blob_format.h"

namespace ashlar {
namespace {

void CheckIndex(const Slice& bytes) {
  BlobIndex index;
  const Status status = index.DecodeFrom(bytes);
  if (!status.ok()) {
    if (!status.IsCorruption()) std::abort();
    return;
  }
  std::string again;
  index.AppendTo(&again);
  BlobIndex second;
  if (!second.DecodeFrom(again).ok() || second.DebugString() != index.DebugString()) std::abort();
}

template <typename Part, size_t kBytes>
void CheckPart(const std::string& input) {
  if (input.size() < kBytes) return;
  const Slice bytes(input.data(), kBytes);
  Part part;
  const Status status = part.DecodeFrom(bytes);
  if (!status.ok()) {
    if (!status.IsCorruption() && !status.IsNotSupported()) std::abort();
    return;
  }
  std::string again;
  part.AppendTo(&again);
  if (Slice(again) != bytes) std::abort();
}

// The first two bytes give the split of the rest.
void CheckRecord(const std::string& input) {
  if (input.size() < 2 + kBlobRecordHeaderBytes) return;
  const Slice record(input.data() + 2, input.size() - 2);
  const size_t body = record.size() - kBlobRecordHeaderBytes;
  const size_t key_bytes = static_cast<uint8_t>(input[0]) % (body + 1);
  const Slice key(record.data() + kBlobRecordHeaderBytes, key_bytes);
  const Status status = CheckBlobRecord(record, key, body - key_bytes);
  if (!status.ok() && !status.IsCorruption() && !status.IsNotSupported()) std::abort();
}

}  // namespace
}  // namespace ashlar

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string input(reinterpret_cast<const char*>(data), size);
  ashlar::CheckIndex(input);
  ashlar::CheckPart<ashlar::BlobFileHeader, ashlar::kBlobHeaderBytes>(input);
  ashlar::CheckPart<ashlar::BlobFileFooter, ashlar::kBlobFooterBytes>(input);
  ashlar::CheckPart<ashlar::BlobRecordHeader, ashlar::kBlobRecordHeaderBytes>(input);
  ashlar::CheckRecord(input);
  return 0;
}
