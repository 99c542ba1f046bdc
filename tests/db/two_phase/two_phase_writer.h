// SPDX-License-Identifier: Apache-2.0
//
// TwoPhaseWriter prepares, commits and rolls back on an open database with the calls that
// transactions use, without transaction objects. Transactions are named by their xid; those that
// opening has recovered belong to it too. Threads: one at a time.
#pragma once

#include <algorithm>
#include <cctype>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "db/db_impl.h"
#include "db/state/prepared_logs.h"
#include "db/wal/log_beginning.h"
#include "db/wal/log_reader.h"
#include "db/write/write_batch_internal.h"
#include "db/write/write_batch_reader.h"
#include "env/filename.h"
#include "tests/support/status_matchers.h"
#include "tests/support/test_db.h"
#include "util/text/str_cat.h"

namespace ashlar {

class TwoPhaseWriter {
 public:
  using Policy = PreparedSection::Policy;

  // Takes the recovered sections of the database, which stays open as long as this is used.
  explicit TwoPhaseWriter(DB* db, Policy policy = Policy::kWriteCommitted)
      : db_(static_cast<DBImpl*>(db)), policy_(policy) {
    if (policy != Policy::kWriteCommitted) db_->NumberSubBatches();
    for (auto& section : db_->TakeRecoveredSections()) {
      const std::string xid = section->section.xid();
      EXPECT_EQ(open_.count(xid), 0u) << xid << " was recovered twice";
      open_[xid].recovered = std::move(section);
    }
  }

  // The batch of a transaction that may be prepared: it begins with a Noop.
  WriteBatch* Begin(const std::string& xid) {
    Transaction& transaction = open_[xid];
    transaction = Transaction();
    transaction.batch = std::make_unique<WriteBatch>();
    EXPECT_OK(WriteBatchInternal::InsertNoop(transaction.batch.get()));
    return transaction.batch.get();
  }
  Status Prepare(const std::string& xid, const WriteOptions& options = {}) {
    Transaction& transaction = open_.at(xid);
    if (transaction.section == nullptr) {
      EXPECT_OK(WriteBatchInternal::MarkEndPrepare(transaction.batch.get(), xid, policy_));
      transaction.section =
          std::make_unique<PreparedSection>(xid, policy_, transaction.batch.get());
    }
    return db_->WritePrepare(options, transaction.section.get());
  }
  // A transaction of these puts ("k1", "k2" ...), each with the name as its value, is prepared.
  Status PreparePuts(const std::string& xid, const std::vector<std::string>& keys,
                     const WriteOptions& options = {}) {
    WriteBatch* const batch = Begin(xid);
    for (const std::string& key : keys) EXPECT_OK(batch->Put(key, xid));
    return Prepare(xid, options);
  }
  // `before`: the commit-time batch, if any.
  Status Commit(const std::string& xid, const WriteOptions& options = {},
                const WriteBatch* before = nullptr) {
    WriteBatch marker = before == nullptr ? WriteBatch() : *before;
    EXPECT_OK(WriteBatchInternal::MarkCommit(&marker, xid));
    return db_->WriteCommit(options, &marker, SectionOf(xid));
  }
  Status Rollback(const std::string& xid, const WriteOptions& options = {}) {
    WriteBatch marker;
    if (policy_ != Policy::kWriteCommitted) Undo(*SectionOf(xid)->batch(), &marker);
    EXPECT_OK(WriteBatchInternal::MarkRollback(&marker, xid));
    return db_->WriteRollback(options, &marker, SectionOf(xid));
  }

  PreparedSection* SectionOf(const std::string& xid) {
    Transaction& transaction = open_.at(xid);
    return transaction.recovered != nullptr ? &transaction.recovered->section
                                            : transaction.section.get();
  }
  // The names of the undecided ones, ascending: "xa xb".
  std::string Undecided() {
    std::string names;
    for (const auto& [xid, transaction] : open_) {
      if (SectionOf(xid) == nullptr) continue;
      if (SectionOf(xid)->state() != PreparedSection::State::kUndecided) continue;
      names += (names.empty() ? "" : " ") + xid;
    }
    return names;
  }

