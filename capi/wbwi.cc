// SPDX-License-Identifier: Apache-2.0
//
// The C API: write batches with an index.
//
// The functions that add to a batch have no errptr, so errors are dropped, as in RocksDB: the batch
// then lacks the update. Slices of the program are copied by each call.
#include "ashlar/c/wbwi.h"

#include <cassert>
#include <cstdlib>
#include <memory>
#include <string>

#include "ashlar/utilities/write_batch_with_index.h"
#include "capi/batch_parts.h"
#include "capi/callbacks.h"

using ashlar::DBOptions;
using ashlar::Slice;
using ashlar::Status;
using ashlar::WriteBatchWithIndex;
using ashlar::capi::CopyOfRead;
using ashlar::capi::Drop;
using ashlar::capi::EntryCallbacks;
using ashlar::capi::Failed;
using ashlar::capi::Family;
using ashlar::capi::FamilyOf;
using ashlar::capi::OptionsIn;
using ashlar::capi::Pieces;
using ashlar::capi::PinnedRead;
using ashlar::capi::Text;

ashlar_writebatch_wi_t* ashlar_writebatch_wi_create(size_t reserved_bytes,
                                                    unsigned char overwrite_keys) {
  return ashlar_writebatch_wi_create_with_params(nullptr, reserved_bytes, overwrite_keys, 0, 0);
}

namespace {

// A family as a batch needs it, of which only the number is known.
class NumberedHandle final : public ashlar::ColumnFamilyHandle {
 public:
  explicit NumberedHandle(uint32_t id) : id_(id) {}
  const std::string& GetName() const override { return name_; }
  uint32_t GetID() const override { return id_; }
  Status GetDescriptor(ashlar::ColumnFamilyDescriptor*) override {
    return Status::NotSupported("only the number of the column family is known");
  }
  // Null: the batch takes the comparator that it has for unknown families.
  const ashlar::Comparator* GetComparator() const override { return nullptr; }

 private:
  const std::string name_;
  const uint32_t id_;
};

// Adds the entries of a plain batch to one with an index. Those without a function here are errors.
class IndexingHandler final : public ashlar::WriteBatch::Handler {
 public:
  explicit IndexingHandler(WriteBatchWithIndex* to) : to_(to) { assert(to != nullptr); }

  Status PutCF(uint32_t family, const Slice& key, const Slice& value) override {
    NumberedHandle handle(family);
    return to_->Put(&handle, key, value);
  }
  Status MergeCF(uint32_t family, const Slice& key, const Slice& value) override {
    NumberedHandle handle(family);
    return to_->Merge(&handle, key, value);
  }
  Status DeleteCF(uint32_t family, const Slice& key) override {
    NumberedHandle handle(family);
    return to_->Delete(&handle, key);
  }
  Status SingleDeleteCF(uint32_t family, const Slice& key) override {
    NumberedHandle handle(family);
    return to_->SingleDelete(&handle, key);
  }
  void LogData(const Slice& blob) override { Drop(to_->PutLogData(blob)); }

 private:
  WriteBatchWithIndex* const to_;
};

}  // namespace

// An index cannot be made of bytes that nobody has read, so they are checked here.
ashlar_writebatch_wi_t* ashlar_writebatch_wi_create_from(const char* rep, size_t size) {
  auto batch = std::make_unique<WriteBatchWithIndex>();
  IndexingHandler handler(batch.get());
  const ashlar::WriteBatch source(Text(rep, size).ToString());
  if (!source.Iterate(&handler).ok()) return nullptr;
  return ashlar::capi::Borrowed<ashlar_writebatch_wi_t>(batch.release());
}

// The comparator orders the keys of updates without a family handle. It must outlive the batch;
// without one the order is bytewise.
ashlar_writebatch_wi_t* ashlar_writebatch_wi_create_with_params(
    ashlar_comparator_t* backup_index_comparator, size_t reserved_bytes,
    unsigned char overwrite_key, size_t max_bytes, size_t protection_bytes_per_key) {
  const ashlar::Comparator* comparator = backup_index_comparator;
  if (comparator == nullptr) comparator = ashlar::BytewiseComparator();
  return ashlar::capi::Borrowed<ashlar_writebatch_wi_t>(new WriteBatchWithIndex(
      comparator, reserved_bytes, overwrite_key != 0, max_bytes, protection_bytes_per_key));
}

void ashlar_writebatch_wi_destroy(ashlar_writebatch_wi_t* b) {
  if (b == nullptr) return;
  assert(b->rep != nullptr);
  delete b->rep;
  // The handle is from malloc() and the batch from `new`, so each is freed in its own way.
  std::free(b);
}

void ashlar_writebatch_wi_clear(ashlar_writebatch_wi_t* b) { b->rep->Clear(); }

