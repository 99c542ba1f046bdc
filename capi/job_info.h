// SPDX-License-Identifier: Apache-2.0
//
// Handles of facts about jobs and files. The handle is a pointer to the engine's own object, whose
// parts have handles too without an allocation.
//
// So a handle is valid as long as the engine's object: during the callback that gets it, or, for an
// object of the program, until the program destroys it. The casts are right because a handle type
// is never defined; it exists as a pointer only.
#pragma once

#include "ashlar/compaction_job_stats.h"
#include "ashlar/listener.h"
#include "ashlar/table_properties.h"
#include "capi/handles.h"

namespace ashlar::capi {

// For each kind of fact: the object of a handle, and the handle of an object.
inline const TableProperties& Info(const ashlar_table_properties_t* handle) {
  return *reinterpret_cast<const TableProperties*>(handle);
}
inline const ashlar_table_properties_t* Handle(const TableProperties& info) {
  return reinterpret_cast<const ashlar_table_properties_t*>(&info);
}
inline const FlushJobInfo& Info(const ashlar_flushjobinfo_t* handle) {
  return *reinterpret_cast<const FlushJobInfo*>(handle);
}
inline const ashlar_flushjobinfo_t* Handle(const FlushJobInfo& info) {
  return reinterpret_cast<const ashlar_flushjobinfo_t*>(&info);
}
inline const CompactionJobInfo& Info(const ashlar_compactionjobinfo_t* handle) {
  return *reinterpret_cast<const CompactionJobInfo*>(handle);
}
inline const ashlar_compactionjobinfo_t* Handle(const CompactionJobInfo& info) {
  return reinterpret_cast<const ashlar_compactionjobinfo_t*>(&info);
}
inline const SubcompactionJobInfo& Info(const ashlar_subcompactionjobinfo_t* handle) {
  return *reinterpret_cast<const SubcompactionJobInfo*>(handle);
}
inline const ashlar_subcompactionjobinfo_t* Handle(const SubcompactionJobInfo& info) {
  return reinterpret_cast<const ashlar_subcompactionjobinfo_t*>(&info);
}
inline const ExternalFileIngestionInfo& Info(const ashlar_externalfileingestioninfo_t* handle) {
  return *reinterpret_cast<const ExternalFileIngestionInfo*>(handle);
}
inline const ashlar_externalfileingestioninfo_t* Handle(const ExternalFileIngestionInfo& info) {
  return reinterpret_cast<const ashlar_externalfileingestioninfo_t*>(&info);
}
inline const MemTableInfo& Info(const ashlar_memtableinfo_t* handle) {
  return *reinterpret_cast<const MemTableInfo*>(handle);
}
inline const ashlar_memtableinfo_t* Handle(const MemTableInfo& info) {
  return reinterpret_cast<const ashlar_memtableinfo_t*>(&info);
}
inline const WriteStallInfo& Info(const ashlar_writestallinfo_t* handle) {
  return *reinterpret_cast<const WriteStallInfo*>(handle);
}
inline const ashlar_writestallinfo_t* Handle(const WriteStallInfo& info) {
  return reinterpret_cast<const ashlar_writestallinfo_t*>(&info);
}
inline const BlobFileAdditionInfo& Info(const ashlar_blob_file_addition_info_t* handle) {
  return *reinterpret_cast<const BlobFileAdditionInfo*>(handle);
}
inline const ashlar_blob_file_addition_info_t* Handle(const BlobFileAdditionInfo& info) {
  return reinterpret_cast<const ashlar_blob_file_addition_info_t*>(&info);
}
inline const BlobFileGarbageInfo& Info(const ashlar_blob_file_garbage_info_t* handle) {
  return *reinterpret_cast<const BlobFileGarbageInfo*>(handle);
}
inline const ashlar_blob_file_garbage_info_t* Handle(const BlobFileGarbageInfo& info) {
  return reinterpret_cast<const ashlar_blob_file_garbage_info_t*>(&info);
}
inline const CompactionFileInfo& Info(const ashlar_compaction_file_info_t* handle) {
  return *reinterpret_cast<const CompactionFileInfo*>(handle);
}
inline const ashlar_compaction_file_info_t* Handle(const CompactionFileInfo& info) {
  return reinterpret_cast<const ashlar_compaction_file_info_t*>(&info);
}
inline const CompactionJobStats& Info(const ashlar_compaction_job_stats_t* handle) {
  return *reinterpret_cast<const CompactionJobStats*>(handle);
}
inline const ashlar_compaction_job_stats_t* Handle(const CompactionJobStats& info) {
  return reinterpret_cast<const ashlar_compaction_job_stats_t*>(&info);
}
// Null for a null handle.
inline CompactionJobInfo* Info(ashlar_compactionjobinfo_t* handle) {
  return reinterpret_cast<CompactionJobInfo*>(handle);
}

}  // namespace ashlar::capi
