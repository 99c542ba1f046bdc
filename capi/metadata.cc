// SPDX-License-Identifier: Apache-2.0
//
// The C API: facts about the files of an open database.
//
// All results are copies of the moment at which they were asked for, and belong to the program.
// Texts that are returned as `const char*` belong to the handle; those returned as `char*` are
// copies.
#include "ashlar/c/metadata.h"

#include <cassert>

#include "capi/metadata_handles.h"
#include "capi/option_handles.h"

using ashlar::ColumnFamilyMetaData;
using ashlar::LevelMetaData;
using ashlar::LiveFileMetaData;
using ashlar::LiveFileStorageInfo;
using ashlar::SstFileMetaData;
using ashlar::capi::Copy;
using ashlar::capi::Failed;
using ashlar::capi::FamilyOf;
using ashlar::capi::OptionsIn;
using ashlar::capi::Text;

struct ashlar_column_family_metadata_t {
  ColumnFamilyMetaData rep;
};
struct ashlar_livefiles_storage_info_t {
  std::vector<LiveFileStorageInfo> rep;
};

namespace ashlar::capi {
namespace {

// The program guarantees that 0 <= index < count.
const LiveFileMetaData& File(const ashlar_livefiles_t* files, int index) {
  assert(files != nullptr);
  assert(index >= 0 && static_cast<size_t>(index) < files->rep.size());
  return files->rep[static_cast<size_t>(index)];
}

const char* StringIn(const std::string& text, size_t* size) {
  assert(size != nullptr);
  *size = text.size();
  return text.data();
}

// Levels and tables are parts of the metadata of a family: their handles are pointers into it,
// valid until it is destroyed.
const LevelMetaData& Level(const ashlar_level_metadata_t* handle) {
  assert(handle != nullptr);
  return *reinterpret_cast<const LevelMetaData*>(handle);
}

const SstFileMetaData& Table(const ashlar_sst_file_metadata_t* handle) {
  assert(handle != nullptr);
  return *reinterpret_cast<const SstFileMetaData*>(handle);
}

// The program guarantees that index < count.
const LiveFileStorageInfo& StorageInfo(const ashlar_livefiles_storage_info_t* info, size_t index) {
  assert(info != nullptr);
  assert(index < info->rep.size());
  return info->rep[index];
}

}  // namespace
}  // namespace ashlar::capi

using ashlar::capi::File;
using ashlar::capi::Level;
using ashlar::capi::StorageInfo;
using ashlar::capi::StringIn;
using ashlar::capi::Table;

const ashlar_livefiles_t* ashlar_livefiles(ashlar_t* db) {
  assert(db != nullptr);
  auto* files = new ashlar_livefiles_t;
  db->rep->GetLiveFilesMetaData(&files->rep);
  return files;
}

int ashlar_livefiles_count(const ashlar_livefiles_t* files) {
  return static_cast<int>(files->rep.size());
}

void ashlar_livefiles_destroy(const ashlar_livefiles_t* files) { delete files; }
ashlar_livefiles_t* ashlar_livefiles_create() { return new ashlar_livefiles_t; }

// Copies the description, which stays that of the program.
void ashlar_livefiles_add(ashlar_livefiles_t* files, ashlar_livefile_t* file) {
  assert(files != nullptr);
  assert(file != nullptr);
  files->rep.push_back(file->rep);
}

const char* ashlar_livefiles_column_family_name(const ashlar_livefiles_t* files, int index) {
  return File(files, index).column_family_name.c_str();
}

const char* ashlar_livefiles_name(const ashlar_livefiles_t* files, int index) {
  return File(files, index).name.c_str();
}

const char* ashlar_livefiles_directory(const ashlar_livefiles_t* files, int index) {
  return File(files, index).db_path.c_str();
}

int ashlar_livefiles_level(const ashlar_livefiles_t* files, int index) {
  return File(files, index).level;
}

size_t ashlar_livefiles_size(const ashlar_livefiles_t* files, int index) {
  return File(files, index).size;
}

uint64_t ashlar_livefiles_smallest_seqno(const ashlar_livefiles_t* files, int index) {
  return File(files, index).smallest_seqno;
}

uint64_t ashlar_livefiles_largest_seqno(const ashlar_livefiles_t* files, int index) {
  return File(files, index).largest_seqno;
}

uint64_t ashlar_livefiles_entries(const ashlar_livefiles_t* files, int index) {
  return File(files, index).num_entries;
}

uint64_t ashlar_livefiles_deletions(const ashlar_livefiles_t* files, int index) {
  return File(files, index).num_deletions;
}

const char* ashlar_livefiles_smallestkey(const ashlar_livefiles_t* files, int index, size_t* size) {
  return StringIn(File(files, index).smallestkey, size);
}

