// SPDX-License-Identifier: Apache-2.0
//
// There are two ways from a call to an open database. Reading: the few options that reads need, and
// the directories in which the files are found. Writing: all options that the database had, and
// then the flags of the call, which override those of one family.
#include "tools/ldb/open_db.h"

#include <cassert>
#include <charconv>
#include <utility>

#include "ashlar/comparator.h"
#include "ashlar/convenience.h"
#include "ashlar/utilities/db_ttl.h"
#include "db/utilities/ttl/db_with_ttl.h"
#include "env/file_util.h"
#include "env/filename.h"
#include "tools/ldb/file_locations.h"
#include "tools/ldb/manifest_state.h"
#include "tools/ldb/option_flags.h"
#include "tools/ldb/stored_options.h"
#include "tools/lib/key_text.h"
#include "tools/lib/program_parts.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

using Descriptors = std::vector<ColumnFamilyDescriptor>;

// The wrappers of a database with TTL are made by name, in order to find what they wrap.
Status RegisterObjects(const Invocation& call) {
  ASSIGN_OR_RETURN(const bool has_ttl, call.line->Bool("ttl"));
  if (has_ttl) RegisterTtlObjects();
  return Status::OK();
}

// Applies the flags about a family to the family of the call, and to no other one: the options stay
// with the database. They are checked even if the call is about no family of this database.
Status ApplyWriteFlags(const Invocation& call, Descriptors* descriptors) {
  assert(descriptors != nullptr);
  ColumnFamilyOptions checked;
  RETURN_IF_ERROR(ApplyFamilyFlags(*call.line, &checked));
  for (ColumnFamilyDescriptor& descriptor : *descriptors) {
    if (descriptor.name != call.family) continue;
    RETURN_IF_ERROR(ApplyFamilyFlags(*call.line, &descriptor.options));
  }
  return Status::OK();
}

// Scripts pass the flags of commands that write to every command. Only --disable_consistency_checks
// has an effect on reading; the values of the others are checked and ignored.
Status ApplyReadFlags(const CommandLine& line, Descriptors* descriptors) {
  assert(descriptors != nullptr);
  ColumnFamilyOptions given;
  RETURN_IF_ERROR(ApplyFamilyFlags(line, &given));
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
  Descriptors families;
  families.emplace_back(kDefaultColumnFamilyName, ProgramOptions(kDefaultColumnFamilyName));
  RETURN_IF_ERROR(ApplyWriteFlags(call, &families));
  db_options.create_if_missing = true;
  return OpenAsAsked(call, db_options, families, /*is_read_only=*/false);
}

// The bytes of a timestamp: a decimal number for the comparators whose timestamps are numbers, else
// hexadecimal digits, as nothing is known about their form.
Result<std::string> ParseTimestamp(const std::string& text, const Comparator& comparator) {
  const bool has_numbers = &comparator == BytewiseComparatorWithU64Ts() ||
                           &comparator == ReverseBytewiseComparatorWithU64Ts();
  if (has_numbers) {
    uint64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size()) {
      return Status::InvalidArgument(
          StrCat("--read_timestamp: expected a number, found \"", text, "\""));
    }
    std::string timestamp;
    EncodeU64Ts(number, &timestamp);
    return timestamp;
  }
  Result<std::string> timestamp = ParseHexText(text);
  if (!timestamp.ok()) {
    return Status::CopyAppendMessage(timestamp.status(), ", for ", "--read_timestamp");
  }
  if (timestamp->size() == comparator.timestamp_size()) return timestamp;
  return Status::InvalidArgument(StrCat("--read_timestamp: the timestamps of ", comparator.Name(),
                                        " have ", comparator.timestamp_size(), " bytes, found ",
                                        timestamp->size()));
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
  ASSIGN_OR_RETURN(StoredOptions options, OptionsForReading(call, state));
  RETURN_IF_ERROR(ApplyReadFlags(*call.line, &options.families));
  options.db.allow_2pc = true;  // prepared transactions stay as they are
  const std::optional<std::string> secondary_path = call.line->Value("secondary_path");
  // Of a secondary the files come and go: where they are now says nothing about those that are
  // opened. But if the directories are named, it says which one has which number.
  if (!secondary_path.has_value() || call.line->Has("db_paths")) {
    RETURN_IF_ERROR(ApplyPaths(call, state, &options.families));
  }
  if (!secondary_path.has_value()) {
    return OpenAsAsked(call, options.db, options.families, /*is_read_only=*/true);
  }
  ASSIGN_OR_RETURN(const bool has_ttl, call.line->Bool("ttl"));
  if (has_ttl) return Status::InvalidArgument("--ttl: not with --secondary_path");
  std::vector<ColumnFamilyHandle*> handles;
  std::unique_ptr<DB> db;
  RETURN_IF_ERROR(
      DB::OpenAsSecondary(options.db, call.db, *secondary_path, options.families, &handles, &db));
  return std::make_unique<LdbDatabase>(std::move(db), std::move(handles));
}

Result<std::unique_ptr<LdbDatabase>> OpenForWriting(const Invocation& call) {
  RETURN_IF_ERROR(RegisterObjects(call));
  FileSystem* const fs = ToolFiles();
  if (call.line->Has("secondary_path")) {
    return Status::InvalidArgument("--secondary_path: for commands that read");
  }
  ASSIGN_OR_RETURN(const bool creates, call.line->Bool("create_if_missing"));
  const IOStatus current = fs->FileExists(CurrentFileName(call.db), IOOptions(), nullptr);
  if (creates && IsMissing(current)) {
    DBOptions db_options(Program().options);
    RETURN_IF_ERROR(ApplyDbFlags(*call.line, &db_options));
    return OpenNew(call, db_options);
  }
  ASSIGN_OR_RETURN(const ManifestState state, ReadLiveManifest(call.db));
  ASSIGN_OR_RETURN(StoredOptions options, OptionsForWriting(call, state));
  RETURN_IF_ERROR(ApplyDbFlags(*call.line, &options.db));
  RETURN_IF_ERROR(ApplyWriteFlags(call, &options.families));
  options.db.allow_2pc = true;  // prepared transactions stay as they are
  Result<std::unique_ptr<LdbDatabase>> opened =
      OpenAsAsked(call, options.db, options.families, /*is_read_only=*/false);
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

Result<std::unique_ptr<FamilyReadOptions>> ReadOptionsFor(const Invocation& call,
                                                          ColumnFamilyHandle* family) {
  assert(family != nullptr);
  auto result = std::make_unique<FamilyReadOptions>();
  const Comparator& comparator = *family->GetComparator();
  const bool has_timestamps = comparator.timestamp_size() > 0;
  const std::optional<std::string> text = call.line->Value("read_timestamp");
  if (has_timestamps != text.has_value()) {
    return Status::InvalidArgument(
        StrCat("column family \"", family->GetName(), "\" has ",
               has_timestamps ? "timestamps: --read_timestamp=<timestamp> must be given"
                              : "no timestamps: --read_timestamp is for families with them"));
  }
  if (!has_timestamps) return result;
  ASSIGN_OR_RETURN(result->timestamp, ParseTimestamp(*text, comparator));
  result->timestamp_slice = result->timestamp;
  result->options.timestamp = &result->timestamp_slice;
  return result;
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
