// SPDX-License-Identifier: Apache-2.0
//
// EntryFilter calls the program's CompactionFilter for entries of one flush or compaction, or of
// one part of it, and returns what happens to each entry.
//
// EntryStream decides which entries the filter gets. No lock is held during the calls. Threads: one
// at a time.
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
  // What happens to an entry.
  enum class Verdict : uint8_t {
    kKeep,
    kReplace,  // by an entry with type() and value()
    kRemove,   // an operand is dropped; a value is replaced by a tombstone of type()
    kSkip,     // dropped with all entries before skip_until(), which is behind the key
    kFail,     // the job fails with status()
  };

  struct Options {
    const CompactionFilter* filter = nullptr;  // outlives the object, unless `owned` holds it
    std::unique_ptr<CompactionFilter> owned;   // a filter that a factory made; else null
    const Comparator* comparator = nullptr;    // of user keys
    int level = 0;                             // the level that the filter gets as an argument
    Statistics* statistics = nullptr;          // may be null
  };

  // Makes the filter that the family wants for tables written for context.reason; null: none.
  // Returns NotSupported if the filter asks for snapshots to be respected.
  static Result<std::unique_ptr<EntryFilter>> Make(const ColumnFamilyOptions& family,
                                                   const CompactionFilter::Context& context,
                                                   Statistics* statistics);

  explicit EntryFilter(Options options)
      : options_(std::move(options)), order_(options_.comparator) {}
  ~EntryFilter();
  EntryFilter(const EntryFilter&) = delete;
  EntryFilter& operator=(const EntryFilter&) = delete;

  // The flow that reads values in blob files. It outlives the last call of Ask().
  void SetBlobs(BlobFlow* blobs) { blobs_ = blobs; }

  // Returns what happens to an entry: a value of any kind or a merge operand, as it is stored. The
  // filter gets the key without its timestamp, and so it names skip_until().
  Verdict Ask(const Slice& stored_key, ValueType type, const Slice& stored);

  // The details of the last verdict, valid until the next Ask().
  ValueType type() const { return type_; }
  const std::string& value() const { return new_value_; }
  const std::string& skip_until() const { return skip_until_; }
  const Status& status() const { return status_; }

 private:
  using Decision = CompactionFilter::Decision;

  Decision Decide(const Slice& stored_key, ValueType type, const Slice& stored);
  Decision DecideByValue(const Slice& user_key, ValueType type, const Slice& stored);
  Verdict Obey(Decision decision, const Slice& stored_key, ValueType type);
  Verdict ReplaceByEntity(const Slice& user_key, ValueType type);
  Verdict Fail(const Slice& user_key, const Status& why);

  const Options options_;
  const InternalKeyComparator order_;
  BlobFlow* blobs_ = nullptr;
  uint64_t nanos_ = 0;  // spent in the program's filter, if detailed times are wanted
  ValueType type_ = kTypeValue;
  std::string new_value_;
  std::string skip_until_;
  std::vector<std::pair<std::string, std::string>> new_columns_;
  WideColumns columns_;
  Status status_;
};

}  // namespace ashlar
