// SPDX-License-Identifier: Apache-2.0
//
// What a seed fixes for all its sessions (families, their orders and merge operators), and what
// each session opens the database with.
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

  // GetEntity of RocksDB 7.8 ends the process when it meets a merge operand, and answers with the
  // reference when it meets a blob.
  bool HasEntities() const { return operator_name.empty() && !has_blobs; }
  bool IsReverse() const { return comparator == rocksdb::ReverseBytewiseComparator(); }
  bool IsCareful() const { return operator_name == "careful"; }
};

struct Shape {
  uint64_t seed = 0;
  int sessions = 0;
  bool has_dynamic_levels = false;
  // Tables from outside come in. Whether one gets a sequence number depends on where other entries
  // lie, so that none is printed then.
  bool ingests = false;
  std::vector<Family> families;  // the first is "default"
};

Shape ShapeOf(uint64_t seed);

// How one session runs. A database that cannot write what the elaborate options ask for (an index
// or a filter that it does not build) opens with the plain ones: nobody sees which in the answers.
struct SessionShape {
  // Operands that fail are written, and everything that held one is deleted before the end: RocksDB
  // 7.8 stops for good when a flush meets one.
  bool is_fragile = false;
  bool ends_by_kill = false;
  bool is_rocksdb = false;  // there are things that it does wrong
  rocksdb::DBOptions db_options;
  std::vector<rocksdb::ColumnFamilyOptions> elaborate;
  std::vector<rocksdb::ColumnFamilyOptions> plain;
  std::vector<bool> may_change_extractor;
};

SessionShape SessionShapeOf(const Shape& shape, int session);

}  // namespace differential
