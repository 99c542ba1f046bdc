// SPDX-License-Identifier: Apache-2.0
//
// An entry of the store is one allocation: a header with type and sizes, and then the bytes.
// Entries are never moved, and the store deletes them.
#include "table/tier/compressed_secondary_cache.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <new>
#include <utility>

#include "ashlar/options.h"
#include "ashlar/perf_context.h"
#include "table/format/compression.h"
#include "util/hash/hash.h"
#include "util/statistics/perf_level_impl.h"
#include "util/statistics/statistics.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

struct Saved {
  CompressionType type = kNoCompression;
  size_t raw_bytes = 0;
  size_t bytes = 0;  // of the stored bytes behind this header

  char* data() { return reinterpret_cast<char*>(this + 1); }
  Slice contents() { return Slice(data(), bytes); }

  // Throws std::bad_alloc.
  static Saved* Make(CompressionType type, size_t raw_bytes, const Slice& contents) {
    void* const memory = ::operator new(sizeof(Saved) + contents.size());
    auto* const saved =
        new (memory) Saved{.type = type, .raw_bytes = raw_bytes, .bytes = contents.size()};
    std::memcpy(saved->data(), contents.data(), contents.size());
    return saved;
  }
  static void Delete(Cache::ObjectPtr saved, MemoryAllocator* /*allocator*/) {
    ::operator delete(saved);
  }
};

// The helper has no functions to save an entry, since the store has no further tier.
constexpr Cache::CacheItemHelper kSavedHelper(CacheEntryRole::kMisc, &Saved::Delete);

// The result of a lookup, which is complete from the start.
class ReadyResult final : public SecondaryCacheResultHandle {
 public:
  ReadyResult(Cache::ObjectPtr object, size_t charge) : object_(object), charge_(charge) {}
  bool IsReady() override { return true; }
  void Wait() override {}
  Cache::ObjectPtr Value() override { return object_; }
  size_t Size() override { return charge_; }

 private:
  const Cache::ObjectPtr object_;  // owned by the caller of Lookup()
  const size_t charge_;
};

// Holds a reference to an entry of the store until it is destroyed.
class Found {
 public:
  Found(Cache* store, const Slice& key) : store_(store), handle_(store->Lookup(key)) {}
  ~Found() {
    if (handle_ != nullptr) store_->Release(handle_);
  }
  Found(const Found&) = delete;
  Found& operator=(const Found&) = delete;
  Saved* get() const {
    return handle_ == nullptr ? nullptr : static_cast<Saved*>(store_->Value(handle_));
  }

 private:
  Cache* const store_;
  Cache::Handle* const handle_;
};

}  // namespace

Result<std::shared_ptr<CompressedSecondaryCache>> CompressedSecondaryCache::Make(
    const CompressedSecondaryCacheOptions& options) {
  // The options are checked here, because later errors could not be reported.
  if (options.compression_type != kNoCompression &&
      !IsCompressionSupported(options.compression_type)) {
    return Status::NotSupported(StrCat("compressed secondary cache: this build lacks ",
                                       CompressionPropertyName(options.compression_type)));
  }
  // The store is a cache of its own, without a further tier.
  LRUCacheOptions store_options = options;
  store_options.secondary_cache = nullptr;
  std::shared_ptr<Cache> store = store_options.MakeSharedCache();
  if (store == nullptr || options.secondary_cache != nullptr) {
    return Status::InvalidArgument("compressed secondary cache: its options contradict each other");
  }
  return std::shared_ptr<CompressedSecondaryCache>(
      new CompressedSecondaryCache(options, std::move(store)));
}

CompressedSecondaryCache::CompressedSecondaryCache(const CompressedSecondaryCacheOptions& options,
                                                   std::shared_ptr<Cache> store)
    : options_(options), store_(std::move(store)), traces_(new std::atomic<uint32_t>[kTraces] {}) {
  assert(store_ != nullptr);
}

// An entry is stored only when it is offered a second time: most entries that leave the first tier
// are never needed again. A trace remembers earlier offers; it may be wrong in both directions.
bool CompressedSecondaryCache::WasOffered(const Slice& key) {
  const uint64_t hash = HashBytes(key);
  // The upper half of the hash chooses the place, the lower half is the fingerprint.
  std::atomic<uint32_t>& trace = traces_[hash >> 32 & (kTraces - 1)];
  const uint32_t fingerprint = static_cast<uint32_t>(hash) | 1;  // 0: none
  if (trace.load(std::memory_order_relaxed) == fingerprint) return true;
  trace.store(fingerprint, std::memory_order_relaxed);
  return false;
}

Status CompressedSecondaryCache::Insert(const Slice& key, Cache::ObjectPtr obj,
                                        const Cache::CacheItemHelper* helper, bool force_insert) {
  assert(helper != nullptr);
  if (!helper->IsSecondaryCacheCompatible()) {
    return Status::InvalidArgument("compressed secondary cache: the entry's helper cannot save it");
  }
  if (!force_insert && !WasOffered(key)) {
    AddPerfCount(&PerfContextBase::compressed_sec_cache_insert_dummy_count);
    return Status::OK();
  }
  // The entry is saved in its uncompressed form first.
  std::string raw(helper->size_cb(obj), '\0');
  Status status = helper->saveto_cb(obj, 0, raw.size(), raw.data());
  if (!status.ok()) return status;
  return Store(key, raw, !options_.do_not_compress_roles.Contains(helper->role));
}

