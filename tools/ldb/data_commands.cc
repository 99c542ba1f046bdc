// SPDX-License-Identifier: Apache-2.0
//
// Commands on given keys: get, put, delete, several keys at once, wide columns; explain, which
// shows where a read looks and what that costs; and query, which reads get, put and delete from
// standard input.
#include <cassert>
#include <cstdio>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "ashlar/explain.h"
#include "ashlar/wide_columns.h"
#include "ashlar/write_batch.h"
#include "tools/ldb/command.h"
#include "tools/ldb/open_db.h"
#include "tools/lib/console.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

// Ends a command that writes: `written` is the result of the write.
Status CloseAfterWrite(LdbDatabase* db, const Status& written) {
  assert(db != nullptr);
  // Closed in any case: the database must be left complete, whatever the write returned.
  const Status closed = db->Close();
  // The error of the write comes first, because that of the close is often its consequence.
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

// Prints a line for each key: on stdout if it was found, else on stderr. `read` gets the options
// for the family and fills the statuses; `text` returns the text to print for a key that was found,
// by its index.
template <typename Read, typename Text>
Status GetAll(const Invocation& call, Read read, Text text) {
  // Arguments are decoded before the database is opened, so a mistake in them changes nothing.
  std::vector<std::string> keys;
  for (const std::string& argument : call.arguments) {
    ASSIGN_OR_RETURN(std::string key, call.KeyFrom(argument));
    keys.push_back(std::move(key));
  }
  ASSIGN_OR_RETURN(const std::unique_ptr<LdbDatabase> db, OpenForReading(call));
  ASSIGN_OR_RETURN(ColumnFamilyHandle * family, db->Family(call.family));
  ASSIGN_OR_RETURN(const std::unique_ptr<FamilyReadOptions> reading, ReadOptionsFor(call, family));
  // The slices refer to `keys`, which does not change any more.
  const std::vector<Slice> slices(keys.begin(), keys.end());
  std::vector<Status> statuses(keys.size());
  read(db->get(), reading->options, family, slices, &statuses);
  assert(statuses.size() == slices.size());
  size_t failures = 0;
  for (size_t i = 0; i < keys.size(); i++) {
    const std::string key = call.KeyText(keys[i]);
    if (statuses[i].ok()) {
      PrintLine(StrCat(key, kArrow, text(i)));
      // On stderr, so that a script that reads the values is not disturbed by missing keys.
    } else {
      std::fprintf(stderr, "Status for key %s%s%s\n", key.c_str(), std::string(kArrow).c_str(),
                   statuses[i].ToString().c_str());
      failures++;
    }
  }
  if (failures == 0) return Status::OK();
  return Status::NotFound(StrCat(failures, " of ", keys.size(), " keys"));
}

// One call of `ldb query`. A command that fails prints its error, and the commands after it are
// still carried out.
class Session {
 public:
  // All outlive the object.
  Session(const Invocation& call, DB* db, ColumnFamilyHandle* family)
      : call_(call), db_(db), family_(family) {}

  // Carries out one line. False if the line ends the session.
  bool Run(const std::string& line) {
    std::istringstream input(line);
    std::vector<std::string> words;
    for (std::string word; input >> word;) words.push_back(word);
    if (words.empty()) return true;
    // A word that is not alone is no command, but may be a key.
    if (words.size() == 1 && (words[0] == "quit" || words[0] == "exit")) return false;
    if (words.size() == 1 && words[0] == "help") {
      PrintLine("get <key>\nput <key> <value>\ndelete <key>\nquit");
    } else if (words.size() == 2 && words[0] == "get") {
      Record(Get(words[1]));
    } else if (words.size() == 3 && words[0] == "put") {
      Record(Put(words[1], words[2]));
    } else if (words.size() == 2 && words[0] == "delete") {
      Record(Delete(words[1]));
    } else {
      PrintLine(StrCat("Unknown command ", line));
    }
    return true;
  }
  // The first error.
  const Status& status() const { return status_; }

 private:
  // Get() has already printed a line for a key that was not found.
  void Record(const Status& status) {
    if (!status.ok() && !status.IsNotFound()) PrintLine(status.ToString());
    // The first error counts for the exit code, as the later ones may follow from it.
    if (status_.ok()) status_ = status;
  }
  Status Get(const std::string& text) {
    ASSIGN_OR_RETURN(const std::string key, call_.KeyFrom(text));
    PinnableSlice value;
    const Status status = db_->Get(ReadOptions(), family_, key, &value);
    if (status.IsNotFound()) {
      PrintLine(StrCat("Not found ", text));
      return Status::NotFound(StrCat("key ", text));
    }
    if (status.ok()) PrintLine(StrCat(call_.KeyText(key), " ==> ", call_.ValueText(value)));
    return status;
  }
  Status Put(const std::string& key_text, const std::string& value_text) {
    ASSIGN_OR_RETURN(const std::string key, call_.KeyFrom(key_text));
    ASSIGN_OR_RETURN(const std::string value, call_.ValueFrom(value_text));
    RETURN_IF_ERROR(db_->Put(WriteOptions(), family_, key, value));
    PrintLine(StrCat("Successfully put ", key_text, " ", value_text));
    return Status::OK();
  }
  Status Delete(const std::string& text) {
    ASSIGN_OR_RETURN(const std::string key, call_.KeyFrom(text));
    RETURN_IF_ERROR(db_->Delete(WriteOptions(), family_, key));
    PrintLine(StrCat("Successfully deleted ", text));
    return Status::OK();
  }

  const Invocation& call_;
  DB* const db_;
  ColumnFamilyHandle* const family_;
  Status status_;
};

}  // namespace

