// SPDX-License-Identifier: Apache-2.0
//
// Makes column family descriptors from the MANIFEST, with options from the OPTIONS file and from
// flags.
//
// There are two ways from a call to an open database. Reading: DescribeFamilies() makes descriptors
// from the MANIFEST alone, LoadForReading() adds the few options that reads need. Writing:
// LoadOptions() takes the whole OPTIONS file, and then the flags of the call override it. In both
// ways the MANIFEST decides which families there are and how each is ordered, because a wrong
// comparator would misplace keys.
#include "tools/ldb/open_db.h"

#include <algorithm>
#include <cassert>
#include <cstdio>
#include <utility>

#include "ashlar/convenience.h"
#include "ashlar/filter_policy.h"
#include "ashlar/slice_transform.h"
#include "ashlar/table.h"
#include "ashlar/utilities/db_ttl.h"
#include "ashlar/utilities/options_util.h"
#include "db/utilities/ttl/db_with_ttl.h"
#include "env/file_util.h"
#include "env/filename.h"
#include "tools/ldb/file_locations.h"
#include "tools/ldb/manifest_state.h"
#include "tools/lib/program_parts.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

using Descriptors = std::vector<ColumnFamilyDescriptor>;

// A flag, and the name of the column family option that it sets in an options string.
struct OptionFlag {
  std::string_view flag;
  std::string_view option;
};
// Flags with a value. Most have the name of their option; the others are names that scripts for
// RocksDB's ldb use.
constexpr OptionFlag kFamilyFlags[] = {
    {"compression_type", "compression"},
    {"write_buffer_size", "write_buffer_size"},
    {"file_size", "target_file_size_base"},
    {"compression_max_dict_bytes", "compression_opts.max_dict_bytes"},
    {"min_blob_size", "min_blob_size"},
    {"blob_file_size", "blob_file_size"},
    {"blob_compression_type", "blob_compression_type"},
    {"blob_garbage_collection_age_cutoff", "blob_garbage_collection_age_cutoff"},
    {"blob_garbage_collection_force_threshold", "blob_garbage_collection_force_threshold"},
    {"blob_compaction_readahead_size", "blob_compaction_readahead_size"},
    {"blob_file_starting_level", "blob_file_starting_level"},
    {"prepopulate_blob_cache", "prepopulate_blob_cache"},
};
// A flag without a value that sets a boolean option to `value`.
struct SwitchFlag {
  std::string_view flag;
  bool ColumnFamilyOptions::*member;
  bool value;
};
constexpr SwitchFlag kSwitchFlags[] = {
    {"enable_blob_files", &ColumnFamilyOptions::enable_blob_files, true},
    {"enable_blob_garbage_collection", &ColumnFamilyOptions::enable_blob_garbage_collection, true},
    {"disable_consistency_checks", &ColumnFamilyOptions::force_consistency_checks, false},
};

// Compression names: as the flag takes them, and as an options string spells them.
constexpr std::pair<std::string_view, std::string_view> kCompressionNames[] = {
    {"no", "kNoCompression"},
    {"none", "kNoCompression"},
    {"snappy", "kSnappyCompression"},
    {"zlib", "kZlibCompression"},
    {"bzip2", "kBZip2Compression"},
    {"lz4", "kLZ4Compression"},
    {"lz4hc", "kLZ4HCCompression"},
    {"xpress", "kXpressCompression"},
    {"zstd", "kZSTD"},
};

// The option as "name=value;", the form that GetColumnFamilyOptionsFromString() parses.
// InvalidArgument for a compression or a caching mode that does not exist; other values are checked
// when the string is parsed.
Result<std::string> OptionText(const OptionFlag& flag, const std::string& value) {
  if (flag.flag == "prepopulate_blob_cache") {
    if (value == "0") return std::string("prepopulate_blob_cache=kDisable;");
    if (value == "1") return std::string("prepopulate_blob_cache=kFlushOnly;");
    return Status::InvalidArgument("--prepopulate_blob_cache is 0 or 1 (what a flush writes)");
  }
  if (!flag.flag.ends_with("compression_type")) return StrCat(flag.option, "=", value, ";");
  for (const auto& [name, full_name] : kCompressionNames) {
    if (name == value) return StrCat(flag.option, "=", full_name, ";");
  }
  return Status::InvalidArgument(StrCat("--", flag.flag, ": no compression is called \"", value,
                                        "\"; known: no, snappy, zlib, bzip2, lz4, lz4hc, zstd"));
}

