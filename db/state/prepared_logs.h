// SPDX-License-Identifier: Apache-2.0
//
// PreparedLogs knows the prepare sections that are in a log and not decided yet, so that their logs
// stay (OldestLogNeeded), and so that a recovery from an error can log them again in a fresh log.
//
// A section enters and leaves while its commit is in flight: when the pipeline is paused, the list
// is exact. A commit enters the section's log in the memtables that receive its data
// (MemTable::NotePreparedLog) before the section leaves this list. A reader of both must look at
// this list first; otherwise a log could be missing from both.
//
// Threads: any. The lock is a leaf and is never held during I/O.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ashlar/types.h"
#include "ashlar/write_batch.h"
#include "db/transaction/visibility/undecided.h"
#include "db/write/write_batch_internal.h"
#include "util/keys/file_number.h"
#include "util/threads/mutex.h"

namespace ashlar {

// One prepare section. Its owner decides it: a transaction, or PreparedLogs for a section that was
// recovered and that nobody has taken. The object does not move; it may be destroyed while it is
// undecided only if the database is closed afterwards without another write.
class PreparedSection {
 public:
  using Policy = WriteBatchInternal::PreparePolicy;
  enum class State : uint8_t {
    kNotLogged,  // before the prepare, or the prepare failed
    kUndecided,  // in a log
    kDecided,    // the marker of its commit or rollback is in a log
  };

  // `batch`: from the begin marker to the end marker with the name of the transaction. It outlives
  // the section, or its place in it, and is not changed while the section is undecided.
  PreparedSection(std::string xid, Policy policy, WriteBatch* batch)
      : xid_(std::move(xid)), policy_(policy), batch_(batch) {}
  PreparedSection(const PreparedSection&) = delete;
  PreparedSection& operator=(const PreparedSection&) = delete;

  const std::string& xid() const { return xid_; }
  Policy policy() const { return policy_; }
  WriteBatch* batch() const { return batch_; }
  // The rest: for the thread that prepares or decides the section, between its calls. An error
  // recovery may move an undecided section to a later log.
  State state() const { return state_; }
  FileNumber log() const { return log_; }
  // For a commit in flight, which an error recovery waits for.
  const FileNumber* log_in_place() const { return &log_; }
  // The first sequence number of its data, which only a prepare under the policies
  // write-prepared and write-unprepared gives out.
  SequenceNumber first_seqno() const { return first_seqno_; }
  // Its data in the table of undecided transactions; null before the prepare, and always under the
  // policy write-committed, where memtables get the data at the commit.
  UndecidedEntry* entry() const { return entry_.get(); }
  const UndecidedRef& entry_ref() const { return entry_; }
  void set_entry(UndecidedRef entry) { entry_ = std::move(entry); }
  bool is_written_before_commit() const { return policy_ != Policy::kWriteCommitted; }

 private:
  friend class PreparedLogs;
  const std::string xid_;
  const Policy policy_;
  WriteBatch* batch_;                // under PreparedLogs::mutex_, except for the owner
  State state_ = State::kNotLogged;  // these three: under PreparedLogs::mutex_ while it is listed
  FileNumber log_ = 0;
  SequenceNumber first_seqno_ = 0;
  UndecidedRef entry_;  // of the thread that prepares
  uint64_t entered_micros_ = 0;
  PreparedSection* previous_ = nullptr;  // under PreparedLogs::mutex_
  PreparedSection* next_ = nullptr;
};

// All sections of one transaction, which are decided together: one, or under the policy
// write-unprepared several in the order in which they were logged. Not empty. It refers to them.
class PreparedSections {
 public:
  PreparedSections(PreparedSection* only) : only_(only) {}  // NOLINT: the usual case
  explicit PreparedSections(std::span<PreparedSection* const> all) : all_(all) {}

  std::span<PreparedSection* const> all() const {
    return only_ != nullptr ? std::span<PreparedSection* const>(&only_, 1) : all_;
  }
  // Its log is the oldest of all.
  PreparedSection* first() const { return all().front(); }

 private:
  PreparedSection* only_ = nullptr;
  std::span<PreparedSection* const> all_;
};

// A section with its batch: one that a replay has found, or a part of a write-unprepared
// transaction.
struct OwnedSection {
  OwnedSection(std::string xid, PreparedSection::Policy policy, std::string contents)
      : batch(std::move(contents)), section(std::move(xid), policy, &batch) {}
  WriteBatch batch;
  PreparedSection section;
};

class PreparedLogs {
 public:
  PreparedLogs() = default;
  PreparedLogs(const PreparedLogs&) = delete;
  PreparedLogs& operator=(const PreparedLogs&) = delete;

  // While the commit that logged the section is in flight. Each call is followed by Settle() when
  // the prepare ends: if it has failed then, the section counts as not logged. Neither allocates.
  void Enter(PreparedSection* section, FileNumber log, SequenceNumber first_seqno);
  void Settle(PreparedSection* section, bool is_prepared);
  // While the commit that logged the marker of the decision is in flight.
  void Leave(PreparedSection* section);

  // The oldest log with an undecided section; FileNumber::None() without one.
  FileNumber Oldest() const;
  size_t count() const;
  // One line: how many sections are undecided, and name, log and age of one in the oldest log;
  // empty without any.
  std::string Describe() const;

  // Waits until all sections that have entered are settled. For a recovery that logs them again: a
  // section whose sync has failed must not be among them. No commit begins meanwhile.
  void AwaitSettled();
  // A copy of a prepared section, with the facts that are needed to log it again.
  struct Logged {
    std::string records;
    uint32_t count;
    bool is_written_before_commit;
    SequenceNumber first_seqno;
  };
  // In the order in which they entered. They stay undecided while no commit is in flight.
  std::vector<Logged> CopyAll() const;
  // The section has its data in this batch, an equal one, from now on. For its owner.
  void Replace(PreparedSection* section, WriteBatch* batch);
  // All sections were logged again in this log.
  void MoveTo(FileNumber log);

  // Sections that a replay has found. They are undecided until a caller takes and decides them.
  void AddRecovered(std::unique_ptr<OwnedSection> section, FileNumber log,
                    SequenceNumber first_seqno);
  // The caller owns them from now on. In the order of the logs.
  std::vector<std::unique_ptr<OwnedSection>> TakeRecovered();

 private:
  void Link(PreparedSection* section) REQUIRES(mutex_);
  void Unlink(PreparedSection* section) REQUIRES(mutex_);

  mutable Mutex mutex_{LockRank::kLeaf};
  PreparedSection* first_ GUARDED_BY(mutex_) = nullptr;  // in the order in which they entered
  PreparedSection* last_ GUARDED_BY(mutex_) = nullptr;
  size_t count_ GUARDED_BY(mutex_) = 0;
  size_t unsettled_ GUARDED_BY(mutex_) = 0;
  CondVar settled_{&mutex_};
  std::vector<std::unique_ptr<OwnedSection>> recovered_ GUARDED_BY(mutex_);
};

}  // namespace ashlar
