// SPDX-License-Identifier: Apache-2.0
//
// Every way begins with the families of the MANIFEST and the options of the program; the ways
// differ in how much of the OPTIONS file they add.
#include "tools/ldb/stored_options.h"

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <utility>

#include "ashlar/convenience.h"
#include "ashlar/utilities/object_registry.h"
#include "ashlar/utilities/options_util.h"
#include "db/repair/manifest_content.h"
#include "env/file_util.h"
#include "env/filename.h"
#include "tools/ldb/file_locations.h"
#include "tools/lib/program_parts.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

// The options that the program gives for the database as a whole.
DBOptions ProgramDbOptions() {
  DBOptions options(Program().options);
  options.env = ToolEnv();
  return options;
}

// Sets the comparator that the MANIFEST names for the family.
Status SetStoredComparator(const std::string& family, const std::string& name,
                           ColumnFamilyOptions* options) {
  assert(options != nullptr);
  const Comparator* const comparator = FindComparator(name);
  if (comparator == nullptr) {
    return Status::NotSupported(StrCat("column family \"", family, "\" is ordered by \"", name,
                                       "\", which is not built in; manifest_dump, dump_wal and ",
                                       "sst_dump --show_properties work without it"));
  }
  options->comparator = comparator;
  return Status::OK();
}

// Sets the options without which the family cannot be opened: its comparator and enough levels.
Status SetRequiredOptions(const FamilyState& family, ColumnFamilyOptions* options) {
  assert(options != nullptr);
  RETURN_IF_ERROR(SetStoredComparator(family.name, family.comparator, options));
  options->num_levels = std::max(options->num_levels, static_cast<int>(family.levels.size()));
  return Status::OK();
}

// The options of the program for the database and for each family of the MANIFEST, in the order of
// the family IDs.
Result<StoredOptions> DescribeFamilies(const ManifestState& state) {
  StoredOptions result{.db = ProgramDbOptions(), .families = {}};
  for (const auto& [id, family] : state.families()) {
    ColumnFamilyOptions options = ProgramOptions(family.name);
    RETURN_IF_ERROR(SetRequiredOptions(family, &options));
    result.families.emplace_back(family.name, options);
  }
  return result;
}

// The first log of the directory that recovery would read; nullopt: there is none. Logs before
// `first_needed` do not count: they may be leftovers, and say nothing about the place of the logs.
Result<std::optional<FileNumber>> FirstLogIn(const std::string& dir, FileNumber first_needed) {
  std::vector<std::string> names;
  RETURN_IF_ERROR(ToolFiles()->GetChildren(dir, IOOptions(), &names, /*dbg=*/nullptr));
  std::optional<FileNumber> first;
  for (const std::string& name : names) {
    FileNumber number = 0;
    FileType type = kTempFile;
    if (!ParseFileName(name, &number, &type) || type != kWalFile || number < first_needed) continue;
    first = first ? std::min(*first, number) : number;
  }
  return first;
}

Result<bool> HoldsNeededLogs(const std::string& dir, FileNumber first_needed) {
  ASSIGN_OR_RETURN(const std::optional<FileNumber> first, FirstLogIn(dir, first_needed));
  return first.has_value();
}

// What wal_dir names, compared with the directory of the database.
enum class WalDirPlace : uint8_t { kOwn, kOther, kMissing };

// The own directory may be named by another path.
Result<WalDirPlace> PlaceOf(const std::string& wal_dir, const std::string& db) {
  if (wal_dir.empty()) return WalDirPlace::kOwn;
  FileSystem* const fs = ToolFiles();
  const IOStatus found = fs->FileExists(wal_dir, IOOptions(), nullptr);
  if (IsMissing(found)) return WalDirPlace::kMissing;
  RETURN_IF_ERROR(found);  // the directory may exist and hold the logs
  bool is_own = false;
  RETURN_IF_ERROR(fs->AreFilesSame(wal_dir, db, IOOptions(), &is_own, nullptr));
  return is_own ? WalDirPlace::kOwn : WalDirPlace::kOther;
}

