// SPDX-License-Identifier: Apache-2.0
//
// The C API: databases whose entries expire.
#include "ashlar/c/ttl.h"

#include <cassert>

#include "ashlar/utilities/db_ttl.h"
#include "capi/opening.h"

using ashlar::ColumnFamilyHandle;
using ashlar::DBOptions;
using ashlar::DBWithTTL;
using ashlar::Status;
using ashlar::capi::Descriptors;
using ashlar::capi::Failed;
using ashlar::capi::OptionsIn;

namespace ashlar::capi {
namespace {

ashlar_t* WrapWithTtl(DBWithTTL* db, const std::vector<ColumnFamilyHandle*>& families,
                      ashlar_column_family_handle_t** results) {
  assert(db != nullptr);
  auto* handle = Wrap<ashlar_t>(static_cast<DB*>(db), families, results);
  handle->ttl = db;
  return handle;
}

}  // namespace
}  // namespace ashlar::capi

using ashlar::capi::WrapWithTtl;

ashlar_t* ashlar_open_with_ttl(const ashlar_options_t* options, const char* name, int ttl,
                               char** errptr) {
  assert(name != nullptr);
  DBWithTTL* db = nullptr;
  if (Failed(errptr, DBWithTTL::Open(OptionsIn(options), name, &db, ttl))) return nullptr;
  return WrapWithTtl(db, {}, nullptr);
}

ashlar_t* ashlar_open_column_families_with_ttl(
    const ashlar_options_t* options, const char* name, int num_column_families,
    const char* const* column_family_names, const ashlar_options_t* const* column_family_options,
    ashlar_column_family_handle_t** column_family_handles, const int* ttls, char** errptr) {
  assert(name != nullptr);
  DBWithTTL* db = nullptr;
  std::vector<ColumnFamilyHandle*> families;
  const std::vector<int32_t> seconds(ttls, ttls + num_column_families);
  if (Failed(errptr, DBWithTTL::Open(DBOptions(OptionsIn(options)), name,
                                     Descriptors(num_column_families, column_family_names,
                                                 column_family_options),
                                     &families, &db, seconds)))
    return nullptr;
  return WrapWithTtl(db, families, column_family_handles);
}

ashlar_column_family_handle_t* ashlar_create_column_family_with_ttl(
    ashlar_t* db, const ashlar_options_t* column_family_options, const char* column_family_name,
    int ttl, char** errptr) {
  assert(db != nullptr);
  assert(column_family_name != nullptr);
  ColumnFamilyHandle* family = nullptr;
  const Status s = db->ttl == nullptr
                       ? Status::InvalidArgument(
                             "create_column_family_with_ttl: the database was opened without TTL")
                       : db->ttl->CreateColumnFamilyWithTtl(OptionsIn(column_family_options),
                                                            column_family_name, &family, ttl);
  if (Failed(errptr, s)) return nullptr;
  return db->families->Add(family);
}
