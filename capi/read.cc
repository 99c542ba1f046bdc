// SPDX-License-Identifier: Apache-2.0
//
// The C API: point reads.
//
// A missing key is no error: the result is null, and `errptr` is not touched.
#include "ashlar/c/read.h"

#include <cassert>
#include <cstring>

#include "capi/handles.h"

using ashlar::PinnableSlice;
using ashlar::Slice;
using ashlar::Status;
using ashlar::capi::Copy;
using ashlar::capi::Failed;
using ashlar::capi::FamilyOf;
using ashlar::capi::OptionsIn;
using ashlar::capi::Text;

struct ashlar_pinnable_handle_t {
  PinnableSlice rep;
};

namespace ashlar::capi {
namespace {

// The value in a new handle, or null if it is missing or an error.
template <typename Handle>
Handle* Pinned(ashlar_t* db, const ashlar_readoptions_t* options,
               ashlar_column_family_handle_t* family, const Slice& key, char** errptr) {
  // Allocated before the read, so that the value is read into the handle and not moved.
  auto handle = std::make_unique<Handle>();
  const Status s = db->rep->Get(OptionsIn(options), FamilyOf(db->rep, family), key, &handle->rep);
  return ashlar::capi::PinnedRead(s, std::move(handle), errptr);
}

}  // namespace
}  // namespace ashlar::capi

using ashlar::capi::CopyOfRead;
using ashlar::capi::Pinned;

char* ashlar_get(ashlar_t* db, const ashlar_readoptions_t* options, const char* key, size_t keylen,
                 size_t* vallen, char** errptr) {
  return ashlar_get_cf(db, options, nullptr, key, keylen, vallen, errptr);
}

char* ashlar_get_cf(ashlar_t* db, const ashlar_readoptions_t* options,
                    ashlar_column_family_handle_t* column_family, const char* key, size_t keylen,
                    size_t* vallen, char** errptr) {
  assert(db != nullptr);
  PinnableSlice value;
  const Status s =
      db->rep->Get(OptionsIn(options), FamilyOf(db->rep, column_family), Text(key, keylen), &value);
  return CopyOfRead(s, value, vallen, errptr);
}

char* ashlar_get_with_ts(ashlar_t* db, const ashlar_readoptions_t* options, const char* key,
                         size_t keylen, size_t* vallen, char** ts, size_t* tslen, char** errptr) {
  return ashlar_get_cf_with_ts(db, options, nullptr, key, keylen, vallen, ts, tslen, errptr);
}

char* ashlar_get_cf_with_ts(ashlar_t* db, const ashlar_readoptions_t* options,
                            ashlar_column_family_handle_t* column_family, const char* key,
                            size_t keylen, size_t* vallen, char** ts, size_t* tslen,
                            char** errptr) {
  PinnableSlice value;
  std::string timestamp;
  const Status s = db->rep->Get(OptionsIn(options), FamilyOf(db->rep, column_family),
                                Text(key, keylen), &value, &timestamp);
  // The error is reported once, by the value.
  assert(ts != nullptr);
  *ts = CopyOfRead(s, timestamp, tslen, nullptr);
  return CopyOfRead(s, value, vallen, errptr);
}

ashlar_pinnableslice_t* ashlar_get_pinned(ashlar_t* db, const ashlar_readoptions_t* options,
                                          const char* key, size_t keylen, char** errptr) {
  return Pinned<ashlar_pinnableslice_t>(db, options, nullptr, Text(key, keylen), errptr);
}

ashlar_pinnableslice_t* ashlar_get_pinned_cf(ashlar_t* db, const ashlar_readoptions_t* options,
                                             ashlar_column_family_handle_t* column_family,
                                             const char* key, size_t keylen, char** errptr) {
  return Pinned<ashlar_pinnableslice_t>(db, options, column_family, Text(key, keylen), errptr);
}

void ashlar_pinnableslice_destroy(ashlar_pinnableslice_t* v) { delete v; }

const char* ashlar_pinnableslice_value(const ashlar_pinnableslice_t* t, size_t* vlen) {
  assert(vlen != nullptr);
  // A null handle stands for a key that was not found, so a program need not check it before.
  *vlen = t == nullptr ? 0 : t->rep.size();
  return t == nullptr ? nullptr : t->rep.data();
}

