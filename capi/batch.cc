// SPDX-License-Identifier: Apache-2.0
//
// The C API: write batches.
//
// A batch handle contains the C++ batch itself. Keys and values are copied into the batch, so the
// memory of the program is free after each call. Most functions have no way to report an error;
// they drop it, see Drop().
#include <cassert>

#include "ashlar/c/batch.h"

#include "capi/batch_parts.h"

using ashlar::capi::Drop;
using ashlar::capi::EntryCallbacks;
using ashlar::capi::Failed;
using ashlar::capi::Family;
using ashlar::capi::Pieces;
using ashlar::capi::Text;

ashlar_writebatch_t* ashlar_writebatch_create() { return new ashlar_writebatch_t; }

// The bytes are those of ashlar_writebatch_data(). They are checked when the batch is written or
// iterated, not here.
ashlar_writebatch_t* ashlar_writebatch_create_from(const char* rep, size_t size) {
  // The batch has a copy of the bytes.
  return new ashlar_writebatch_t{ashlar::WriteBatch(Text(rep, size).ToString())};
}

// max_bytes 0 means no limit; protection is 0 or 8 bytes for each key.
ashlar_writebatch_t* ashlar_writebatch_create_with_params(size_t reserved_bytes, size_t max_bytes,
                                                          size_t protection_bytes_per_key,
                                                          size_t default_cf_ts_sz) {
  return new ashlar_writebatch_t{
      ashlar::WriteBatch(reserved_bytes, max_bytes, protection_bytes_per_key, default_cf_ts_sz)};
}

void ashlar_writebatch_destroy(ashlar_writebatch_t* b) { delete b; }
void ashlar_writebatch_clear(ashlar_writebatch_t* b) { b->rep.Clear(); }
int ashlar_writebatch_count(ashlar_writebatch_t* b) { return static_cast<int>(b->rep.Count()); }

const char* ashlar_writebatch_data(ashlar_writebatch_t* b, size_t* size) {
  assert(b != nullptr && size != nullptr);
  *size = b->rep.GetDataSize();
  // Belongs to the batch, and is valid until the next change.
  return b->rep.Data().c_str();
}

void ashlar_writebatch_put(ashlar_writebatch_t* b, const char* key, size_t klen, const char* val,
                           size_t vlen) {
  assert(b != nullptr);
  Drop(b->rep.Put(Text(key, klen), Text(val, vlen)));
}

void ashlar_writebatch_put_cf(ashlar_writebatch_t* b, ashlar_column_family_handle_t* column_family,
                              const char* key, size_t klen, const char* val, size_t vlen) {
  assert(b != nullptr);
  Drop(b->rep.Put(Family(column_family), Text(key, klen), Text(val, vlen)));
}

void ashlar_writebatch_put_cf_with_ts(ashlar_writebatch_t* b,
                                      ashlar_column_family_handle_t* column_family, const char* key,
                                      size_t klen, const char* ts, size_t tslen, const char* val,
                                      size_t vlen) {
  Drop(b->rep.Put(Family(column_family), Text(key, klen), Text(ts, tslen), Text(val, vlen)));
}

void ashlar_writebatch_merge(ashlar_writebatch_t* b, const char* key, size_t klen, const char* val,
                             size_t vlen) {
  Drop(b->rep.Merge(Text(key, klen), Text(val, vlen)));
}

void ashlar_writebatch_merge_cf(ashlar_writebatch_t* b,
                                ashlar_column_family_handle_t* column_family, const char* key,
                                size_t klen, const char* val, size_t vlen) {
  Drop(b->rep.Merge(Family(column_family), Text(key, klen), Text(val, vlen)));
}

void ashlar_writebatch_delete(ashlar_writebatch_t* b, const char* key, size_t klen) {
  Drop(b->rep.Delete(Text(key, klen)));
}

void ashlar_writebatch_delete_cf(ashlar_writebatch_t* b,
                                 ashlar_column_family_handle_t* column_family, const char* key,
                                 size_t klen) {
  Drop(b->rep.Delete(Family(column_family), Text(key, klen)));
}

void ashlar_writebatch_delete_cf_with_ts(ashlar_writebatch_t* b,
                                         ashlar_column_family_handle_t* column_family,
                                         const char* key, size_t klen, const char* ts,
                                         size_t tslen) {
  Drop(b->rep.Delete(Family(column_family), Text(key, klen), Text(ts, tslen)));
}

void ashlar_writebatch_singledelete(ashlar_writebatch_t* b, const char* key, size_t klen) {
  Drop(b->rep.SingleDelete(Text(key, klen)));
}