// Replaces the table factory if a flag about blocks or filters is given. A factory of another table
// format has no BlockBasedTableOptions and stays as it is.
Status ApplyTableFlags(const CommandLine& line, ColumnFamilyOptions* options) {
  assert(options != nullptr);
  auto* current = options->table_factory->GetOptions<BlockBasedTableOptions>();
  if (current == nullptr || !(line.Has("block_size") || line.Has("bloom_bits"))) {
    return Status::OK();
  }
  BlockBasedTableOptions table = *current;
  ASSIGN_OR_RETURN(const int64_t block_bytes,
                   line.Number("block_size", static_cast<int64_t>(table.block_size)));
  ASSIGN_OR_RETURN(const int64_t bloom_bits, line.Number("bloom_bits", 0));
  if (block_bytes <= 0 || bloom_bits < 0) {
    return Status::InvalidArgument("--block_size and --bloom_bits must be positive");
  }
  table.block_size = static_cast<size_t>(block_bytes);
  if (bloom_bits > 0)
    table.filter_policy.reset(NewBloomFilterPolicy(static_cast<double>(bloom_bits)));
  options->table_factory.reset(NewBlockBasedTableFactory(table));
  return Status::OK();
}

// Applies all flags about a column family to *options. Flags that are absent change nothing, so the
// values of the OPTIONS file stay.
Status ApplyFlags(const CommandLine& line, ColumnFamilyOptions* options) {
  assert(options != nullptr);
  std::string text;
  for (const OptionFlag& flag : kFamilyFlags) {
    const std::optional<std::string> value = line.Value(flag.flag);
    if (!value) continue;
    ASSIGN_OR_RETURN(const std::string option, OptionText(flag, *value));
    text += option;
  }
  if (!text.empty()) {
    const ColumnFamilyOptions base = *options;
    RETURN_IF_ERROR(GetColumnFamilyOptionsFromString(ConfigOptions(), base, text, options));
  }
  for (const SwitchFlag& flag : kSwitchFlags) {
    ASSIGN_OR_RETURN(const bool is_given, line.Bool(flag.flag));
    if (is_given) options->*flag.member = flag.value;
  }
  ASSIGN_OR_RETURN(const bool compacts, line.Bool("auto_compaction", true));
  if (!compacts) options->disable_auto_compactions = true;
  ASSIGN_OR_RETURN(const int64_t prefix_bytes, line.Number("fix_prefix_len", 0));
  if (prefix_bytes <= 0 && line.Value("fix_prefix_len").has_value()) {
    return Status::InvalidArgument(
        StrCat("--fix_prefix_len: expected a number above 0, found ", prefix_bytes));
  }
  if (prefix_bytes > 0) {
    options->prefix_extractor.reset(NewFixedPrefixTransform(static_cast<size_t>(prefix_bytes)));
  }
  return ApplyTableFlags(line, options);
}

// Applies the flags about the database as a whole.
Status ApplyDbFlags(const CommandLine& line, DBOptions* options) {
  assert(options != nullptr);
  const std::optional<std::string> compatible = line.Value("write_compatible_with");
  if (compatible && !compatible->empty()) options->write_compatible_with = *compatible;
  ASSIGN_OR_RETURN(
      const int64_t bytes,
      line.Number("db_write_buffer_size", static_cast<int64_t>(options->db_write_buffer_size)));
  if (bytes < 0) return Status::InvalidArgument("--db_write_buffer_size must not be negative");
  options->db_write_buffer_size = static_cast<size_t>(bytes);
  return Status::OK();
}

// Sets the options without which the family cannot be opened: its comparator and enough levels.
Status SetRequiredOptions(const FamilyState& family, ColumnFamilyOptions* options) {
  assert(options != nullptr);
  const Comparator* comparator = FindComparator(family.comparator);
  if (comparator == nullptr) {
    return Status::NotSupported(
        StrCat("column family \"", family.name, "\" is ordered by \"", family.comparator,
               "\", which is not built in; manifest_dump, dump_wal and sst_dump ",
               "--show_properties work without it"));
  }
  options->comparator = comparator;
  options->num_levels = std::max(options->num_levels, static_cast<int>(family.levels.size()));
  return Status::OK();
}

