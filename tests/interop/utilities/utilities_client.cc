// SPDX-License-Identifier: Apache-2.0
//
// Utilities of RocksDB itself, for the tests in tests/interop: linked with the installed RocksDB,
// it knows nothing of Ashlar.
//
//   utilities_theirs ttl-put DB TTL KEY VALUE ...     ttl-merge DB TTL KEY OPERAND ...
//   utilities_theirs ttl-rows DB                      ttl-compact DB TTL
//   utilities_theirs dump DB FILE [anonymous]         undump FILE DB
//   utilities_theirs crypt-put DB KEY VALUE ...       crypt-rows DB
//   utilities_theirs stamps DB put KEY TS VALUE delete KEY TS range BEGIN END TS ...
//       more words: flush, compact, low TS, rows TS, versions FROM TO
//   utilities_theirs txn-POLICY DB put NAME KEY VALUE commit NAME ...
//       more words: merge NAME KEY OPERAND, delete NAME KEY, savepoint NAME, back NAME, prepare
//       NAME, rollback NAME, flush, rows, prepared (the names), kill (end without closing)
//
// POLICY of `txn` is committed, prepared or unprepared; if unprepared, every update writes out the
// one before. The name "-" means the database itself.
//
// The databases of `stamps` have 64-bit timestamps and no merge operator. Its rows are printed as
// "key value@timestamp", or "none" instead of nothing.
//
// Databases have the merge operator stringappend. Rows are printed as "key value". The crypt
// commands use the CTR provider with the cipher ROT13 of block size 32. Exit code 1 and the status
// if something failed.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "rocksdb/comparator.h"
#include "rocksdb/convenience.h"
#include "rocksdb/db.h"
#include "rocksdb/db_dump_tool.h"
#include "rocksdb/env.h"
#include "rocksdb/env_encryption.h"
#include "rocksdb/merge_operator.h"
#include "rocksdb/options.h"
#include "rocksdb/utilities/db_ttl.h"
#include "rocksdb/utilities/transaction.h"
#include "rocksdb/utilities/transaction_db.h"

namespace {

using rocksdb::DB;
using rocksdb::DBWithTTL;
using rocksdb::Options;
using rocksdb::Status;

void Require(const Status& status, const char* what) {
  if (status.ok()) return;
  std::cout << what << ": " << status.ToString() << "\n";
  std::exit(1);
}

Options DbOptions() {
  Options options;
  options.create_if_missing = true;
  options.disable_auto_compactions = true;
  Require(rocksdb::MergeOperator::CreateFromString(rocksdb::ConfigOptions(), "stringappend",
                                                   &options.merge_operator),
          "merge operator");
  return options;
}

void PrintRows(DB* db) {
  std::unique_ptr<rocksdb::Iterator> it(db->NewIterator(rocksdb::ReadOptions()));
  for (it->SeekToFirst(); it->Valid(); it->Next()) {
    std::cout << it->key().ToString() << " " << it->value().ToString() << "\n";
  }
  Require(it->status(), "iterate");
}

std::unique_ptr<DBWithTTL> OpenTtl(const std::string& dir, int ttl) {
  DBWithTTL* db = nullptr;
  Require(DBWithTTL::Open(DbOptions(), dir, &db, ttl), "open");
  return std::unique_ptr<DBWithTTL>(db);
}

void Write(DB* db, bool merges, const std::vector<std::string>& pairs, size_t from) {
  for (size_t i = from; i + 1 < pairs.size(); i += 2) {
    Require(merges ? db->Merge(rocksdb::WriteOptions(), pairs[i], pairs[i + 1])
                   : db->Put(rocksdb::WriteOptions(), pairs[i], pairs[i + 1]),
            "write");
  }
}

class Encrypted {
 public:
  Encrypted() {
    Require(rocksdb::EncryptionProvider::CreateFromString(rocksdb::ConfigOptions(), "CTR://test",
                                                          &provider_),
            "provider");
    env_.reset(rocksdb::NewEncryptedEnv(rocksdb::Env::Default(), provider_));
  }
  std::unique_ptr<DB> Open(const std::string& dir) {
    Options options = DbOptions();
    options.env = env_.get();
    DB* db = nullptr;
    Require(DB::Open(options, dir, &db), "open");
    return std::unique_ptr<DB>(db);
  }

