// SPDX-License-Identifier: Apache-2.0
//
// The order of the lists: tables by family and level, blob files, MANIFEST and CURRENT, logs,
// OPTIONS file.
#include "db/files/live_files.h"

#include <algorithm>
#include <cassert>
#include <tuple>

#include "db/blob/blob_file.h"
#include "db/state/log_needs.h"
#include "env/file_util.h"
#include "env/filename.h"

namespace ashlar {
namespace {

// Calls `visit(version, meta)` for each table, by family and level.
template <typename Visit>
void ForEachTable(const LiveFiles& live, const Visit& visit) {
  for (const VersionRef& version : live.versions) {
    for (Level level = 0; level < version->num_levels(); ++level) {
      for (const TableFile* file : version->files(level)) visit(*version, file->meta);
    }
  }
}

// Calls `visit(file)` for each blob file that a version refers to.
template <typename Visit>
void ForEachBlobFile(const LiveFiles& live, const Visit& visit) {
  for (const VersionRef& version : live.versions) {
    if (version->blobs() == nullptr) continue;
    for (const BlobFiles::Live& blob : version->blobs()->all()) visit(*blob.file);
  }
}

LiveFileStorageInfo InfoOf(const std::string& path, FileType type, FileNumber number,
                           uint64_t bytes) {
  assert(!path.empty());
  LiveFileStorageInfo info;
  info.relative_filename = BaseNameOf(path);
  info.directory = DirectoryOf(path);
  info.file_type = type;
  info.file_number = number.value();
  info.size = bytes;
  return info;
}

// The logs that an opening reads. If there is none, the newest one stands in without its bytes:
// programs expect to find a log, as RocksDB 11.9 has one.
std::vector<WalSet::Info> LogsToCopy(const DbCore& core) REQUIRES(db_mutex) {
  std::vector<WalSet::Info> logs = core.wals->List();
  const FileNumber oldest = OldestLogOfManifest(*core.versions);
  while (logs.size() > 1 && logs.front().number < oldest) logs.erase(logs.begin());
  if (!logs.empty() && logs.front().number < oldest) logs.front().bytes = 0;
  return logs;
}

// Blob files may come from versions of RocksDB that stored no checksum.
std::string ChecksumFunctionOf(const BlobFileAddition& meta) {
  return meta.checksum_method.empty() ? kUnknownFileChecksumFuncName : meta.checksum_method;
}

}  // namespace

// Versions, MANIFEST and logs are captured under one hold of the mutex, so they belong together.
LiveFiles CaptureLiveFiles(const DbCore& core) {
  LiveFiles live;
  for (const FamilyVersions* family : core.versions->LiveFamilies()) {
    live.versions.emplace_back(family->current, core.versions.get());
  }
  live.manifest_number = core.versions->manifest_number();
  live.manifest_bytes = core.versions->manifest_bytes();
  assert(live.manifest_number > 0);
  assert(live.manifest_bytes > 0);
  live.logs = LogsToCopy(core);
  if (!core.kept_files.options_files.empty()) {
    // The newest OPTIONS file. Its size is known, because this process wrote it or listed it.
    std::tie(live.options_number, live.options_bytes) = *core.kept_files.options_files.rbegin();
  }
  return live;
}

std::vector<std::string> NamesOf(const LiveFiles& live) {
  std::vector<std::string> names;
  ForEachTable(live, [&names](const Version&, const FileMetadata& meta) {
    names.push_back(TableFileName("", meta.number));
  });
  ForEachBlobFile(live, [&names](const BlobFile& blob) {
    names.push_back(BlobFileName("", blob.meta.number));
  });
  // Relative to the directory, so that the caller may prepend another one.
  names.push_back(CurrentFileName(""));
  names.push_back(DescriptorFileName("", live.manifest_number));
  if (live.options_number != 0) names.push_back(OptionsFileName("", live.options_number));
  return names;
}

// CURRENT is not copied from the disk, because it may name a newer MANIFEST; its contents are made
// here. MANIFEST and logs are cut at the captured sizes.
std::vector<LiveFileStorageInfo> StorageInfoOf(const LiveFiles& live, const DbPaths& paths,
                                               bool with_checksums) {
  std::vector<LiveFileStorageInfo> files;
  ForEachTable(live, [&](const Version& version, const FileMetadata& meta) {
    const std::string path = version.tables()->PathOf(meta);
    files.push_back(InfoOf(path, kTableFile, meta.number, meta.file_size));
    files.back().temperature = static_cast<Temperature>(meta.temperature);
    files.back().unique_id = meta.unique_id;
    if (!with_checksums) return;
    files.back().file_checksum = meta.file_checksum;
    files.back().file_checksum_func_name = ChecksumFunctionOf(meta);
  });
  ForEachBlobFile(live, [&](const BlobFile& blob) {
    files.push_back(InfoOf(blob.path, kBlobFile, blob.meta.number, blob.meta.file_bytes()));
    if (!with_checksums) return;
    files.back().file_checksum = blob.meta.checksum_value;
    files.back().file_checksum_func_name = ChecksumFunctionOf(blob.meta);
  });
  const size_t first_other = files.size();
  const FileNumber manifest = live.manifest_number;
  files.push_back(InfoOf(DescriptorFileName(paths.dir, manifest), kDescriptorFile, manifest,
                         live.manifest_bytes));
  files.back().trim_to_size = true;
  // The text that CURRENT must have for this MANIFEST.
  const std::string current = BaseNameOf(DescriptorFileName("", manifest)) + "\n";
  files.push_back(InfoOf(CurrentFileName(paths.dir), kCurrentFile, 0, current.size()));
  files.back().replacement_contents = current;
  for (const WalSet::Info& log : live.logs) {
    files.push_back(
        InfoOf(LogFileName(paths.wal_dir, log.number), kWalFile, log.number, log.bytes));
    files.back().trim_to_size = true;  // the file may grow, or contain allocated space
  }
  if (live.options_number != 0) {
    files.push_back(InfoOf(OptionsFileName(paths.dir, live.options_number), kOptionsFile,
                           live.options_number, live.options_bytes));
  }
  // The other files have no checksum of their own.
  for (size_t i = first_other; with_checksums && i < files.size(); ++i) {
    files[i].file_checksum = kUnknownFileChecksum;
    files[i].file_checksum_func_name = kUnknownFileChecksumFuncName;
  }
  return files;
}

std::shared_ptr<const PreparedFileInfo> PreparedInfoOf(const LiveFiles& live, FileNumber number) {
  std::shared_ptr<PreparedFileInfo> info;
  ForEachTable(live, [&](const Version&, const FileMetadata& meta) {
    if (meta.number != number) return;
    info = std::make_shared<PreparedFileInfo>();
    info->bytes = meta.file_size;
    info->unique_id = meta.unique_id;
    info->has_no_blobs = meta.oldest_blob_file_number == 0;
  });
  return info;
}

Status AddChecksumsOf(const LiveFiles& live, FileChecksumList* list) {
  Status status;
  ForEachTable(live, [&](const Version&, const FileMetadata& meta) {
    if (!status.ok()) return;
    status = list->InsertOneFileChecksum(meta.number.value(), meta.file_checksum,
                                         ChecksumFunctionOf(meta));
  });
  ForEachBlobFile(live, [&](const BlobFile& blob) {
    if (!status.ok()) return;
    status = list->InsertOneFileChecksum(blob.meta.number.value(), blob.meta.checksum_value,
                                         ChecksumFunctionOf(blob.meta));
  });
  return status;
}

std::string ChecksumFunctionOf(const FileMetadata& meta) {
  return meta.file_checksum_function.empty() ? kUnknownFileChecksumFuncName
                                             : meta.file_checksum_function;
}

uint64_t OldestCreationTimeOf(const LiveFiles& live) {
  uint64_t oldest = UINT64_MAX;
  ForEachTable(live, [&oldest](const Version&, const FileMetadata& meta) {
    // An unknown time is 0, and therefore the minimum.
    oldest = std::min(oldest, meta.file_creation_time);
  });
  return oldest;
}

}  // namespace ashlar
