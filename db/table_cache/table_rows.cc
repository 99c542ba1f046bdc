// SPDX-License-Identifier: Apache-2.0
//
// Rows are counted by references: the cache owns one reference, and each pinned value owns one.
#include "db/table_cache/table_rows.h"

#include <atomic>
#include <cassert>
#include <cstring>
#include <new>
#include <utility>

#include "ashlar/options.h"
#include "db/manifest/file_metadata.h"
#include "table/iterator/point_lookup.h"
#include "table/sst/read/table_reader.h"
#include "util/keys/coding.h"
#include "util/statistics/statistics.h"
#include "util/text/str_cat.h"
#include "util/threads/epoch.h"

namespace ashlar {
namespace {

// A row of the cache. The bytes of the value follow the object in the same allocation.
class Row {
 public:
  // The new row has one reference, which belongs to the caller.
  static Row* New(uint64_t trailer, const Slice& value) {
    Row* const row = new (::operator new(sizeof(Row) + value.size())) Row(trailer, value.size());
    if (!value.empty()) std::memcpy(reinterpret_cast<char*>(row + 1), value.data(), value.size());
    return row;
  }
  Row(const Row&) = delete;
  Row& operator=(const Row&) = delete;

  void Ref() { refs_.fetch_add(1, std::memory_order_relaxed); }
  void Unref() {
    const int before = refs_.fetch_sub(1, std::memory_order_acq_rel);
    assert(before > 0);
    if (before == 1) ::operator delete(this);
  }

  Slice value() const { return Slice(reinterpret_cast<const char*>(this + 1), value_bytes_); }
  size_t memory_bytes() const { return sizeof(Row) + value_bytes_; }

  void OfferTo(PointLookup* lookup) {
    assert(lookup != nullptr);
    const ValuePin pin{
        .acquire = [](void* row) { static_cast<Row*>(row)->Ref(); },
        .release = [](void* row, void* /*unused*/) { static_cast<Row*>(row)->Unref(); },
        .owner = this};
    lookup->Offer(trailer_, value(), pin);
  }

 private:
  Row(uint64_t trailer, size_t value_bytes) : trailer_(trailer), value_bytes_(value_bytes) {}
  ~Row() = default;