 private:
  std::shared_ptr<rocksdb::EncryptionProvider> provider_;
  std::unique_ptr<rocksdb::Env> env_;
};

std::string Stamp(uint64_t number) {
  std::string bytes;
  for (int i = 0; i < 8; i++) bytes += static_cast<char>(number >> (8 * i));
  return bytes;
}

uint64_t NumberOf(const rocksdb::Slice& stamp) {
  uint64_t number = 0;
  for (size_t i = stamp.size(); i-- > 0;) {
    number = number << 8 | static_cast<unsigned char>(stamp[i]);
  }
  return number;
}

void PrintStamped(DB* db, const std::string* from, const std::string& to) {
  rocksdb::ReadOptions read;
  const rocksdb::Slice upper = to, lower = from == nullptr ? rocksdb::Slice() : *from;
  read.timestamp = &upper;
  if (from != nullptr) read.iter_start_ts = &lower;
  const std::unique_ptr<rocksdb::Iterator> it(db->NewIterator(read));
  bool is_empty = true;
  for (it->SeekToFirst(); it->Valid(); it->Next()) {
    is_empty = false;
    std::string key = it->key().ToString();
    std::string kind;
    if (from != nullptr) {
      kind = "/" + std::to_string(static_cast<int>(key[key.size() - 8]));
      key.resize(key.size() - 16);
    }
    std::cout << key << " " << it->value().ToString() << "@" << NumberOf(it->timestamp()) << kind
              << "\n";
  }
  Require(it->status(), "iterate");
  if (is_empty) std::cout << "none\n";
}

void RunStamps(const std::vector<std::string>& words) {
  Options options;
  options.create_if_missing = true;
  options.disable_auto_compactions = true;
  Require(rocksdb::Comparator::CreateFromString(
              rocksdb::ConfigOptions(), "leveldb.BytewiseComparator.u64ts", &options.comparator),
          "comparator");
  DB* opened = nullptr;
  Require(DB::Open(options, words[0], &opened), "open");
  const std::unique_ptr<DB> db(opened);
  for (size_t i = 1; i < words.size();) {
    const std::string& word = words[i++];
    const auto next = [&] { return words.at(i++); };
    const auto next_stamp = [&] { return Stamp(std::strtoull(next().c_str(), nullptr, 10)); };
    const rocksdb::WriteOptions write;
    if (word == "put") {
      const std::string key = next(), stamp = next_stamp(), value = next();
      Require(db->Put(write, key, stamp, value), "put");
    } else if (word == "delete") {
      const std::string key = next(), stamp = next_stamp();
      Require(db->Delete(write, key, stamp), "delete");
    } else if (word == "range") {
      const std::string begin = next(), end = next(), stamp = next_stamp();
      Require(db->DeleteRange(write, db->DefaultColumnFamily(), begin, end, stamp), "range");
    } else if (word == "flush") {
      Require(db->Flush(rocksdb::FlushOptions()), "flush");
    } else if (word == "low") {
      Require(db->IncreaseFullHistoryTsLow(db->DefaultColumnFamily(), next_stamp()), "low");
    } else if (word == "compact") {
      rocksdb::CompactRangeOptions all;
      all.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForce;
      Require(db->CompactRange(all, nullptr, nullptr), "compact");
    } else if (word == "rows") {
      PrintStamped(db.get(), nullptr, next_stamp());
    } else if (word == "versions") {
      const std::string from = next_stamp(), to = next_stamp();
      PrintStamped(db.get(), &from, to);
    }
  }
}

class Transactions {
 public:
  Transactions(const std::string& dir, rocksdb::TxnDBWritePolicy policy) {
    rocksdb::TransactionDBOptions locking;
    locking.write_policy = policy;
    locking.default_write_batch_flush_threshold = 1;
    rocksdb::TransactionDB* opened = nullptr;
    Require(rocksdb::TransactionDB::Open(DbOptions(), locking, dir, &opened), "open");
    db_.reset(opened);
  }

  void Run(const std::vector<std::string>& words, size_t from) {
    for (size_t i = from; i < words.size();) {
      const std::string word = words[i++];
      const auto next = [&] { return words[i++]; };
      if (word == "rows") {
        PrintRows(db_.get());
      } else if (word == "flush") {
        Require(db_->Flush(rocksdb::FlushOptions()), "flush");
      } else if (word == "prepared") {
        PrintPrepared();
      } else if (word == "kill") {
        std::cout.flush();
        _exit(0);
      } else if (word == "put" || word == "merge") {
        const std::string name = next(), key = next(), value = next();
        Require(Update(word, name, key, value), word.c_str());
      } else if (word == "delete") {
        const std::string name = next(), key = next();
        Require(Of(name)->Delete(key), "delete");
      } else {
        Require(Call(word, next()), word.c_str());
      }
    }
  }

