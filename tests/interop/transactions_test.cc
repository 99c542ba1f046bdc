// SPDX-License-Identifier: Apache-2.0
//
// Logs of transactions that we write and RocksDB replays, and the other way round, under each write
// policy: decided ones, prepared ones, and ones that were running when the process ended. Skipped
// without RocksDB's library.
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "ashlar/convenience.h"
#include "ashlar/merge_operator.h"
#include "ashlar/utilities/transaction.h"
#include "ashlar/utilities/transaction_db.h"
#include "tests/interop/utilities_theirs.h"
#include "tests/support/status_matchers.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

// A merge operator that never makes a value.
class NoMerge final : public MergeOperator {
 public:
  const char* Name() const override { return "StringAppendOperator"; }
};

// The words of `utilities_theirs txn-POLICY`, on our database. Write-unprepared transactions write
// out each update before the next one.
class OurTransactions {
 public:
  OurTransactions(const std::string& dir, TxnDBWritePolicy policy, bool merges = true) {
    Options options;
    options.create_if_missing = true;
    options.disable_auto_compactions = true;
    options.write_compatible_with = "7.8";
    EXPECT_OK(
        MergeOperator::CreateFromString(ConfigOptions(), "stringappend", &options.merge_operator));
    if (!merges) options.merge_operator = std::make_shared<NoMerge>();
    TransactionDBOptions locking;
    locking.write_policy = policy;
    locking.default_write_batch_flush_threshold = 1;
    TransactionDB* opened = nullptr;
    EXPECT_OK(TransactionDB::Open(options, locking, dir, &opened));
    db_.reset(opened);
  }

  // The files stay as they are while the directory is copied.
  void KeepFiles() { EXPECT_OK(db_->DisableFileDeletions()); }
  // What the words "rows" and "prepared" show.
  std::string Run(const std::string& script) {
    std::istringstream words(script);
    std::string shown;
    for (std::string word; words >> word;) {
      if (word == "rows") {
        shown += Rows();
      } else if (word == "prepared") {
        shown += Prepared();
      } else if (word == "flush") {
        EXPECT_OK(db_->Flush({}));
      } else {
        std::string name, key, value;
        words >> name;
        if (word == "put" || word == "merge") words >> key >> value;
        if (word == "delete") words >> key;
        EXPECT_OK(Call(word, name, key, value)) << word << " " << name;
      }
    }
    return shown;
  }

 private:
  Transaction* Of(const std::string& name) {
    if (Transaction* const known = db_->GetTransactionByName(name)) return known;
    auto& transaction = open_[name];
    transaction.reset(db_->BeginTransaction(WriteOptions()));
    EXPECT_OK(transaction->SetName(name));
    return transaction.get();
  }
  Status Call(const std::string& word, const std::string& name, const std::string& key,
              const std::string& value) {
    if (name == "-") return db_->Put({}, key, value);
    Transaction* const transaction = Of(name);
    if (word == "put") return transaction->Put(key, value);
    if (word == "merge") return transaction->Merge(key, value);
    if (word == "delete") return transaction->Delete(key);
    if (word == "prepare") return transaction->Prepare();
    if (word == "commit") return transaction->Commit();
    if (word == "rollback") return transaction->Rollback();
    if (word == "back") return transaction->RollbackToSavePoint();
    if (word != "savepoint") return Status::InvalidArgument(word);
    transaction->SetSavePoint();
    return Status::OK();
  }
  std::string Rows() {
    std::string rows;
    const std::unique_ptr<Iterator> it(db_->NewIterator({}));
    for (it->SeekToFirst(); it->Valid(); it->Next()) {
      StrAppend(&rows, it->key().ToString(), " ", it->value().ToString(), "\n");
    }
    EXPECT_OK(it->status());
    return rows;
  }
  std::string Prepared() {
    std::vector<Transaction*> prepared;
    db_->GetAllPreparedTransactions(&prepared);
    std::string names = "prepared:";
    for (const Transaction* transaction : prepared) StrAppend(&names, " ", transaction->GetName());
    return names + "\n";
  }

  std::unique_ptr<TransactionDB> db_;
  std::map<std::string, std::unique_ptr<Transaction>> open_;  // they end before db_
};

