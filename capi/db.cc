// SPDX-License-Identifier: Apache-2.0
//
// The C API: opening and closing a database, and what concerns the whole of it.
//
// All forms of opening do the same: unwrap the options, call the C++ function, and wrap the
// database together with a list for its family handles. After an error nothing is open, and the
// result is null.
#include "ashlar/c/db.h"

#include <cassert>
#include <cstdlib>

#include "ashlar/convenience.h"
#include "capi/handles.h"
#include "capi/opening.h"

using ashlar::ColumnFamilyHandle;
using ashlar::DB;
using ashlar::DBOptions;
using ashlar::capi::Copy;
using ashlar::capi::Descriptors;
using ashlar::capi::Failed;
using ashlar::capi::OptionsIn;
using ashlar::capi::Wrap;

namespace ashlar::capi {

// Null options of a family mean the defaults.
std::vector<ColumnFamilyDescriptor> Descriptors(int count, const char* const* names,
                                                const ashlar_options_t* const* options) {
  assert(count <= 0 || (names != nullptr && options != nullptr));
  std::vector<ColumnFamilyDescriptor> families;
  for (int i = 0; i < count; ++i) families.emplace_back(names[i], OptionsIn(options[i]));
  return families;
}

}  // namespace ashlar::capi

ashlar_t* ashlar_open(const ashlar_options_t* options, const char* name, char** errptr) {
  assert(name != nullptr);
  std::unique_ptr<DB> db;
  if (Failed(errptr, DB::Open(OptionsIn(options), name, &db))) return nullptr;
  return Wrap<ashlar_t>(db.release());
}

ashlar_t* ashlar_open_for_read_only(const ashlar_options_t* options, const char* name,
                                    unsigned char error_if_wal_file_exists, char** errptr) {
  assert(name != nullptr);
  std::unique_ptr<DB> db;
  if (Failed(errptr,
             DB::OpenForReadOnly(OptionsIn(options), name, &db, error_if_wal_file_exists != 0))) {
    return nullptr;
  }
  return Wrap<ashlar_t>(db.release());
}

ashlar_t* ashlar_open_as_secondary(const ashlar_options_t* options, const char* name,
                                   const char* secondary_path, char** errptr) {
  assert(name != nullptr);
  assert(secondary_path != nullptr);
  std::unique_ptr<DB> db;
  if (Failed(errptr, DB::OpenAsSecondary(OptionsIn(options), name, secondary_path, &db))) {
    return nullptr;
  }
  return Wrap<ashlar_t>(db.release());
}

ashlar_t* ashlar_open_column_families(const ashlar_options_t* options, const char* name,
                                      int num_column_families,
                                      const char* const* column_family_names,
                                      const ashlar_options_t* const* column_family_options,
                                      ashlar_column_family_handle_t** column_family_handles,
                                      char** errptr) {
  assert(name != nullptr);
  std::unique_ptr<DB> db;
  std::vector<ColumnFamilyHandle*> families;
  if (Failed(errptr,
             DB::Open(DBOptions(OptionsIn(options)), name,
                      Descriptors(num_column_families, column_family_names, column_family_options),
                      &families, &db))) {
    return nullptr;
  }
  return Wrap<ashlar_t>(db.release(), families, column_family_handles);
}

ashlar_t* ashlar_open_for_read_only_column_families(
    const ashlar_options_t* options, const char* name, int num_column_families,
    const char* const* column_family_names, const ashlar_options_t* const* column_family_options,
    ashlar_column_family_handle_t** column_family_handles, unsigned char error_if_wal_file_exists,
    char** errptr) {
  assert(name != nullptr);
  std::unique_ptr<DB> db;
  std::vector<ColumnFamilyHandle*> families;
  if (Failed(errptr, DB::OpenForReadOnly(DBOptions(OptionsIn(options)), name,
                                         Descriptors(num_column_families, column_family_names,
                                                     column_family_options),
                                         &families, &db, error_if_wal_file_exists != 0))) {
    return nullptr;
  }
  return Wrap<ashlar_t>(db.release(), families, column_family_handles);
}

ashlar_t* ashlar_open_as_secondary_column_families(
    const ashlar_options_t* options, const char* name, const char* secondary_path,
    int num_column_families, const char* const* column_family_names,
    const ashlar_options_t* const* column_family_options,
    ashlar_column_family_handle_t** column_family_handles, char** errptr) {
  assert(name != nullptr);
  assert(secondary_path != nullptr);
  std::unique_ptr<DB> db;
  std::vector<ColumnFamilyHandle*> families;
  if (Failed(errptr, DB::OpenAsSecondary(DBOptions(OptionsIn(options)), name, secondary_path,
                                         Descriptors(num_column_families, column_family_names,
                                                     column_family_options),
                                         &families, &db))) {
    return nullptr;
  }
  return Wrap<ashlar_t>(db.release(), families, column_family_handles);
}

ashlar_t* ashlar_open_and_trim_history(const ashlar_options_t* options, const char* name,
                                       int num_column_families,
                                       const char* const* column_family_names,
                                       const ashlar_options_t* const* column_family_options,
                                       ashlar_column_family_handle_t** column_family_handles,
                                       char* trim_ts, size_t trim_tslen, char** errptr) {
  assert(name != nullptr);
  std::unique_ptr<DB> db;
  std::vector<ColumnFamilyHandle*> families;
  if (Failed(errptr, DB::OpenAndTrimHistory(DBOptions(OptionsIn(options)), name,
                                            Descriptors(num_column_families, column_family_names,
                                                        column_family_options),
                                            &families, &db, std::string(trim_ts, trim_tslen)))) {
    return nullptr;
  }
  return Wrap<ashlar_t>(db.release(), families, column_family_handles);
}

void ashlar_close(ashlar_t* db) { ashlar::capi::Close(db); }

void ashlar_try_catch_up_with_primary(ashlar_t* db, char** errptr) {
  assert(db != nullptr);
  Failed(errptr, db->rep->TryCatchUpWithPrimary());
}

void ashlar_destroy_db(const ashlar_options_t* options, const char* name, char** errptr) {
  assert(name != nullptr);
  Failed(errptr, ashlar::DestroyDB(name, OptionsIn(options)));
}

void ashlar_repair_db(const ashlar_options_t* options, const char* name, char** errptr) {
  assert(name != nullptr);
  Failed(errptr, ashlar::RepairDB(name, OptionsIn(options)));
}

char* ashlar_get_db_identity(ashlar_t* db, size_t* id_len) {
  assert(db != nullptr);
  std::string identity;
  // The C function has no argument for an error, so that null stands for every failure.
  if (!db->rep->GetDbIdentity(identity).ok()) return nullptr;
  return Copy(identity, id_len);
}

uint64_t ashlar_get_latest_sequence_number(ashlar_t* db) {
  return db->rep->GetLatestSequenceNumber();
}

void ashlar_cancel_all_background_work(ashlar_t* db, unsigned char wait) {
  ashlar::CancelAllBackgroundWork(db->rep, wait != 0);
}

void ashlar_free(void* ptr) { std::free(ptr); }
