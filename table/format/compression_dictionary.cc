// SPDX-License-Identifier: Apache-2.0
//
// Samples are whole blocks, and a piece of the last, from all over the buffered part of the table:
// a stride that has no divisor in common with the number of blocks meets each once. Without a
// trainer the samples are the dictionary.
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
  std::string bytes;  // one behind the other
  std::vector<size_t> sizes;
};

Samples TakeSamples(const std::vector<Slice>& blocks, size_t limit) {
  constexpr uint64_t kStride = 545055921143;  // a prime above any number of blocks
  const size_t count = blocks.size();
  const auto stride = static_cast<size_t>(kStride % count);
  Samples samples;
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
// Empty if the library finds too little in the samples.
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