void ashlar_writebatch_singledelete_cf(ashlar_writebatch_t* b,
                                       ashlar_column_family_handle_t* column_family,
                                       const char* key, size_t klen) {
  Drop(b->rep.SingleDelete(Family(column_family), Text(key, klen)));
}

void ashlar_writebatch_singledelete_cf_with_ts(ashlar_writebatch_t* b,
                                               ashlar_column_family_handle_t* column_family,
                                               const char* key, size_t klen, const char* ts,
                                               size_t tslen) {
  Drop(b->rep.SingleDelete(Family(column_family), Text(key, klen), Text(ts, tslen)));
}

void ashlar_writebatch_delete_range(ashlar_writebatch_t* b, const char* start_key,
                                    size_t start_key_len, const char* end_key, size_t end_key_len) {
  assert(b != nullptr);
  Drop(b->rep.DeleteRange(Text(start_key, start_key_len), Text(end_key, end_key_len)));
}

void ashlar_writebatch_delete_range_cf(ashlar_writebatch_t* b,
                                       ashlar_column_family_handle_t* column_family,
                                       const char* start_key, size_t start_key_len,
                                       const char* end_key, size_t end_key_len) {
  Drop(b->rep.DeleteRange(Family(column_family), Text(start_key, start_key_len),
                          Text(end_key, end_key_len)));
}

void ashlar_writebatch_put_log_data(ashlar_writebatch_t* b, const char* blob, size_t len) {
  Drop(b->rep.PutLogData(Text(blob, len)));
}

// The functions with `v` take keys and values in several pieces, which are joined without a
// separator.
void ashlar_writebatch_putv(ashlar_writebatch_t* b, int num_keys, const char* const* keys_list,
                            const size_t* keys_list_sizes, int num_values,
                            const char* const* values_list, const size_t* values_list_sizes) {
  const Pieces keys(num_keys, keys_list, keys_list_sizes);
  const Pieces values(num_values, values_list, values_list_sizes);
  Drop(b->rep.Put(keys.parts(), values.parts()));
}

void ashlar_writebatch_putv_cf(ashlar_writebatch_t* b, ashlar_column_family_handle_t* column_family,
                               int num_keys, const char* const* keys_list,
                               const size_t* keys_list_sizes, int num_values,
                               const char* const* values_list, const size_t* values_list_sizes) {
  assert(b != nullptr);
  const Pieces keys(num_keys, keys_list, keys_list_sizes);
  const Pieces values(num_values, values_list, values_list_sizes);
  Drop(b->rep.Put(Family(column_family), keys.parts(), values.parts()));
}

void ashlar_writebatch_mergev(ashlar_writebatch_t* b, int num_keys, const char* const* keys_list,
                              const size_t* keys_list_sizes, int num_values,
                              const char* const* values_list, const size_t* values_list_sizes) {
  const Pieces keys(num_keys, keys_list, keys_list_sizes);
  const Pieces values(num_values, values_list, values_list_sizes);
  Drop(b->rep.Merge(keys.parts(), values.parts()));
}

void ashlar_writebatch_mergev_cf(ashlar_writebatch_t* b,
                                 ashlar_column_family_handle_t* column_family, int num_keys,
                                 const char* const* keys_list, const size_t* keys_list_sizes,
                                 int num_values, const char* const* values_list,
                                 const size_t* values_list_sizes) {
  assert(b != nullptr);
  const Pieces keys(num_keys, keys_list, keys_list_sizes);
  const Pieces values(num_values, values_list, values_list_sizes);
  Drop(b->rep.Merge(Family(column_family), keys.parts(), values.parts()));
}

void ashlar_writebatch_deletev(ashlar_writebatch_t* b, int num_keys, const char* const* keys_list,
                               const size_t* keys_list_sizes) {
  const Pieces keys(num_keys, keys_list, keys_list_sizes);
  Drop(b->rep.Delete(keys.parts()));
}

void ashlar_writebatch_deletev_cf(ashlar_writebatch_t* b,
                                  ashlar_column_family_handle_t* column_family, int num_keys,
                                  const char* const* keys_list, const size_t* keys_list_sizes) {
  const Pieces keys(num_keys, keys_list, keys_list_sizes);
  Drop(b->rep.Delete(Family(column_family), keys.parts()));
}

void ashlar_writebatch_delete_rangev(ashlar_writebatch_t* b, int num_keys,
                                     const char* const* start_keys_list,
                                     const size_t* start_keys_list_sizes,
                                     const char* const* end_keys_list,
                                     const size_t* end_keys_list_sizes) {
  const Pieces starts(num_keys, start_keys_list, start_keys_list_sizes);
  const Pieces ends(num_keys, end_keys_list, end_keys_list_sizes);
  Drop(b->rep.DeleteRange(starts.parts(), ends.parts()));
}

