// SPDX-License-Identifier: Apache-2.0
//
// The public functions that create caches. Every kind is the same built-in cache, whose CLOCK also
// serves programs that request an LRU cache. The pool ratios in LRUCacheOptions only have to be
// valid: entries of high priority skip probation, and have no pool of their own. Kinds that this
// library does not have return nullptr, as the header says.
#include "ashlar/cache.h"

#include <algorithm>
#include <cassert>
#include <iterator>
#include <string_view>
#include <utility>

#include "ashlar/secondary_cache.h"
#include "cache/clock_cache.h"
#include "util/interfaces/registered_objects.h"
#include "util/result.h"
#include "util/text/option_text.h"
#include "util/text/str_cat.h"

namespace ashlar {

namespace {

// A shard cannot keep a block that is larger than the shard, so it should have room for the largest
// filters.
constexpr size_t kMinShardBytes = size_t{8} << 20;

bool AreValid(const ShardedCacheOptions& options) {
  return options.num_shard_bits <= kMaxShardBits;
}

bool IsRatio(double ratio) { return ratio >= 0.0 && ratio <= 1.0; }

std::shared_ptr<Cache> MakeCache(const char* name, const ShardedCacheOptions& options) {
  ClockCacheOptions cache;
  cache.name = name;
  cache.sharded = options;
  cache.min_shard_bytes = kMinShardBytes;
  return std::make_shared<ClockCache>(cache);
}

struct RoleNames {
  std::string name;
  std::string hyphenated;
};

// The names of a role: in statistics, and in properties.
const RoleNames& NamesOf(CacheEntryRole role) {
  static const RoleNames kNames[] = {
      {"DataBlock", "data-block"},
      {"FilterBlock", "filter-block"},
      {"FilterMetaBlock", "filter-meta-block"},
      {"DeprecatedFilterBlock", "deprecated-filter-block"},
      {"IndexBlock", "index-block"},
      {"OtherBlock", "other-block"},
      {"WriteBuffer", "write-buffer"},
      {"CompressionDictionaryBuildingBuffer", "compression-dictionary-building-buffer"},
      {"FilterConstruction", "filter-construction"},
      {"BlockBasedTableReader", "block-based-table-reader"},
      {"FileMetadata", "file-metadata"},
      {"BlobValue", "blob-value"},
      {"BlobCache", "blob-cache"},
      {"Misc", "misc"},
  };
  static_assert(std::size(kNames) == kNumCacheEntryRoles);
  return kNames[static_cast<size_t>(role)];
}

// Parsers for the fields of CreateFromString(). They return false if the text is not valid.
bool ParseRatio(std::string_view text, double* ratio) {
  assert(ratio != nullptr);
  return ParseDoubleText(text, ratio) && IsRatio(*ratio);
}

bool ParseBits(std::string_view text, int* bits) {
  int64_t number;
  if (!ParseInt64Text(text, &number) || number < -1 || number > kMaxShardBits) return false;
  *bits = static_cast<int>(number);
  return true;
}

struct CacheText {
  LRUCacheOptions options;
  bool is_hyper_clock = false;
};

// False: the name is unknown, or the value does not fit.
bool ParseField(std::string_view name, std::string_view value, CacheText* text) {
  assert(text != nullptr);
  LRUCacheOptions& options = text->options;
  if (name == "capacity") return ParseUint64Text(value, &options.capacity);
  if (name == "num_shard_bits") return ParseBits(value, &options.num_shard_bits);
  if (name == "strict_capacity_limit") return ParseBoolText(value, &options.strict_capacity_limit);
  if (name == "high_pri_pool_ratio") return ParseRatio(value, &options.high_pri_pool_ratio);
  if (name == "low_pri_pool_ratio") return ParseRatio(value, &options.low_pri_pool_ratio);
  if (name == "id") {
    text->is_hyper_clock = value == "HyperClockCache";
    return text->is_hyper_clock || value == "LRUCache";
  }
  return false;
}

// An unknown name is an error: a misspelt option would otherwise leave the default unnoticed.
Status ParseCacheText(const std::string& whole, CacheText* text) {
  std::vector<NameValue> fields;
  RETURN_IF_ERROR(SplitOptions(whole, &fields));
  for (const auto& [name, value] : fields) {
    if (ParseField(name, value, text)) continue;
    return Status::InvalidArgument(
        StrCat("cache options '", whole, "': cannot use '", name, "=", value,
               "'; known are capacity, num_shard_bits, strict_capacity_limit, "
               "high_pri_pool_ratio, low_pri_pool_ratio, id"));
  }
  return Status::OK();
}

}  // namespace

const bool kDefaultToAdaptiveMutex = false;

const std::string& GetCacheEntryRoleName(CacheEntryRole role) { return NamesOf(role).name; }

const std::string& BlockCacheEntryStatsMapKeys::CacheId() {
  static const std::string key = "id";
  return key;
}
const std::string& BlockCacheEntryStatsMapKeys::CacheCapacityBytes() {
  static const std::string key = "capacity";
  return key;
}
const std::string& BlockCacheEntryStatsMapKeys::LastCollectionDurationSeconds() {
  static const std::string key = "secs_for_last_collection";
  return key;
}
const std::string& BlockCacheEntryStatsMapKeys::LastCollectionAgeSeconds() {
  static const std::string key = "secs_since_last_collection";
  return key;
}
std::string BlockCacheEntryStatsMapKeys::EntryCount(CacheEntryRole role) {
  return StrCat("count.", NamesOf(role).hyphenated);
}
std::string BlockCacheEntryStatsMapKeys::UsedBytes(CacheEntryRole role) {
  return StrCat("bytes.", NamesOf(role).hyphenated);
}
std::string BlockCacheEntryStatsMapKeys::UsedPercent(CacheEntryRole role) {
  return StrCat("percent.", NamesOf(role).hyphenated);
}

std::shared_ptr<Cache> LRUCacheOptions::MakeSharedCache() const {
  const bool ratios_are_valid = IsRatio(high_pri_pool_ratio) && IsRatio(low_pri_pool_ratio) &&
                                high_pri_pool_ratio + low_pri_pool_ratio <= 1.0;
  if (!AreValid(*this) || !ratios_are_valid) return nullptr;
  return MakeCache("LRUCache", *this);
}
std::shared_ptr<RowCache> LRUCacheOptions::MakeSharedRowCache() const { return MakeSharedCache(); }

std::shared_ptr<Cache> HyperClockCacheOptions::MakeSharedCache() const {
  return AreValid(*this) ? MakeCache("HyperClockCache", *this) : nullptr;
}

std::shared_ptr<Cache> NewLRUCache(size_t capacity, int num_shard_bits, bool strict_capacity_limit,
                                   double high_pri_pool_ratio,
                                   std::shared_ptr<MemoryAllocator> memory_allocator,
                                   bool use_adaptive_mutex,
                                   CacheMetadataChargePolicy metadata_charge_policy,
                                   double low_pri_pool_ratio) {
  return LRUCacheOptions(capacity, num_shard_bits, strict_capacity_limit, high_pri_pool_ratio,
                         std::move(memory_allocator), use_adaptive_mutex, metadata_charge_policy,
                         low_pri_pool_ratio)
      .MakeSharedCache();
}
std::shared_ptr<Cache> NewLRUCache(const LRUCacheOptions& cache_opts) {
  return cache_opts.MakeSharedCache();
}
std::shared_ptr<Cache> NewClockCache(size_t capacity, int num_shard_bits,
                                     bool strict_capacity_limit,
                                     CacheMetadataChargePolicy metadata_charge_policy) {
  return NewLRUCache(capacity, num_shard_bits, strict_capacity_limit, /*high_pri_pool_ratio=*/0.5,
                     nullptr, kDefaultToAdaptiveMutex, metadata_charge_policy);
}

Status Cache::CreateFromString(const ConfigOptions& config, const std::string& value,
                               std::shared_ptr<Cache>* result) {
  // A class that the program has registered has priority.
  Status registered;
  if (MakeRegistered<Cache>(config, value, result, &registered)) return registered;
  CacheText text;
  text.options.capacity = 0;
  // A text without any name is just a capacity.
  const bool is_capacity = value.find('=') == std::string::npos;
  RETURN_IF_ERROR(ParseCacheText(is_capacity ? StrCat("capacity=", value) : value, &text));
  HyperClockCacheOptions hyper_clock(0);
  static_cast<ShardedCacheOptions&>(hyper_clock) = text.options;
  std::shared_ptr<Cache> cache =
      text.is_hyper_clock ? hyper_clock.MakeSharedCache() : text.options.MakeSharedCache();
  if (cache == nullptr) {
    return Status::InvalidArgument(StrCat("cache options '", value, "' contradict each other"));
  }
  *result = std::move(cache);
  return Status::OK();
}

// Without a second tier, every lookup is complete at once.
void Cache::StartAsyncLookup(AsyncLookupHandle& async_handle) {
  async_handle.found_dummy_entry = false;
  async_handle.result_handle =
      Lookup(async_handle.key, async_handle.helper, async_handle.create_context,
             async_handle.priority, async_handle.stats);
}
Cache::Handle* Cache::Wait(AsyncLookupHandle& async_handle) {
  WaitAll(&async_handle, 1);
  return async_handle.Result();
}
// Lookups are complete when they return, so there is nothing to wait for.
void Cache::WaitAll(AsyncLookupHandle* async_handles, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    if (async_handles[i].IsPending()) {
      async_handles[i].pending_handle = nullptr;
      async_handles[i].pending_cache = nullptr;
    }
  }
}

void Cache::ApplyToHandle(Cache* cache, Handle* handle,
                          const std::function<void(const Slice& key, ObjectPtr obj, size_t charge,
                                                   const CacheItemHelper* helper)>& callback) {
  assert(cache != nullptr);
  // The interface has no function for the key of a handle, so the key is empty.
  callback(Slice(), cache->Value(handle), cache->GetCharge(handle),
           cache->GetCacheItemHelper(handle));
}

}  // namespace ashlar
