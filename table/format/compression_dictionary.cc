// SPDX-License-Identifier: Apache-2.0
//
// Samples are whole blocks, and a part of the last one, from the whole buffered part of the table.
// The stride has no common divisor with the number of blocks, so each block is visited once.
// Without a trainer the samples are the dictionary.
#include "table/format/compression_dictionary.h"

#include <algorithm>
#include <cassert>

#if ASHLAR_WITH_ZSTD
#include <zdict.h>
#include <zstd.h>
#endif

namespace ashlar {

namespace {

struct Samples {
  std::string bytes;  // concatenated
  std::vector<size_t> sizes;
};

// Takes samples of at most `limit` bytes in total.
Samples TakeSamples(const std::vector<Slice>& blocks, size_t limit) {
  assert(!blocks.empty());
  constexpr uint64_t kStride = 545055921143;  // a prime greater than any number of blocks
  const size_t count = blocks.size();
  // From 0 to count - 1; the stride has no common divisor with count.
  const auto stride = static_cast<size_t>(kStride % count);
  Samples samples;
  // The first block is in the middle, and each step jumps far, so that samples are spread.
  size_t i = count / 2;
  for (size_t taken = 0; taken < count && samples.bytes.size() < limit; ++taken) {
    const size_t size = std::min(limit - samples.bytes.size(), blocks[i].size());
    samples.bytes.append(blocks[i].data(), size);
    samples.sizes.push_back(size);
    i = (i + stride) % count;
  }
  assert(samples.bytes.size() <= limit);
  return samples;
}

#if ASHLAR_WITH_ZSTD
// Empty if the library learns too little from the samples.
std::string Train(const Samples& samples, const CompressionOptions& options) {
  std::string dictionary(options.max_dict_bytes, '\0');
  const auto count = static_cast<unsigned>(samples.sizes.size());
  size_t size = 0;
  if (options.use_zstd_dict_trainer) {
    size = ZDICT_trainFromBuffer(dictionary.data(), dictionary.size(), samples.bytes.data(),
                                 samples.sizes.data(), count);
  } else {
    const bool is_default = options.level == CompressionOptions::kDefaultCompressionLevel;
    ZDICT_params_t params{};
    params.compressionLevel = is_default ? ZSTD_CLEVEL_DEFAULT : options.level;
    const size_t content_bytes = std::min(dictionary.size(), samples.bytes.size());
    size = ZDICT_finalizeDictionary(dictionary.data(), dictionary.size(), samples.bytes.data(),
                                    content_bytes, samples.bytes.data(), samples.sizes.data(),
                                    count, params);
  }
  // An error, for example of too few samples, means no dictionary.
  if (ZDICT_isError(size)) return {};
  dictionary.resize(size);
  return dictionary;
}
#endif

}  // namespace

std::string MakeCompressionDictionary(const std::vector<Slice>& blocks,
                                      const CompressionOptions& options) {
  assert(options.max_dict_bytes != 0);
  if (blocks.empty()) return {};
#if ASHLAR_WITH_ZSTD
  if (options.zstd_max_train_bytes > 0) {
    return Train(TakeSamples(blocks, options.zstd_max_train_bytes), options);
  }
#endif
  return TakeSamples(blocks, options.max_dict_bytes).bytes;
}

}  // namespace ashlar