class TransactionsInterop : public UtilitiesInterop,
                            public testing::WithParamInterface<TxnDBWritePolicy> {
 protected:
  TransactionsInterop() : UtilitiesInterop("transactions_interop") {}

  // db_dir_ becomes what our process would leave if it was killed behind these words.
  void WriteOurs(const std::string& script, bool merges = true) {
    const std::string running = dir_ + "/running";
    std::filesystem::remove_all(running);
    if (std::filesystem::exists(db_dir_)) std::filesystem::rename(db_dir_, running);
    OurTransactions ours(running, GetParam(), merges);
    ours.Run(script);
    ours.KeepFiles();
    CopyRunning(running);
  }
  // Copies the files of an open database. Temporary ones may get their names meanwhile.
  void CopyRunning(const std::string& running) {
    std::filesystem::create_directory(db_dir_);
    for (const auto& entry : std::filesystem::directory_iterator(running)) {
      std::error_code error;
      std::filesystem::copy_file(entry.path(), db_dir_ + "/" + entry.path().filename().string(),
                                 error);
      EXPECT_TRUE(!error || error == std::errc::no_such_file_or_directory) << entry.path();
    }
  }
  std::string Ours(const std::string& script, bool merges = true) {
    return OurTransactions(db_dir_, GetParam(), merges).Run(script);
  }
  std::string RunTxn(const std::string& script) {
    switch (GetParam()) {
      case WRITE_COMMITTED: return Theirs("txn-committed", script);
      case WRITE_PREPARED: return Theirs("txn-prepared", script);
      default: return Theirs("txn-unprepared", script);
    }
  }
};

// Everything that can be in a log, with several parts of each transaction.
constexpr char kDecided[] =
    "put - a 0 put - b 0 put - m 0 "
    "put c1 a 1 put c1 b 1 put c1 a 2 commit c1 "
    "put c2 c 1 merge c2 m 1 put c2 d 1 prepare c2 commit c2 "
    "put r1 a 9 put r1 x 9 put r1 y 9 rollback r1 "
    "put r2 b 9 delete r2 c put r2 x 9 prepare r2 rollback r2 "
    "put s e 1 savepoint s put s e 9 put s x 9 put s y 9 back s put s f 1 commit s ";
constexpr char kDecidedRows[] = "a 2\nb 1\nc 1\nd 1\ne 1\nf 1\nm 0,1\n";
constexpr char kUndecided[] = "put u a 9 put u x 9 delete u b put u x 8 ";
constexpr char kPrepared[] = "put p f 3 put p z 3 put p f 4 prepare p ";

TEST_P(TransactionsInterop, RocksDbReplaysOurDecisions) {
  for (const char* const end : {"", "flush "}) {
    WriteOurs(StrCat(kDecided, end));
    EXPECT_EQ(RunTxn("prepared rows put - n 1 kill"), StrCat("prepared:\n", kDecidedRows));
    EXPECT_EQ(Ours("prepared rows"), StrCat("prepared:\n", kDecidedRows, "n 1\n"));
    std::filesystem::remove_all(db_dir_);
  }
}

TEST_P(TransactionsInterop, RocksDbRollsBackWhatWasRunning) {
  WriteOurs(StrCat(kDecided, kUndecided, "put v d 9 put v e 9 put v w 9 "));
  EXPECT_EQ(RunTxn("prepared rows"), StrCat("prepared:\n", kDecidedRows));
  EXPECT_EQ(RunTxn("prepared rows"), StrCat("prepared:\n", kDecidedRows));
  EXPECT_EQ(Ours("prepared rows"), StrCat("prepared:\n", kDecidedRows));
}

TEST_P(TransactionsInterop, RocksDbDecidesWhatWePrepared) {
  for (const bool is_committed : {true, false}) {
    WriteOurs(StrCat(kDecided, kPrepared));
    EXPECT_EQ(RunTxn("prepared rows kill"), StrCat("prepared: p\n", kDecidedRows));
    const std::string rows =
        is_committed ? "a 2\nb 1\nc 1\nd 1\ne 1\nf 4\nm 0,1\nz 3\n" : kDecidedRows;
    EXPECT_EQ(RunTxn(is_committed ? "commit p rows kill" : "rollback p rows kill"), rows);
    EXPECT_EQ(RunTxn("prepared rows"), "prepared:\n" + rows);
    EXPECT_EQ(Ours("prepared rows"), "prepared:\n" + rows);
    std::filesystem::remove_all(db_dir_);
  }
}

