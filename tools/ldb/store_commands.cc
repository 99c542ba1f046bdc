// SPDX-License-Identifier: Apache-2.0
//
// Commands on an open database as a whole: column families, the size of a range, compaction,
// properties, checkpoints.
#include <map>
#include <memory>

#include "ashlar/options.h"
#include "ashlar/utilities/checkpoint.h"
#include "tools/ldb/command.h"
#include "tools/ldb/open_db.h"
#include "tools/ldb/option_flags.h"
#include "tools/lib/console.h"
#include "tools/lib/program_parts.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

// The key that a flag gives, decoded as --hex and --key_hex ask. InvalidArgument if the flag is
// absent.
Result<std::string> RequiredKey(const Invocation& call, std::string_view flag) {
  const std::optional<std::string> text = call.line->Value(flag);
  if (!text) return Status::InvalidArgument(StrCat("--", flag, " must be given"));
  return call.KeyFrom(*text);
}

}  // namespace

Status RunListFamilies(const Invocation& call) {
  std::vector<std::string> names;
  DBOptions options(Program().options);
  options.env = ToolEnv();
  RETURN_IF_ERROR(DB::ListColumnFamilies(options, call.db, &names));
  std::string list;
  for (const std::string& name : names) StrAppend(&list, list.empty() ? "" : ", ", name);
  PrintLine(StrCat("Column families in ", call.db, ": \n{", list, "}"));
  return Status::OK();
}

// The flags are for the new family alone, so none of the families that exist has them.
Status RunCreateFamily(const Invocation& call) {
  const std::string& name = call.arguments[0];
  Invocation opening = call;
  opening.family.clear();
  ASSIGN_OR_RETURN(const std::unique_ptr<LdbDatabase> db, OpenForWriting(opening));
  ASSIGN_OR_RETURN(ColumnFamilyHandle * like, db->Family(kDefaultColumnFamilyName));
  // The options of the default family may fit only its keys, so the new family has only its
  // compression, unless the program or a flag chooses another one.
  ColumnFamilyOptions options = ProgramOptions(name);
  if (!IsProgramFamily(name)) options.compression = (*db)->GetOptions(like).compression;
  RETURN_IF_ERROR(ApplyFamilyFlags(*call.line, &options));
  ColumnFamilyHandle* created = nullptr;
  RETURN_IF_ERROR((*db)->CreateColumnFamily(options, name, &created));
  RETURN_IF_ERROR((*db)->DestroyColumnFamilyHandle(created));
  RETURN_IF_ERROR(db->Close());
  PrintLine("OK");
  return Status::OK();
}

// The tables of the family are deleted when the database is closed, because nothing else refers to
// them then.
Status RunDropFamily(const Invocation& call) {
  ASSIGN_OR_RETURN(const std::unique_ptr<LdbDatabase> db, OpenForWriting(call));
  ASSIGN_OR_RETURN(ColumnFamilyHandle * family, db->Family(call.arguments[0]));
  RETURN_IF_ERROR((*db)->DropColumnFamily(family));
  RETURN_IF_ERROR(db->Close());
  PrintLine("OK");
  return Status::OK();
}

// An estimate from the index blocks: nothing is read from the data blocks, and memtables do not
// count.
Status RunApproxSize(const Invocation& call) {
  ASSIGN_OR_RETURN(const std::string from, RequiredKey(call, "from"));
  ASSIGN_OR_RETURN(const std::string to, RequiredKey(call, "to"));
  ASSIGN_OR_RETURN(const std::unique_ptr<LdbDatabase> db, OpenForReading(call));
  ASSIGN_OR_RETURN(ColumnFamilyHandle * family, db->Family(call.family));
  const Range range(from, to);
  uint64_t bytes = 0;
  RETURN_IF_ERROR(
      (*db)->GetApproximateSizes(SizeApproximationOptions(), family, &range, 1, &bytes));
  PrintLine(StrCat(bytes));
  return Status::OK();
}

// Without --from or --to the range is open on that side; an empty key is a key like others, so
// presence of the flag decides.
Status RunCompact(const Invocation& call) {
  std::string from, to;
  if (call.line->Has("from")) {
    ASSIGN_OR_RETURN(from, RequiredKey(call, "from"));
  }
  if (call.line->Has("to")) {
    ASSIGN_OR_RETURN(to, RequiredKey(call, "to"));
  }
  ASSIGN_OR_RETURN(const std::unique_ptr<LdbDatabase> db, OpenForWriting(call));
  ASSIGN_OR_RETURN(ColumnFamilyHandle * family, db->Family(call.family));
  const Slice begin(from), end(to);
  CompactRangeOptions options;
  // RocksDB's ldb rewrites the last level too, which gives it the present options and drops what it
  // need not keep.
  options.bottommost_level_compaction = BottommostLevelCompaction::kForceOptimized;
  const Heartbeat heartbeat("compacting");
  RETURN_IF_ERROR((*db)->CompactRange(options, family, call.line->Has("from") ? &begin : nullptr,
                                      call.line->Has("to") ? &end : nullptr));
  return db->Close();
}

Status RunGetProperty(const Invocation& call) {
  const std::string& name = call.arguments[0];
  ASSIGN_OR_RETURN(const std::unique_ptr<LdbDatabase> db, OpenForReading(call));
  ASSIGN_OR_RETURN(ColumnFamilyHandle * family, db->Family(call.family));
  // Some properties are maps. They are tried first, because the same name may also have a text
  // form.
  std::map<std::string, std::string> map;
  if ((*db)->GetMapProperty(family, name, &map)) {
    for (const auto& [key, fact] : map) PrintLine(StrCat(name, ".", key, ": ", fact));
    return Status::OK();
  }
  std::string value;
  if (!(*db)->GetProperty(family, name, &value)) {
    return Status::InvalidArgument(StrCat("no property is called \"", name, "\""));
  }
  PrintLine(StrCat(name, ": ", value));
  return Status::OK();
}

// The database is opened for writing, so the entries of its logs are flushed to tables first.
Status RunCheckpoint(const Invocation& call) {
  const std::string dir = call.line->Value("checkpoint_dir").value_or("");
  if (dir.empty()) return Status::InvalidArgument("checkpoint needs --checkpoint_dir=<directory>");
  ASSIGN_OR_RETURN(const std::unique_ptr<LdbDatabase> db, OpenForWriting(call));
  Checkpoint* made = nullptr;
  RETURN_IF_ERROR(Checkpoint::Create(db->get(), &made));
  const std::unique_ptr<Checkpoint> checkpoint(made);
  {
    const Heartbeat heartbeat("making a checkpoint");
    RETURN_IF_ERROR(checkpoint->CreateCheckpoint(dir));
  }
  RETURN_IF_ERROR(db->Close());
  PrintLine("OK");
  return Status::OK();
}

}  // namespace ashlar