ashlar_pinnable_handle_t* ashlar_get_pinned_v2(ashlar_t* db, const ashlar_readoptions_t* options,
                                               const char* key, size_t keylen, char** errptr) {
  return Pinned<ashlar_pinnable_handle_t>(db, options, nullptr, Text(key, keylen), errptr);
}

ashlar_pinnable_handle_t* ashlar_get_pinned_cf_v2(ashlar_t* db, const ashlar_readoptions_t* options,
                                                  ashlar_column_family_handle_t* column_family,
                                                  const char* key, size_t keylen, char** errptr) {
  return Pinned<ashlar_pinnable_handle_t>(db, options, column_family, Text(key, keylen), errptr);
}

const char* ashlar_pinnable_handle_get_value(const ashlar_pinnable_handle_t* handle,
                                             size_t* vallen) {
  assert(vallen != nullptr);
  *vallen = handle == nullptr ? 0 : handle->rep.size();
  return handle == nullptr ? nullptr : handle->rep.data();
}

void ashlar_pinnable_handle_destroy(ashlar_pinnable_handle_t* handle) { delete handle; }

unsigned char ashlar_get_into_buffer(ashlar_t* db, const ashlar_readoptions_t* options,
                                     const char* key, size_t keylen, char* buffer,
                                     size_t buffer_size, size_t* vallen, unsigned char* found,
                                     char** errptr) {
  return ashlar_get_into_buffer_cf(db, options, nullptr, key, keylen, buffer, buffer_size, vallen,
                                   found, errptr);
}

unsigned char ashlar_get_into_buffer_cf(ashlar_t* db, const ashlar_readoptions_t* options,
                                        ashlar_column_family_handle_t* column_family,
                                        const char* key, size_t keylen, char* buffer,
                                        size_t buffer_size, size_t* vallen, unsigned char* found,
                                        char** errptr) {
  assert(db != nullptr);
  assert(vallen != nullptr);
  assert(found != nullptr);
  PinnableSlice value;
  const Status s =
      db->rep->Get(OptionsIn(options), FamilyOf(db->rep, column_family), Text(key, keylen), &value);
  *found = s.ok();
  *vallen = s.ok() ? value.size() : 0;
  if (!s.ok()) {
    if (!s.IsNotFound()) Failed(errptr, s);
    return 0;
  }
  // Nothing is copied, but *vallen tells the program how large a buffer it needs.
  if (value.size() > buffer_size) return 0;
  if (!value.empty()) std::memcpy(buffer, value.data(), value.size());
  return 1;
}

unsigned char ashlar_key_may_exist(ashlar_t* db, const ashlar_readoptions_t* options,
                                   const char* key, size_t key_len, char** value, size_t* val_len,
                                   const char* timestamp, size_t timestamp_len,
                                   unsigned char* value_found) {
  return ashlar_key_may_exist_cf(db, options, nullptr, key, key_len, value, val_len, timestamp,
                                 timestamp_len, value_found);
}

unsigned char ashlar_key_may_exist_cf(ashlar_t* db, const ashlar_readoptions_t* options,
                                      ashlar_column_family_handle_t* column_family, const char* key,
                                      size_t key_len, char** value, size_t* val_len,
                                      const char* timestamp, size_t timestamp_len,
                                      unsigned char* value_found) {
  assert(db != nullptr);
  std::string found_value;
  std::string found_timestamp(Text(timestamp, timestamp_len).ToString());
  bool found = false;
  const bool may_exist =
      db->rep->KeyMayExist(OptionsIn(options), FamilyOf(db->rep, column_family), Text(key, key_len),
                           &found_value, timestamp == nullptr ? nullptr : &found_timestamp, &found);
  // RocksDB's C function says "found" of keys that do not exist, and bindings free the empty value.
  found = found || !may_exist;
  // A program that does not ask cannot know whether there is a value to free.
  if (value_found == nullptr) return may_exist;
  *value_found = found;
  if (found && value != nullptr) *value = Copy(found_value, val_len);
  return may_exist;
}