 private:
  rocksdb::Transaction* Of(const std::string& name) {
    if (rocksdb::Transaction* const known = db_->GetTransactionByName(name)) return known;
    auto& transaction = open_[name];
    transaction.reset(db_->BeginTransaction(rocksdb::WriteOptions()));
    Require(transaction->SetName(name), "name");
    return transaction.get();
  }
  Status Update(const std::string& word, const std::string& name, const std::string& key,
                const std::string& value) {
    if (name == "-") return db_->Put(rocksdb::WriteOptions(), key, value);
    return word == "put" ? Of(name)->Put(key, value) : Of(name)->Merge(key, value);
  }
  Status Call(const std::string& word, const std::string& name) {
    rocksdb::Transaction* const transaction = Of(name);
    if (word == "prepare") return transaction->Prepare();
    if (word == "commit") return transaction->Commit();
    if (word == "rollback") return transaction->Rollback();
    if (word == "back") return transaction->RollbackToSavePoint();
    if (word != "savepoint") return Status::InvalidArgument(word);
    transaction->SetSavePoint();
    return Status::OK();
  }
  void PrintPrepared() {
    std::vector<rocksdb::Transaction*> prepared;
    db_->GetAllPreparedTransactions(&prepared);
    std::cout << "prepared:";
    for (const rocksdb::Transaction* transaction : prepared) {
      std::cout << " " << transaction->GetName();
    }
    std::cout << "\n";
  }

  std::unique_ptr<rocksdb::TransactionDB> db_;
  std::map<std::string, std::unique_ptr<rocksdb::Transaction>> open_;  // they end before db_
};

bool RunTransactions(const std::string& command, const std::vector<std::string>& words) {
  const std::map<std::string, rocksdb::TxnDBWritePolicy> policies{
      {"txn-committed", rocksdb::WRITE_COMMITTED},
      {"txn-prepared", rocksdb::WRITE_PREPARED},
      {"txn-unprepared", rocksdb::WRITE_UNPREPARED}};
  const auto policy = policies.find(command);
  if (policy == policies.end()) return false;
  Transactions(words[0], policy->second).Run(words, 1);
  return true;
}

bool RunTtl(const std::string& command, const std::vector<std::string>& words) {
  if (command == "ttl-put" || command == "ttl-merge") {
    const auto db = OpenTtl(words[0], std::atoi(words[1].c_str()));
    Write(db.get(), command == "ttl-merge", words, 2);
  } else if (command == "ttl-rows") {
    PrintRows(OpenTtl(words[0], 0).get());
  } else if (command == "ttl-compact") {
    const auto db = OpenTtl(words[0], std::atoi(words[1].c_str()));
    rocksdb::CompactRangeOptions all;
    all.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForce;
    Require(db->CompactRange(all, nullptr, nullptr), "compact");
  } else {
    return false;
  }
  return true;
}

int Run(const std::string& command, const std::vector<std::string>& words) {
  if (RunTtl(command, words)) return 0;
  if (command == "stamps") {
    RunStamps(words);
    return 0;
  }
  if (RunTransactions(command, words)) return 0;
  if (command == "dump") {
    rocksdb::DumpOptions options;
    options.db_path = words[0];
    options.dump_location = words[1];
    options.anonymous = words.size() > 2;
    return rocksdb::DbDumpTool().Run(options, DbOptions()) ? 0 : 1;
  }
  if (command == "undump") {
    rocksdb::UndumpOptions options;
    options.dump_location = words[0];
    options.db_path = words[1];
    return rocksdb::DbUndumpTool().Run(options, DbOptions()) ? 0 : 1;
  }
  Encrypted encrypted;
  const std::unique_ptr<DB> db = encrypted.Open(words[0]);
  if (command == "crypt-put") {
    Write(db.get(), false, words, 1);
  } else {
    PrintRows(db.get());
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  return Run(argv[1], std::vector<std::string>(argv + 2, argv + argc));
}
