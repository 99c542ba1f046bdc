// SPDX-License-Identifier: Apache-2.0
//
// ldb query: reads commands from standard input, a line each, and answers each at once. The
// database is open for writing all the time. What fails is said where it fails, and the rest is
// carried out; the exit code then is 1.
#include <sstream>

#include "tools/ldb/command.h"
#include "tools/ldb/open_db.h"
#include "tools/lib/input.h"
#include "tools/lib/output.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

// One call of the command.
class Session {
 public:
  // All outlive the object.
  Session(const Invocation& call, DB* db, ColumnFamilyHandle* family)
      : call_(call), db_(db), family_(family) {}

  // False: the line asks for the end.
  bool Run(const std::string& line) {
    std::istringstream input(line);
    std::vector<std::string> words;
    for (std::string word; input >> word;) words.push_back(word);
    if (words.empty()) return true;
    if (words.size() == 1 && (words[0] == "quit" || words[0] == "exit")) return false;
    if (words.size() == 1 && words[0] == "help") {
      PrintLine("get <key>\nput <key> <value>\ndelete <key>\nquit");
    } else if (words.size() == 2 && words[0] == "get") {
      Check(Get(words[1]));
    } else if (words.size() == 3 && words[0] == "put") {
      Check(Put(words[1], words[2]));
    } else if (words.size() == 2 && words[0] == "delete") {
      Check(Delete(words[1]));
    } else {
      PrintLine(StrCat("Unknown command ", line));
    }
    return true;
  }
  // The first thing that failed.
  const Status& status() const { return status_; }

 private:
  // An answer of its own has been printed for keys that are not there.
  void Check(const Status& status) {
    if (!status.ok() && !status.IsNotFound()) PrintLine(status.ToString());
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

Status RunQuery(const Invocation& call) {
  ASSIGN_OR_RETURN(const std::unique_ptr<OpenedDb> db, OpenForWriting(call));
  ASSIGN_OR_RETURN(ColumnFamilyHandle * family, db->Family(call.family));
  Session session(call, db->get(), family);
  for (std::string line; ReadInputLine(&line) && session.Run(line);) {
    RETURN_IF_ERROR(FlushOutput());  // whoever asks waits for the answer
  }
  const Status read = InputStatus();
  const Status closed = db->Close();
  if (!session.status().ok()) return session.status();
  return read.ok() ? closed : read;
}

}  // namespace ashlar
