// SPDX-License-Identifier: Apache-2.0
//
// Commands on given keys: get, put, delete, several of them at once, and those of wide columns.
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "ashlar/wide_columns.h"
#include "ashlar/write_batch.h"
#include "tools/ldb/arrow_lines.h"
#include "tools/ldb/command.h"
#include "tools/ldb/open_db.h"
#include "tools/lib/output.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

Status Written(OpenedDb* db, const Status& written) {
  const Status closed = db->Close();
  RETURN_IF_ERROR(written);
  RETURN_IF_ERROR(closed);
  PrintLine("OK");
  return Status::OK();
}

std::string ColumnsText(const Invocation& call, const WideColumns& columns) {
  std::string line;
  for (const WideColumn& column : columns) {
    StrAppend(&line, line.empty() ? "" : " ", column.name().ToString(call.hex_values), ":",
              column.value().ToString(call.hex_values));
  }
  return line;
}

// A line for each key, on stdout or, if there is none, on stderr; one that is missing does not keep
// the others back. `read` fills the statuses, `text` is what to print of one that was found.
template <typename Read, typename Text>
Status GetAll(const Invocation& call, Read read, Text text) {
  std::vector<std::string> keys;
  for (const std::string& argument : call.arguments) {
    ASSIGN_OR_RETURN(std::string key, call.KeyFrom(argument));
    keys.push_back(std::move(key));
  }
  ASSIGN_OR_RETURN(const std::unique_ptr<OpenedDb> db, OpenForReading(call));
  ASSIGN_OR_RETURN(ColumnFamilyHandle * family, db->Family(call.family));
  const std::vector<Slice> slices(keys.begin(), keys.end());
  std::vector<Status> statuses(keys.size());
  read(db->get(), family, slices, &statuses);
  size_t failures = 0;
  for (size_t i = 0; i < keys.size(); i++) {
    const std::string key = call.KeyText(keys[i]);
    if (statuses[i].ok()) {
      PrintLine(StrCat(key, kArrow, text(i)));
    } else {
      std::fprintf(stderr, "Status for key %s%s%s\n", key.c_str(), std::string(kArrow).c_str(),
                   statuses[i].ToString().c_str());
      failures++;
    }
  }
  if (failures == 0) return Status::OK();
  return Status::NotFound(StrCat(failures, " of ", keys.size(), " keys"));
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
  PrintLine(ColumnsText(call, found.columns()));
  return Status::OK();
}

Status RunMultiGet(const Invocation& call) {
  std::vector<PinnableSlice> values(call.arguments.size());
  return GetAll(
      call,
      [&](DB* db, ColumnFamilyHandle* family, const std::vector<Slice>& keys,
          std::vector<Status>* statuses) {
        db->MultiGet(ReadOptions(), family, keys.size(), keys.data(), values.data(),
                     statuses->data());
      },
      [&](size_t i) { return call.ValueText(values[i]); });
}

Status RunMultiGetEntity(const Invocation& call) {
  std::vector<PinnableWideColumns> values(call.arguments.size());
  return GetAll(
      call,
      [&](DB* db, ColumnFamilyHandle* family, const std::vector<Slice>& keys,
          std::vector<Status>* statuses) {
        db->MultiGetEntity(ReadOptions(), family, keys.size(), keys.data(), values.data(),
                           statuses->data());
      },
      [&](size_t i) { return ColumnsText(call, values[i].columns()); });
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

Status RunSingleDelete(const Invocation& call) {
  ASSIGN_OR_RETURN(const std::string key, call.KeyFrom(call.arguments[0]));
  ASSIGN_OR_RETURN(const std::unique_ptr<OpenedDb> db, OpenForWriting(call));
  ASSIGN_OR_RETURN(ColumnFamilyHandle * family, db->Family(call.family));
  return Written(db.get(), (*db)->SingleDelete(WriteOptions(), family, key));
}

Status RunDeleteRange(const Invocation& call) {
  ASSIGN_OR_RETURN(const std::string begin, call.KeyFrom(call.arguments[0]));
  ASSIGN_OR_RETURN(const std::string end, call.KeyFrom(call.arguments[1]));
  ASSIGN_OR_RETURN(const std::unique_ptr<OpenedDb> db, OpenForWriting(call));
  ASSIGN_OR_RETURN(ColumnFamilyHandle * family, db->Family(call.family));
  return Written(db.get(), (*db)->DeleteRange(WriteOptions(), family, begin, end));
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
