// SPDX-License-Identifier: Apache-2.0
//
// EntryFilter asks the program's CompactionFilter about entries of one flush or compaction, or of a
// part of one, and says what becomes of them.
//
// EntryStream decides which entries are offered. No lock is held meanwhile. Threads: one at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ashlar/compaction_filter.h"
#include "ashlar/options.h"
#include "ashlar/statistics.h"
#include "ashlar/wide_columns.h"
#include "util/keys/internal_key.h"
#include "util/result.h"

namespace ashlar {

class BlobFlow;

class EntryFilter {
 public:
  enum class Verdict : uint8_t {
    kKeep,
    kReplace,  // with type() and value()
    kRemove,   // an operand just goes; a tombstone of type() takes the place of a value
    kSkip,     // with all that comes before skip_until(), which is behind the key
    kFail,     // with status()
  };

  struct Options {
    const CompactionFilter* filter = nullptr;  // outlives the object, unless it is `owned`
    std::unique_ptr<CompactionFilter> owned;   // one of a factory
    const Comparator* comparator = nullptr;    // of user keys
    int level = 0;                             // what the filter is told
    Statistics* statistics = nullptr;          // may be null
  };

  // The filter that the family wants for tables that are made for context.reason; null: none.
  // NotSupported for one that asks for what is not to be had.
  static Result<std::unique_ptr<EntryFilter>> Make(const ColumnFamilyOptions& family,
                                                   const CompactionFilter::Context& context,
                                                   Statistics* statistics);

  explicit EntryFilter(Options options) : options_(std::move(options)) {}
  ~EntryFilter();
  EntryFilter(const EntryFilter&) = delete;
  EntryFilter& operator=(const EntryFilter&) = delete;

  // Where values in blob files are read. Outlives the object's last Ask().
  void SetBlobs(BlobFlow* blobs) { blobs_ = blobs; }

  // A value of any kind or a merge operand, as it is stored.
  Verdict Ask(const Slice& user_key, ValueType type, const Slice& stored);

  // Of the last answer, until the next one.
  ValueType type() const { return type_; }
  const std::string& value() const { return new_value_; }
  const std::string& skip_until() const { return skip_until_; }
  const Status& status() const { return status_; }

 private:
  using Decision = CompactionFilter::Decision;

  Decision Decide(const Slice& user_key, ValueType type, const Slice& stored);
  Decision DecideByValue(const Slice& user_key, ValueType type, const Slice& stored);
  Verdict Obey(Decision decision, const Slice& user_key, ValueType type);
  Verdict ReplaceByEntity(const Slice& user_key, ValueType type);
  Verdict Fail(const Slice& user_key, const Status& why);

  const Options options_;
  BlobFlow* blobs_ = nullptr;
  uint64_t nanos_ = 0;  // in the program's code, if anybody wants to know
  ValueType type_ = kTypeValue;
  std::string new_value_;
  std::string skip_until_;
  std::vector<std::pair<std::string, std::string>> new_columns_;
  WideColumns columns_;
  Status status_;
};

}  // namespace ashlar
