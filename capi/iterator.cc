// SPDX-License-Identifier: Apache-2.0
//
// The C API: iterators.
//
// Keys and values belong to the iterator, and are valid until its next move.
#include <cassert>

#include "ashlar/c/iterator.h"

#include "capi/handles.h"

using ashlar::ColumnFamilyHandle;
using ashlar::Iterator;
using ashlar::Slice;
using ashlar::capi::Failed;
using ashlar::capi::FamilyOf;
using ashlar::capi::OptionsIn;
using ashlar::capi::Text;

namespace ashlar::capi {
namespace {

const char* Bytes(const Slice& slice, size_t* length) {
  assert(length != nullptr);
  *length = slice.size();
  return slice.data();
}

}  // namespace
}  // namespace ashlar::capi

ashlar_iterator_t* ashlar_create_iterator(ashlar_t* db, const ashlar_readoptions_t* options) {
  return ashlar_create_iterator_cf(db, options, nullptr);
}

ashlar_iterator_t* ashlar_create_iterator_cf(ashlar_t* db, const ashlar_readoptions_t* options,
                                             ashlar_column_family_handle_t* column_family) {
  assert(db != nullptr);
  return new ashlar_iterator_t{
      db->rep->NewIterator(OptionsIn(options), FamilyOf(db->rep, column_family))};
}

void ashlar_create_iterators(ashlar_t* db, ashlar_readoptions_t* opts,
                             ashlar_column_family_handle_t** column_families,
                             ashlar_iterator_t** iterators, size_t size, char** errptr) {
  assert(db != nullptr);
  assert(size == 0 || (column_families != nullptr && iterators != nullptr));
  std::vector<ColumnFamilyHandle*> families;
  // The handles stay those of the program; only the pointers are collected.
  for (size_t i = 0; i < size; ++i) families.push_back(FamilyOf(db->rep, column_families[i]));
  std::vector<Iterator*> made;
  if (Failed(errptr, db->rep->NewIterators(OptionsIn(opts), families, &made))) return;
  // Nothing is written to `iterators` after an error.
  assert(made.size() == size);
  for (size_t i = 0; i < size; ++i) iterators[i] = new ashlar_iterator_t{made[i]};
}

void ashlar_iter_destroy(ashlar_iterator_t* iter) {
  if (iter == nullptr) return;
  // The iterator refers to the database, so it must be destroyed before the database is closed.
  delete iter->rep;
  delete iter;
}

unsigned char ashlar_iter_valid(const ashlar_iterator_t* iter) { return iter->rep->Valid(); }
void ashlar_iter_seek_to_first(ashlar_iterator_t* iter) { iter->rep->SeekToFirst(); }
void ashlar_iter_seek_to_last(ashlar_iterator_t* iter) { iter->rep->SeekToLast(); }

void ashlar_iter_seek(ashlar_iterator_t* iter, const char* k, size_t klen) {
  assert(iter != nullptr);
  iter->rep->Seek(Text(k, klen));
}

void ashlar_iter_seek_for_prev(ashlar_iterator_t* iter, const char* k, size_t klen) {
  iter->rep->SeekForPrev(Text(k, klen));
}

void ashlar_iter_next(ashlar_iterator_t* iter) { iter->rep->Next(); }
void ashlar_iter_prev(ashlar_iterator_t* iter) { iter->rep->Prev(); }

const char* ashlar_iter_key(const ashlar_iterator_t* iter, size_t* klen) {
  assert(iter != nullptr);
  return ashlar::capi::Bytes(iter->rep->key(), klen);
}

const char* ashlar_iter_value(const ashlar_iterator_t* iter, size_t* vlen) {
  assert(iter != nullptr);
  return ashlar::capi::Bytes(iter->rep->value(), vlen);
}

const char* ashlar_iter_timestamp(const ashlar_iterator_t* iter, size_t* tslen) {
  return ashlar::capi::Bytes(iter->rep->timestamp(), tslen);
}

ashlar_slice_t ashlar_iter_key_slice(const ashlar_iterator_t* iter) {
  const Slice key = iter->rep->key();
  return {key.data(), key.size()};
}

ashlar_slice_t ashlar_iter_value_slice(const ashlar_iterator_t* iter) {
  const Slice value = iter->rep->value();
  return {value.data(), value.size()};
}

ashlar_slice_t ashlar_iter_timestamp_slice(const ashlar_iterator_t* iter) {
  const Slice timestamp = iter->rep->timestamp();
  return {timestamp.data(), timestamp.size()};
}

void ashlar_iter_get_error(const ashlar_iterator_t* iter, char** errptr) {
  assert(iter != nullptr);
  Failed(errptr, iter->rep->status());
}

void ashlar_iter_refresh(const ashlar_iterator_t* iter, char** errptr) {
  Failed(errptr, iter->rep->Refresh());
}
