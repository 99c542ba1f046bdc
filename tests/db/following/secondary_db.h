// SPDX-License-Identifier: Apache-2.0
//
// SecondaryDb is a secondary or a follower of a database of a test, with short calls. Every call
// expects OK unless it returns a Status. Threads: as the database.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "ashlar/db.h"
#include "tests/support/opened_db.h"
#include "tests/support/status_matchers.h"

namespace ashlar {

class SecondaryDb {
 public:
  ~SecondaryDb() { Close(); }

  Status TryOpen(const Options& options, const std::string& dir,
                 const std::vector<std::string>& families = {kDefaultColumnFamilyName},
                 const std::string& own_dir = "/secondary") {
    Close();
    return DB::OpenAsSecondary(DBOptions(options), dir, own_dir, Describe(options, families),
                               &handles_, &db_);
  }
  void Open(const Options& options, const std::string& dir,
            const std::vector<std::string>& families = {kDefaultColumnFamilyName},
            const std::string& own_dir = "/secondary") {
    ASSERT_OK(TryOpen(options, dir, families, own_dir));
  }
  Status TryFollow(const Options& options, const std::string& leader,
                   const std::vector<std::string>& families = {kDefaultColumnFamilyName},
                   const std::string& own_dir = "/follower") {
    Close();
    return DB::OpenAsFollower(DBOptions(options), own_dir, leader, Describe(options, families),
                              &handles_, &db_);
  }
  void Close() {
    for (ColumnFamilyHandle* handle : handles_) delete handle;
    handles_.clear();
    db_.reset();
  }

  DB* db() { return db_.get(); }
  DB* operator->() { return db_.get(); }
  const std::vector<ColumnFamilyHandle*>& handles() const { return handles_; }
  ColumnFamilyHandle* Family(size_t i) { return handles_[i]; }

  void CatchUp() { EXPECT_OK(db_->TryCatchUpWithPrimary()); }
  std::string Get(const Slice& key, size_t family = 0, const ReadOptions& read = {}) {
    std::string value;
    const Status status = db_->Get(read, handles_[family], key, &value);
    return status.ok() ? value : status.IsNotFound() ? "(none)" : status.ToString();
  }
  Contents ReadAll() {
    Contents contents;
    EXPECT_OK(ReadAllFamilies(db_.get(), handles_, &contents));
    return contents;
  }
  Rows ReadRows(size_t family = 0, const ReadOptions& read = {}) {
    const std::unique_ptr<Iterator> it(db_->NewIterator(read, handles_[family]));
    return RowsOf(it.get());
  }
  static Rows RowsOf(Iterator* it) {
    Rows rows;
    for (it->SeekToFirst(); it->Valid(); it->Next()) {
      rows[it->key().ToString()] = it->value().ToString();
    }
    EXPECT_OK(it->status());
    return rows;
  }

 private:
  static std::vector<ColumnFamilyDescriptor> Describe(const Options& options,
                                                      const std::vector<std::string>& families) {
    std::vector<ColumnFamilyDescriptor> descriptors;
    for (const std::string& name : families) {
      descriptors.emplace_back(name, ColumnFamilyOptions(options));
    }
    return descriptors;
  }

  std::vector<ColumnFamilyHandle*> handles_;
  std::unique_ptr<DB> db_;
};

}  // namespace ashlar