// Clears wal_dir if the logs are in the database's own directory. A copy or a checkpoint has its
// logs beside its tables, while its OPTIONS file still names the wal_dir of the original.
Status CorrectWalDir(const Invocation& call, FileNumber first_needed_log, DBOptions* options) {
  assert(options != nullptr);
  ASSIGN_OR_RETURN(const WalDirPlace place, PlaceOf(options->wal_dir, call.db));
  if (place == WalDirPlace::kOwn) return Status::OK();
  const char* why = "does not exist";
  if (place == WalDirPlace::kOther) {
    ASSIGN_OR_RETURN(const bool has_own, HoldsNeededLogs(call.db, first_needed_log));
    if (!has_own) return Status::OK();
    why = "is ignored: the logs are in the database's own directory";
  }
  std::fprintf(stderr, "ldb: wal_dir %s of the OPTIONS file or the program %s\n",
               options->wal_dir.c_str(), why);
  options->wal_dir.clear();
  return Status::OK();
}

// What a complete MANIFEST says about logs.
struct KnownLogs {
  FileNumber first_needed = 0;
  FileNumber next_file_number = 0;  // the number of any log that it knows is smaller
};

// InvalidArgument if the needed logs may be elsewhere than CorrectWalDir() would look for them, or
// if those that are found there are not of this database. A repair without them makes a MANIFEST
// with which the next opening deletes them; one with the logs of another database takes them from
// it. `known` is nullopt without a complete MANIFEST.
Status CheckPlaceOfLogs(const Invocation& call, const std::optional<KnownLogs>& known,
                        const std::string& wal_dir) {
  ASSIGN_OR_RETURN(const WalDirPlace place, PlaceOf(wal_dir, call.db));
  if (place == WalDirPlace::kOwn) return Status::OK();
  constexpr const char* kWayOut = "or leave wal_dir out with --try_load_options=false";
  ASSIGN_OR_RETURN(const bool has_own,
                   HoldsNeededLogs(call.db, known ? known->first_needed : FileNumber{0}));
  if (place == WalDirPlace::kMissing) {
    if (has_own) return Status::OK();
    return Status::InvalidArgument(StrCat("the logs are not in ", call.db, ", and wal_dir ",
                                          wal_dir, " does not exist: bring it back, ", kWayOut));
  }
  if (known && !has_own) {
    ASSIGN_OR_RETURN(const std::optional<FileNumber> log, FirstLogIn(wal_dir, known->first_needed));
    // A copy whose original has gone on: of its own logs the first one would be known.
    if (!log || *log < known->next_file_number) return Status::OK();
    return Status::InvalidArgument(
        StrCat("log ", *log, " in wal_dir ", wal_dir, " is newer than the MANIFEST of ", call.db,
               ", which may be a copy: move the logs there if they are its own, ", kWayOut));
  }
  if (known || !has_own) return Status::OK();
  ASSIGN_OR_RETURN(const bool has_others, HoldsNeededLogs(wal_dir, /*first_needed=*/0));
  if (!has_others) return Status::OK();
  return Status::InvalidArgument(
      StrCat("there are logs in ", call.db, " and in wal_dir ", wal_dir, ", and no complete ",
             "MANIFEST says which are needed: move those away that are not, ", kWayOut));
}

// Sets a pointer or a list that the OPTIONS file has left empty to that of the program.
template <typename Part>
void FillPart(const Part& given, Part* part) {
  assert(part != nullptr);
  bool is_absent = false;
  if constexpr (requires { part->empty(); }) {
    is_absent = part->empty();
  } else {
    is_absent = *part == nullptr;
  }
  if (is_absent) *part = given;
}

// Adds the directories and objects of the program to options that were read from an OPTIONS file.
void AddProgramParts(DBOptions* options) {
  assert(options != nullptr);
  const DBOptions& given = Program().options;
  options->env = ToolEnv();
  FillPart(given.db_paths, &options->db_paths);
  FillPart(given.sst_file_manager, &options->sst_file_manager);
  FillPart(given.rate_limiter, &options->rate_limiter);
  FillPart(given.info_log, &options->info_log);
  FillPart(given.statistics, &options->statistics);
  FillPart(given.listeners, &options->listeners);
  FillPart(given.write_buffer_manager, &options->write_buffer_manager);
  FillPart(given.wal_filter, &options->wal_filter);
  FillPart(given.file_checksum_gen_factory, &options->file_checksum_gen_factory);
}

// The same for a family.
void AddProgramObjects(ColumnFamilyDescriptor* family) {
  assert(family != nullptr);
  const ColumnFamilyOptions& given = ProgramOptions(family->name);
  ColumnFamilyOptions& options = family->options;
  FillPart(given.merge_operator, &options.merge_operator);
  FillPart(given.compaction_filter, &options.compaction_filter);
  FillPart(given.compaction_filter_factory, &options.compaction_filter_factory);
  FillPart(given.prefix_extractor, &options.prefix_extractor);
  FillPart(given.cf_paths, &options.cf_paths);
  FillPart(given.table_properties_collector_factories,
           &options.table_properties_collector_factories);
  FillPart(given.sst_partitioner_factory, &options.sst_partitioner_factory);
  FillPart(given.inplace_callback, &options.inplace_callback);
}