// What cannot be merged comes back operand by operand, in a batch that has its key several times.
TEST_P(TransactionsInterop, RocksDbReplaysRollbacksOfWhatWeCannotMerge) {
  const std::string values = "put - m 0 merge c m 1 merge c m 2 merge c n 1 commit c put - k 0 ";
  const std::string undone = "put u m 9 put u n 9 put u k 9 put u x 9 ";
  const std::string rows = "k 0\nl 0\nm 0,1,2\nn 1\n";
  for (const std::string end : {"prepare u rollback u ", "flush prepare u rollback u "}) {
    WriteOurs(StrCat(values, undone, end, "put - l 0 "), /*merges=*/false);
    EXPECT_EQ(RunTxn("prepared rows"), "prepared:\n" + rows) << end;
    EXPECT_EQ(Ours("prepared rows"), "prepared:\n" + rows) << end;
    std::filesystem::remove_all(db_dir_);
  }
  WriteOurs(StrCat(values, undone), /*merges=*/false);
  Ours("put - l 0 ", /*merges=*/false);
  EXPECT_EQ(RunTxn("prepared rows"), "prepared:\n" + rows);
  EXPECT_EQ(Ours("prepared rows"), "prepared:\n" + rows);
}

TEST_P(TransactionsInterop, WeReplayDecisionsOfRocksDb) {
  for (const char* const end : {"kill", "flush kill", ""}) {
    RunTxn(StrCat(kDecided, end));
    EXPECT_EQ(Ours("prepared rows put - n 1"), StrCat("prepared:\n", kDecidedRows)) << end;
    EXPECT_EQ(RunTxn("prepared rows"), StrCat("prepared:\n", kDecidedRows, "n 1\n")) << end;
    std::filesystem::remove_all(db_dir_);
  }
}

TEST_P(TransactionsInterop, WeRollBackWhatWasRunningInRocksDb) {
  for (const char* const end : {"kill", "flush kill"}) {
    RunTxn(StrCat(kDecided, kUndecided, "put v d 9 put v e 9 put v w 9 ", kPrepared, end));
    EXPECT_EQ(Ours("prepared rows"), StrCat("prepared: p\n", kDecidedRows)) << end;
    EXPECT_EQ(Ours("prepared commit p rows"),
              "prepared: p\na 2\nb 1\nc 1\nd 1\ne 1\nf 4\nm 0,1\nz 3\n")
        << end;
    EXPECT_EQ(RunTxn("prepared rows"), "prepared:\na 2\nb 1\nc 1\nd 1\ne 1\nf 4\nm 0,1\nz 3\n")
        << end;
    std::filesystem::remove_all(db_dir_);
  }
}

TEST_P(TransactionsInterop, WeRollBackWhatRocksDbPrepared) {
  RunTxn(StrCat(kDecided, kPrepared, "flush kill"));
  EXPECT_EQ(Ours("rollback p rows"), kDecidedRows);
  EXPECT_EQ(Ours("prepared rows"), StrCat("prepared:\n", kDecidedRows));
  EXPECT_EQ(RunTxn("prepared rows"), StrCat("prepared:\n", kDecidedRows));
}

// Hundreds of updates in each transaction; write-unprepared ones have as many parts.
TEST_P(TransactionsInterop, LargeTransactionsGoBothWays) {
  constexpr int kKeys = 300;
  const auto puts = [](const std::string& name, const std::string& value) {
    std::string script;
    for (int i = 0; i < kKeys; i++)
      StrAppend(&script, "put ", name, " k", 1000 + i, " ", value, " ");
    return script;
  };
  const auto rows = [](const std::string& value) {
    std::string text;
    for (int i = 0; i < kKeys; i++) StrAppend(&text, "k", 1000 + i, " ", value, "\n");
    return text;
  };
  const std::string decided =
      StrCat(puts("c", "1"), "commit c ", puts("r", "2"), "rollback r ", puts("p", "3"));
  for (const bool is_prepared : {true, false}) {
    const std::string script = StrCat(decided, is_prepared ? "prepare p " : "");
    const std::string name = is_prepared ? " p" : "";
    const std::string end = is_prepared ? "commit p " : "";
    const std::string after = rows(is_prepared ? "3" : "1");
    WriteOurs(script);
    EXPECT_EQ(RunTxn("prepared rows kill"), StrCat("prepared:", name, "\n", rows("1")));
    EXPECT_EQ(RunTxn(end + "rows kill"), after);
    EXPECT_EQ(Ours("prepared rows"), "prepared:\n" + after);
    std::filesystem::remove_all(db_dir_);
    RunTxn(script + "kill");
    EXPECT_EQ(Ours("prepared rows"), StrCat("prepared:", name, "\n", rows("1")));
    EXPECT_EQ(Ours(end + "rows"), after);
    EXPECT_EQ(RunTxn("prepared rows"), "prepared:\n" + after);
    std::filesystem::remove_all(db_dir_);
  }
}

INSTANTIATE_TEST_SUITE_P(Policies, TransactionsInterop,
                         testing::Values(WRITE_COMMITTED, WRITE_PREPARED, WRITE_UNPREPARED));

}  // namespace
}  // namespace ashlar
