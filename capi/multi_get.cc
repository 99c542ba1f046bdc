// SPDX-License-Identifier: Apache-2.0
//
// The C API: reads of many keys at once.
//
// A key that is missing has neither a value nor an error. Arrays of results have an element for
// each key, in the order of the keys; copies and texts of errors belong to the program.
#include <cassert>

#include "ashlar/c/multi_get.h"

#include "capi/multi_read.h"

using ashlar::ColumnFamilyHandle;
using ashlar::Slice;
using ashlar::Status;
using ashlar::capi::FamilyOf;
using ashlar::capi::MultiRead;
using ashlar::capi::OptionsIn;

// The results of one call, at the same positions in all three lists.
struct ashlar_pinnable_multi_get_t {
  std::vector<ashlar::PinnableSlice> values;
  std::vector<Status> statuses;
  std::vector<std::string> errors;  // the texts of the statuses that are neither OK nor NotFound
};

void ashlar_multi_get(ashlar_t* db, const ashlar_readoptions_t* options, size_t num_keys,
                      const char* const* keys_list, const size_t* keys_list_sizes,
                      char** values_list, size_t* values_list_sizes, char** errs) {
  ashlar_multi_get_cf(db, options, nullptr, num_keys, keys_list, keys_list_sizes, values_list,
                      values_list_sizes, errs);
}

void ashlar_multi_get_cf(ashlar_t* db, const ashlar_readoptions_t* options,
                         const ashlar_column_family_handle_t* const* column_families,
                         size_t num_keys, const char* const* keys_list,
                         const size_t* keys_list_sizes, char** values_list,
                         size_t* values_list_sizes, char** errs) {
  MultiRead read(db->rep, column_families, num_keys, keys_list, keys_list_sizes);
  assert(read.keys.size() == num_keys && read.families.size() == num_keys);
  db->rep->MultiGet(OptionsIn(options), num_keys, read.families.data(), read.keys.data(),
                    read.values.data(), read.statuses.data());
  read.CopyResults(values_list, values_list_sizes, errs);
}

void ashlar_multi_get_with_ts(ashlar_t* db, const ashlar_readoptions_t* options, size_t num_keys,
                              const char* const* keys_list, const size_t* keys_list_sizes,
                              char** values_list, size_t* values_list_sizes, char** timestamp_list,
                              size_t* timestamp_list_sizes, char** errs) {
  ashlar_multi_get_cf_with_ts(db, options, nullptr, num_keys, keys_list, keys_list_sizes,
                              values_list, values_list_sizes, timestamp_list, timestamp_list_sizes,
                              errs);
}

void ashlar_multi_get_cf_with_ts(ashlar_t* db, const ashlar_readoptions_t* options,
                                 const ashlar_column_family_handle_t* const* column_families,
                                 size_t num_keys, const char* const* keys_list,
                                 const size_t* keys_list_sizes, char** values_list,
                                 size_t* values_list_sizes, char** timestamps_list,
                                 size_t* timestamps_list_sizes, char** errs) {
  MultiRead read(db->rep, column_families, num_keys, keys_list, keys_list_sizes);
  std::vector<std::string> timestamps(num_keys);
  db->rep->MultiGet(OptionsIn(options), num_keys, read.families.data(), read.keys.data(),
                    read.values.data(), timestamps.data(), read.statuses.data());
  assert(timestamps.size() == num_keys && read.statuses.size() == num_keys);
  for (size_t i = 0; i < num_keys; ++i) {
    // A key that was not found has no timestamp either.
    const bool found = read.statuses[i].ok();
    timestamps_list_sizes[i] = found ? timestamps[i].size() : 0;
    timestamps_list[i] = found ? ashlar::capi::Copy(timestamps[i]) : nullptr;
  }
  read.CopyResults(values_list, values_list_sizes, errs);
}

void ashlar_batched_multi_get_cf(ashlar_t* db, const ashlar_readoptions_t* options,
                                 ashlar_column_family_handle_t* column_family, size_t num_keys,
                                 const char* const* keys_list, const size_t* keys_list_sizes,
                                 ashlar_pinnableslice_t** values, char** errs, bool sorted_input) {
  assert(db != nullptr);
  MultiRead read(db->rep, nullptr, num_keys, keys_list, keys_list_sizes);
  db->rep->MultiGet(OptionsIn(options), FamilyOf(db->rep, column_family), num_keys,
                    read.keys.data(), read.values.data(), read.statuses.data(), sorted_input);
  read.MoveResults(values, errs);
}

void ashlar_batched_multi_get_cf_slice(ashlar_t* db, const ashlar_readoptions_t* options,
                                       ashlar_column_family_handle_t* column_family,
                                       size_t num_keys, const ashlar_slice_t* keys_list,
                                       ashlar_pinnableslice_t** values, char** errs,
                                       bool sorted_input) {
  assert(db != nullptr);
  MultiRead read(num_keys, keys_list);
  db->rep->MultiGet(OptionsIn(options), FamilyOf(db->rep, column_family), num_keys,
                    read.keys.data(), read.values.data(), read.statuses.data(), sorted_input);
  read.MoveResults(values, errs);
}

ashlar_pinnable_multi_get_t* ashlar_batched_multi_get_pinned_cf(
    ashlar_t* db, const ashlar_readoptions_t* options, ashlar_column_family_handle_t* column_family,
    size_t num_keys, const ashlar_slice_t* keys, unsigned char sorted_input) {
  assert(db != nullptr);
  MultiRead read(num_keys, keys);
  db->rep->MultiGet(OptionsIn(options), FamilyOf(db->rep, column_family), num_keys,
                    read.keys.data(), read.values.data(), read.statuses.data(), sorted_input != 0);
  auto* results = new ashlar_pinnable_multi_get_t;
  // The texts are made now, because reading a result must not allocate: its memory would have no
  // owner.
  for (const Status& s : read.statuses) {
    results->errors.push_back(s.ok() || s.IsNotFound() ? "" : s.ToString());
  }
  results->values = std::move(read.values);
  results->statuses = std::move(read.statuses);
  return results;
}

size_t ashlar_pinnable_multi_get_count(const ashlar_pinnable_multi_get_t* multi_get) {
  return multi_get->values.size();
}

int ashlar_pinnable_multi_get_result(const ashlar_pinnable_multi_get_t* multi_get, size_t index,
                                     const char** value, size_t* value_size, const char** error,
                                     size_t* error_size) {
  Slice found;
  Slice failure;
  assert(multi_get->values.size() == multi_get->statuses.size() &&
         multi_get->values.size() == multi_get->errors.size());
  // The arguments get empty texts then.
  int result = ashlar_pinnable_multi_get_out_of_bounds;
  if (index < multi_get->values.size()) {
    const Status& s = multi_get->statuses[index];
    if (s.ok()) found = multi_get->values[index];
    failure = multi_get->errors[index];
    result = s.ok()           ? ashlar_pinnable_multi_get_found
             : s.IsNotFound() ? ashlar_pinnable_multi_get_not_found
                              : ashlar_pinnable_multi_get_error;
  }
  // Null pointers mean that the program does not ask for this part.
  if (value != nullptr) *value = found.data();
  if (value_size != nullptr) *value_size = found.size();
  if (error != nullptr) *error = failure.data();
  if (error_size != nullptr) *error_size = failure.size();
  return result;
}

void ashlar_pinnable_multi_get_destroy(ashlar_pinnable_multi_get_t* multi_get) { delete multi_get; }
