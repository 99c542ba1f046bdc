// SPDX-License-Identifier: Apache-2.0
//
// experimental::UpdateManifestForFilesState(): records in the MANIFEST where the file system says
// that tables lie. The database is closed. A new MANIFEST with all records of the old one and the
// changes replaces it in one step, so a crash leaves the old one or the new one.
#include <algorithm>
#include <cassert>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ashlar/experimental.h"
#include "db/manifest/manifest_file.h"
#include "db/manifest/manifest_reader.h"
#include "db/repair/manifest_content.h"
#include "db/state/db_environment.h"
#include "env/file_util.h"
#include "env/filename.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

// The file system knows the temperature of an open file.
Result<Temperature> TemperatureOf(FileSystem* fs, const std::string& path) {
  assert(fs != nullptr);
  std::unique_ptr<FSSequentialFile> file;
  RETURN_IF_ERROR(fs->NewSequentialFile(path, FileOptions(), &file, nullptr));
  return file->GetTemperature();
}

// One record for each family with tables whose temperature has changed.
Result<std::vector<VersionEdit>> FindChanges(FileSystem* fs, const DbPaths& paths,
                                             const ManifestContent& content,
                                             const std::vector<ColumnFamilyDescriptor>& families) {
  std::vector<VersionEdit> changes;
  for (const auto& [id, family] : content.families) {
    const std::string& name = family.name;
    const auto given = std::find_if(families.begin(), families.end(),
                                    [&name](const auto& known) { return known.name == name; });
    if (given == families.end()) return Status::InvalidArgument("Column family not listed", name);
    const std::vector<std::string> dirs = paths.TableDirsFor(given->options);
    VersionEdit change;
    change.column_family = id;
    for (const auto& [number, table] : family.tables) {
      // As for an opening, a path id beyond the list means the last one: a checkpoint has all
      // tables in one directory.
      const std::string& dir = dirs[std::min<size_t>(table.meta.path_id, dirs.size() - 1)];
      ASSIGN_OR_RETURN(const Temperature found, TemperatureOf(fs, TableFileName(dir, number)));
      // An unknown temperature, or the recorded one, changes nothing.
      const auto temperature = static_cast<uint8_t>(found);
      if (found == Temperature::kUnknown || temperature == table.meta.temperature) continue;
      FileMetadata meta = table.meta;
      meta.temperature = temperature;
      // The record replaces the table's metadata: a deletion and an addition on the same level.
      change.DeleteFile(table.level, number);
      change.AddFile(table.level, std::move(meta));
    }
    if (change.changes_files()) changes.push_back(std::move(change));
  }
  return changes;
}

// A number above all that the MANIFEST or a file name uses.
Result<FileNumber> UnusedNumber(FileSystem* fs, const std::string& dir,
                                const ManifestContent& content) {
  ASSIGN_OR_RETURN(const std::vector<std::string> names, ListDirectory(fs, dir));
  FileNumber unused = content.counters.next_file_number;
  for (const std::string& name : names) {
    FileNumber number;
    FileType type;
    if (!ParseFileName(name, &number, &type) || type == kInfoLogFile) continue;
    unused = std::max(unused, number.Next());
  }
  return unused;
}

// Writes the new MANIFEST and switches CURRENT to it.
Status Replace(FileSystem* fs, const std::string& dir, const ManifestContent& content,
               std::vector<VersionEdit> changes) {
  std::vector<VersionEdit> edits;
  ASSIGN_OR_RETURN(const auto reader, ManifestReader::Open(fs, StrCat(dir, "/", content.name)));
  VersionEdit edit;
  while (reader->Next(&edit)) {
    edit.change_begin.reset();  // an offset in the old file
    edits.push_back(edit);
  }
  RETURN_IF_ERROR(reader->status());
  ASSIGN_OR_RETURN(const FileNumber number, UnusedNumber(fs, dir, content));
  for (VersionEdit& change : changes) {
    // The number of the new MANIFEST must not be given out again.
    change.next_file_number = number.Next();
    edits.push_back(std::move(change));
  }
  // All records are in the file before CURRENT names it.
  edits.front().initial_records = edits.size();
  std::vector<std::string> records;
  for (const VersionEdit& record : edits) record.EncodeTo(&records.emplace_back());
  ManifestFileOptions options;
  options.fs = fs;
  options.dir = dir;
  options.preallocate_bytes = 0;
  ManifestFile manifest(options);
  RETURN_IF_ERROR(manifest.Start(number, records));
  return manifest.Close();
}

}  // namespace

namespace experimental {

Status UpdateManifestForFilesState(const DBOptions& db_opts, const std::string& db_name,
                                   const std::vector<ColumnFamilyDescriptor>& column_families,
                                   const UpdateManifestForFilesStateOptions& opts) {
  if (!opts.update_temperatures) return Status::OK();
  FileSystem* const fs = db_opts.env->GetFileSystem().get();
  DirectoryLock lock(fs);
  ASSIGN_OR_RETURN(const std::string current, ReadCurrent(fs, db_name));
  RETURN_IF_ERROR(lock.Take(db_name));
  ASSIGN_OR_RETURN(ManifestContent content, ReadManifestContent(fs, db_name, current));
  if (content.name.empty() || !content.damage.ok()) return content.damage;
  ASSIGN_OR_RETURN(std::vector<VersionEdit> changes,
                   FindChanges(fs, DbPaths(db_opts, db_name), content, column_families));
  if (!changes.empty()) RETURN_IF_ERROR(Replace(fs, db_name, content, std::move(changes)));
  return lock.Release();
}

}  // namespace experimental
}  // namespace ashlar
