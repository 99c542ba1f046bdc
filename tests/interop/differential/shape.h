// SPDX-License-Identifier: Apache-2.0
//
// The properties that a seed determines for all its sessions (families, their orders and merge
// operators), and the options of each session.
#pragma once

#include <rocksdb/comparator.h>
#include <rocksdb/merge_operator.h>
#include <rocksdb/options.h>

#include <memory>
#include <string>
#include <vector>

#include "draw.h"

namespace differential {

struct Family {
  std::string name;
  const rocksdb::Comparator* comparator = nullptr;
  std::string operator_name;  // empty: none
  std::shared_ptr<rocksdb::MergeOperator> merge_operator;
  bool is_universal = false;
  bool has_blobs = false;  // in some sessions

  // GetEntity of RocksDB 7.8 ends the process at a merge operand, and returns the reference at a
  // blob.
  bool HasEntities() const { return operator_name.empty() && !has_blobs; }
  bool IsReverse() const { return comparator == rocksdb::ReverseBytewiseComparator(); }
  bool IsCareful() const { return operator_name == "careful"; }
};

struct Shape {
  uint64_t seed = 0;
  int sessions = 0;
  bool has_dynamic_levels = false;
  // External tables are ingested. Whether one gets a sequence number depends on the location of
  // other entries, so then no sequence numbers are printed.
  bool ingests = false;
  std::vector<Family> families;  // the first is "default"
};

Shape ShapeOf(uint64_t seed);

// The options of one session. A database that does not support an elaborate option (an index or a
// filter) is opened with the simple ones, which does not change any result.
struct SessionShape {
  // Operands that fail are written, and everything that contained one is deleted before the end,
  // because RocksDB 7.8 stops permanently when a flush meets one.
  bool is_fragile = false;
  bool ends_by_kill = false;
  bool is_rocksdb = false;  // avoids the errors of RocksDB
  rocksdb::DBOptions db_options;
  std::vector<rocksdb::ColumnFamilyOptions> elaborate;
  std::vector<rocksdb::ColumnFamilyOptions> plain;
  std::vector<bool> may_change_extractor;
};

SessionShape SessionShapeOf(const Shape& shape, int session);

}  // namespace differential