Status RunGet(const Invocation& call) {
  ASSIGN_OR_RETURN(const std::string key, call.KeyFrom(call.arguments[0]));
  ASSIGN_OR_RETURN(const std::unique_ptr<LdbDatabase> db, OpenForReading(call));
  ASSIGN_OR_RETURN(ColumnFamilyHandle * family, db->Family(call.family));
  ASSIGN_OR_RETURN(const std::unique_ptr<FamilyReadOptions> reading, ReadOptionsFor(call, family));
  PinnableSlice value;
  const Status status = (*db)->Get(reading->options, family, key, &value);
  if (status.IsNotFound()) return Status::NotFound(StrCat("key ", call.KeyText(key)));
  RETURN_IF_ERROR(status);
  PrintLine(call.ValueText(value));
  return Status::OK();
}

Status RunPut(const Invocation& call) {
  ASSIGN_OR_RETURN(const std::string key, call.KeyFrom(call.arguments[0]));
  ASSIGN_OR_RETURN(const std::string value, call.ValueFrom(call.arguments[1]));
  ASSIGN_OR_RETURN(const std::unique_ptr<LdbDatabase> db, OpenForWriting(call));
  ASSIGN_OR_RETURN(ColumnFamilyHandle * family, db->Family(call.family));
  return CloseAfterWrite(db.get(), (*db)->Put(WriteOptions(), family, key, value));
}

Status RunGetEntity(const Invocation& call) {
  ASSIGN_OR_RETURN(const std::string key, call.KeyFrom(call.arguments[0]));
  ASSIGN_OR_RETURN(const std::unique_ptr<LdbDatabase> db, OpenForReading(call));
  ASSIGN_OR_RETURN(ColumnFamilyHandle * family, db->Family(call.family));
  ASSIGN_OR_RETURN(const std::unique_ptr<FamilyReadOptions> reading, ReadOptionsFor(call, family));
  PinnableWideColumns found;
  const Status status = (*db)->GetEntity(reading->options, family, key, &found);
  if (status.IsNotFound()) return Status::NotFound(StrCat("key ", call.KeyText(key)));
  RETURN_IF_ERROR(status);
  PrintLine(ColumnsText(call, found.columns()));
  return Status::OK();
}

Status RunMultiGet(const Invocation& call) {
  std::vector<PinnableSlice> values(call.arguments.size());
  return GetAll(
      call,
      [&](DB* db, const ReadOptions& options, ColumnFamilyHandle* family,
          const std::vector<Slice>& keys, std::vector<Status>* statuses) {
        assert(statuses != nullptr);
        db->MultiGet(options, family, keys.size(), keys.data(), values.data(), statuses->data());
      },
      [&](size_t i) { return call.ValueText(values[i]); });
}

Status RunMultiGetEntity(const Invocation& call) {
  std::vector<PinnableWideColumns> values(call.arguments.size());
  return GetAll(
      call,
      [&](DB* db, const ReadOptions& options, ColumnFamilyHandle* family,
          const std::vector<Slice>& keys, std::vector<Status>* statuses) {
        assert(statuses != nullptr);
        db->MultiGetEntity(options, family, keys.size(), keys.data(), values.data(),
                           statuses->data());
      },
      [&](size_t i) { return ColumnsText(call, values[i].columns()); });
}

Status RunPutEntity(const Invocation& call) {
  ASSIGN_OR_RETURN(const std::string key, call.KeyFrom(call.arguments[0]));
  // Owns the bytes to which the columns refer.
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
  ASSIGN_OR_RETURN(const std::unique_ptr<LdbDatabase> db, OpenForWriting(call));
  ASSIGN_OR_RETURN(ColumnFamilyHandle * family, db->Family(call.family));
  return CloseAfterWrite(db.get(), (*db)->PutEntity(WriteOptions(), family, key, columns));
}