// One descriptor for each family of the MANIFEST, with the options of the program, in the order of
// the family IDs.
Result<Descriptors> DescribeFamilies(const ManifestState& state) {
  Descriptors result;
  for (const auto& [id, family] : state.families()) {
    ColumnFamilyOptions options = ProgramOptions(family.name);
    RETURN_IF_ERROR(SetRequiredOptions(family, &options));
    result.emplace_back(family.name, options);
  }
  return result;
}

// Whether the directory has a log that recovery would read. Older logs do not count: they may be
// leftovers, and say nothing about the place of the logs.
Result<bool> HoldsNeededLogs(const std::string& dir, const ManifestState& state) {
  std::vector<std::string> names;
  RETURN_IF_ERROR(ToolFiles()->GetChildren(dir, IOOptions(), &names, /*dbg=*/nullptr));
  return std::any_of(names.begin(), names.end(), [&state](const std::string& name) {
    FileNumber number = 0;
    FileType type = kTempFile;
    return ParseFileName(name, &number, &type) && type == kWalFile &&
           number >= state.FirstNeededLog();
  });
}

// Clears wal_dir if the logs are in the database's own directory. A copy or a checkpoint has its
// logs beside its tables, while its OPTIONS file still names the wal_dir of the original.
Status CorrectWalDir(const Invocation& call, const ManifestState& state, DBOptions* options) {
  assert(options != nullptr);
  if (options->wal_dir.empty()) return Status::OK();
  FileSystem* const fs = ToolFiles();
  const IOStatus found = fs->FileExists(options->wal_dir, IOOptions(), nullptr);
  const char* why = "does not exist";
  if (!found.IsNotFound() && !found.IsPathNotFound()) {
    RETURN_IF_ERROR(found);  // the directory may exist and hold the logs
    bool is_own = false;     // the same directory, perhaps by another path
    RETURN_IF_ERROR(fs->AreFilesSame(options->wal_dir, call.db, IOOptions(), &is_own, nullptr));
    if (is_own) return Status::OK();
    ASSIGN_OR_RETURN(const bool has_own, HoldsNeededLogs(call.db, state));
    if (!has_own) return Status::OK();
    why = "is ignored: the logs are in the database's own directory";
  }
  std::fprintf(stderr, "ldb: wal_dir %s of the OPTIONS file %s\n", options->wal_dir.c_str(), why);
  options->wal_dir.clear();
  return Status::OK();
}

// The wrappers of a database with TTL are made by name, in order to find what they wrap.
Status RegisterObjects(const Invocation& call) {
  ASSIGN_OR_RETURN(const bool has_ttl, call.line->Bool("ttl"));
  if (has_ttl) RegisterTtlObjects();
  return Status::OK();
}

// Objects of the program that an OPTIONS file only names.
void AddProgramObjects(ColumnFamilyDescriptor* family) {
  assert(family != nullptr);
  const ColumnFamilyOptions& given = ProgramOptions(family->name);
  ColumnFamilyOptions& options = family->options;
  if (options.merge_operator == nullptr) options.merge_operator = given.merge_operator;
  if (options.compaction_filter == nullptr) options.compaction_filter = given.compaction_filter;
  if (options.compaction_filter_factory == nullptr) {
    options.compaction_filter_factory = given.compaction_filter_factory;
  }
  if (options.prefix_extractor == nullptr) options.prefix_extractor = given.prefix_extractor;
}

// Descriptors of all families, with the options of the newest OPTIONS file for those it contains.
Result<Descriptors> LoadOptions(const Invocation& call, const ManifestState& state,
                                DBOptions* db_options) {
  assert(db_options != nullptr);
  ASSIGN_OR_RETURN(Descriptors result, DescribeFamilies(state));
  ASSIGN_OR_RETURN(const bool wants_file, call.line->Bool("try_load_options", true));
  if (!wants_file) return result;
  ConfigOptions config;
  config.env = ToolEnv();
  ASSIGN_OR_RETURN(config.ignore_unknown_options, call.line->Bool("ignore_unknown_options"));
  Descriptors loaded;
  const Status status = LoadLatestOptions(config, call.db, db_options, &loaded);
  if (IsMissing(status)) return result;
  RETURN_IF_ERROR(status);
  db_options->env = ToolEnv();
  RETURN_IF_ERROR(CorrectWalDir(call, state, db_options));
  // The MANIFEST decides which families exist. A family of the OPTIONS file that has been dropped
  // since is not opened.
  for (ColumnFamilyDescriptor& descriptor : result) {
    for (const ColumnFamilyDescriptor& from_file : loaded) {
      if (from_file.name != descriptor.name) continue;
      descriptor.options = from_file.options;
      AddProgramObjects(&descriptor);
      RETURN_IF_ERROR(SetRequiredOptions(*state.Family(descriptor.name), &descriptor.options));
    }
  }
  return result;
}