// The count is that of the batch inside, which keeps updates that later ones replace in the index.
int ashlar_writebatch_wi_count(ashlar_writebatch_wi_t* b) {
  assert(b != nullptr);
  return static_cast<int>(b->rep->GetWriteBatch()->Count());
}

// The bytes belong to the batch, and are valid until it changes.
const char* ashlar_writebatch_wi_data(ashlar_writebatch_wi_t* b, size_t* size) {
  assert(b != nullptr);
  assert(size != nullptr);
  *size = b->rep->GetWriteBatch()->GetDataSize();
  return b->rep->GetWriteBatch()->Data().c_str();
}

void ashlar_writebatch_wi_put(ashlar_writebatch_wi_t* b, const char* key, size_t klen,
                              const char* val, size_t vlen) {
  assert(b != nullptr);
  Drop(b->rep->Put(Text(key, klen), Text(val, vlen)));
}

void ashlar_writebatch_wi_put_cf(ashlar_writebatch_wi_t* b,
                                 ashlar_column_family_handle_t* column_family, const char* key,
                                 size_t klen, const char* val, size_t vlen) {
  Drop(b->rep->Put(Family(column_family), Text(key, klen), Text(val, vlen)));
}

void ashlar_writebatch_wi_merge(ashlar_writebatch_wi_t* b, const char* key, size_t klen,
                                const char* val, size_t vlen) {
  Drop(b->rep->Merge(Text(key, klen), Text(val, vlen)));
}

void ashlar_writebatch_wi_merge_cf(ashlar_writebatch_wi_t* b,
                                   ashlar_column_family_handle_t* column_family, const char* key,
                                   size_t klen, const char* val, size_t vlen) {
  Drop(b->rep->Merge(Family(column_family), Text(key, klen), Text(val, vlen)));
}

void ashlar_writebatch_wi_delete(ashlar_writebatch_wi_t* b, const char* key, size_t klen) {
  Drop(b->rep->Delete(Text(key, klen)));
}

void ashlar_writebatch_wi_delete_cf(ashlar_writebatch_wi_t* b,
                                    ashlar_column_family_handle_t* column_family, const char* key,
                                    size_t klen) {
  Drop(b->rep->Delete(Family(column_family), Text(key, klen)));
}

void ashlar_writebatch_wi_singledelete(ashlar_writebatch_wi_t* b, const char* key, size_t klen) {
  Drop(b->rep->SingleDelete(Text(key, klen)));
}

void ashlar_writebatch_wi_singledelete_cf(ashlar_writebatch_wi_t* b,
                                          ashlar_column_family_handle_t* column_family,
                                          const char* key, size_t klen) {
  Drop(b->rep->SingleDelete(Family(column_family), Text(key, klen)));
}

void ashlar_writebatch_wi_delete_range(ashlar_writebatch_wi_t* b, const char* start_key,
                                       size_t start_key_len, const char* end_key,
                                       size_t end_key_len) {
  Drop(b->rep->DeleteRange(Text(start_key, start_key_len), Text(end_key, end_key_len)));
}

void ashlar_writebatch_wi_delete_range_cf(ashlar_writebatch_wi_t* b,
                                          ashlar_column_family_handle_t* column_family,
                                          const char* start_key, size_t start_key_len,
                                          const char* end_key, size_t end_key_len) {
  Drop(b->rep->DeleteRange(Family(column_family), Text(start_key, start_key_len),
                           Text(end_key, end_key_len)));
}

void ashlar_writebatch_wi_put_log_data(ashlar_writebatch_wi_t* b, const char* blob, size_t len) {
  Drop(b->rep->PutLogData(Text(blob, len)));
}

void ashlar_writebatch_wi_putv(ashlar_writebatch_wi_t* b, int num_keys,
                               const char* const* keys_list, const size_t* keys_list_sizes,
                               int num_values, const char* const* values_list,
                               const size_t* values_list_sizes) {
  const Pieces keys(num_keys, keys_list, keys_list_sizes);
  const Pieces values(num_values, values_list, values_list_sizes);
  Drop(b->rep->Put(keys.parts(), values.parts()));
}

void ashlar_writebatch_wi_putv_cf(ashlar_writebatch_wi_t* b,
                                  ashlar_column_family_handle_t* column_family, int num_keys,
                                  const char* const* keys_list, const size_t* keys_list_sizes,
                                  int num_values, const char* const* values_list,
                                  const size_t* values_list_sizes) {
  assert(b != nullptr);
  const Pieces keys(num_keys, keys_list, keys_list_sizes);
  const Pieces values(num_values, values_list, values_list_sizes);
  Drop(b->rep->Put(Family(column_family), keys.parts(), values.parts()));
}