// Replaces *loaded by the newest OPTIONS file, with names that are not known left out. False, and
// *loaded is as before, if there is none, if --try_load_options=false, or if it cannot be read.
Result<bool> ReadOptionsFile(const Invocation& call, const ConfigOptions& config,
                             StoredOptions* loaded) {
  assert(loaded != nullptr);
  ASSIGN_OR_RETURN(const bool wants_file, call.line->Bool("try_load_options", true));
  if (!wants_file) return false;
  ConfigOptions lenient = config;
  lenient.env = ToolEnv();
  lenient.ignore_unknown_options = true;
  return LoadLatestOptions(lenient, call.db, &loaded->db, &loaded->families).ok();
}

// With these an OPTIONS file, which only names comparators, brings back those of the program.
void RegisterProgramComparators(ObjectRegistry* registry) {
  assert(registry != nullptr);
  const std::shared_ptr<ObjectLibrary> library = registry->AddLibrary("program");
  const auto add = [&library](const Comparator* comparator) {
    if (comparator == nullptr) return;
    library->AddFactory<const Comparator>(
        comparator->Name(), [comparator](const std::string&, std::unique_ptr<const Comparator>*,
                                         std::string*) { return comparator; });
  };
  add(Program().options.comparator);
  for (const ColumnFamilyDescriptor& family : Program().families) add(family.options.comparator);
}

// The descriptor of a family; with the options of the program if it has none yet.
ColumnFamilyDescriptor* FindOrAdd(const std::string& name, StoredOptions* options) {
  assert(options != nullptr);
  for (ColumnFamilyDescriptor& known : options->families) {
    if (known.name == name) return &known;
  }
  return &options->families.emplace_back(name, ProgramOptions(name));
}

// Nullopt if the MANIFEST may lack records, so that every log may be needed.
std::optional<KnownLogs> KnownLogsOf(const ManifestContent& manifest) {
  if (!manifest.IsFinal() || manifest.families.empty()) return std::nullopt;
  KnownLogs known{.first_needed = manifest.counters.min_log_number_to_keep,
                  .next_file_number = manifest.counters.next_file_number};
  if (known.first_needed > 0) return known;
  known.first_needed = FileNumber::None();
  for (const auto& [id, family] : manifest.families) {
    known.first_needed = std::min(known.first_needed, family.log_number);
  }
  return known;
}

// Sets db_paths to the directories of --db_paths, if the flag is there.
Status ApplyPathsFlag(const Invocation& call, DBOptions* options) {
  assert(options != nullptr);
  // New tables go to the first directory: how much each may hold is not known here.
  constexpr uint64_t kTargetBytes = uint64_t{1} << 60;
  ASSIGN_OR_RETURN(const std::vector<std::string> dirs, DirsOfFlag(call));
  if (!dirs.empty()) options->db_paths.clear();
  for (const std::string& dir : dirs) options->db_paths.emplace_back(dir, kTargetBytes);
  return Status::OK();
}

}  // namespace

Result<StoredOptions> OptionsForReading(const Invocation& call, const ManifestState& state) {
  ASSIGN_OR_RETURN(StoredOptions result, DescribeFamilies(state));
  StoredOptions loaded;
  ASSIGN_OR_RETURN(const bool has_file, ReadOptionsFile(call, ConfigOptions(), &loaded));
  if (has_file) result.db.wal_dir = loaded.db.wal_dir;
  RETURN_IF_ERROR(CorrectWalDir(call, state.FirstNeededLog(), &result.db));
  for (ColumnFamilyDescriptor& descriptor : result.families) {
    for (const ColumnFamilyDescriptor& from_file : loaded.families) {
      if (from_file.name != descriptor.name) continue;
      if (from_file.options.merge_operator != nullptr) {
        descriptor.options.merge_operator = from_file.options.merge_operator;
      }
    }
  }
  return result;
}

