// SPDX-License-Identifier: Apache-2.0
//
// Commands on single keys: get, put, delete, batchput.
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
