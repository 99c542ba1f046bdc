// SPDX-License-Identifier: Apache-2.0
//
// ImportedBlobs takes the blob files of an import into the database. Each of them is copied under a
// new number, and the tables that refer to it are written again with that number. Offsets stay as
// they are.
//
// A link would not do: the header of a blob file names its column family, and the new family has
// another id. Numbers are given in the order of the old ones, because garbage collection begins
// with the lowest number.
//
// Threads: one at a time; without locks. Crash: the next opening deletes the copies, as long as the
// MANIFEST does not name them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "ashlar/status.h"
#include "db/blob/blob_file.h"
#include "db/ingestion/external_file.h"
#include "db/jobs/background_job.h"
#include "db/manifest/version_edit.h"
#include "db/output/table_output.h"
#include "db/state/db_core.h"
#include "util/keys/file_number.h"

namespace ashlar {

class ImportedBlobs {
 public:
  // The arguments outlive the object. `numbers` protects the copies.
  ImportedBlobs(DbCore* core, TableNumbers* numbers) : core_(core), numbers_(numbers) {}

  bool empty() const { return files_.empty(); }
  // Adds the blob files to which the table refers; they are expected beside it. Corruption if one
  // of them is damaged or does not have the values. Nothing is written.
  Status Add(const ExternalFile& table);
  // Copies the files to `dir`, for the family with this id. The copies are synced, the directory is
  // not.
  Status CopyAll(uint32_t family_id, const std::string& dir);
  // Writes the table again with the new numbers. `*meta` describes the new table: its bounds cover
  // its range tombstones as they are in the file.
  Status WriteTable(const ExternalFile& table, const InspectOptions& inspect,
                    const TableOutputOptions& output, FileMetadata* meta) const;

  // Adds the copies, and their garbage, to the edit that adds the tables.
  void Describe(VersionEdit* edit) const;
  // Counts the copies as files of the database.
  void NoteAdded() const;
  std::vector<std::string> CopyPaths() const;
  void DeleteCopies() const;
  void DeleteSources() const;

 private:
  struct File {
    BlobFileAddition addition;  // of the copy; its number is 0 until it is copied
    BlobUse used;               // by all tables of the import
    std::string copy;           // path; empty: there is none
  };
  // The directory and the old number: parts of an import may have equal numbers.
  using Place = std::pair<std::string, FileNumber>;

  Status Inspect(const std::string& path, BlobFileAddition* addition) const;
  Status Copy(const std::string& source, uint32_t family_id, const std::string& dir, File* file);
  FileNumber NewNumberOf(const std::string& dir, FileNumber old) const;

  DbCore* const core_;
  TableNumbers* const numbers_;
  std::map<Place, File> files_;
};

}  // namespace ashlar
