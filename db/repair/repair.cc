// SPDX-License-Identifier: Apache-2.0
//
// The first step and the last one: which files exist, to which family they belong, and which of
// them are not needed.
#include "db/repair/repair.h"

#include <algorithm>
#include <cassert>
#include <iterator>
#include <utility>

#include "db/manifest/manifest_file.h"
#include "db/options/options_check.h"
#include "db/options/options_file.h"
#include "db/options/table_factory.h"
#include "db/repair/family_names.h"
#include "db/repair/repair_parts.h"
#include "db/report/stored_history.h"
#include "db/version/manifest_replay.h"
#include "db/wal/log_archive.h"
#include "env/file_util.h"
#include "env/filename.h"
#include "table/sst/read/table_identity.h"
#include "util/text/str_cat.h"

namespace ashlar {

Repair::Repair(RepairRequest request)
    : request_(std::move(request)),
      paths_(request_.db_options, request_.dir),
      services_(request_.db_options),
      environment_(request_.db_options, services_),
      lost_(environment_.fs.get()) {
  environment_.outputs.db_session_id = NewSessionId(environment_.env);
  environment_.outputs.db_host_id = HostIdFor(request_.db_options);
}

Repair::~Repair() = default;

Status Repair::WriteManifest() {
  FileSystem* const fs = environment_.fs.get();
  const IOStatus exists = fs->FileExists(request_.dir, IOOptions(), nullptr);
  if (IsMissing(exists)) {
    return Status::NotFound(request_.dir, "there is no such directory");
  }
  RETURN_IF_ERROR(exists);
  // The lock is held until CURRENT is switched, so that no other process opens the directory.
  DirectoryLock lock(fs);
  RETURN_IF_ERROR(lock.Take(request_.dir));
  RETURN_IF_ERROR(FindFiles());
  ASSIGN_OR_RETURN(base_, FindManifestContent(fs, request_.dir, &report_));
  ASSIGN_OR_RETURN(logs_, SurveyLogs(fs, environment_.file_options, paths_.wal_dir, files_->logs));
  RETURN_IF_ERROR(FindStrays());
  RETURN_IF_ERROR(OpenFamilies());
  NoteMissingLogs();
  for (auto& [id, family] : families_) RETURN_IF_ERROR(SurveyTables(&family));
  RETURN_IF_ERROR(SurveyStrays());
  RETURN_IF_ERROR(SurveyBlobs());
  // The order of the steps matters: levels depend on the bounds, and garbage on the final list of
  // tables.
  for (auto& [id, family] : families_) {
    SettleLogs(&family);
    RETURN_IF_ERROR(LimitTombstones(&family));
    RETURN_IF_ERROR(PlaceFamily(&family));
    RETURN_IF_ERROR(LeaveOutRepeatedBlobs(&family));
    RETURN_IF_ERROR(CountGarbage(&family));
  }
  const FileNumber manifest = NewNumber();
  std::vector<VersionEdit> edits = NewRecords();
  // Nothing was changed before this point, except that copies were written and blob files
  // completed.
  assert(!edits.empty());
  RETURN_IF_ERROR(CheckRecords(edits));
  std::vector<std::string> records;
  for (const VersionEdit& edit : edits) edit.EncodeTo(&records.emplace_back());
  // The names of copies must be durable before a MANIFEST names them.
  for (const std::string& dir : files_->dirs) RETURN_IF_ERROR(SyncDirectory(fs, dir));
  RETURN_IF_ERROR(lost_.Sync());
  ManifestFileOptions options;
  options.fs = fs;
  options.file_options = environment_.file_options;
  options.dir = request_.dir;
  options.preallocate_bytes = 0;
  ManifestFile file(options);
  RETURN_IF_ERROR(file.Start(manifest, records));
  RETURN_IF_ERROR(file.Close());
  return lock.Release();
}

std::vector<ColumnFamilyDescriptor> Repair::Families() const {
  std::vector<ColumnFamilyDescriptor> families;
  for (const auto& [id, family] : families_) {
    families.emplace_back(family.name, family.given_options);
  }
  return families;
}

Status Repair::FindFiles() {
  files_ = std::make_unique<Files>();
  files_->dirs = paths_.table_dirs;
  files_->dirs.insert(request_.dir);
  for (const ColumnFamilyDescriptor& family : request_.families) {
    for (const std::string& dir : paths_.TableDirsFor(family.options)) files_->dirs.insert(dir);
  }
  if (request_.unknown_options) {
    for (const std::string& dir : paths_.TableDirsFor(*request_.unknown_options)) {
      files_->dirs.insert(dir);
    }
  }
  std::set<std::string> all = files_->dirs;
  all.insert(paths_.wal_dir);
  bool has_any = false;
  for (const std::string& dir : all) {
    auto names = ListDirectory(environment_.fs.get(), dir);
    // A directory of the options that does not exist has no files.
    if (IsMissing(names.status())) {
      files_->dirs.erase(dir);
      continue;
    }
    if (!names.ok()) return names.status();
    for (const std::string& name : *names) {
      FileNumber number;
      FileType type;
      if (!ParseFileName(name, &number, &type) || type == kInfoLogFile) continue;
      // Info logs and OPTIONS files alone are no database.
      has_any |=
          type == kTableFile || type == kBlobFile || type == kWalFile || type == kDescriptorFile;
      // New files get numbers above all that exist, whether or not they are needed.
      next_number_ = std::max(next_number_, number.Next());
      files_->Add(dir, name, number, type);
    }
  }
  ASSIGN_OR_RETURN(files_->logs, ListLogsIn(environment_.fs.get(), paths_.wal_dir));
  if (has_any) return Status::OK();
  return Status::Corruption(request_.dir, "no file of a database to repair");
}

// A complete MANIFEST explains every table: one that it does not name is obsolete. An incomplete
// one explains the tables that any of its records names.
Status Repair::FindStrays() {
  assert(files_ != nullptr);
  if (base_.IsFinal()) return Status::OK();
  for (const auto& [number, path] : files_->tables) {
    // A table that a record names belongs to a family, or was deleted on purpose.
    if (base_.named_tables.contains(number)) continue;
    auto properties = ReadTableProperties(environment_.fs.get(), path);
    if (!properties.ok()) {
      if (!properties.status().IsCorruption()) return properties.status();
      // Its contents are not read any further; the file stays and is moved to `lost` at the end.
      Note(StrCat(path, ": lost: ", properties.status().ToString()));
      continue;
    }
    strays_.push_back(
        {.number = number, .path = path, .properties = properties.Take(), .meta = {}});
  }
  return Status::OK();
}

std::vector<std::string> Repair::NamesInOptions() const {
  assert(files_ != nullptr);
  std::vector<std::string> names;
  for (const ColumnFamilyDescriptor& family : request_.families) names.push_back(family.name);
  if (files_->newest_options == 0) return names;
  // The newest file may be incomplete or damaged; then only the request's names are used.
  auto text =
      ReadWholeFile(environment_.fs.get(), OptionsFileName(request_.dir, files_->newest_options));
  if (!text.ok()) return names;
  ConfigOptions config;
  config.env = environment_.env;
  config.ignore_unknown_options = true;
  config.ignore_unsupported_options = true;
  auto contents = ParseOptionsText(config, *text);
  if (!contents.ok()) return names;
  names.clear();
  for (const FamilyOptionsInFile& family : contents->families) names.push_back(family.name);
  return names;
}

// A complete MANIFEST has all families; others were dropped. Otherwise tables, WALs and the OPTIONS
// file show which families there were.
Status Repair::OpenFamilies() {
  std::map<uint32_t, std::string> known;
  for (const auto& [id, content] : base_.families) known[id] = content.name;
  known[0] = kDefaultColumnFamilyName;
  if (!base_.IsFinal()) {
    std::set<uint32_t> ids;
    // Ids up to the greatest one that the MANIFEST knows belong to dropped families, if it does not
    // name them.
    const auto may_exist = [this](uint32_t id) {
      return base_.name.empty() || id > base_.counters.max_column_family;
    };
    for (const uint32_t id : logs_.FamilyIds()) {
      if (may_exist(id)) ids.insert(id);
    }
    // Of several families with one name, the one that was created last exists; the others were
    // dropped.
    std::map<std::string, uint32_t> newest;
    for (const auto& [id, name] : known) newest[name] = id;
    for (const Stray& stray : strays_) {
      const uint32_t id = stray.FamilyId();
      if (!stray.HasFamily() || known.contains(id) || !may_exist(id)) continue;
      const std::string& name = stray.properties.column_family_name;
      if (name.empty() || name == kDefaultColumnFamilyName) {
        ids.insert(id);
      } else {
        uint32_t& of_name = newest[name];
        of_name = std::max(of_name, id);
      }
    }
    std::erase_if(known, [&](const auto& family) { return newest[family.second] != family.first; });
    for (const auto& [name, id] : newest) known[id] = name;
    known = NameFamilies(known, ids, NamesInOptions(), base_.counters.max_column_family + 1);
  }
  for (const auto& [id, name] : known) RETURN_IF_ERROR(OpenFamily(id, name));
  return Status::OK();
}

Status Repair::OpenFamily(uint32_t id, const std::string& name) {
  // The options of the request, the fixed ones of the hidden family, or those for unknown families.
  const auto listed = std::find_if(
      request_.families.begin(), request_.families.end(),
      [&](const ColumnFamilyDescriptor& descriptor) { return descriptor.name == name; });
  ColumnFamilyOptions given;
  if (listed != request_.families.end()) {
    given = listed->options;
  } else if (name == kPersistentStatsColumnFamilyName) {
    given = StoredHistoryOptions();
  } else if (request_.unknown_options) {
    given = *request_.unknown_options;
  } else {
    return Status::InvalidArgument(StrCat("column family \"", name,
                                          "\" is not among those to repair; list it, or give ",
                                          "options for unknown families"));
  }
  auto options = std::make_shared<const ColumnFamilyOptions>(SanitizeSettledOptions(
      request_.db_options, SettleColumnFamilyOptions(request_.db_options, given)));
  if (BlockBasedOptionsOf(options->table_factory.get()) == nullptr) {
    return Status::NotSupported("table_factory: a class of the program is not supported");
  }
  auto [at, added] = families_.try_emplace(id, options->comparator);
  assert(added);
  Family& family = at->second;
  family.id = id;
  family.name = name;
  family.given_options = given;
  family.options = options;
  family.dirs = paths_.TableDirsFor(*options);
  const auto content = base_.families.find(id);
  if (content != base_.families.end()) family.content = &content->second;
  return CheckFits(family);
}

// Called before anything is changed. Tables in another order would be damaged further by a repair.
Status Repair::CheckFits(const Family& family) const {
  assert(family.comparator.user_comparator() != nullptr);
  const std::string given = family.comparator.user_comparator()->Name();
  const auto check = [&](const std::string& found) {
    if (found.empty() || found == given) return Status::OK();
    return Status::InvalidArgument(StrCat("column family \"", family.name,
                                          "\" was written with comparator ", found,
                                          ", but is repaired with ", given));
  };
  if (family.content != nullptr && family.content->comparator) {
    // A MANIFEST with a comparator is decisive; its tables have been written with it.
    return check(*family.content->comparator);
  }
  for (const Stray& stray : strays_) {
    if (stray.FamilyId() == family.id) RETURN_IF_ERROR(check(stray.properties.comparator_name));
  }
  return Status::OK();
}

void Repair::NoteMissingLogs() {
  // Older logs were obsolete when the MANIFEST was written.
  FileNumber oldest = FileNumber::None();
  for (const auto& [id, family] : base_.families) oldest = std::min(oldest, family.log_number);
  assert(files_ != nullptr);
  for (const auto& [number, log] : base_.counters.tracked_logs) {
    if (number < oldest) continue;
    if (std::binary_search(files_->logs.begin(), files_->logs.end(), number)) continue;
    Note(StrCat(LogFileName(paths_.wal_dir, number),
                ": lost: the MANIFEST needs it, but it does not exist"));
  }
}

FileNumber Repair::NewNumber() { return std::exchange(next_number_, next_number_.Next()); }

std::vector<VersionEdit> Repair::NewRecords() const {
  assert(!families_.empty());
  SequenceNumber last_sequence = base_.counters.last_sequence;
  for (const auto& [id, family] : families_) {
    for (const PlacedTable& table : family.tables) {
      last_sequence = std::max(last_sequence, table.meta.largest_seqno);
    }
  }
  std::vector<VersionEdit> edits(1);
  VersionEdit& head = edits.front();
  // Without an id the next opening makes one.
  if (!base_.counters.db_id.empty()) head.db_id = base_.counters.db_id;
  head.next_file_number = next_number_;
  head.last_sequence = last_sequence;
  // Prepared transactions may need older WALs than any family. The number of a complete MANIFEST
  // says which. If a family with losses needs a log from before that number, older logs may be
  // missing, and commits may refer to sections in any log: without a number all logs are read.
  const FileNumber oldest_log = base_.counters.min_log_number_to_keep;
  const bool needs_older_logs = std::ranges::any_of(families_, [&](const auto& family) {
    return family.second.has_losses && family.second.log_number < oldest_log;
  });
  if (base_.IsFinal() && oldest_log > 0 && !needs_older_logs) {
    head.min_log_number_to_keep = oldest_log;
  }
  head.max_column_family =
      std::max(base_.counters.max_column_family, std::prev(families_.end())->first);
  // Two records for each family: what it is, and what it contains.
  for (const auto& [id, family] : families_) {
    VersionEdit identity;
    identity.column_family = id;
    identity.comparator = family.comparator.user_comparator()->Name();
    if (id != 0) identity.added_family = family.name;
    VersionEdit contents;
    contents.column_family = id;
    contents.log_number = family.log_number;
    if (family.content != nullptr) {
      identity.persist_user_defined_timestamps = family.content->persist_user_defined_timestamps;
      contents.full_history_ts_low = family.content->full_history_ts_low;
      contents.unknown_fields = family.content->unknown_fields;
    }
    // Every table has got its level by now.
    for (const PlacedTable& table : family.tables) contents.AddFile(*table.level, table.meta);
    for (const auto& [number, blob] : family.blobs) {
      contents.blob_additions.push_back(blob.addition);
      if (blob.garbage_count == 0) continue;
      contents.blob_garbage.push_back({.number = number,
                                       .garbage_count = blob.garbage_count,
                                       .garbage_bytes = blob.garbage_bytes});
    }
    edits.push_back(std::move(identity));
    edits.push_back(std::move(contents));
  }
  assert(edits.size() == 1 + 2 * families_.size());
  // All records are in the file before CURRENT names it.
  edits.front().initial_records = edits.size();
  return edits;
}

// Applies the records as the next opening will do. The mutex is only there because the functions
// require one.
Status Repair::CheckRecords(const std::vector<VersionEdit>& edits) const {
  assert(!edits.empty());
  std::vector<FamilyRequest> requests;
  for (const auto& [id, family] : families_) {
    FamilyRequest request(family.name, family.comparator);
    request.num_levels = family.options->num_levels;
    TableCacheOptions tables(family.comparator);
    tables.fs = environment_.fs.get();
    tables.paths = family.dirs;
    request.tables = std::make_unique<TableCache>(std::move(tables));
    requests.push_back(std::move(request));
  }
  DbMutex mutex;
  MutexLock lock(&mutex);
  ManifestReplay replay(std::move(requests), nullptr);
  for (const VersionEdit& edit : edits) RETURN_IF_ERROR(replay.Apply(edit));
  return replay.Finish(/*allow_subset=*/false).status();
}

Status Repair::MoveUnusedFiles() {
  FileSystem* const fs = environment_.fs.get();
  DirectoryLock lock(fs);
  RETURN_IF_ERROR(lock.Take(request_.dir));
  RETURN_IF_ERROR(FindFiles());
  std::vector<std::string> notes;
  ASSIGN_OR_RETURN(const ManifestContent content, FindManifestContent(fs, request_.dir, &notes));
  // The replay has written it, so that this is damage of a new kind; no file is moved.
  if (!content.IsFinal()) {
    return Status::Corruption(request_.dir, "the new MANIFEST cannot be read");
  }
  // Tables and blob files that the database needs, by number.
  // The old MANIFEST has been replaced, so only what the new one names is needed.
  std::set<FileNumber> needed;
  FileNumber oldest_log = FileNumber::None();
  for (const auto& [id, family] : content.families) {
    for (const auto& [number, table] : family.tables) needed.insert(number);
    for (const auto& [number, blob] : family.blobs) needed.insert(number);
    oldest_log = std::min(oldest_log, family.log_number);
  }
  if (content.counters.min_log_number_to_keep > 0) {
    oldest_log = std::min(oldest_log, content.counters.min_log_number_to_keep);
  }
  std::vector<std::string> unused;
  for (const auto* files : {&files_->tables, &files_->blobs}) {
    for (const auto& [number, path] : *files) {
      if (!needed.contains(number)) unused.push_back(path);
    }
  }
  for (const FileNumber number : files_->logs) {
    if (number < oldest_log) unused.push_back(LogFileName(paths_.wal_dir, number));
  }
  for (const std::string& path : files_->manifests) {
    if (BaseNameOf(path) != content.name) unused.push_back(path);
  }
  for (const std::string& path : unused) {
    ASSIGN_OR_RETURN(const std::string place, lost_.Move(path));
    Note(StrCat(path, ": not needed, moved to ", place));
  }
  RETURN_IF_ERROR(lost_.Sync());
  return lock.Release();
}

}  // namespace ashlar