void ashlar_writebatch_delete_rangev_cf(ashlar_writebatch_t* b,
                                        ashlar_column_family_handle_t* column_family, int num_keys,
                                        const char* const* start_keys_list,
                                        const size_t* start_keys_list_sizes,
                                        const char* const* end_keys_list,
                                        const size_t* end_keys_list_sizes) {
  assert(b != nullptr);
  const Pieces starts(num_keys, start_keys_list, start_keys_list_sizes);
  const Pieces ends(num_keys, end_keys_list, end_keys_list_sizes);
  Drop(b->rep.DeleteRange(Family(column_family), starts.parts(), ends.parts()));
}

void ashlar_writebatch_set_save_point(ashlar_writebatch_t* b) { b->rep.SetSavePoint(); }

// Without a savepoint these two report NotFound.
void ashlar_writebatch_rollback_to_save_point(ashlar_writebatch_t* b, char** errptr) {
  assert(b != nullptr);
  Failed(errptr, b->rep.RollbackToSavePoint());
}

void ashlar_writebatch_pop_save_point(ashlar_writebatch_t* b, char** errptr) {
  Failed(errptr, b->rep.PopSavePoint());
}

// The callbacks run during the call, in the order of the entries, and get memory of the batch.
void ashlar_writebatch_iterate(ashlar_writebatch_t* b, void* state,
                               void (*put)(void*, const char* k, size_t klen, const char* v,
                                           size_t vlen),
                               void (*deleted)(void*, const char* k, size_t klen)) {
  assert(b != nullptr);
  EntryCallbacks callbacks;
  // Functions that the program does not give are null, and EntryCallbacks then skips their entries.
  callbacks.state = state;
  callbacks.put = put;
  callbacks.deleted = deleted;
  Drop(b->rep.Iterate(&callbacks));
}

void ashlar_writebatch_iterate_ld(ashlar_writebatch_t* b, void* state,
                                  void (*put)(void*, const char* k, size_t klen, const char* v,
                                              size_t vlen),
                                  void (*deleted)(void*, const char* k, size_t klen),
                                  void (*log_data)(void*, const char* blob, size_t blob_len)) {
  assert(b != nullptr);
  EntryCallbacks callbacks;
  callbacks.state = state;
  callbacks.put = put;
  callbacks.deleted = deleted;
  callbacks.log_data = log_data;
  Drop(b->rep.Iterate(&callbacks));
}

void ashlar_writebatch_iterate_cf(ashlar_writebatch_t* b, void* state,
                                  void (*put_cf)(void*, uint32_t cfid, const char* k, size_t klen,
                                                 const char* v, size_t vlen),
                                  void (*deleted_cf)(void*, uint32_t cfid, const char* k,
                                                     size_t klen),
                                  void (*merge_cf)(void*, uint32_t cfid, const char* k, size_t klen,
                                                   const char* v, size_t vlen)) {
  assert(b != nullptr);
  EntryCallbacks callbacks;
  callbacks.state = state;
  callbacks.put_cf = put_cf;
  callbacks.deleted_cf = deleted_cf;
  callbacks.merge_cf = merge_cf;
  Drop(b->rep.Iterate(&callbacks));
}

void ashlar_writebatch_iterate_cf_ld(
    ashlar_writebatch_t* b, void* state,
    void (*put_cf)(void*, uint32_t cfid, const char* k, size_t klen, const char* v, size_t vlen),
    void (*deleted_cf)(void*, uint32_t cfid, const char* k, size_t klen),
    void (*merge_cf)(void*, uint32_t cfid, const char* k, size_t klen, const char* v, size_t vlen),
    void (*log_data)(void*, const char* blob, size_t blob_len)) {
  assert(b != nullptr);
  EntryCallbacks callbacks;
  callbacks.state = state;
  callbacks.put_cf = put_cf;
  callbacks.deleted_cf = deleted_cf;
  callbacks.merge_cf = merge_cf;
  callbacks.log_data = log_data;
  Drop(b->rep.Iterate(&callbacks));
}

void ashlar_writebatch_verify_checksum(ashlar_writebatch_t* b, char** errptr) {
  assert(b != nullptr);
  Failed(errptr, b->rep.VerifyChecksum());
}

void ashlar_writebatch_update_timestamps(ashlar_writebatch_t* wb, const char* ts, size_t tslen,
                                         void* state, size_t (*get_ts_size)(void*, uint32_t),
                                         char** errptr) {
  assert(wb != nullptr);
  // The function is called during this call only, so it may capture the pointers of the program by
  // value.
  Failed(errptr, wb->rep.UpdateTimestamps(
                     Text(ts, tslen), [=](uint32_t family) { return get_ts_size(state, family); }));
}
