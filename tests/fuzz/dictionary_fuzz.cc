// SPDX-License-Identifier: Apache-2.0
//
// Compression dictionaries: a dictionary built from any blocks stays within its limit, and blocks
// survive every compression with it; any bytes can be the dictionary of any stored bytes.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "table/format/compression.h"
#include "table/format/compression_dictionary.h"

namespace ashlar {
namespace {

constexpr size_t kMostRawBytes = 1 << 20;
constexpr CompressionType kTypes[] = {kSnappyCompression, kZlibCompression,  kBZip2Compression,
                                      kLZ4Compression,    kLZ4HCCompression, kZSTD};

// A trained dictionary must be the same after it was read from the file.
void RoundTrip(CompressionType type, const CompressionOptions& options,
               const std::string& dictionary, const std::vector<Slice>& blocks) {
  if (!IsCompressionSupported(type)) return;
  const Result<std::unique_ptr<Compressor>> compressor =
      Compressor::Create(type, options, dictionary);
  if (!compressor.ok()) return;
  const UncompressionDict dict{Slice(dictionary)};
  for (const Slice& block : blocks) {
    PageString stored;
    std::string again;
    if (!compressor.value()->Compress(block, 2 * block.size() + 64, &stored)) continue;
    if (!UncompressToString(type, Slice(stored), &dict, &again).ok() || block != Slice(again)) {
      std::abort();
    }
  }
}

// Blocks of the length that the control byte gives.
void MakeAndUse(uint8_t control, Slice bytes) {
  CompressionOptions options;
  options.max_dict_bytes = 16 + 40 * uint32_t{control};
  options.zstd_max_train_bytes = control % 2 == 0 ? 0 : 4000;
  options.use_zstd_dict_trainer = control % 4 < 2;
  std::vector<Slice> blocks;
  const size_t block_bytes = 16 + size_t{control} * 3;
  while (!bytes.empty()) {
    const size_t piece = std::min(block_bytes, bytes.size());
    blocks.emplace_back(bytes.data(), piece);
    bytes.remove_prefix(piece);
  }
  const std::string dictionary = MakeCompressionDictionary(blocks, options);
  if (dictionary.size() > options.max_dict_bytes) std::abort();
  RoundTrip(kTypes[control % std::size(kTypes)], options, dictionary, blocks);
}

void UseAny(uint8_t control, const Slice& dictionary, const Slice& stored) {
  const UncompressionDict dict(dictionary);
  const CompressionType type = kTypes[control % std::size(kTypes)];
  const Result<CompressedBlock> block = ParseCompressedBlock(type, stored);
  if (!block.ok() || block.value().raw_bytes > kMostRawBytes) return;
  // Exactly as large as announced, so that a sanitizer detects any write after its end.
  std::vector<char> raw(block.value().raw_bytes);
  IgnoreError(UncompressBlock(block.value(), &dict, raw.data()), "any answer is fine");
}

}  // namespace
}  // namespace ashlar

// control | split | bytes: in two parts, the first of `split` bytes, or as blocks.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  const ashlar::Slice bytes(reinterpret_cast<const char*>(data) + 2, size - 2);
  const size_t split = std::min<size_t>(data[1], bytes.size());
  ashlar::UseAny(data[0], ashlar::Slice(bytes.data(), split),
                 ashlar::Slice(bytes.data() + split, bytes.size() - split));
  ashlar::MakeAndUse(data[0], bytes);
  return 0;
}