const char* ashlar_livefiles_largestkey(const ashlar_livefiles_t* files, int index, size_t* size) {
  return StringIn(File(files, index).largestkey, size);
}

// A description that the program fills in, for the import of a column family.
ashlar_livefile_t* ashlar_livefile_create() { return new ashlar_livefile_t; }
void ashlar_livefile_destroy(ashlar_livefile_t* file) { delete file; }

void ashlar_livefile_set_column_family_name(ashlar_livefile_t* file, const char* name) {
  assert(file != nullptr);
  assert(name != nullptr);
  file->rep.column_family_name = name;
}

void ashlar_livefile_set_name(ashlar_livefile_t* file, const char* name) {
  assert(file != nullptr);
  file->rep.name = name;
  file->rep.relative_filename = name[0] == '/' ? name + 1 : name;
}

void ashlar_livefile_set_directory(ashlar_livefile_t* file, const char* directory) {
  assert(file != nullptr);
  assert(directory != nullptr);
  file->rep.db_path = directory;
  file->rep.directory = directory;
}

void ashlar_livefile_set_level(ashlar_livefile_t* file, int level) { file->rep.level = level; }
void ashlar_livefile_set_size(ashlar_livefile_t* file, size_t size) { file->rep.size = size; }

void ashlar_livefile_set_smallest_key(ashlar_livefile_t* file, const char* key, size_t size) {
  file->rep.smallestkey = Text(key, size).ToString();
}

void ashlar_livefile_set_largest_key(ashlar_livefile_t* file, const char* key, size_t size) {
  file->rep.largestkey = Text(key, size).ToString();
}

void ashlar_livefile_set_smallest_seqno(ashlar_livefile_t* file, uint64_t value) {
  file->rep.smallest_seqno = value;
}

void ashlar_livefile_set_largest_seqno(ashlar_livefile_t* file, uint64_t value) {
  file->rep.largest_seqno = value;
}

void ashlar_livefile_set_num_entries(ashlar_livefile_t* file, uint64_t value) {
  file->rep.num_entries = value;
}

void ashlar_livefile_set_num_deletions(ashlar_livefile_t* file, uint64_t value) {
  file->rep.num_deletions = value;
}

ashlar_column_family_metadata_t* ashlar_get_column_family_metadata(ashlar_t* db) {
  return ashlar_get_column_family_metadata_cf_with_options(db, nullptr, nullptr);
}

ashlar_column_family_metadata_t* ashlar_get_column_family_metadata_cf(
    ashlar_t* db, ashlar_column_family_handle_t* column_family) {
  return ashlar_get_column_family_metadata_cf_with_options(db, column_family, nullptr);
}

ashlar_column_family_metadata_t* ashlar_get_column_family_metadata_with_options(
    ashlar_t* db, const ashlar_column_family_metadata_options_t* options) {
  return ashlar_get_column_family_metadata_cf_with_options(db, nullptr, options);
}

ashlar_column_family_metadata_t* ashlar_get_column_family_metadata_cf_with_options(
    ashlar_t* db, ashlar_column_family_handle_t* column_family,
    const ashlar_column_family_metadata_options_t* options) {
  assert(db != nullptr);
  auto* metadata = new ashlar_column_family_metadata_t;
  db->rep->GetColumnFamilyMetaData(FamilyOf(db->rep, column_family), OptionsIn(options),
                                   &metadata->rep);
  return metadata;
}

void ashlar_column_family_metadata_destroy(ashlar_column_family_metadata_t* cf_meta) {
  delete cf_meta;
}

uint64_t ashlar_column_family_metadata_get_size(ashlar_column_family_metadata_t* cf_meta) {
  return cf_meta->rep.size;
}

size_t ashlar_column_family_metadata_get_file_count(ashlar_column_family_metadata_t* cf_meta) {
  return cf_meta->rep.file_count;
}

char* ashlar_column_family_metadata_get_name(ashlar_column_family_metadata_t* cf_meta) {
  assert(cf_meta != nullptr);
  return Copy(cf_meta->rep.name);
}

size_t ashlar_column_family_metadata_get_level_count(ashlar_column_family_metadata_t* cf_meta) {
  return cf_meta->rep.levels.size();
}

// Null behind the last level.
ashlar_level_metadata_t* ashlar_column_family_metadata_get_level_metadata(
    ashlar_column_family_metadata_t* cf_meta, size_t i) {
  assert(cf_meta != nullptr);
  if (i >= cf_meta->rep.levels.size()) return nullptr;
  return reinterpret_cast<ashlar_level_metadata_t*>(&cf_meta->rep.levels[i]);
}