Result<StoredOptions> OptionsForWriting(const Invocation& call, const ManifestState& state) {
  ASSIGN_OR_RETURN(StoredOptions result, DescribeFamilies(state));
  ASSIGN_OR_RETURN(const bool wants_file, call.line->Bool("try_load_options", true));
  if (!wants_file) return result;
  ConfigOptions config;
  config.env = ToolEnv();
  ASSIGN_OR_RETURN(config.ignore_unknown_options, call.line->Bool("ignore_unknown_options"));
  StoredOptions loaded;
  const Status status = LoadLatestOptions(config, call.db, &loaded.db, &loaded.families);
  if (IsMissing(status)) return result;
  RETURN_IF_ERROR(status);
  result.db = loaded.db;
  AddProgramParts(&result.db);
  RETURN_IF_ERROR(CorrectWalDir(call, state.FirstNeededLog(), &result.db));
  // A family of the OPTIONS file that has been dropped since is not opened.
  for (ColumnFamilyDescriptor& descriptor : result.families) {
    for (const ColumnFamilyDescriptor& from_file : loaded.families) {
      if (from_file.name != descriptor.name) continue;
      descriptor.options = from_file.options;
      AddProgramObjects(&descriptor);
      RETURN_IF_ERROR(SetRequiredOptions(*state.Family(descriptor.name), &descriptor.options));
    }
  }
  return result;
}

Result<StoredOptions> OptionsForRepair(const Invocation& call) {
  ConfigOptions config;
  config.ignore_unsupported_options = true;
  RegisterProgramComparators(config.registry.get());
  StoredOptions result{.db = ProgramDbOptions(), .families = {}};
  ASSIGN_OR_RETURN(const bool has_file, ReadOptionsFile(call, config, &result));
  if (has_file) {
    AddProgramParts(&result.db);
    for (ColumnFamilyDescriptor& family : result.families) AddProgramObjects(&family);
  }
  RETURN_IF_ERROR(ApplyPathsFlag(call, &result.db));
  std::vector<std::string> notes;
  Result<ManifestContent> manifest = FindManifestContent(ToolFiles(), call.db, &notes);
  if (!manifest.ok() && !IsMissing(manifest.status())) return manifest.status();
  std::optional<KnownLogs> known_logs;
  if (manifest.ok()) {
    known_logs = KnownLogsOf(*manifest);
    for (const auto& [id, family] : manifest->families) {
      ColumnFamilyOptions* const options = &FindOrAdd(family.name, &result)->options;
      if (!family.comparator) continue;
      RETURN_IF_ERROR(SetStoredComparator(family.name, *family.comparator, options));
    }
  }
  RETURN_IF_ERROR(CheckPlaceOfLogs(call, known_logs, result.db.wal_dir));
  const FileNumber first_needed_log = known_logs ? known_logs->first_needed : FileNumber{0};
  RETURN_IF_ERROR(CorrectWalDir(call, first_needed_log, &result.db));
  FindOrAdd(kDefaultColumnFamilyName, &result);
  return result;
}

Result<std::string> FindLogDirectory(const Invocation& call, const ManifestState& state) {
  StoredOptions options{.db = ProgramDbOptions(), .families = {}};
  // Without a file the options stay those of the program.
  RETURN_IF_ERROR(ReadOptionsFile(call, ConfigOptions(), &options).status());
  RETURN_IF_ERROR(CorrectWalDir(call, state.FirstNeededLog(), &options.db));
  // By another path the database's own directory would count as a second one.
  ASSIGN_OR_RETURN(const WalDirPlace place, PlaceOf(options.db.wal_dir, call.db));
  return place == WalDirPlace::kOwn ? call.db : options.db.wal_dir;
}

Status CheckLogs(const Invocation& call, const ManifestState& state) {
  FileSystem* const fs = ToolFiles();
  ASSIGN_OR_RETURN(const std::string directory, FindLogDirectory(call, state));
  // A log may be longer than its synced size, because later writes were not synced or not yet
  // recorded. A shorter one has lost bytes that were durable.
  for (const auto& [number, synced_bytes] : state.synced_log_bytes()) {
    if (number < state.FirstNeededLog()) continue;
    const std::string path = LogFileName(directory, number);
    Result<uint64_t> bytes = FileSizeOf(fs, path);
    if (IsMissing(bytes.status())) {
      return Status::Corruption(
          StrCat(path, ": the MANIFEST needs this log, but there is no such file"));
    }
    RETURN_IF_ERROR(bytes.status());
    if (*bytes < synced_bytes) {
      return Status::Corruption(
          StrCat(path, ": ", *bytes, " bytes, but ", synced_bytes, " were synced"));
    }
  }
  return Status::OK();
}

}  // namespace ashlar
