// SPDX-License-Identifier: Apache-2.0
//
// Commands on single keys: get, put, delete, batchput, and those of wide columns.
#include <string>
#include <utility>
#include <vector>

#include "ashlar/wide_columns.h"
#include "ashlar/write_batch.h"
#include "tools/ldb/command.h"
#include "tools/ldb/open_db.h"
#include "tools/lib/output.h"
#include "util/str_cat.h"

namespace ashlar {
namespace {

Status Written(OpenedDb* db, const Status& written) {
  const Status closed = db->Close();
  RETURN_IF_ERROR(written);
  RETURN_IF_ERROR(closed);
  PrintLine("OK");
  return Status::OK();
}

}  // namespace

Status RunGet(const Invocation& call) {
  ASSIGN_OR_RETURN(const std::string key, call.KeyFrom(call.arguments[0]));
  ASSIGN_OR_RETURN(const std::unique_ptr<OpenedDb> db, OpenForReading(call));
  ASSIGN_OR_RETURN(ColumnFamilyHandle * family, db->Family(call.family));
  PinnableSlice value;
  const Status status = (*db)->Get(ReadOptions(), family, key, &value);
  if (status.IsNotFound()) return Status::NotFound(StrCat("key ", call.KeyText(key)));
  RETURN_IF_ERROR(status);
  PrintLine(call.ValueText(value));
  return Status::OK();
}

Status RunPut(const Invocation& call) {
  ASSIGN_OR_RETURN(const std::string key, call.KeyFrom(call.arguments[0]));
  ASSIGN_OR_RETURN(const std::string value, call.ValueFrom(call.arguments[1]));
  ASSIGN_OR_RETURN(const std::unique_ptr<OpenedDb> db, OpenForWriting(call));
  ASSIGN_OR_RETURN(ColumnFamilyHandle * family, db->Family(call.family));
  return Written(db.get(), (*db)->Put(WriteOptions(), family, key, value));
}

Status RunGetEntity(const Invocation& call) {
  ASSIGN_OR_RETURN(const std::string key, call.KeyFrom(call.arguments[0]));
  ASSIGN_OR_RETURN(const std::unique_ptr<OpenedDb> db, OpenForReading(call));
  ASSIGN_OR_RETURN(ColumnFamilyHandle * family, db->Family(call.family));
  PinnableWideColumns found;
  const Status status = (*db)->GetEntity(ReadOptions(), family, key, &found);
  if (status.IsNotFound()) return Status::NotFound(StrCat("key ", call.KeyText(key)));
  RETURN_IF_ERROR(status);
  std::string line;
  for (const WideColumn& column : found.columns()) {
    StrAppend(&line, line.empty() ? "" : " ", column.name().ToString(call.hex_values), ":",
              column.value().ToString(call.hex_values));
  }
  PrintLine(line);
  return Status::OK();
}

Status RunPutEntity(const Invocation& call) {
  ASSIGN_OR_RETURN(const std::string key, call.KeyFrom(call.arguments[0]));
  std::vector<std::pair<std::string, std::string>> parts;
  for (size_t i = 1; i < call.arguments.size(); i++) {
    const std::string& text = call.arguments[i];
    const size_t colon = text.find(':');
    if (colon == std::string::npos) {
      return Status::InvalidArgument(StrCat("put_entity: \"", text, "\" is no <column>:<value>"));
    }
    ASSIGN_OR_RETURN(std::string name, call.ValueFrom(text.substr(0, colon)));
    ASSIGN_OR_RETURN(std::string value, call.ValueFrom(text.substr(colon + 1)));
    parts.emplace_back(std::move(name), std::move(value));
  }
  WideColumns columns;
  for (const auto& [name, value] : parts) columns.emplace_back(name, value);
  ASSIGN_OR_RETURN(const std::unique_ptr<OpenedDb> db, OpenForWriting(call));
  ASSIGN_OR_RETURN(ColumnFamilyHandle * family, db->Family(call.family));
  return Written(db.get(), (*db)->PutEntity(WriteOptions(), family, key, columns));
}

Status RunDelete(const Invocation& call) {
  ASSIGN_OR_RETURN(const std::string key, call.KeyFrom(call.arguments[0]));
  ASSIGN_OR_RETURN(const std::unique_ptr<OpenedDb> db, OpenForWriting(call));
  ASSIGN_OR_RETURN(ColumnFamilyHandle * family, db->Family(call.family));
  return Written(db.get(), (*db)->Delete(WriteOptions(), family, key));
}

Status RunBatchPut(const Invocation& call) {
  if (call.arguments.size() % 2 != 0) {
    return Status::InvalidArgument(
        StrCat("batchput needs pairs of key and value, found ", call.arguments.size(), " words"));
  }
  ASSIGN_OR_RETURN(const std::unique_ptr<OpenedDb> db, OpenForWriting(call));
  ASSIGN_OR_RETURN(ColumnFamilyHandle * family, db->Family(call.family));
  WriteBatch batch;
  for (size_t i = 0; i < call.arguments.size(); i += 2) {
    ASSIGN_OR_RETURN(const std::string key, call.KeyFrom(call.arguments[i]));
    ASSIGN_OR_RETURN(const std::string value, call.ValueFrom(call.arguments[i + 1]));
    RETURN_IF_ERROR(batch.Put(family, key, value));
  }
  return Written(db.get(), (*db)->Write(WriteOptions(), &batch));
}

}  // namespace ashlar
