// SPDX-License-Identifier: Apache-2.0
//
// Parses the identity strings that OPTIONS files hold as well: "bloomfilter:10:false".
#include "table/filter/filter_config.h"

#include <charconv>
#include <string>
#include <string_view>

#include "ashlar/filter_policy.h"
#include "table/filter/bloom.h"
#include "table/format/meta_block_names.h"
#include "util/str_cat.h"

namespace ashlar {

Result<FilterConfig> ConfigOfFilterPolicy(const FilterPolicy* policy) {
  if (policy == nullptr) return FilterConfig{};
  const std::string id = policy->GetId();
  constexpr std::string_view kBloomPrefix = "bloomfilter:";
  if (id.starts_with(kBloomPrefix)) {
    const char* begin = id.data() + kBloomPrefix.size();
    double bits_per_key = 0;
    const auto parsed = std::from_chars(begin, id.data() + id.size(), bits_per_key);
    if (parsed.ec == std::errc()) return FilterConfig{BloomMillibits(bits_per_key)};
  }
  if (id == kBuiltinFilterName) return FilterConfig{};
  return Status::NotSupported(StrCat("filter_policy: '", id,
                                     "' is not built yet; use NewBloomFilterPolicy"));
}

}  // namespace ashlar
