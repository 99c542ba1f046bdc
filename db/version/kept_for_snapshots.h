// SPDX-License-Identifier: Apache-2.0
//
// KeptForSnapshots remembers the tables of a family that a compaction wrote to the bottom of the
// tree with what only a snapshot saw then: older versions of keys, or tombstones, which hide
// nothing below but something in the table itself.
//
// When the oldest snapshot has passed all of a table, merging it anew leaves that away. It is due
// then. A database that is opened has no snapshot: the tables of
// the last level that the MANIFEST marks for compaction are due at once, and those of other levels
// follow their mark. Threads: under the DB mutex.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <string>
#include <vector>

#include "ashlar/types.h"
#include "util/keys/file_number.h"
#include "util/text/str_cat.h"

namespace ashlar {

class KeptForSnapshots {
 public:
  // Above the number of every snapshot, and of having none.
  static constexpr SequenceNumber kNever = UINT64_MAX;

  void Add(FileNumber table_number, SequenceNumber largest_seqno) {
    assert(std::none_of(tables_.begin(), tables_.end(),
                        [=](const Table& table) { return table.number == table_number; }));
    tables_.push_back({table_number, largest_seqno});
  }
  void Remove(FileNumber table_number) {
    std::erase_if(tables_, [=](const Table& table) { return table.number == table_number; });
  }

  bool Has(FileNumber table_number) const {
    return std::any_of(tables_.begin(), tables_.end(),
                       [=](const Table& table) { return table.number == table_number; });
  }

  // Numbers of the tables that are due when `oldest_snapshot` is the oldest one.
  std::vector<FileNumber> Due(SequenceNumber oldest_snapshot) const {
    std::vector<FileNumber> numbers;
    for (const Table& table : tables_) {
      if (table.largest_seqno <= oldest_snapshot) numbers.push_back(table.number);
    }
    return numbers;
  }
  bool HasDue(SequenceNumber oldest_snapshot) const {
    return std::any_of(tables_.begin(), tables_.end(),
                       [=](const Table& table) { return table.largest_seqno <= oldest_snapshot; });
  }
  // The number that the oldest snapshot must reach for a table to be due that is not yet; kNever if
  // there is none.
  SequenceNumber NextDue(SequenceNumber oldest_snapshot) const {
    SequenceNumber next = kNever;
    for (const Table& table : tables_) {
      if (table.largest_seqno > oldest_snapshot) next = std::min(next, table.largest_seqno);
    }
    return next;
  }

  // "#7 until @12, #9 until @20": each table, and the number that the oldest snapshot must reach.
  std::string DebugString() const {
    std::string text;
    for (const Table& table : tables_) {
      StrAppend(&text, text.empty() ? "#" : ", #", table.number, " until @", table.largest_seqno);
    }
    return text;
  }

 private:
  struct Table {
    FileNumber number;
    SequenceNumber largest_seqno;
  };

  std::vector<Table> tables_;  // of some it is not known yet that they are gone
};

}  // namespace ashlar
