// SPDX-License-Identifier: Apache-2.0
//
// Commands on column families.
#include "tools/ldb/command.h"
#include "tools/ldb/open_db.h"
#include "tools/lib/output.h"
#include "util/text/str_cat.h"

namespace ashlar {

Status RunListFamilies(const Invocation& call) {
  std::vector<std::string> names;
  RETURN_IF_ERROR(DB::ListColumnFamilies(DBOptions(), call.db, &names));
  std::string list;
  for (const std::string& name : names) StrAppend(&list, list.empty() ? "" : ", ", name);
  PrintLine(StrCat("Column families in ", call.db, ": \n{", list, "}"));
  return Status::OK();
}

Status RunCreateFamily(const Invocation& call) {
  ASSIGN_OR_RETURN(const std::unique_ptr<OpenedDb> db, OpenForWriting(call));
  ASSIGN_OR_RETURN(ColumnFamilyHandle * like, db->Family(kDefaultColumnFamilyName));
  // A new family is a plain one: the options of the default family may hold what suits only its
  // keys.
  ColumnFamilyHandle* created = nullptr;
  ColumnFamilyOptions options;
  options.compression = (*db)->GetOptions(like).compression;
  RETURN_IF_ERROR((*db)->CreateColumnFamily(options, call.arguments[0], &created));
  RETURN_IF_ERROR((*db)->DestroyColumnFamilyHandle(created));
  RETURN_IF_ERROR(db->Close());
  PrintLine("OK");
  return Status::OK();
}

Status RunDropFamily(const Invocation& call) {
  ASSIGN_OR_RETURN(const std::unique_ptr<OpenedDb> db, OpenForWriting(call));
  ASSIGN_OR_RETURN(ColumnFamilyHandle * family, db->Family(call.arguments[0]));
  RETURN_IF_ERROR((*db)->DropColumnFamily(family));
  RETURN_IF_ERROR(db->Close());
  PrintLine("OK");
  return Status::OK();
}

}  // namespace ashlar