// Reads the newest OPTIONS file. False if there is none, if --try_load_options=false, or if it
// cannot be read: commands that only read work without it.
Result<bool> ReadOptionsFile(const Invocation& call, DBOptions* db_options, Descriptors* families) {
  ASSIGN_OR_RETURN(const bool wants_file, call.line->Bool("try_load_options", true));
  if (!wants_file) return false;
  ConfigOptions config;
  config.env = ToolEnv();
  config.ignore_unknown_options = true;
  return LoadLatestOptions(config, call.db, db_options, families).ok();
}

// Descriptors with the options that reads need from the newest OPTIONS file: the directories of
// logs and tables, and the merge operators.
Result<Descriptors> LoadForReading(const Invocation& call, const ManifestState& state,
                                   DBOptions* db_options) {
  assert(db_options != nullptr);
  ASSIGN_OR_RETURN(Descriptors result, DescribeFamilies(state));
  DBOptions db_from_file;
  Descriptors loaded;
  ASSIGN_OR_RETURN(const bool has_file, ReadOptionsFile(call, &db_from_file, &loaded));
  if (!has_file) return result;
  db_options->wal_dir = db_from_file.wal_dir;
  db_options->db_paths = db_from_file.db_paths;
  RETURN_IF_ERROR(CorrectWalDir(call, state, db_options));
  for (ColumnFamilyDescriptor& descriptor : result) {
    for (const ColumnFamilyDescriptor& from_file : loaded) {
      if (from_file.name != descriptor.name) continue;
      if (from_file.options.merge_operator != nullptr) {
        descriptor.options.merge_operator = from_file.options.merge_operator;
      }
      descriptor.options.cf_paths = from_file.options.cf_paths;
    }
  }
  return result;
}

// Scripts pass the flags of commands that write to every command. Only --disable_consistency_checks
// has an effect on reading; the values of the others are checked and ignored.
Status ApplyReadFlags(const CommandLine& line, Descriptors* descriptors) {
  assert(descriptors != nullptr);
  ColumnFamilyOptions given;
  RETURN_IF_ERROR(ApplyFlags(line, &given));
  DBOptions db_given;
  RETURN_IF_ERROR(ApplyDbFlags(line, &db_given));
  for (ColumnFamilyDescriptor& descriptor : *descriptors) {
    descriptor.options.force_consistency_checks = given.force_consistency_checks;
  }
  return Status::OK();
}

// Sets cf_paths of each family whose files are in other directories than the database's own.
Status ApplyPaths(const Invocation& call, const ManifestState& state, Descriptors* descriptors) {
  assert(descriptors != nullptr);
  ASSIGN_OR_RETURN(const FileLocations locations, FileLocations::Find(ToolFiles(), call, state));
  for (ColumnFamilyDescriptor& descriptor : *descriptors) {
    ASSIGN_OR_RETURN(const std::vector<std::string> dirs,
                     locations.DirsByPathId(*state.Family(descriptor.name)));
    if (dirs.empty()) continue;
    descriptor.options.cf_paths.clear();
    for (const std::string& dir : dirs) descriptor.options.cf_paths.emplace_back(dir, 0);
  }
  return Status::OK();
}

// The state that the MANIFEST named by CURRENT describes. Nothing is locked; a running process may
// be writing it.
Result<ManifestState> ReadLiveManifest(const std::string& db) {
  FileSystem* const fs = ToolFiles();
  ASSIGN_OR_RETURN(const std::string path, LiveManifestPath(fs, db));
  return ReadManifestState(fs, path);
}

