// SPDX-License-Identifier: Apache-2.0
//
// Runs operations on a database and on the oracle and compares every answer. Operations on objects
// that do not exist, and illegal single-deletes, are skipped, so that a trace can still be run
// after operations were removed from it.
//
// Without comparison the answers are recorded instead: they must be the same under all options.
// Then the oracle is only used to know which objects exist. Threads: one at a time.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/db.h"
#include "tests/support/opened_db.h"
#include "tests/support/option_set.h"
#include "tests/support/oracle.h"
#include "tests/support/sim_machine.h"
#include "tests/support/trace.h"

namespace ashlar {

std::string FamilyName(int family);  // "default", "cf1", ...

class TraceRunner {
 public:
  TraceRunner(Env* env, const std::string& dir, const OptionSet& options);
  // With a machine, the runner can also crash, move the clock, and open the files a second time.
  TraceRunner(SimMachine* machine, const std::string& dir, const OptionSet& options);
  ~TraceRunner();

  // Appends one line per operation to *answers instead of comparing with the oracle.
  void KeepAnswers(std::vector<std::string>* answers) { answers_ = answers; }

  // These return an error message; empty: no error.
  std::string Open();
  std::string Apply(const TraceOp& op);
  std::string VerifyAll();
  std::string Close();

  DB* db() { return db_.get(); }
  const Oracle& oracle() const { return oracle_; }
  ColumnFamilyHandle* Handle(int family) const;
  uint64_t reopenings() const { return reopenings_; }
  uint64_t crashes() const { return crashes_; }

 private:
  struct Pair {
    std::unique_ptr<Iterator> real;
    std::unique_ptr<OracleIterator> model;
    std::unique_ptr<Slice> lower, upper;  // memory of the bounds in the options of `real`
    std::string lower_bytes, upper_bytes;
    bool is_tailing = false;
  };
  struct Moment {
    const Snapshot* real;
    uint64_t seqno;
  };
  using HashedRows = std::vector<std::pair<std::string, uint64_t>>;

  std::string Dispatch(const TraceOp& op);
  std::string ApplyWrite(const TraceOp& op);
  bool IsReversed(const BatchPart& part) const;
  std::string ApplyReversedRange(const TraceOp& op);
  std::string FillBatch(const TraceOp& op, WriteBatch* batch, TraceOp* done);
  bool IsLegal(OpKind kind, int family, const std::string& key) const;
  void NoteDurable(const TraceOp& op);
  std::string ApplyStructure(const TraceOp& op);
  std::string ApplyToDatabase(const TraceOp& op);
  std::string ApplyToFamily(const TraceOp& op, ColumnFamilyHandle* handle);
  std::string CompactOrMeasure(const TraceOp& op, ColumnFamilyHandle* handle);
  std::string DropFamily(int family);
  std::string ApplyRead(const TraceOp& op);
  std::string KeyMayExist(const TraceOp& op, ColumnFamilyHandle* handle, const ReadOptions& options,
                          uint64_t seqno);
  // In trace_reads.cc.
  std::string ReadFamilies(const TraceOp& op);
  std::string ScanPrefix(const TraceOp& op);
  std::string ApplyFailingMerge(const TraceOp& op);
  Status WriteFailing(const TraceOp& op, ColumnFamilyHandle* handle);
  std::string ReadFailingMerge(const TraceOp& op, ColumnFamilyHandle* handle);
  bool MomentOf(const TraceOp& op, ReadOptions* options, uint64_t* seqno) const;

  std::string ApplyIterator(const TraceOp& op);
  std::string NewPair(const TraceOp& op);
  std::string Compare(const Pair& pair);
  std::string ReadColumns(const TraceOp& op, const ReadOptions& options, uint64_t seqno);
  std::string CompareValue(int family, const std::string& key, uint64_t seqno, const Status& status,
                           const Slice& value);
  std::string Want(const Status& status, const char* what) const;
  void Note(const std::string& answer);
  void Unpause();
  void CloseObjects();

  // In trace_verify.cc.
  std::string VerifyFamily(int family, const Snapshot* snapshot, uint64_t seqno);
  std::string ScanFamily(int family, const Snapshot* snapshot, HashedRows* rows);
  std::string VerifyGets(int family, const Snapshot* snapshot, const HashedRows& rows);
  std::string CompareRows(int family, const HashedRows& rows, uint64_t seqno);
  std::string VerifyCopy(const Contents& contents, const char* what);
  std::string ApplyCheckpoint();
  std::string ApplyReadOnlyOpen();
  std::string ApplyCrash(const TraceOp& op);
  std::string AdoptRecoveredState(uint64_t first);
  std::string Reopen(const TraceOp& op);

  SimMachine* machine_;  // null: only env_, with threads
  Env* env_;
  const std::string dir_;
  OptionSet option_set_;
  Oracle oracle_;
  std::vector<std::string>* answers_ = nullptr;
  std::unique_ptr<DB> db_;
  std::map<int, ColumnFamilyHandle*> handles_;
  std::map<int, Pair> iterators_;
  std::map<int, Moment> snapshots_;
  bool is_paused_ = false;
  bool has_unlogged_ = false;           // there were writes without WAL
  uint64_t durable_ = 0;                // writes up to here survive a crash
  std::map<int, uint64_t> last_write_;  // by family
  uint64_t reopenings_ = 0, crashes_ = 0, copies_ = 0;
};

}  // namespace ashlar
