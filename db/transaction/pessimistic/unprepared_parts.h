// SPDX-License-Identifier: Apache-2.0
//
// UnpreparedParts is what one write-unprepared transaction has written to the log and to memtables
// while it is not prepared: sections that begin with their own marker and have the name of the
// transaction. The table of undecided transactions hides their data from others; the transaction
// reads it with OwnReads and iterators that get Own.
//
// One marker decides all parts, and a later prepare section if there is one. The bytes of the parts
// stay in memory until then: a recovery from an error logs them again, and a rollback needs their
// keys.
//
// A rollback to a savepoint writes the values from before as one more part. From then on the parts
// behind the savepoint, together with that part, change nothing: they are undone, and the
// transaction does not see them. Locks of their keys may have been given back, and others may have
// written these keys, so that nobody may write compensations for them again.
//
// Threads: those of the transaction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/options.h"
#include "ashlar/status.h"
#include "ashlar/types.h"
#include "db/state/prepared_logs.h"
#include "db/transaction/pessimistic/own_reads.h"
#include "db/transaction/visibility/undecided.h"
#include "util/keys/file_number.h"

namespace ashlar {

class DBImpl;

class UnpreparedParts {
 public:
  explicit UnpreparedParts(DBImpl* db) : db_(db), reads_(db, &own_) {}
  UnpreparedParts(const UnpreparedParts&) = delete;
  UnpreparedParts& operator=(const UnpreparedParts&) = delete;

  bool empty() const { return parts_.empty(); }
  size_t count() const { return parts_.size(); }
  // Of all parts together.
  uint64_t bytes() const { return bytes_; }

  // Writes these records, of which `count` are counted, as the next part. It is not synced: the
  // sync of the decision covers it, and flushes sync older logs. After an error count() says
  // whether the part is there.
  Status Write(const WriteOptions& options, const std::string& xid, const Slice& records,
               uint32_t count);
  // A part that a replay has found, behind those so far.
  void AddRecovered(std::unique_ptr<OwnedSection> section);
  // The transaction sees the data of this section too, which is not one of the parts.
  void ShowAsOwn(const PreparedSection& section) { own_.push_back(section.entry_ref()); }

  // The parts from `begin` on, which count() returned before, are undone.
  void SetUndone(size_t begin);
  // Those from `begin` on that are not undone, the newest one first.
  std::vector<const PreparedSection*> NewestFirst(size_t begin = 0) const;
  // All, the oldest one first.
  void AppendTo(std::vector<PreparedSection*>* sections) const;
  PreparedSection* first() const { return &parts_.front().section->section; }

  // What the transaction sees of its data. It grows with each part.
  const DecidedVersions::Own& own() const { return own_; }
  // What it saw when count() was `end`.
  DecidedVersions::Own OwnBefore(size_t end) const;
  // All that it has written, undone or not.
  const DecidedVersions::Own& written() const { return written_; }
  DB* reads() { return &reads_; }

  // All parts are decided.
  void Clear();

 private:
  struct Part {
    std::unique_ptr<OwnedSection> section;
    bool is_undone = false;
  };

  DBImpl* const db_;
  std::vector<Part> parts_;
  DecidedVersions::Own written_;  // of all parts
  DecidedVersions::Own own_;      // of those that are not undone, and see ShowAsOwn()
  uint64_t bytes_ = 0;
  OwnReads reads_;
};

}  // namespace ashlar
