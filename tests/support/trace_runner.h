// SPDX-License-Identifier: Apache-2.0
//
// Runs operations on a database and on the oracle and compares every answer. Operations on objects
// that do not exist are passed over, so a trace stays runnable when operations are taken out of it.
// Threads: one at a time.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/db.h"
#include "tests/support/option_set.h"
#include "tests/support/oracle.h"
#include "tests/support/trace.h"

namespace ashlar {

std::string FamilyName(int family);  // "default", "cf1", ...

class TraceRunner {
 public:
  TraceRunner(Env* env, const std::string& dir, const OptionSet& options);
  ~TraceRunner();

  // These say what is wrong; empty = nothing.
  std::string Open();
  std::string Apply(const TraceOp& op);
  std::string VerifyAll();
  std::string Close();

  DB* db() { return db_.get(); }
  const Oracle& oracle() const { return oracle_; }
  ColumnFamilyHandle* Handle(int family) const;
  uint64_t reopenings() const { return reopenings_; }

 private:
  struct Pair {
    std::unique_ptr<Iterator> real;
    std::unique_ptr<OracleIterator> model;
    std::unique_ptr<Slice> lower, upper;  // what the options of `real` point to
    std::string lower_bytes, upper_bytes;
    int snapshot = -1;
  };
  struct Moment {
    const Snapshot* real;
    uint64_t seqno;
  };

  std::string ApplyWrite(const TraceOp& op);
  std::string ApplyStructure(const TraceOp& op);
  std::string ApplyRead(const TraceOp& op);
  std::string ApplyIterator(const TraceOp& op);
  std::string NewPair(const TraceOp& op);
  std::string Compare(const Pair& pair) const;
  std::string CompareValue(int family, const std::string& key, uint64_t seqno,
                           const Status& status, const Slice& value) const;
  std::string VerifyFamily(int family, const Snapshot* snapshot, uint64_t seqno);
  std::string Want(const Status& status, const char* what) const;
  void CloseObjects();

  Env* const env_;
  const std::string dir_;
  const OptionSet option_set_;
  Oracle oracle_;
  std::unique_ptr<DB> db_;
  std::map<int, ColumnFamilyHandle*> handles_;
  std::map<int, Pair> iterators_;
  std::map<int, Moment> snapshots_;
  uint64_t reopenings_ = 0;
};

}  // namespace ashlar
