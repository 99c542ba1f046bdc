// SPDX-License-Identifier: Apache-2.0
//
// Charges for memory are entries of the cache without objects. Each has a key of its own, and its
// helper has the role, so statistics count the charge under this role.
#include "cache/cache_charge.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <string>

#include "util/keys/coding.h"
#include "util/text/str_cat.h"
#include "util/threads/epoch.h"

namespace ashlar {
namespace {

template <size_t... kRoles>
constexpr std::array<Cache::CacheItemHelper, sizeof...(kRoles)> MakeChargeHelpers(
    std::index_sequence<kRoles...>) {
  return {Cache::CacheItemHelper(static_cast<CacheEntryRole>(kRoles))...};
}

// Returns a helper without a deleter. A second tier cannot save its entries.
const Cache::CacheItemHelper* ChargeHelperOf(CacheEntryRole role) {
  static const auto helpers = MakeChargeHelpers(std::make_index_sequence<kNumCacheEntryRoles>());
  return &helpers[static_cast<size_t>(role)];
}

}  // namespace

// The decision for the role if there is one, else the general decision, else the default.
bool IsCharged(const CacheUsageOptions& options, CacheEntryRole role) {
  using Decision = CacheEntryRoleOptions::Decision;
  const auto found = options.options_overrides.find(role);
  const bool is_overridden =
      found != options.options_overrides.end() && found->second.charged != Decision::kFallback;
  const Decision decision = is_overridden ? found->second.charged : options.options.charged;
  if (decision != Decision::kFallback) return decision == Decision::kEnabled;
  return role == CacheEntryRole::kCompressionDictionaryBuildingBuffer;
}

bool AsksForCharges(const CacheUsageOptions& options) {
  const auto asks = [](const CacheEntryRoleOptions& decision) {
    return decision.charged == CacheEntryRoleOptions::Decision::kEnabled;
  };
  return asks(options.options) ||
         std::any_of(options.options_overrides.begin(), options.options_overrides.end(),
                     [&](const auto& of_role) { return asks(of_role.second); });
}

// Only some roles can be charged; the others are accepted only with their default.
Status CheckCacheUsage(const CacheUsageOptions& options) {
  for (const auto& [role, decision] : options.options_overrides) {
    switch (role) {
      case CacheEntryRole::kCompressionDictionaryBuildingBuffer:
      case CacheEntryRole::kFilterConstruction:
      case CacheEntryRole::kBlockBasedTableReader:
      case CacheEntryRole::kFileMetadata: continue;
      default: break;
    }
    if (decision.charged == CacheEntryRoleOptions::Decision::kFallback) continue;
    return Status::InvalidArgument(
        StrCat("cache_usage_options: ", GetCacheEntryRoleName(role),
               " cannot be charged by it; CompressionDictionaryBuildingBuffer, "
               "FilterConstruction, BlockBasedTableReader and FileMetadata can"));
  }
  return Status::OK();
}

// Adds entries of kStepBytes until the charge is reached. All or nothing: an error undoes the new
// entries.
Status CacheCharge::GrowTo(size_t bytes) {
  const size_t before = bytes_;
  while (cache_ != nullptr && bytes_ < bytes) {
    const Status status = AddEntry(std::min(bytes - bytes_, kStepBytes));
    if (status.ok()) continue;
    ShrinkTo(before);
    return status;
  }
  return Status::OK();
}

// The entry has no object, only a charge. It stays referenced, so it is not evicted.
Status CacheCharge::AddEntry(size_t bytes) {
  assert(!InEpoch());
  std::string key;
  PutFixed64(&key, cache_->NewId());
  PutFixed64(&key, 0);
  entries_.reserve(entries_.size() + 1);  // nothing may fail after the cache has got the entry
  Entry entry{.handle = nullptr, .bytes = bytes};
  Status status = cache_->Insert(key, nullptr, ChargeHelperOf(role_), entry.bytes, &entry.handle);
  if (!status.ok()) return status;
  assert(entry.handle != nullptr);
  entries_.push_back(entry);
  bytes_ += bytes;
  return Status::OK();
}

// Removes entries as long as the rest is at least `bytes`. The charge may stay a little above it.
void CacheCharge::ShrinkTo(size_t bytes) {
  [[maybe_unused]] const size_t before = bytes_;
  while (!entries_.empty() && bytes_ - entries_.back().bytes >= bytes) {
    cache_->Release(entries_.back().handle, /*erase_if_last_ref=*/true);
    bytes_ -= entries_.back().bytes;
    entries_.pop_back();
  }
  assert(bytes_ >= std::min(bytes, before));
}

}  // namespace ashlar
