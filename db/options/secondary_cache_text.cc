// SPDX-License-Identifier: Apache-2.0
//
// Creates second tiers of the block cache from their texts, for example
//
//   compressed_secondary_cache://capacity=64M;compression_type=kLZ4Compression
//
// The part behind the scheme is a list of options, which has a table of its own here. An error
// leaves the present object of the caller as it is.
#include <string_view>
#include <utility>
#include <vector>

#include "ashlar/cache.h"
#include "ashlar/secondary_cache.h"
#include "db/options/option_table.h"
#include "util/interfaces/registered_objects.h"
#include "util/result.h"
#include "util/text/option_text.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

using Tier = CompressedSecondaryCacheOptions;

// A row for one member of the options.
template <auto Member>
constexpr OptionRow Part(const char* name, const char* meaning) {
  return ParsedOption<Tier, Member>({name, meaning, Support::kHonoured, TakesEffect::kAtOpen});
}

constexpr OptionRow kCacheRows[] = {
    Part<&Tier::capacity>("capacity", "bytes"),
    Part<&Tier::num_shard_bits>("num_shard_bits", "2 to this many shards; -1 = by size"),
    Part<&Tier::strict_capacity_limit>("strict_capacity_limit", "what does not fit is refused"),
    Part<&Tier::high_pri_pool_ratio>("high_pri_pool_ratio", "share kept for high priority"),
    Part<&Tier::low_pri_pool_ratio>("low_pri_pool_ratio", "share kept for low priority"),
    Part<&Tier::compression_type>("compression_type", "of the entries"),
    Part<&Tier::enable_custom_split_merge>("enable_custom_split_merge", "a hint without effect"),
    RetiredOption("compress_format_version"),
};

}  // namespace

Status SecondaryCache::CreateFromString(const ConfigOptions& config, const std::string& id,
                                        std::shared_ptr<SecondaryCache>* result) {
  // A class that the program has registered goes before the built-in one.
  Status registered;
  if (MakeRegistered<SecondaryCache>(config, id, result, &registered)) return registered;
  constexpr std::string_view kScheme = "compressed_secondary_cache://";
  if (id.empty() || id == "nullptr") {
    result->reset();
    return Status::OK();
  }
  if (!id.starts_with(kScheme)) {
    if (config.ignore_unsupported_options) return Status::OK();
    return Status::NotSupported("no secondary cache of this name", id);
  }
  std::vector<NameValue> parts;
  RETURN_IF_ERROR(SplitOptions(std::string_view(id).substr(kScheme.size()), &parts));
  Tier options;
  // The text must name a size above 0.
  options.capacity = 0;
  for (const NameValue& part : parts)
    RETURN_IF_ERROR(SetOption(kCacheRows, config, part, &options));
  std::shared_ptr<SecondaryCache> made = options.MakeSharedSecondaryCache();
  // This happens for example with a capacity of 0, or with a compression that is not linked.
  if (made == nullptr) {
    return Status::InvalidArgument(StrCat("secondary cache '", id, "': it cannot be made so"));
  }
  *result = std::move(made);
  return Status::OK();
}

}  // namespace ashlar