// Opens the database plainly or, with --ttl, with values that carry the times of their writes; ldb
// itself lets nothing expire.
Result<std::unique_ptr<LdbDatabase>> OpenAsAsked(const Invocation& call,
                                                 const DBOptions& db_options,
                                                 const Descriptors& descriptors,
                                                 bool is_read_only) {
  std::vector<ColumnFamilyHandle*> handles;
  std::unique_ptr<DB> db;
  ASSIGN_OR_RETURN(const bool has_ttl, call.line->Bool("ttl"));
  if (has_ttl) {
    DBWithTTL* opened = nullptr;
    const std::vector<int32_t> never(descriptors.size(), 0);
    RETURN_IF_ERROR(
        DBWithTTL::Open(db_options, call.db, descriptors, &handles, &opened, never, is_read_only));
    db.reset(opened);
  } else if (is_read_only) {
    RETURN_IF_ERROR(DB::OpenForReadOnly(db_options, call.db, descriptors, &handles, &db));
  } else {
    RETURN_IF_ERROR(DB::Open(db_options, call.db, descriptors, &handles, &db));
  }
  return std::make_unique<LdbDatabase>(std::move(db), std::move(handles));
}

// Creates the database with the default family only.
Result<std::unique_ptr<LdbDatabase>> OpenNew(const Invocation& call, DBOptions db_options) {
  ColumnFamilyOptions options = ProgramOptions(kDefaultColumnFamilyName);
  RETURN_IF_ERROR(ApplyFlags(*call.line, &options));
  db_options.create_if_missing = true;
  return OpenAsAsked(call, db_options, {{kDefaultColumnFamilyName, options}},
                     /*is_read_only=*/false);
}

}  // namespace

LdbDatabase::LdbDatabase(std::unique_ptr<DB> db, std::vector<ColumnFamilyHandle*> handles)
    : db_(std::move(db)), handles_(std::move(handles)) {}

LdbDatabase::~LdbDatabase() { IgnoreError(Close(), "commands that write call Close() themselves"); }

Result<ColumnFamilyHandle*> LdbDatabase::Family(const std::string& name) const {
  for (ColumnFamilyHandle* handle : handles_) {
    if (handle->GetName() == name) return handle;
  }
  return Status::InvalidArgument(StrCat("no column family is called \"", name,
                                        "\"; list_column_families shows what there is"));
}

Status LdbDatabase::Close() {
  if (db_ == nullptr) return Status::OK();
  Status status;
  // Handles must be destroyed before the database. The first error is returned, but the rest is
  // closed all the same.
  for (ColumnFamilyHandle* handle : std::exchange(handles_, {})) {
    const Status destroyed = db_->DestroyColumnFamilyHandle(handle);
    if (status.ok()) status = destroyed;
  }
  const Status closed = db_->Close();
  db_.reset();
  return status.ok() ? closed : status;
}

Result<std::unique_ptr<LdbDatabase>> OpenForReading(const Invocation& call) {
  RETURN_IF_ERROR(RegisterObjects(call));
  ASSIGN_OR_RETURN(const ManifestState state, ReadLiveManifest(call.db));
  DBOptions db_options(Program().options);
  ASSIGN_OR_RETURN(Descriptors descriptors, LoadForReading(call, state, &db_options));
  RETURN_IF_ERROR(ApplyReadFlags(*call.line, &descriptors));
  db_options.allow_2pc = true;  // prepared transactions stay as they are
  const std::optional<std::string> secondary_path = call.line->Value("secondary_path");
  if (secondary_path.has_value()) {
    ASSIGN_OR_RETURN(const bool has_ttl, call.line->Bool("ttl"));
    if (has_ttl) return Status::InvalidArgument("--ttl: not with --secondary_path");
    std::vector<ColumnFamilyHandle*> handles;
    std::unique_ptr<DB> db;
    // Files come and go: where they are now says nothing about the files that are opened.
    RETURN_IF_ERROR(
        DB::OpenAsSecondary(db_options, call.db, *secondary_path, descriptors, &handles, &db));
    return std::make_unique<LdbDatabase>(std::move(db), std::move(handles));
  }
  RETURN_IF_ERROR(ApplyPaths(call, state, &descriptors));
  return OpenAsAsked(call, db_options, descriptors, /*is_read_only=*/true);
}