void ashlar_writebatch_wi_mergev(ashlar_writebatch_wi_t* b, int num_keys,
                                 const char* const* keys_list, const size_t* keys_list_sizes,
                                 int num_values, const char* const* values_list,
                                 const size_t* values_list_sizes) {
  const Pieces keys(num_keys, keys_list, keys_list_sizes);
  const Pieces values(num_values, values_list, values_list_sizes);
  Drop(b->rep->Merge(keys.parts(), values.parts()));
}

void ashlar_writebatch_wi_mergev_cf(ashlar_writebatch_wi_t* b,
                                    ashlar_column_family_handle_t* column_family, int num_keys,
                                    const char* const* keys_list, const size_t* keys_list_sizes,
                                    int num_values, const char* const* values_list,
                                    const size_t* values_list_sizes) {
  assert(b != nullptr);
  const Pieces keys(num_keys, keys_list, keys_list_sizes);
  const Pieces values(num_values, values_list, values_list_sizes);
  Drop(b->rep->Merge(Family(column_family), keys.parts(), values.parts()));
}

void ashlar_writebatch_wi_deletev(ashlar_writebatch_wi_t* b, int num_keys,
                                  const char* const* keys_list, const size_t* keys_list_sizes) {
  const Pieces keys(num_keys, keys_list, keys_list_sizes);
  Drop(b->rep->Delete(keys.parts()));
}

void ashlar_writebatch_wi_deletev_cf(ashlar_writebatch_wi_t* b,
                                     ashlar_column_family_handle_t* column_family, int num_keys,
                                     const char* const* keys_list, const size_t* keys_list_sizes) {
  const Pieces keys(num_keys, keys_list, keys_list_sizes);
  Drop(b->rep->Delete(Family(column_family), keys.parts()));
}

void ashlar_writebatch_wi_delete_rangev(ashlar_writebatch_wi_t* b, int num_keys,
                                        const char* const* start_keys_list,
                                        const size_t* start_keys_list_sizes,
                                        const char* const* end_keys_list,
                                        const size_t* end_keys_list_sizes) {
  const Pieces starts(num_keys, start_keys_list, start_keys_list_sizes);
  const Pieces ends(num_keys, end_keys_list, end_keys_list_sizes);
  Drop(b->rep->DeleteRange(starts.parts(), ends.parts()));
}

void ashlar_writebatch_wi_delete_rangev_cf(ashlar_writebatch_wi_t* b,
                                           ashlar_column_family_handle_t* column_family,
                                           int num_keys, const char* const* start_keys_list,
                                           const size_t* start_keys_list_sizes,
                                           const char* const* end_keys_list,
                                           const size_t* end_keys_list_sizes) {
  const Pieces starts(num_keys, start_keys_list, start_keys_list_sizes);
  const Pieces ends(num_keys, end_keys_list, end_keys_list_sizes);
  Drop(b->rep->DeleteRange(Family(column_family), starts.parts(), ends.parts()));
}

void ashlar_writebatch_wi_set_save_point(ashlar_writebatch_wi_t* b) { b->rep->SetSavePoint(); }

void ashlar_writebatch_wi_rollback_to_save_point(ashlar_writebatch_wi_t* b, char** errptr) {
  assert(b != nullptr);
  Failed(errptr, b->rep->RollbackToSavePoint());
}

void ashlar_writebatch_wi_iterate(ashlar_writebatch_wi_t* b, void* state,
                                  void (*put)(void*, const char* k, size_t klen, const char* v,
                                              size_t vlen),
                                  void (*deleted)(void*, const char* k, size_t klen)) {
  assert(b != nullptr);
  EntryCallbacks callbacks;
  callbacks.state = state;
  callbacks.put = put;
  callbacks.deleted = deleted;
  Drop(b->rep->GetWriteBatch()->Iterate(&callbacks));
}

void ashlar_writebatch_wi_update_timestamps(ashlar_writebatch_wi_t* wbwi, const char* ts,
                                            size_t tslen, void* state,
                                            size_t (*get_ts_size)(void*, uint32_t), char** errptr) {
  assert(wbwi != nullptr);
  Failed(errptr, wbwi->rep->GetWriteBatch()->UpdateTimestamps(
                     Text(ts, tslen), [=](uint32_t family) { return get_ts_size(state, family); }));
}

char* ashlar_writebatch_wi_get_from_batch(ashlar_writebatch_wi_t* wbwi,
                                          const ashlar_options_t* options, const char* key,
                                          size_t keylen, size_t* vallen, char** errptr) {
  return ashlar_writebatch_wi_get_from_batch_cf(wbwi, options, nullptr, key, keylen, vallen,
                                                errptr);
}

char* ashlar_writebatch_wi_get_from_batch_cf(ashlar_writebatch_wi_t* wbwi,
                                             const ashlar_options_t* options,
                                             ashlar_column_family_handle_t* column_family,
                                             const char* key, size_t keylen, size_t* vallen,
                                             char** errptr) {
  assert(wbwi != nullptr);
  std::string value;
  const Status s = wbwi->rep->GetFromBatch(Family(column_family), DBOptions(OptionsIn(options)),
                                           Text(key, keylen), &value);
  return CopyOfRead(s, value, vallen, errptr);
}