void ashlar_level_metadata_destroy(ashlar_level_metadata_t*) {}  // a part of the family's

int ashlar_level_metadata_get_level(ashlar_level_metadata_t* level_meta) {
  return Level(level_meta).level;
}

uint64_t ashlar_level_metadata_get_size(ashlar_level_metadata_t* level_meta) {
  return Level(level_meta).size;
}

size_t ashlar_level_metadata_get_file_count(ashlar_level_metadata_t* level_meta) {
  return Level(level_meta).files.size();
}

ashlar_sst_file_metadata_t* ashlar_level_metadata_get_sst_file_metadata(
    ashlar_level_metadata_t* level_meta, size_t i) {
  const std::vector<SstFileMetaData>& files = Level(level_meta).files;
  if (i >= files.size()) return nullptr;
  return reinterpret_cast<ashlar_sst_file_metadata_t*>(const_cast<SstFileMetaData*>(&files[i]));
}

void ashlar_sst_file_metadata_destroy(ashlar_sst_file_metadata_t*) {}  // a part of the family's

char* ashlar_sst_file_metadata_get_relative_filename(ashlar_sst_file_metadata_t* file_meta) {
  return Copy(Table(file_meta).relative_filename);
}

char* ashlar_sst_file_metadata_get_directory(ashlar_sst_file_metadata_t* file_meta) {
  return Copy(Table(file_meta).directory);
}

uint64_t ashlar_sst_file_metadata_get_size(ashlar_sst_file_metadata_t* file_meta) {
  return Table(file_meta).size;
}

char* ashlar_sst_file_metadata_get_smallestkey(ashlar_sst_file_metadata_t* file_meta, size_t* len) {
  return Copy(Table(file_meta).smallestkey, len);
}

char* ashlar_sst_file_metadata_get_largestkey(ashlar_sst_file_metadata_t* file_meta, size_t* len) {
  return Copy(Table(file_meta).largestkey, len);
}

ashlar_livefiles_storage_info_t* ashlar_get_livefiles_storage_info(
    ashlar_t* db, const ashlar_livefiles_storage_info_options_t* options, char** errptr) {
  assert(db != nullptr);
  auto info = std::make_unique<ashlar_livefiles_storage_info_t>();
  if (Failed(errptr, db->rep->GetLiveFilesStorageInfo(OptionsIn(options), &info->rep))) {
    return nullptr;
  }
  return info.release();
}

size_t ashlar_livefiles_storage_info_count(const ashlar_livefiles_storage_info_t* info) {
  return info->rep.size();
}

const char* ashlar_livefiles_storage_info_relative_filename(
    const ashlar_livefiles_storage_info_t* info, size_t index) {
  return StorageInfo(info, index).relative_filename.c_str();
}

const char* ashlar_livefiles_storage_info_directory(const ashlar_livefiles_storage_info_t* info,
                                                    size_t index) {
  return StorageInfo(info, index).directory.c_str();
}

uint64_t ashlar_livefiles_storage_info_file_number(const ashlar_livefiles_storage_info_t* info,
                                                   size_t index) {
  return StorageInfo(info, index).file_number;
}

int ashlar_livefiles_storage_info_file_type(const ashlar_livefiles_storage_info_t* info,
                                            size_t index) {
  return StorageInfo(info, index).file_type;
}

uint64_t ashlar_livefiles_storage_info_size(const ashlar_livefiles_storage_info_t* info,
                                            size_t index) {
  return StorageInfo(info, index).size;
}

int ashlar_livefiles_storage_info_temperature(const ashlar_livefiles_storage_info_t* info,
                                              size_t index) {
  return static_cast<int>(StorageInfo(info, index).temperature);
}

const char* ashlar_livefiles_storage_info_file_checksum(const ashlar_livefiles_storage_info_t* info,
                                                        size_t index) {
  return StorageInfo(info, index).file_checksum.c_str();
}

const char* ashlar_livefiles_storage_info_file_checksum_func_name(
    const ashlar_livefiles_storage_info_t* info, size_t index) {
  return StorageInfo(info, index).file_checksum_func_name.c_str();
}

unsigned char ashlar_livefiles_storage_info_trim_to_size(
    const ashlar_livefiles_storage_info_t* info, size_t index) {
  return StorageInfo(info, index).trim_to_size;
}

const char* ashlar_livefiles_storage_info_replacement_contents(
    const ashlar_livefiles_storage_info_t* info, size_t index, size_t* size) {
  return StringIn(StorageInfo(info, index).replacement_contents, size);
}

void ashlar_livefiles_storage_info_destroy(ashlar_livefiles_storage_info_t* info) { delete info; }
