// SPDX-License-Identifier: Apache-2.0
//
// The C API: databases with optimistic transactions.
//
// These transactions lock nothing and find conflicts when they commit. Ownership is as in
// transactiondb.cc.
#include "ashlar/c/optimistic.h"

#include <cassert>

#include "capi/metadata_handles.h"
#include "capi/opening.h"
#include "capi/option_handles.h"
#include "capi/transaction_handles.h"

using ashlar::ColumnFamilyDescriptor;
using ashlar::ColumnFamilyHandle;
using ashlar::DBOptions;
using ashlar::OptimisticTransactionDB;
using ashlar::capi::Copy;
using ashlar::capi::Descriptors;
using ashlar::capi::Failed;
using ashlar::capi::OptionsIn;
using ashlar::capi::Wrap;

ashlar_optimistictransactiondb_t* ashlar_optimistictransactiondb_open(
    const ashlar_options_t* options, const char* name, char** errptr) {
  assert(name != nullptr);
  OptimisticTransactionDB* db = nullptr;
  if (Failed(errptr, OptimisticTransactionDB::Open(OptionsIn(options), name, &db))) return nullptr;
  return Wrap<ashlar_optimistictransactiondb_t>(db);
}

ashlar_optimistictransactiondb_t* ashlar_optimistictransactiondb_open_with_otxn_db_options(
    const ashlar_options_t* options,
    const ashlar_optimistictransactiondb_options_t* otxn_db_options, const char* name,
    char** errptr) {
  assert(name != nullptr);
  OptimisticTransactionDB* db = nullptr;
  std::vector<ColumnFamilyHandle*> families;
  const std::vector<ColumnFamilyDescriptor> descriptors{
      {ashlar::kDefaultColumnFamilyName, OptionsIn(options)}};
  if (Failed(errptr, OptimisticTransactionDB::Open(DBOptions(OptionsIn(options)),
                                                   OptionsIn(otxn_db_options), name, descriptors,
                                                   &families, &db)))
    return nullptr;
  assert(families.size() == 1);
  delete families[0];  // the database has its own handle of the default family
  return Wrap<ashlar_optimistictransactiondb_t>(db);
}

ashlar_optimistictransactiondb_t* ashlar_optimistictransactiondb_open_column_families(
    const ashlar_options_t* options, const char* name, int num_column_families,
    const char* const* column_family_names, const ashlar_options_t* const* column_family_options,
    ashlar_column_family_handle_t** column_family_handles, char** errptr) {
  return ashlar_optimistictransactiondb_open_column_families_with_otxn_db_options(
      options, nullptr, name, num_column_families, column_family_names, column_family_options,
      column_family_handles, errptr);
}

ashlar_optimistictransactiondb_t*
ashlar_optimistictransactiondb_open_column_families_with_otxn_db_options(
    const ashlar_options_t* options,
    const ashlar_optimistictransactiondb_options_t* otxn_db_options, const char* name,
    int num_column_families, const char* const* column_family_names,
    const ashlar_options_t* const* column_family_options,
    ashlar_column_family_handle_t** column_family_handles, char** errptr) {
  assert(name != nullptr);
  OptimisticTransactionDB* db = nullptr;
  std::vector<ColumnFamilyHandle*> families;
  if (Failed(errptr,
             OptimisticTransactionDB::Open(
                 DBOptions(OptionsIn(options)), OptionsIn(otxn_db_options), name,
                 Descriptors(num_column_families, column_family_names, column_family_options),
                 &families, &db)))
    return nullptr;
  return Wrap<ashlar_optimistictransactiondb_t>(db, families, column_family_handles);
}

void ashlar_optimistictransactiondb_close(ashlar_optimistictransactiondb_t* otxn_db) {
  ashlar::capi::Close(otxn_db);
}

ashlar_t* ashlar_optimistictransactiondb_get_base_db(ashlar_optimistictransactiondb_t* otxn_db) {
  assert(otxn_db != nullptr);
  // A second handle of the same database. It owns nothing; closing it frees the handle only.
  return new ashlar_t{otxn_db->rep->GetBaseDB(), otxn_db->families};
}

void ashlar_optimistictransactiondb_close_base_db(ashlar_t* base_db) { delete base_db; }

void ashlar_optimistictransactiondb_write(ashlar_optimistictransactiondb_t* otxn_db,
                                          const ashlar_writeoptions_t* options,
                                          ashlar_writebatch_t* batch, char** errptr) {
  assert(otxn_db != nullptr);
  Failed(errptr, otxn_db->rep->Write(OptionsIn(options), &batch->rep));
}

ashlar_checkpoint_t* ashlar_optimistictransactiondb_checkpoint_object_create(
    ashlar_optimistictransactiondb_t* otxn_db, char** errptr) {
  assert(otxn_db != nullptr);
  return ashlar::capi::NewCheckpoint(otxn_db->rep, errptr);
}

char* ashlar_optimistictransactiondb_property_value(ashlar_optimistictransactiondb_t* db,
                                                    const char* propname) {
  assert(db != nullptr);
  assert(propname != nullptr);
  std::string value;
  if (!db->rep->GetProperty(propname, &value)) return nullptr;
  return Copy(value);
}

int ashlar_optimistictransactiondb_property_int(ashlar_optimistictransactiondb_t* db,
                                                const char* propname, uint64_t* out_val) {
  assert(db != nullptr);
  assert(propname != nullptr);
  return db->rep->GetIntProperty(propname, out_val) ? 0 : -1;
}
