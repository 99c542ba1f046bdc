// SPDX-License-Identifier: Apache-2.0
//
// The public functions that make caches. Every kind is the one built-in cache: its CLOCK serves
// where an LRU was asked for, and the pool ratios of LRUCacheOptions only have to be sane, because
// entries of high priority skip probation instead of having a pool. What is not built returns
// nullptr, as the header says.
#include "ashlar/cache.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <string_view>
#include <utility>

#include "ashlar/secondary_cache.h"
#include "cache/clock_cache.h"
#include "util/str_cat.h"

namespace ashlar {

namespace {

constexpr int kMaxShardBits = 19;
// A block larger than a shard is never kept, so shards should hold the largest filters.
constexpr size_t kMinShardBytes = size_t{8} << 20;

bool AreValid(const ShardedCacheOptions& options) {
  return options.num_shard_bits <= kMaxShardBits && options.secondary_cache == nullptr;
}

bool IsRatio(double ratio) { return ratio >= 0.0 && ratio <= 1.0; }

std::shared_ptr<Cache> MakeCache(const char* name, const ShardedCacheOptions& options) {
  return std::make_shared<ClockCache>(
      ClockCacheOptions{.name = name, .sharded = options, .min_shard_bytes = kMinShardBytes});
}

struct RoleNames {
  std::string name;
  std::string hyphenated;
};

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

// "4096", "64M", "1G" ...
bool ParseByteCount(std::string_view text, size_t* bytes) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *bytes);
  if (error != std::errc()) return false;
  const std::string_view unit(end, static_cast<size_t>(text.data() + text.size() - end));
  if (unit.empty()) return true;
  const size_t power = std::string_view("kKmMgGtT").find(unit[0]);
  if (unit.size() != 1 || power == std::string_view::npos) return false;
  const unsigned shift = 10 * (static_cast<unsigned>(power) / 2 + 1);
  if (*bytes >> (64 - shift) != 0) return false;
  *bytes <<= shift;
  return true;
}

bool ParseFlag(std::string_view text, bool* flag) {
  *flag = text == "true" || text == "1";
  return *flag || text == "false" || text == "0";
}

bool ParseNumber(std::string_view text, int* number) {
  const auto result = std::from_chars(text.data(), text.data() + text.size(), *number);
  return result.ec == std::errc() && result.ptr == text.data() + text.size();
}

bool ParseRatio(std::string_view text, double* ratio) {
  const auto result = std::from_chars(text.data(), text.data() + text.size(), *ratio);
  return result.ec == std::errc() && result.ptr == text.data() + text.size() && IsRatio(*ratio);
}

struct CacheText {
  LRUCacheOptions options;
  bool is_hyper_clock = false;
};

bool ParseField(std::string_view name, std::string_view value, CacheText* text) {
  LRUCacheOptions& options = text->options;
  if (name == "capacity") return ParseByteCount(value, &options.capacity);
  if (name == "num_shard_bits") return ParseNumber(value, &options.num_shard_bits);
  if (name == "strict_capacity_limit") return ParseFlag(value, &options.strict_capacity_limit);
  if (name == "high_pri_pool_ratio") return ParseRatio(value, &options.high_pri_pool_ratio);
  if (name == "low_pri_pool_ratio") return ParseRatio(value, &options.low_pri_pool_ratio);
  if (name == "id") {
    text->is_hyper_clock = value == "HyperClockCache";
    return text->is_hyper_clock || value == "LRUCache";
  }
  return false;
}

Status ParseCacheText(std::string_view rest, CacheText* text) {
  const std::string whole(rest);
  while (!rest.empty()) {
    const std::string_view field = rest.substr(0, rest.find(';'));
    rest.remove_prefix(std::min(rest.size(), field.size() + 1));
    if (field.empty()) continue;
    const size_t equals = field.find('=');
    const std::string_view name = field.substr(0, equals);
    const std::string_view value =
        equals == std::string_view::npos ? std::string_view() : field.substr(equals + 1);
    if (!ParseField(name, value, text)) {
      return Status::InvalidArgument(
          StrCat("cache options '", whole, "': cannot use '", field,
                 "'; known are capacity, num_shard_bits, strict_capacity_limit, "
                 "high_pri_pool_ratio, low_pri_pool_ratio, id"));
    }
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

std::shared_ptr<SecondaryCache> CompressedSecondaryCacheOptions::MakeSharedSecondaryCache() const {
  return nullptr;
}
std::shared_ptr<SecondaryCache> NewCompressedSecondaryCache(size_t, int, bool, double, double,
                                                            std::shared_ptr<MemoryAllocator>, bool,
                                                            CacheMetadataChargePolicy,
                                                            CompressionType, bool,
                                                            const CacheEntryRoleSet&) {
  return nullptr;
}
std::shared_ptr<SecondaryCache> NewCompressedSecondaryCache(
    const CompressedSecondaryCacheOptions&) {
  return nullptr;
}
std::shared_ptr<Cache> NewTieredCache(const TieredCacheOptions&) { return nullptr; }
Status UpdateTieredCache(const std::shared_ptr<Cache>&, int64_t, double, TieredAdmissionPolicy) {
  return Status::NotSupported("UpdateTieredCache: tiered caches are not built yet");
}

Status SecondaryCache::CreateFromString(const ConfigOptions&, const std::string& id,
                                        std::shared_ptr<SecondaryCache>*) {
  return Status::NotSupported("SecondaryCache: not built yet", id);
}

Status Cache::CreateFromString(const ConfigOptions&, const std::string& value,
                               std::shared_ptr<Cache>* result) {
  CacheText text;
  if (!ParseByteCount(value, &text.options.capacity)) {
    text.options.capacity = 0;
    Status status = ParseCacheText(value, &text);
    if (!status.ok()) return status;
  }
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

// Without a second tier every lookup completes at once.
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
  // A handle does not give its key back through this interface.
  callback(Slice(), cache->Value(handle), cache->GetCharge(handle),
           cache->GetCacheItemHelper(handle));
}

}  // namespace ashlar
