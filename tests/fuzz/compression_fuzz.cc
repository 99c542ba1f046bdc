// SPDX-License-Identifier: Apache-2.0
//
// Decompression: any bytes of any type, with and without dictionary, end with a Status; and any
// bytes survive compression and decompression.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "table/format/compression.h"

namespace ashlar {
namespace {

constexpr size_t kMostRawBytes = 16 << 20;

void Uncompress(CompressionType type, const Slice& stored, const UncompressionDict* dict) {
  const Result<CompressedBlock> block = ParseCompressedBlock(type, stored);
  if (!block.ok() || block.value().raw_bytes > kMostRawBytes) return;
  // Exactly as large as announced, so that a sanitizer detects any write after its end.
  std::vector<char> raw(block.value().raw_bytes);
  IgnoreError(UncompressBlock(block.value(), dict, raw.data()), "any answer is fine");
}

void RoundTrip(CompressionType type, const Slice& raw) {
  if (type == kNoCompression || !IsCompressionSupported(type)) return;
  const auto compressor = Compressor::Create(type, CompressionOptions());
  PageString stored;
  std::string again;
  if (!compressor.ok() || !compressor.value()->Compress(raw, 2 * raw.size() + 64, &stored)) return;
  if (!UncompressToString(type, Slice(stored), nullptr, &again).ok() || raw != Slice(again))
    std::abort();
}

}  // namespace
}  // namespace ashlar

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  const auto type = static_cast<ashlar::CompressionType>(data[0] % 8);
  const ashlar::Slice bytes(reinterpret_cast<const char*>(data) + 2, size - 2);
  static const ashlar::UncompressionDict dict("a dictionary of common words, of words in common");
  switch (data[1] % 3) {
    case 0: ashlar::Uncompress(type, bytes, nullptr); break;
    case 1: ashlar::Uncompress(type, bytes, &dict); break;
    default: ashlar::RoundTrip(type, bytes);
  }
  return 0;
}