 private:
  struct Transaction {
    std::unique_ptr<WriteBatch> batch;
    std::unique_ptr<PreparedSection> section;
    std::unique_ptr<OwnedSection> recovered;
  };
  // Adds what brings back the values before the section.
  void Undo(const WriteBatch& section, WriteBatch* batch) {
    WriteBatchReader reader(WriteBatchInternal::Contents(section));
    for (WriteBatchRecord record; reader.Next(&record);) {
      if (!record.IsCounted()) continue;
      const auto family = db_->HandleOf(record.family);
      std::string value;
      const Status found = static_cast<DB*>(db_)->Get({}, family.get(), record.key, &value);
      EXPECT_OK(found.ok() ? batch->Put(family.get(), record.key, value)
                           : batch->Delete(family.get(), record.key));
    }
  }

  DBImpl* const db_;
  const Policy policy_;
  std::map<std::string, Transaction> open_;
};

// A database with two-phase commit and a writer for it. The writer outlives the open database,
// which refers to its undecided sections.
class TwoPhaseTest : public DbTest {
 protected:
  explicit TwoPhaseTest(TestFiles files = TestFiles::kMemory) : DbTest(files) {
    options_.allow_2pc = true;
    options_.disable_auto_compactions = true;
  }

  void OpenTwoPhase(const std::vector<std::string>& families = {}) {
    families.empty() ? Open() : Open(families);
    TakeWriter();
  }
  void ReopenTwoPhase() {
    Reopen();
    TakeWriter();
  }
  // The process is killed, and the database opened again with all its families.
  void KillAndReopen() {
    Kill();
    OpenAll();
    TakeWriter();
  }
  TwoPhaseWriter& writer() { return *writer_; }

  // The numbers of the logs on disk, ascending, when obsolete ones are deleted.
  std::vector<uint64_t> LogNumbers() {
    if (db_ != nullptr) WaitForJobs();
    std::vector<uint64_t> numbers;
    for (const auto& [path, bytes] : memory_->AllFiles()) {
      FileNumber number;
      FileType type;
      const std::string name = path.substr(path.rfind('/') + 1);
      if (ParseFileName(name, &number, &type) && type == kWalFile)
        numbers.push_back(number.value());
    }
    std::sort(numbers.begin(), numbers.end());
    return numbers;
  }
  // The records of a log as text: "1,2 09017001300a027861" has sequence number 1 and count 2.
  // Without the record that a log of this engine begins with.
  std::vector<std::string> RecordsOf(uint64_t log) const {
    const std::string path = LogFileName("/db", FileNumber{log});
    LogReader::Options options;
    options.log_number = FileNumber{log};
    options.is_wal = true;
    const std::string contents = memory_->AllFiles().at(path);
    LogReader reader(NewMemoryLogSource(contents, path), options, nullptr);
    std::vector<std::string> records;
    for (Slice record; reader.ReadRecord(&record);) {
      if (DecodeLogBeginning(record).has_value()) continue;
      const Slice body(record.data() + kWriteBatchHeaderBytes,
                       record.size() - kWriteBatchHeaderBytes);
      std::string hex = body.ToString(/*hex=*/true);
      std::transform(hex.begin(), hex.end(), hex.begin(), [](char c) { return std::tolower(c); });
      records.push_back(
          StrCat(DecodeFixed64(record.data()), ",", DecodeFixed32(record.data() + 8), " ", hex));
    }
    return records;
  }

  void TakeWriter() {
    writer_.reset();
    if (db_ != nullptr) writer_ = std::make_unique<TwoPhaseWriter>(db_.get(), policy_);
  }

  TwoPhaseWriter::Policy policy_ = TwoPhaseWriter::Policy::kWriteCommitted;
  std::unique_ptr<TwoPhaseWriter> writer_;
};

}  // namespace ashlar