Status CompressedSecondaryCache::InsertSaved(const Slice& key, const Slice& saved,
                                             CompressionType type, CacheTier /*source*/) {
  // Entries in another compression are decoded first, so the store contains only one kind.
  if (type == kNoCompression) return Store(key, saved, /*may_compress=*/true);
  std::string raw;
  Status status = UncompressToString(type, saved, nullptr, &raw);
  return status.ok() ? Store(key, raw, /*may_compress=*/true) : status;
}

Status CompressedSecondaryCache::Store(const Slice& key, const Slice& raw, bool may_compress) {
  CompressionType type = kNoCompression;
  PageString compressed;
  // If compression does not save at least one byte, the entry is stored uncompressed.
  if (may_compress && options_.compression_type != kNoCompression && !raw.empty()) {
    auto compressor = Compressor::Create(options_.compression_type, options_.compression_opts);
    if (!compressor.ok()) return compressor.status();
    if ((*compressor)->Compress(raw, raw.size() - 1, &compressed)) type = (*compressor)->type();
  }
  const Slice stored = type == kNoCompression ? raw : Slice(compressed);
  AddPerfCount(&PerfContextBase::compressed_sec_cache_insert_real_count);
  AddPerfCount(&PerfContextBase::compressed_sec_cache_uncompressed_bytes, raw.size());
  AddPerfCount(&PerfContextBase::compressed_sec_cache_compressed_bytes, stored.size());
  Saved* const saved = Saved::Make(type, raw.size(), stored);
  // Insert() without a handle always has room, or deletes the entry at once.
  return store_->Insert(key, saved, &kSavedHelper, sizeof(Saved) + stored.size());
}

std::unique_ptr<SecondaryCacheResultHandle> CompressedSecondaryCache::Lookup(
    const Slice& key, const Cache::CacheItemHelper* helper, Cache::CreateContext* create_context,
    bool /*wait*/, bool advise_erase, Statistics* stats, bool& kept_in_sec_cache) {
  assert(helper != nullptr);
  kept_in_sec_cache = false;
  if (!helper->IsSecondaryCacheCompatible()) return nullptr;
  Cache::ObjectPtr object = nullptr;
  size_t charge = 0;
  {
    const Found found(store_.get(), key);
    Saved* const saved = found.get();
    // Not found: the caller reads the block from the file.
    if (saved == nullptr) return nullptr;
    std::string raw;
    Slice contents = saved->contents();
    Status status;
    if (saved->type != kNoCompression) {
      status = UncompressToString(saved->type, contents, nullptr, &raw);
      contents = raw;
    }
    // The entry of the first tier is created while the saved bytes are pinned.
    if (status.ok()) {
      status = helper->create_cb(contents, kNoCompression, CacheTier::kVolatileTier, create_context,
                                 store_->memory_allocator(), &object, &charge);
    }
    if (!status.ok()) object = nullptr;  // damaged: the caller will read the block from the file
  }
  // A promoted entry is erased: the first tier keeps it, and will offer it again.
  if (object == nullptr || advise_erase) {
    store_->Erase(key);
  } else {
    kept_in_sec_cache = true;
  }
  if (object == nullptr) return nullptr;
  RecordTick(stats, COMPRESSED_SECONDARY_CACHE_HITS);
  if (advise_erase) RecordTick(stats, COMPRESSED_SECONDARY_CACHE_PROMOTIONS);
  AddPerfCount(&PerfContextBase::secondary_cache_hit_count);
  return std::make_unique<ReadyResult>(object, charge);
}

// There is nothing to wait for, because all results are complete from the start.
void CompressedSecondaryCache::WaitAll(std::vector<SecondaryCacheResultHandle*> handles) {
  assert(
      std::all_of(handles.begin(), handles.end(), [](auto* handle) { return handle->IsReady(); }));
  (void)handles;
}

Status CompressedSecondaryCache::SetCapacity(size_t capacity) {
  store_->SetCapacity(capacity);
  return Status::OK();
}

Status CompressedSecondaryCache::GetCapacity(size_t& capacity) {
  capacity = store_->GetCapacity();
  return Status::OK();
}

// Deflate() and Inflate() move capacity between the tiers.
Status CompressedSecondaryCache::Deflate(size_t decrease) {
  const size_t capacity = store_->GetCapacity();
  if (decrease > capacity) {
    return Status::InvalidArgument(StrCat("compressed secondary cache: a capacity of ", capacity,
                                          " cannot shrink by ", decrease));
  }
  store_->SetCapacity(capacity - decrease);
  return Status::OK();
}

Status CompressedSecondaryCache::Inflate(size_t increase) {
  store_->SetCapacity(store_->GetCapacity() + increase);
  return Status::OK();
}

std::string CompressedSecondaryCache::GetPrintableOptions() const {
  return StrCat(store_->GetPrintableOptions(),
                "    compression_type : ", CompressionPropertyName(options_.compression_type),
                "\n");
}

}  // namespace ashlar
