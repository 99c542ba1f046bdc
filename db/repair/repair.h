// SPDX-License-Identifier: Apache-2.0
//
// Repair makes a database out of the files that are left of one. Its steps, of which RepairDB() (in
// repair_db.cc) does the second one:
//
//   WriteManifest     finds out what there is, copies what can be read of damaged tables, writes a
//                     new MANIFEST, and switches CURRENT
//   (log_replay.h)    the database is opened once, damage in its WALs is skipped, and what they
//                     contain goes to tables
//   MoveUnusedFiles   moves tables, blob files, WALs and MANIFESTs that the database does not need
//                     to the directories `lost`
//
// The base is the MANIFEST, as far as it can be read: tables that it names keep their levels, and
// tables that it knows to be obsolete stay obsolete. Only without a MANIFEST, or behind its damage,
// tables are placed by their contents (table_order.h).
//
// Crash: each step ends with a state that the next repair completes to the same result. Nothing is
// deleted, and no file of the database changes or moves before CURRENT is switched, except that a
// blob file without a footer gets one. Threads: one at a time.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "ashlar/db.h"
#include "ashlar/options.h"
#include "db/repair/blob_survey.h"
#include "db/repair/log_survey.h"
#include "db/repair/lost_files.h"
#include "db/repair/manifest_content.h"
#include "db/repair/table_order.h"
#include "db/repair/table_survey.h"
#include "db/state/db_environment.h"
#include "db/state/db_services.h"
#include "util/result.h"

namespace ashlar {

struct RepairRequest {
  DBOptions db_options;  // sanitized
  std::string dir;
  std::vector<ColumnFamilyDescriptor> families;
  // The options for families that are found but not listed above. Without such options, finding
  // such a family makes the repair return InvalidArgument.
  std::optional<ColumnFamilyOptions> unknown_options;
};

// One object makes one repair: WriteManifest(), and after the replay MoveUnusedFiles().
class Repair {
 public:
  explicit Repair(RepairRequest request);
  ~Repair();
  Repair(const Repair&) = delete;
  Repair& operator=(const Repair&) = delete;

  // NotFound if the directory does not exist, Corruption if it has no file of a database,
  // InvalidArgument if the families or a comparator do not fit. An I/O error ends the repair: it
  // says nothing about the contents of a file.
  Status WriteManifest();
  // All families of the database, as a caller needs them for opening it. Valid after
  // WriteManifest().
  std::vector<ColumnFamilyDescriptor> Families() const;
  // Moves the files that the repaired database does not use into the directory `lost`. Call it
  // after the replay, when the database is closed.
  Status MoveUnusedFiles();

  // What was kept, copied or lost, a line each.
  const std::vector<std::string>& report() const { return report_; }

 private:
  struct Files;   // what lies in the directories
  struct Family;  // one column family: what is known about it, and what becomes of it
  struct Stray;   // a table that the MANIFEST does not explain

  // Lists all files of the database, in all its directories.
  Status FindFiles();
  // Finds the tables that the MANIFEST does not explain.
  Status FindStrays();
  // The names of the families, in the order of their ids, from the newest OPTIONS file; the
  // request's names if it cannot be read.
  std::vector<std::string> NamesInOptions() const;
  // Determines which families the database has, and opens each.
  Status OpenFamilies();
  // Adds one family with its options. InvalidArgument if the request has none for it.
  Status OpenFamily(uint32_t id, const std::string& name);
  // Compares the comparator of the request with the one that the files name.
  Status CheckFits(const Family& family) const;
  // Reports WALs that the MANIFEST needs and that do not exist.
  void NoteMissingLogs();
  TableReadContext ReadContext(const Family& family) const;
  TableOutputOptions OutputOptions(const Family& family, Level level);
  // The path of a table, where it was found or where it should be.
  std::string PathOf(const Family& family, const FileMetadata& meta) const;
  Result<uint32_t> PathIdOf(const Family& family, const std::string& path) const;
  // Verifies the tables that the MANIFEST names, and copies the damaged ones.
  Status SurveyTables(Family* family);
  // Finds a place for each stray table, or reports why it is not used.
  Status SurveyStrays();
  // Reads the table and adds it to the strays of the family, or copies it if it is damaged.
  Status DescribeStray(Stray* stray, Family* family);
  // Estimates the sequence numbers of ingested tables that only the MANIFEST had.
  Status NumberIngested(Family* family);
  // Takes the strays of the family that the WALs do not replace.
  Status TakeStrays(Family* family);
  Status TakeStray(const Stray& stray, bool is_external, Family* family);
  Result<NewerTable> CompareAges(const Family& family, const FileMetadata& first,
                                 const FileMetadata& second) const;
  // The sequence number up to which SettleLogs() may leave entries of WALs out.
  SequenceNumber LastNotReplayed(const Family& family) const;
  // Copies the readable entries of a damaged table. `meta`: what the MANIFEST says; null: nothing.
  Status CopyTable(const std::string& path, const FileMetadata* meta, Family* family,
                   PlacedTable table);
  // Surveys all blob files, and completes those without a footer.
  Status SurveyBlobs();
  Status SurveyBlob(FileNumber number, const std::string& path);
  Status CountGarbage(Family* family);
  // Makes each blob belong to one entry again.
  Status LeaveOutRepeatedBlobs(Family* family);
  Status CopyWithout(const BlobUsers& known, const std::string& path, const Family& family,
                     PlacedTable* table);
  // Sets from which WAL on the family needs its entries.
  void SettleLogs(Family* family);
  // Narrows the range tombstones of tables that have no bounds in a MANIFEST.
  Status LimitTombstones(Family* family);
  // Gives each table a level and an epoch number.
  Status PlaceFamily(Family* family);
  // The records of the new MANIFEST.
  std::vector<VersionEdit> NewRecords() const;
  // Applies the records as the next opening will do, so that a MANIFEST that cannot be opened is
  // never made current.
  Status CheckRecords(const std::vector<VersionEdit>& edits) const;
  FileNumber NewNumber();
  void Note(std::string line) { report_.push_back(std::move(line)); }

  const RepairRequest request_;
  const DbPaths paths_;
  DbServices services_;
  DbEnvironment environment_;
  LostFiles lost_;
  std::vector<std::string> report_;

  std::unique_ptr<Files> files_;
  ManifestContent base_;
  LogSurvey logs_;
  std::vector<Stray> strays_;
  std::map<uint32_t, Family> families_;
  // Greater than the number of any file that was found.
  FileNumber next_number_ = 1;
};

}  // namespace ashlar
