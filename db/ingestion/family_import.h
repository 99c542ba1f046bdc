// SPDX-License-Identifier: Apache-2.0
//
// FamilyImport makes a family of tables that Checkpoint::ExportColumnFamily wrote, of this database
// or of another one: each lies on the level where it lay, with the numbers that its entries have.
// A program may also name tables of an SstFileWriter: what it does not say of them is asked of
// them.
//
// Crash: the family is created first and filled in one later record of the MANIFEST; in between it
// is empty. Whatever fails takes it away again. Threads: any, without locks.
#pragma once

#include <string>
#include <vector>

#include "ashlar/db.h"
#include "ashlar/metadata.h"
#include "ashlar/options.h"
#include "db/changes/family_changes.h"
#include "db/ingestion/external_file.h"
#include "db/jobs/background_job.h"
#include "db/state/db_core.h"

namespace ashlar {

class FamilyImport {
 public:
  // Both outlive it.
  FamilyImport(DbCore* core, FamilyChanges* changes)
      : core_(core), changes_(changes), numbers_(core) {}

  // Once. The parts, if there are several, have ranges of keys that do not overlap.
  Status Run(const ColumnFamilyOptions& options, const std::string& name,
             const ImportColumnFamilyOptions& import_options,
             const std::vector<const ExportImportFilesMetaData*>& parts,
             ColumnFamilyHandle** handle) EXCLUDES(db_mutex);

 private:
  struct Table {
    Level level = 0;
    ExternalFile file;
    FileMetadata meta;  // as it was recorded; number and epoch are new
  };

  struct Range {  // of user keys of a part, both inclusive
    std::string begin, end;
  };

  Status Stage(const ExportImportFilesMetaData& part) EXCLUDES(db_mutex);
  Status StageTable(const LiveFileMetaData& exported) EXCLUDES(db_mutex);
  Status CheckParts(const std::vector<const ExportImportFilesMetaData*>& parts) const;
  Status CheckRanges();
  Status Fill(ColumnFamilyData* family) EXCLUDES(db_mutex);
  void DeleteStaged();

  DbCore* const core_;
  FamilyChanges* const changes_;
  TableNumbers numbers_;
  InternalKeyComparator comparator_{BytewiseComparator()};
  IngestExternalFileOptions staging_;
  std::vector<Table> tables_;
  std::vector<Range> ranges_;  // of the staged parts
  std::string dir_;            // of the new family's tables
};

}  // namespace ashlar