  const uint64_t trailer_;
  const size_t value_bytes_;
  std::atomic<int> refs_{1};
};

constexpr Cache::CacheItemHelper kRowHelper(CacheEntryRole::kMisc,
                                            [](Cache::ObjectPtr row, MemoryAllocator* /*unused*/) {
                                              static_cast<Row*>(row)->Unref();
                                            });

void AddCounters(const PointLookup::Counters& from, PointLookup::Counters* to) {
  assert(to != nullptr);
  to->filter_useful += from.filter_useful;
  to->filter_positive += from.filter_positive;
  to->filter_true_positive += from.filter_true_positive;
  to->prefix_filter_useful += from.prefix_filter_useful;
  to->prefix_filter_positive += from.prefix_filter_positive;
  to->prefix_filter_true_positive += from.prefix_filter_true_positive;
  to->block_hits += from.block_hits;
  to->block_misses += from.block_misses;
  to->block_hit_bytes += from.block_hit_bytes;
  to->tables_probed += from.tables_probed;
}

// Whether the result of the table is more than one version of the key: it has merge operands, or a
// range tombstone that covers older tables as well.
template <typename Lookup>
bool GoesDeeper(const Lookup& lookup) {
  bool goes_deeper = false;
  if constexpr (requires { lookup.operands(); }) goes_deeper |= lookup.operands() != nullptr;
  if constexpr (requires { lookup.is_covered(); }) {
    goes_deeper |= lookup.is_covered() && !lookup.decided();
  }
  return goes_deeper;
}

}  // namespace

TableRows::TableRows(std::shared_ptr<Cache> cache, Statistics* statistics)
    : cache_(std::move(cache)), statistics_(statistics), id_(cache_->NewId()) {
  assert(cache_ != nullptr);
}

// A row serves only readers that see every entry of the table.
bool TableRows::MayServe(const FileMetadata& file, const ReadOptions& options,
                         const PointLookup& lookup) {
  return lookup.key().snapshot() >= file.largest_seqno && !options.ignore_range_deletions &&
         !lookup.has_callback();
}

std::string TableRows::KeyOf(const FileMetadata& file, const PointLookup& lookup) const {
  const Slice& user_key = lookup.key().user_key;
  std::string key;
  key.reserve(2 * sizeof(uint64_t) + user_key.size());
  PutFixed64(&key, id_);
  PutFixed64(&key, file.number.value());
  return key.append(user_key.data(), user_key.size());
}

// A cached row is the answer of the whole table for a key, valid for every snapshot that sees all
// entries of the table. The caller has checked that (the third assertion).
bool TableRows::Find(const FileMetadata& file, PointLookup* lookup) const {
  assert(!InEpoch());
  assert(!lookup->decided());
  assert(lookup->key().snapshot() >= file.largest_seqno);
  Cache::Handle* const handle = cache_->Lookup(KeyOf(file, *lookup), &kRowHelper);
  RecordTick(statistics_, handle != nullptr ? ROW_CACHE_HIT : ROW_CACHE_MISS);
  if (handle == nullptr) return false;
  static_cast<Row*>(cache_->Value(handle))->OfferTo(lookup);
  cache_->Release(handle);
  assert(lookup->decided());
  ++lookup->counters.tables_probed;
  return true;
}

// Reads a table and caches the row. A separate lookup is used, so the row depends only on this
// table, and not on newer tables that the lookup of the caller has searched before.
Status TableRows::Read(const TableReader& table, const FileMetadata& file,
                       const ReadOptions& options, PointLookup* lookup) const {
  assert(lookup != nullptr);
  assert(!InEpoch());
  assert(!lookup->decided());
  PinnableSlice value;
  PointLookup of_table(lookup->key(), &value);
  of_table.SetTrace(lookup->trace());
  of_table.KeepEntities();
  RETURN_IF_ERROR(table.Get(options, &of_table));
  const bool is_row = of_table.outcome() != PointLookup::Outcome::kFailed && !GoesDeeper(of_table);
  // Such a result cannot be a row; the table is searched again, with the lookup of the caller.
  if (!is_row) return table.Get(options, lookup);
  AddCounters(of_table.counters, &lookup->counters);
  if (!of_table.decided()) return Status::OK();
  const bool is_found = of_table.outcome() == PointLookup::Outcome::kFound;
  const ValueType found = of_table.is_entity()       ? kTypeWideColumnEntity
                          : of_table.is_blob_index() ? kTypeBlobIndex
                                                     : kTypeValue;
  const uint64_t trailer = PackTrailer(of_table.seqno(), is_found ? found : kTypeDeletion);
  Row* const row = Row::New(trailer, value);
  row->OfferTo(lookup);
  assert(lookup->decided());  // because the separate lookup was decided
  // A row has no place for the bytes of a key that is equal to the one sought, but not the same.
  if (of_table.has_other_stored_key()) {
    if (lookup->is_blob_index()) lookup->NoteStoredKey(of_table.stored_key());
    row->Unref();
    return Status::OK();
  }
  if (!options.fill_cache) {
    row->Unref();
    return Status::OK();
  }
  const std::string key = KeyOf(file, *lookup);
  const size_t charge = row->memory_bytes() + key.size();
  const Status inserted = cache_->Insert(key, row, &kRowHelper, charge);
  if (!inserted.ok()) row->Unref();  // the cache is full: the next reader reads the table again
  return Status::OK();
}

std::string TableRows::DebugString() const {
  return StrCat("rows of tables ", id_, " in ", cache_->Name(), ": ", cache_->GetUsage(), " of ",
                cache_->GetCapacity(), " bytes used by all");
}

}  // namespace ashlar
