// SPDX-License-Identifier: Apache-2.0
//
// The C API: checkpoints, and column families that are moved between databases.
//
// The metadata of an export is a handle with a value: changing it does not change the export.
#include "ashlar/c/checkpoint.h"

#include <cassert>

#include "ashlar/utilities/checkpoint.h"
#include "capi/metadata_handles.h"
#include "capi/option_handles.h"

using ashlar::Checkpoint;
using ashlar::ColumnFamilyHandle;
using ashlar::ExportImportFilesMetaData;
using ashlar::capi::Copy;
using ashlar::capi::Failed;
using ashlar::capi::FamilyOf;
using ashlar::capi::OptionsIn;

struct ashlar_export_import_files_metadata_t {
  ExportImportFilesMetaData rep;
};

ashlar_checkpoint_t* ashlar_checkpoint_object_create(ashlar_t* db, char** errptr) {
  assert(db != nullptr);
  return ashlar::capi::NewCheckpoint(db->rep, errptr);
}

ashlar_checkpoint_t* ashlar::capi::NewCheckpoint(DB* db, char** errptr) {
  assert(db != nullptr);
  Checkpoint* checkpoint = nullptr;
  if (Failed(errptr, Checkpoint::Create(db, &checkpoint))) return nullptr;
  return new ashlar_checkpoint_t{std::unique_ptr<Checkpoint>(checkpoint)};
}

void ashlar_checkpoint_object_destroy(ashlar_checkpoint_t* checkpoint) { delete checkpoint; }

void ashlar_checkpoint_create(ashlar_checkpoint_t* checkpoint, const char* checkpoint_dir,
                              uint64_t log_size_for_flush, char** errptr) {
  assert(checkpoint != nullptr);
  assert(checkpoint_dir != nullptr);
  Failed(errptr, checkpoint->rep->CreateCheckpoint(checkpoint_dir, log_size_for_flush));
}

ashlar_export_import_files_metadata_t* ashlar_checkpoint_export_column_family(
    ashlar_checkpoint_t* checkpoint, ashlar_column_family_handle_t* column_family,
    const char* export_dir, char** errptr) {
  assert(checkpoint != nullptr);
  assert(column_family != nullptr);
  assert(export_dir != nullptr);
  ExportImportFilesMetaData* made = nullptr;
  if (Failed(errptr, checkpoint->rep->ExportColumnFamily(column_family->rep, export_dir, &made))) {
    return nullptr;
  }
  assert(made != nullptr);
  // The engine gives the object away; its content moves into the handle.
  const std::unique_ptr<ExportImportFilesMetaData> owner(made);
  return new ashlar_export_import_files_metadata_t{std::move(*made)};
}

ashlar_export_import_files_metadata_t* ashlar_export_import_files_metadata_create() {
  return new ashlar_export_import_files_metadata_t;
}

void ashlar_export_import_files_metadata_destroy(ashlar_export_import_files_metadata_t* metadata) {
  delete metadata;
}

char* ashlar_export_import_files_metadata_get_db_comparator_name(
    ashlar_export_import_files_metadata_t* metadata) {
  assert(metadata != nullptr);
  return Copy(metadata->rep.db_comparator_name);
}

void ashlar_export_import_files_metadata_set_db_comparator_name(
    ashlar_export_import_files_metadata_t* metadata, const char* name) {
  assert(metadata != nullptr);
  assert(name != nullptr);
  metadata->rep.db_comparator_name = name;
}

ashlar_livefiles_t* ashlar_export_import_files_metadata_get_files(
    ashlar_export_import_files_metadata_t* metadata) {
  assert(metadata != nullptr);
  // A copy, which the program destroys.
  return new ashlar_livefiles_t{metadata->rep.files};
}

void ashlar_export_import_files_metadata_set_files(ashlar_export_import_files_metadata_t* metadata,
                                                   ashlar_livefiles_t* files) {
  assert(metadata != nullptr);
  assert(files != nullptr);
  metadata->rep.files = files->rep;
}

ashlar_column_family_handle_t* ashlar_create_column_family_with_import(
    ashlar_t* db, ashlar_options_t* column_family_options, const char* column_family_name,
    ashlar_import_column_family_options_t* import_options,
    ashlar_export_import_files_metadata_t* metadata, char** errptr) {
  assert(db != nullptr);
  assert(column_family_name != nullptr);
  assert(metadata != nullptr);
  ColumnFamilyHandle* family = nullptr;
  if (Failed(errptr, db->rep->CreateColumnFamilyWithImport(
                         OptionsIn(column_family_options), column_family_name,
                         OptionsIn(import_options), metadata->rep, &family))) {
    return nullptr;
  }
  return db->families->Add(family);
}
