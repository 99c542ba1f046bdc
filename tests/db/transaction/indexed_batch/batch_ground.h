// SPDX-License-Identifier: Apache-2.0
//
// What a random program over a batch with an index works with: a database in memory with three
// families in orders of their own, a batch, and the model of both.
#pragma once

#include <gtest/gtest.h>

#include <cctype>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "ashlar/convenience.h"
#include "ashlar/db.h"
#include "ashlar/env.h"
#include "ashlar/merge_operator.h"
#include "ashlar/options.h"
#include "tests/db/transaction/indexed_batch/batch_model.h"
#include "tests/support/status_matchers.h"
#include "util/text/str_cat.h"

namespace ashlar {

// Takes upper and lower case of a letter for equal.
class CaselessComparator final : public Comparator {
 public:
  const char* Name() const override { return "test.Caseless"; }
  int Compare(const Slice& a, const Slice& b) const override { return Lower(a).compare(Lower(b)); }
  void FindShortestSeparator(std::string*, const Slice&) const override {}
  void FindShortSuccessor(std::string*) const override {}

  static std::string Lower(const Slice& key) {
    std::string text = key.ToString();
    for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return text;
  }
};

inline std::string ShowColumns(const WideColumns& columns) {
  std::string text;
  for (const WideColumn& column : columns) {
    text += column.name().ToString() + ":" + column.value().ToString() + " ";
  }
  return text;
}

struct Family {
  ColumnFamilyHandle* handle;
  const Comparator* comparator;
  Table table;  // what the database has
};

class BatchGround {
 public:
  explicit BatchGround(uint64_t seed)
      : random_(static_cast<std::mt19937::result_type>(seed)),
        overwrites_(random_() % 2 == 0),
        key_count_(std::vector<size_t>{5, 5, 30, 400}[random_() % 4]),
        model_(overwrites_),
        batch_(BytewiseComparator(), 0, overwrites_) {}
  BatchGround(const BatchGround&) = delete;
  BatchGround& operator=(const BatchGround&) = delete;

 protected:
  ~BatchGround() {
    for (const Snapshot* snapshot : snapshots_) db_->ReleaseSnapshot(snapshot);
    for (size_t i = 1; i < families_.size(); ++i) {
      EXPECT_OK(db_->DestroyColumnFamilyHandle(families_[i].handle));
    }
  }

  size_t Below(size_t n) { return random_() % n; }
  bool OneIn(size_t n) { return Below(n) == 0; }

  void Open() {
    env_.reset(NewMemEnv(Env::Default()));
    Options options;
    options.env = env_.get();
    options.create_if_missing = true;
    options.disable_auto_compactions = true;
    options.max_sequential_skip_in_iterations = std::vector<uint64_t>{0, 1, 8}[Below(3)];
    ASSERT_OK(
        MergeOperator::CreateFromString(ConfigOptions(), "stringappend", &options.merge_operator));
    ASSERT_OK(DB::Open(options, "/db", &db_));
    AddFamily(db_->DefaultColumnFamily());
    static const CaselessComparator caseless;
    for (const Comparator* comparator :
         {ReverseBytewiseComparator(), static_cast<const Comparator*>(&caseless)}) {
      options.comparator = comparator;
      ColumnFamilyHandle* handle = nullptr;
      ASSERT_OK(db_->CreateColumnFamily(options, comparator->Name(), &handle));
      AddFamily(handle);
    }
  }
  void AddFamily(ColumnFamilyHandle* handle) {
    families_.push_back({.handle = handle,
                         .comparator = handle->GetComparator(),
                         .table = Table(ByComparator{handle->GetComparator()})});
    comparators_[handle->GetID()] = handle->GetComparator();
  }

  size_t AnyFamily() { return OneIn(3) ? Below(families_.size()) : 0; }
  std::string AnyKey(size_t family) {
    std::string key = StrCat("key", 10000 + Below(key_count_));
    if (OneIn(10)) key = key.substr(0, 2 + Below(6));
    if (family == 2 && OneIn(2)) key[0] = 'K';
    return key;
  }
  Family& FamilyOf(uint32_t number) {
    for (Family& family : families_) {
      if (family.handle->GetID() == number) return family;
    }
    ADD_FAILURE();
    return families_[0];
  }

  std::mt19937 random_;
  const bool overwrites_;
  const size_t key_count_;
  std::unique_ptr<Env> env_;
  std::unique_ptr<DB> db_;
  std::vector<Family> families_;
  std::map<uint32_t, const Comparator*> comparators_;
  std::vector<const Snapshot*> snapshots_;
  BatchModel model_;
  WriteBatchWithIndex batch_;
};

}  // namespace ashlar