char* ashlar_writebatch_wi_get_from_batch_and_db(ashlar_writebatch_wi_t* wbwi, ashlar_t* db,
                                                 const ashlar_readoptions_t* options,
                                                 const char* key, size_t keylen, size_t* vallen,
                                                 char** errptr) {
  return ashlar_writebatch_wi_get_from_batch_and_db_cf(wbwi, db, options, nullptr, key, keylen,
                                                       vallen, errptr);
}

char* ashlar_writebatch_wi_get_from_batch_and_db_cf(ashlar_writebatch_wi_t* wbwi, ashlar_t* db,
                                                    const ashlar_readoptions_t* options,
                                                    ashlar_column_family_handle_t* column_family,
                                                    const char* key, size_t keylen, size_t* vallen,
                                                    char** errptr) {
  assert(wbwi != nullptr);
  assert(db != nullptr);
  std::string value;
  const Status s = wbwi->rep->GetFromBatchAndDB(
      db->rep, OptionsIn(options), FamilyOf(db->rep, column_family), Text(key, keylen), &value);
  return CopyOfRead(s, value, vallen, errptr);
}

ashlar_pinnableslice_t* ashlar_writebatch_wi_get_pinned_from_batch_and_db(
    ashlar_writebatch_wi_t* wbwi, ashlar_t* db, const ashlar_readoptions_t* options,
    const char* key, size_t keylen, char** errptr) {
  return ashlar_writebatch_wi_get_pinned_from_batch_and_db_cf(wbwi, db, options, nullptr, key,
                                                              keylen, errptr);
}

ashlar_pinnableslice_t* ashlar_writebatch_wi_get_pinned_from_batch_and_db_cf(
    ashlar_writebatch_wi_t* wbwi, ashlar_t* db, const ashlar_readoptions_t* options,
    ashlar_column_family_handle_t* column_family, const char* key, size_t keylen, char** errptr) {
  assert(wbwi != nullptr);
  assert(db != nullptr);
  // The value may pin memory of the database, so the handle must be destroyed before the database
  // is closed.
  auto value = std::make_unique<ashlar_pinnableslice_t>();
  const Status s =
      wbwi->rep->GetFromBatchAndDB(db->rep, OptionsIn(options), FamilyOf(db->rep, column_family),
                                   Text(key, keylen), &value->rep);
  return PinnedRead(s, std::move(value), errptr);
}

ashlar_iterator_t* ashlar_writebatch_wi_create_iterator_with_base(
    ashlar_writebatch_wi_t* wbwi, ashlar_iterator_t* base_iterator) {
  return ashlar_writebatch_wi_create_iterator_with_base_readopts(wbwi, base_iterator, nullptr);
}

ashlar_iterator_t* ashlar_writebatch_wi_create_iterator_with_base_readopts(
    ashlar_writebatch_wi_t* wbwi, ashlar_iterator_t* base_iterator,
    const ashlar_readoptions_t* options) {
  assert(wbwi != nullptr && base_iterator != nullptr);
  // The new iterator owns the one below it, and takes its place in the handle; so the program
  // destroys one handle for both.
  base_iterator->rep = wbwi->rep->NewIteratorWithBase(base_iterator->rep, &OptionsIn(options));
  return base_iterator;
}

ashlar_iterator_t* ashlar_writebatch_wi_create_iterator_with_base_cf(
    ashlar_writebatch_wi_t* wbwi, ashlar_iterator_t* base_iterator,
    ashlar_column_family_handle_t* cf) {
  return ashlar_writebatch_wi_create_iterator_with_base_cf_readopts(wbwi, base_iterator, cf,
                                                                    nullptr);
}

ashlar_iterator_t* ashlar_writebatch_wi_create_iterator_with_base_cf_readopts(
    ashlar_writebatch_wi_t* wbwi, ashlar_iterator_t* base_iterator,
    ashlar_column_family_handle_t* cf, const ashlar_readoptions_t* options) {
  assert(wbwi != nullptr && base_iterator != nullptr);
  base_iterator->rep =
      wbwi->rep->NewIteratorWithBase(cf->rep, base_iterator->rep, &OptionsIn(options));
  return base_iterator;
}

void ashlar_write_writebatch_wi(ashlar_t* db, const ashlar_writeoptions_t* options,
                                ashlar_writebatch_wi_t* wbwi, char** errptr) {
  assert(db != nullptr);
  assert(wbwi != nullptr);
  Failed(errptr, db->rep->Write(OptionsIn(options), wbwi->rep->GetWriteBatch()));
}
