// SPDX-License-Identifier: Apache-2.0
//
// KeptForSnapshots lists the tables of a family that a compaction wrote to the bottommost level and
// that contain entries which only a snapshot needed at that time: older versions of keys, or
// tombstones. A tombstone at the bottom hides no key of another table, only older versions in its
// own table.
//
// Once the oldest snapshot is at or above the largest sequence number of such a table, a new
// compaction of the table drops these entries: the table is "due". A database has no snapshot when
// it is opened. So tables of the last level that the MANIFEST marks for compaction are due at once;
// marked tables of other levels are compacted because of their mark. Threads: under the DB mutex.
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
  // Greater than the sequence number of every snapshot, and than the value that means "no
  // snapshot".
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

  // Numbers of the tables that are due if `oldest_snapshot` is the sequence number of the oldest
  // snapshot.
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
  // The lowest sequence number at which, once the oldest snapshot reaches it, another table becomes
  // due; kNever if no table is waiting.
  SequenceNumber NextDue(SequenceNumber oldest_snapshot) const {
    SequenceNumber next = kNever;
    for (const Table& table : tables_) {
      if (table.largest_seqno > oldest_snapshot) next = std::min(next, table.largest_seqno);
    }
    return next;
  }

  // For example "#7 until @12, #9 until @20": table 7 is kept until the oldest snapshot has the
  // sequence number 12 or a greater one, table 9 until 20.
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

  // May include tables that were already removed from the current version.
  std::vector<Table> tables_;
};

}  // namespace ashlar
