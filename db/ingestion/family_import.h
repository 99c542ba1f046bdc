// SPDX-License-Identifier: Apache-2.0
//
// FamilyImport creates a family from tables that Checkpoint::ExportColumnFamily has written, in
// this database or another one. Each table goes to the level on which it was, and its entries keep
// their sequence numbers. A program may also pass tables of an SstFileWriter; facts that it does
// not state are then read from the table.
//
// Values in blob files come along: the blob files are expected beside the tables, are copied, and
// the tables that refer to them are written again (imported_blobs.h).
//
// Crash: one atomic group of the MANIFEST adds the family and its files, so the family is whole or
// does not exist. After an error it does not exist either, unless the MANIFEST cannot be written
// any more: then writes are refused, and the family may be there, whole, when the database is
// opened again. Threads: any, without locks.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ashlar/db.h"
#include "ashlar/metadata.h"
#include "ashlar/options.h"
#include "db/changes/family_changes.h"
#include "db/ingestion/external_file.h"
#include "db/ingestion/imported_blobs.h"
#include "db/jobs/background_job.h"
#include "db/opening/new_family.h"
#include "db/state/db_core.h"
#include "table/plain/bare_table_writer.h"

namespace ashlar {

class FamilyImport {
 public:
  // Both arguments outlive the object.
  FamilyImport(DbCore* core, FamilyChanges* changes)
      : core_(core), changes_(changes), numbers_(core), blobs_(core, &numbers_) {}

  // Called once. If there are several parts, their key ranges must not overlap.
  Status Run(const ColumnFamilyOptions& options, const std::string& name,
             const ImportColumnFamilyOptions& import_options,
             const std::vector<const ExportImportFilesMetaData*>& parts,
             ColumnFamilyHandle** handle) EXCLUDES(db_mutex);

 private:
  struct Table {
    Level level = 0;
    ExternalFile file;
    FileMetadata meta;  // as the exporter recorded it, with new number and epoch
    bool has_blobs() const { return !file.blobs.empty(); }
  };

  struct Range {  // the user keys of a part, both bounds inclusive
    std::string begin, end;
  };

  Status Prepare(const std::vector<const ExportImportFilesMetaData*>& parts) EXCLUDES(db_mutex);
  Status Stage(const ExportImportFilesMetaData& part) EXCLUDES(db_mutex);
  Status StageTable(const LiveFileMetaData& exported) EXCLUDES(db_mutex);
  Status CheckParts(const std::vector<const ExportImportFilesMetaData*>& parts) const;
  Status CheckRanges();
  Status WriteTablesWithBlobs() EXCLUDES(db_mutex);
  InspectOptions InspectionOf(const LiveFileMetaData& exported) const;
  Status Add(ColumnFamilyHandle** handle) EXCLUDES(db_mutex);
  Status Undo() EXCLUDES(db_mutex);
  std::vector<std::string> StagedPaths() const;
  void DeleteStaged();
  void DeleteSources();

  DbCore* const core_;
  FamilyChanges* const changes_;
  std::unique_ptr<NewFamily> family_;
  TableNumbers numbers_;
  InternalKeyComparator comparator_{BytewiseComparator()};
  BareTableFormat bare_;  // of the new family
  IngestExternalFileOptions staging_;
  ImportedBlobs blobs_;
  std::vector<Table> tables_;
  std::vector<Range> ranges_;  // of the parts that are staged
  std::string dir_;            // the directory for the new family's tables
};

}  // namespace ashlar
