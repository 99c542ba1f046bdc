// SPDX-License-Identifier: Apache-2.0
//
// The C API: column families.
//
// Each database handle has a list of the family handles that the program got (FamilyHandles).
// Closing the database destroys the engine's handles; the program destroys its own before or after
// that.
#include "ashlar/c/column_family.h"

#include <cassert>
#include <cstdlib>

#include "capi/handles.h"

using ashlar::ColumnFamilyHandle;
using ashlar::DB;
using ashlar::DBOptions;
using ashlar::Status;
using ashlar::capi::Copy;
using ashlar::capi::Failed;
using ashlar::capi::OptionsIn;

char** ashlar_list_column_families(const ashlar_options_t* options, const char* name, size_t* lencf,
                                   char** errptr) {
  assert(name != nullptr);
  assert(lencf != nullptr);
  *lencf = 0;
  std::vector<std::string> names;
  if (Failed(errptr, DB::ListColumnFamilies(DBOptions(OptionsIn(options)), name, &names))) {
    return nullptr;
  }
  // The list and each name are separate blocks, all freed by the function below.
  auto** list = static_cast<char**>(std::malloc(sizeof(char*) * names.size()));
  for (const std::string& each : names) list[(*lencf)++] = Copy(each);
  return list;
}

void ashlar_list_column_families_destroy(char** list, size_t len) {
  if (list == nullptr) return;
  for (size_t i = 0; i < len; ++i) std::free(list[i]);
  std::free(list);
}

ashlar_column_family_handle_t* ashlar_create_column_family(
    ashlar_t* db, const ashlar_options_t* column_family_options, const char* column_family_name,
    char** errptr) {
  assert(db != nullptr);
  assert(column_family_name != nullptr);
  ColumnFamilyHandle* family = nullptr;
  if (Failed(errptr, db->rep->CreateColumnFamily(OptionsIn(column_family_options),
                                                 column_family_name, &family))) {
    return nullptr;
  }
  return db->families->Add(family);
}

ashlar_column_family_handle_t** ashlar_create_column_families(
    ashlar_t* db, const ashlar_options_t* column_family_options, int num_column_families,
    const char* const* column_family_names, size_t* lencfs, char** errptr) {
  assert(db != nullptr);
  assert(lencfs != nullptr);
  const std::vector<std::string> names(column_family_names,
                                       column_family_names + num_column_families);
  std::vector<ColumnFamilyHandle*> families;
  // Families that were created before an error are returned all the same.
  Failed(errptr, db->rep->CreateColumnFamilies(OptionsIn(column_family_options), names, &families));
  auto** list = static_cast<ashlar_column_family_handle_t**>(
      std::malloc(sizeof(ashlar_column_family_handle_t*) * (families.size() + 1)));
  *lencfs = 0;
  for (ColumnFamilyHandle* family : families) list[(*lencfs)++] = db->families->Add(family);
  return list;
}

void ashlar_create_column_families_destroy(ashlar_column_family_handle_t** list) {
  std::free(list);
}

void ashlar_drop_column_family(ashlar_t* db, ashlar_column_family_handle_t* handle, char** errptr) {
  assert(db != nullptr);
  assert(handle != nullptr);
  Failed(errptr, db->rep->DropColumnFamily(handle->rep));
}

ashlar_column_family_handle_t* ashlar_get_default_column_family_handle(ashlar_t* db) {
  assert(db != nullptr);
  // The engine's handle of the default family belongs to the database.
  return db->families->Add(db->rep->DefaultColumnFamily(), /*owned=*/false);
}

void ashlar_column_family_handle_destroy(ashlar_column_family_handle_t* handle) {
  if (handle == nullptr) return;
  handle->families->Remove(handle);
  delete handle;
}

uint32_t ashlar_column_family_handle_get_id(ashlar_column_family_handle_t* handle) {
  assert(handle != nullptr);
  return handle->rep->GetID();
}

char* ashlar_column_family_handle_get_name(ashlar_column_family_handle_t* handle,
                                           size_t* name_len) {
  assert(handle != nullptr);
  return Copy(handle->rep->GetName(), name_len);
}
