// SPDX-License-Identifier: Apache-2.0
//
// The built-in partitioner, which ends a file where the prefix of fixed length changes.
#include "ashlar/sst_partitioner.h"

#include <algorithm>

#include "util/text/option_text.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

// Keys that are shorter than the prefix are their own prefix.
Slice PrefixOf(const Slice& key, size_t length) {
  return Slice(key.data(), std::min(key.size(), length));
}

}  // namespace

PartitionerResult SstPartitionerFixedPrefix::ShouldPartition(const PartitionerRequest& request) {
  const Slice before = PrefixOf(*request.prev_user_key, len_);
  return before == PrefixOf(*request.current_user_key, len_) ? kNotRequired : kRequired;
}

// A file within one prefix may be moved without being cut.
bool SstPartitionerFixedPrefix::CanDoTrivialMove(const Slice& smallest_user_key,
                                                 const Slice& largest_user_key) {
  return PrefixOf(smallest_user_key, len_) == PrefixOf(largest_user_key, len_);
}

SstPartitionerFixedPrefixFactory::SstPartitionerFixedPrefixFactory(size_t len) : len_(len) {}

std::unique_ptr<SstPartitioner> SstPartitionerFixedPrefixFactory::CreatePartitioner(
    const SstPartitioner::Context& /*context*/) const {
  return std::make_unique<SstPartitionerFixedPrefix>(len_);
}

// Texts have the form "length=4;".
Status SstPartitionerFixedPrefixFactory::ConfigureOptions(
    const ConfigOptions& config_options,
    const std::unordered_map<std::string, std::string>& opts_map,
    std::unordered_map<std::string, std::string>* unused) {
  auto rest = opts_map;
  Status status = TakeSizeOption("length", &rest, &len_);
  if (!status.ok()) return status;
  return SstPartitionerFactory::ConfigureOptions(config_options, rest, unused);
}

std::string SstPartitionerFixedPrefixFactory::SerializeOptions(
    const ConfigOptions& /*config_options*/, const std::string& /*prefix*/) const {
  return StrCat("length=", len_, ";");
}

std::shared_ptr<SstPartitionerFactory> NewSstPartitionerFixedPrefixFactory(size_t prefix_len) {
  return std::make_shared<SstPartitionerFixedPrefixFactory>(prefix_len);
}

}  // namespace ashlar