Result<std::unique_ptr<LdbDatabase>> OpenForWriting(const Invocation& call) {
  RETURN_IF_ERROR(RegisterObjects(call));
  FileSystem* const fs = ToolFiles();
  if (call.line->Has("secondary_path")) {
    return Status::InvalidArgument("--secondary_path: for commands that read");
  }
  ASSIGN_OR_RETURN(const bool creates, call.line->Bool("create_if_missing"));
  DBOptions db_options(Program().options);
  const IOStatus current = fs->FileExists(CurrentFileName(call.db), IOOptions(), nullptr);
  if (creates && IsMissing(current)) {
    RETURN_IF_ERROR(ApplyDbFlags(*call.line, &db_options));
    return OpenNew(call, db_options);
  }
  ASSIGN_OR_RETURN(const ManifestState state, ReadLiveManifest(call.db));
  ASSIGN_OR_RETURN(Descriptors descriptors, LoadOptions(call, state, &db_options));
  RETURN_IF_ERROR(ApplyDbFlags(*call.line, &db_options));
  for (ColumnFamilyDescriptor& descriptor : descriptors) {
    RETURN_IF_ERROR(ApplyFlags(*call.line, &descriptor.options));
  }
  db_options.allow_2pc = true;  // prepared transactions stay as they are
  Result<std::unique_ptr<LdbDatabase>> opened =
      OpenAsAsked(call, db_options, descriptors, /*is_read_only=*/false);
  // A message that begins with "option " is about an option of the file that this engine does not
  // support. The user has not typed that option, so the message names its origin and the way around
  // it.
  const Status& status = opened.status();
  const char* message = status.getState();
  if (status.IsNotSupported() && message != nullptr && Slice(message).starts_with("option ")) {
    return Status::CopyAppendMessage(
        status, " (from the database's OPTIONS file; ",
        "--try_load_options=false opens with default options and makes those its options)");
  }
  return opened;
}

Result<std::string> FindLogDirectory(const Invocation& call, const ManifestState& state) {
  DBOptions options;
  Descriptors families;
  ASSIGN_OR_RETURN(const bool has_file, ReadOptionsFile(call, &options, &families));
  if (!has_file) return call.db;
  RETURN_IF_ERROR(CorrectWalDir(call, state, &options));
  if (options.wal_dir.empty()) return call.db;
  // By another path the database's own directory would count as a second one.
  bool is_own = false;
  RETURN_IF_ERROR(
      ToolFiles()->AreFilesSame(options.wal_dir, call.db, IOOptions(), &is_own, /*dbg=*/nullptr));
  return is_own ? call.db : options.wal_dir;
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

// The flags that every command which opens the database accepts. They change the options with which
// it is opened.
const std::vector<std::string_view>& OpenFlags() {
  static const std::vector<std::string_view> flags = {"create_if_missing",
                                                      "secondary_path",
                                                      "ttl",
                                                      "try_load_options",
                                                      "ignore_unknown_options",
                                                      "write_compatible_with",
                                                      "compression_type",
                                                      "write_buffer_size",
                                                      "compression_max_dict_bytes",
                                                      "file_size",
                                                      "block_size",
                                                      "bloom_bits",
                                                      "auto_compaction",
                                                      "fix_prefix_len",
                                                      "db_write_buffer_size",
                                                      "disable_consistency_checks",
                                                      "enable_blob_files",
                                                      "min_blob_size",
                                                      "blob_file_size",
                                                      "blob_compression_type",
                                                      "enable_blob_garbage_collection",
                                                      "blob_garbage_collection_age_cutoff",
                                                      "blob_garbage_collection_force_threshold",
                                                      "blob_compaction_readahead_size",
                                                      "blob_file_starting_level",
                                                      "prepopulate_blob_cache"};
  return flags;
}

// The former values are read as text, the form in which Restore() sets them again.
Status TemporaryOptions::Set(const Texts& options) {
  std::string text;
  Texts all;
  RETURN_IF_ERROR(
      GetStringFromColumnFamilyOptions(ConfigOptions(), (*db_)->GetOptions(family_), &text));
  RETURN_IF_ERROR(StringToMap(text, &all));
  // All names are checked before any option changes.
  for (const auto& [name, value] : options) {
    const auto found = all.find(name);
    if (found == all.end()) return Status::InvalidArgument(StrCat("no option is called ", name));
    former_.emplace(name, found->second);
  }
  return (*db_)->SetOptions(family_, options);
}

Status TemporaryOptions::Restore() {
  const Texts former = std::move(former_);
  former_.clear();
  return former.empty() ? Status::OK() : (*db_)->SetOptions(family_, former);
}

}  // namespace ashlar
