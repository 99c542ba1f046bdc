// SPDX-License-Identifier: Apache-2.0
//
// The C API: properties and sizes of a database.
//
// A property that does not exist has the result null, or -1.
#include "ashlar/c/properties.h"

#include <cassert>

#include "capi/option_handles.h"

using ashlar::Range;
using ashlar::capi::Copy;
using ashlar::capi::Failed;
using ashlar::capi::FamilyOf;
using ashlar::capi::OptionsIn;
using ashlar::capi::Text;

namespace ashlar::capi {
namespace {

// The keys are the memory of the program, which must stay until the call ends.
std::vector<Range> Ranges(int count, const char* const* starts, const size_t* start_lengths,
                          const char* const* limits, const size_t* limit_lengths) {
  assert(count <= 0 || (starts != nullptr && start_lengths != nullptr));
  assert(count <= 0 || (limits != nullptr && limit_lengths != nullptr));
  std::vector<Range> ranges;
  for (int i = 0; i < count; ++i) {
    ranges.emplace_back(Text(starts[i], start_lengths[i]), Text(limits[i], limit_lengths[i]));
  }
  return ranges;
}

}  // namespace
}  // namespace ashlar::capi

using ashlar::capi::Ranges;

char* ashlar_property_value(ashlar_t* db, const char* propname) {
  return ashlar_property_value_cf(db, nullptr, propname);
}

char* ashlar_property_value_cf(ashlar_t* db, ashlar_column_family_handle_t* column_family,
                               const char* propname) {
  assert(db != nullptr);
  assert(propname != nullptr);
  std::string value;
  if (!db->rep->GetProperty(FamilyOf(db->rep, column_family), propname, &value)) return nullptr;
  return Copy(value);
}

int ashlar_property_int(ashlar_t* db, const char* propname, uint64_t* out_val) {
  return ashlar_property_int_cf(db, nullptr, propname, out_val);
}

int ashlar_property_int_cf(ashlar_t* db, ashlar_column_family_handle_t* column_family,
                           const char* propname, uint64_t* out_val) {
  assert(db != nullptr);
  assert(propname != nullptr);
  return db->rep->GetIntProperty(FamilyOf(db->rep, column_family), propname, out_val) ? 0 : -1;
}

void ashlar_approximate_sizes(ashlar_t* db, int num_ranges, const char* const* range_start_key,
                              const size_t* range_start_key_len, const char* const* range_limit_key,
                              const size_t* range_limit_key_len, uint64_t* sizes, char** errptr) {
  ashlar_approximate_sizes_cf(db, nullptr, num_ranges, range_start_key, range_start_key_len,
                              range_limit_key, range_limit_key_len, sizes, errptr);
}

void ashlar_approximate_sizes_cf(ashlar_t* db, ashlar_column_family_handle_t* column_family,
                                 int num_ranges, const char* const* range_start_key,
                                 const size_t* range_start_key_len,
                                 const char* const* range_limit_key,
                                 const size_t* range_limit_key_len, uint64_t* sizes,
                                 char** errptr) {
  ashlar_approximate_sizes_cf_with_options(db, column_family, nullptr, num_ranges, range_start_key,
                                           range_start_key_len, range_limit_key,
                                           range_limit_key_len, sizes, errptr);
}

void ashlar_approximate_sizes_with_options(ashlar_t* db,
                                           const ashlar_size_approximation_options_t* options,
                                           int num_ranges, const char* const* range_start_key,
                                           const size_t* range_start_key_len,
                                           const char* const* range_limit_key,
                                           const size_t* range_limit_key_len, uint64_t* sizes,
                                           char** errptr) {
  ashlar_approximate_sizes_cf_with_options(db, nullptr, options, num_ranges, range_start_key,
                                           range_start_key_len, range_limit_key,
                                           range_limit_key_len, sizes, errptr);
}

void ashlar_approximate_sizes_cf_with_options(ashlar_t* db,
                                              ashlar_column_family_handle_t* column_family,
                                              const ashlar_size_approximation_options_t* options,
                                              int num_ranges, const char* const* range_start_key,
                                              const size_t* range_start_key_len,
                                              const char* const* range_limit_key,
                                              const size_t* range_limit_key_len, uint64_t* sizes,
                                              char** errptr) {
  assert(db != nullptr);
  const std::vector<Range> ranges = Ranges(num_ranges, range_start_key, range_start_key_len,
                                           range_limit_key, range_limit_key_len);
  Failed(errptr, db->rep->GetApproximateSizes(OptionsIn(options), FamilyOf(db->rep, column_family),
                                              ranges.data(), num_ranges, sizes));
}

void ashlar_approximate_sizes_cf_with_flags(ashlar_t* db,
                                            ashlar_column_family_handle_t* column_family,
                                            int num_ranges, const char* const* range_start_key,
                                            const size_t* range_start_key_len,
                                            const char* const* range_limit_key,
                                            const size_t* range_limit_key_len,
                                            uint8_t include_flags, uint64_t* sizes, char** errptr) {
  assert(db != nullptr);
  const std::vector<Range> ranges = Ranges(num_ranges, range_start_key, range_start_key_len,
                                           range_limit_key, range_limit_key_len);
  Failed(errptr, db->rep->GetApproximateSizes(
                     FamilyOf(db->rep, column_family), ranges.data(), num_ranges, sizes,
                     static_cast<ashlar::DB::SizeApproximationFlags>(include_flags)));
}
