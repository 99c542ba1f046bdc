// SPDX-License-Identifier: Apache-2.0
//
// Filters: any bytes can be probed with any key; and a filter that a builder makes from some keys
// contains all of them.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "table/filter/filter_view.h"
#include "table/filter/full_filter_builder.h"

namespace ashlar {
namespace {

void AskAny(const Slice& bytes) {
  const FilterView view(bytes);
  std::string key;
  for (int i = 0; i < 20; ++i) {
    const bool first = view.MayContain(key);
    if (first != view.MayContain(key)) std::abort();
    view.Prefetch(FilterHash64(key));
    key.push_back(static_cast<char>(i * 37));
  }
}

// Cuts the bytes into keys of the length that the first byte gives.
void BuildAndAsk(uint8_t control, Slice bytes) {
  FullFilterOptions options;
  constexpr FilterForm kForms[] = {FilterForm::kCacheLocal, FilterForm::kLegacy,
                                   FilterForm::kRibbon};
  options.kind = kForms[control % std::size(kForms)];
  options.millibits_per_key = 1000 + 300 * uint32_t{control};
  FullFilterBuilder builder(options);
  std::vector<std::string> keys;
  const size_t key_bytes = 1 + control % 16;
  while (bytes.size() >= key_bytes) {
    keys.emplace_back(bytes.data(), key_bytes);
    builder.AddKey(keys.back());
    bytes.remove_prefix(key_bytes);
  }
  const std::string filter(builder.Finish());
  const FilterView view{Slice(filter)};
  for (const std::string& key : keys) {
    if (!view.MayContain(key)) std::abort();
  }
}

}  // namespace
}  // namespace ashlar

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const ashlar::Slice bytes(reinterpret_cast<const char*>(data), size);
  ashlar::AskAny(bytes);
  if (size > 1) ashlar::BuildAndAsk(data[0], ashlar::Slice(bytes.data() + 1, size - 1));
  return 0;
}