Status RunDelete(const Invocation& call) {
  ASSIGN_OR_RETURN(const std::string key, call.KeyFrom(call.arguments[0]));
  ASSIGN_OR_RETURN(const std::unique_ptr<LdbDatabase> db, OpenForWriting(call));
  ASSIGN_OR_RETURN(ColumnFamilyHandle * family, db->Family(call.family));
  return CloseAfterWrite(db.get(), (*db)->Delete(WriteOptions(), family, key));
}

Status RunSingleDelete(const Invocation& call) {
  ASSIGN_OR_RETURN(const std::string key, call.KeyFrom(call.arguments[0]));
  ASSIGN_OR_RETURN(const std::unique_ptr<LdbDatabase> db, OpenForWriting(call));
  ASSIGN_OR_RETURN(ColumnFamilyHandle * family, db->Family(call.family));
  return CloseAfterWrite(db.get(), (*db)->SingleDelete(WriteOptions(), family, key));
}

Status RunDeleteRange(const Invocation& call) {
  ASSIGN_OR_RETURN(const std::string begin, call.KeyFrom(call.arguments[0]));
  ASSIGN_OR_RETURN(const std::string end, call.KeyFrom(call.arguments[1]));
  ASSIGN_OR_RETURN(const std::unique_ptr<LdbDatabase> db, OpenForWriting(call));
  ASSIGN_OR_RETURN(ColumnFamilyHandle * family, db->Family(call.family));
  return CloseAfterWrite(db.get(), (*db)->DeleteRange(WriteOptions(), family, begin, end));
}

// All pairs are written by one batch, so either all or none of them are there after a crash.
Status RunBatchPut(const Invocation& call) {
  if (call.arguments.size() % 2 != 0) {
    return Status::InvalidArgument(
        StrCat("batchput needs pairs of key and value, found ", call.arguments.size(), " words"));
  }
  ASSIGN_OR_RETURN(const std::unique_ptr<LdbDatabase> db, OpenForWriting(call));
  ASSIGN_OR_RETURN(ColumnFamilyHandle * family, db->Family(call.family));
  WriteBatch batch;
  for (size_t i = 0; i < call.arguments.size(); i += 2) {
    ASSIGN_OR_RETURN(const std::string key, call.KeyFrom(call.arguments[i]));
    ASSIGN_OR_RETURN(const std::string value, call.ValueFrom(call.arguments[i + 1]));
    RETURN_IF_ERROR(batch.Put(family, key, value));
  }
  return CloseAfterWrite(db.get(), (*db)->Write(WriteOptions(), &batch));
}

// Prints where a read looked and what it found there. Exactly one of the three flags names the
// read.
Status RunExplain(const Invocation& call) {
  using Explain = decltype(&ExplainGet);
  Explain explain = nullptr;
  std::string argument;
  int reads = 0;
  for (const auto& [flag, function] : {std::pair<const char*, Explain>{"key", &ExplainGet},
                                       {"seek", &ExplainSeek},
                                       {"seek_for_prev", &ExplainSeekForPrev}}) {
    const auto value = call.line->Value(flag);
    if (!value.has_value()) continue;
    explain = function;
    argument = *value;
    ++reads;
  }
  if (reads != 1) {
    return Status::InvalidArgument(
        "explain needs one of --key=<key>, --seek=<key> and --seek_for_prev=<key>");
  }
  assert(explain != nullptr);
  ASSIGN_OR_RETURN(const std::string key, call.KeyFrom(argument));
  ASSIGN_OR_RETURN(const std::unique_ptr<LdbDatabase> db, OpenForReading(call));
  ASSIGN_OR_RETURN(ColumnFamilyHandle * family, db->Family(call.family));
  ASSIGN_OR_RETURN(const std::unique_ptr<FamilyReadOptions> reading, ReadOptionsFor(call, family));
  ReadExplanation explanation;
  RETURN_IF_ERROR(explain(db->get(), reading->options, family, key, &explanation));
  Print(explanation.ToString());
  return Status::OK();
}

// Reads commands from standard input until its end, with one open database.
Status RunQuery(const Invocation& call) {
  ASSIGN_OR_RETURN(const std::unique_ptr<LdbDatabase> db, OpenForWriting(call));
  ASSIGN_OR_RETURN(ColumnFamilyHandle * family, db->Family(call.family));
  Session session(call, db->get(), family);
  for (std::string line; ReadInputLine(&line) && session.Run(line);) {
    RETURN_IF_ERROR(FlushOutput());  // the writer of the line may wait for the answer
  }
  // An error while reading the input must not look like the end of the input.
  const Status read = InputStatus();
  const Status closed = db->Close();
  if (!session.status().ok()) return session.status();
  return read.ok() ? closed : read;
}

}  // namespace ashlar
