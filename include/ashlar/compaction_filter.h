// SPDX-License-Identifier: Apache-2.0
//
// CompactionFilter lets a program drop or change entries while they are compacted. The filter is
// called for the newest version of a key, unless that is a tombstone or hidden by a tombstone, and
// for merge operands.
//
// Snapshots do not protect data from filters: the newest version of a key can be dropped although a
// snapshot sees it. The filter is not called for older versions and operands that a snapshot sees.
// In a family with timestamps it is called for every version that is kept and no tombstone.
//
// A filter that is set as ColumnFamilyOptions::compaction_filter is used by many threads at the
// same time and must outlive the database. A filter that a factory creates is used by one thread.
// Must not throw.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ashlar/customizable.h"
#include "ashlar/export.h"
#include "ashlar/slice.h"
#include "ashlar/status.h"
#include "ashlar/types.h"
#include "ashlar/wide_columns.h"

namespace ashlar {

struct ConfigOptions;

// Reads columns that are stored in blob files, for FilterV4(). Valid during the call.
class ASHLAR_EXPORT WideColumnBlobResolver {
 public:
  virtual ~WideColumnBlobResolver() = default;

  // Returns the value of a column. It stays valid as long as the resolver.
  virtual Status ResolveColumn(size_t column_index, Slice* resolved_value) = 0;
  // Returns the values of several columns. The default implementation reads one after the other and
  // stops at the first error.
  virtual Status ResolveColumns(const std::vector<size_t>& column_indices,
                                std::vector<Slice>* resolved_values);
  // Whether the column is stored in a blob file.
  virtual bool IsBlobColumn(size_t column_index) const = 0;
  virtual size_t NumColumns() const = 0;
};

// Decides about entries during compactions. A program overrides one of the Filter functions.
class ASHLAR_EXPORT CompactionFilter : public Customizable {
 public:
  virtual ~CompactionFilter() {}

  // The kind of an entry.
  enum ValueType {
    kValue,
    kMergeOperand,
    kBlobIndex,  // internal to stacked blob databases: the filter is never called for it
    kWideColumnEntity,
  };

  // What happens to an entry.
  enum class Decision {
    kKeep,
    kRemove,              // delete it; a tombstone is written unless nothing older can exist
    kChangeValue,         // replace the value by *new_value
    kRemoveAndSkipUntil,  // drop all keys in [key, *skip_until) without writing tombstones; older
                          // versions in deeper levels may become visible again
    kChangeBlobIndex,     // internal: the job fails
    kIOError,             // the flush or compaction fails, with a Status that names the filter
    kPurge,               // delete it; a SingleDelete is written instead of a tombstone
    kChangeWideColumnEntity,  // replace the columns by *new_columns
    kUndetermined,            // FilterBlobByKey() only: the value is needed for a decision
  };

  // Result of PrepareBlobOutput().
  enum class BlobDecision { kKeep, kChangeValue, kCorruption, kIOError };

  // Facts about the flush or compaction for which a filter is created.
  struct Context {
    bool is_full_compaction;    // all files of the family are inputs
    bool is_manual_compaction;  // started by DB::CompactRange() or CompactFiles()
    int input_start_level = kUnknownStartLevel;
    uint32_t column_family_id;
    TableFileCreationReason reason;
    TablePropertiesCollection input_table_properties;  // by file name; empty for a flush

    static constexpr int kUnknownStartLevel = -1;
  };

  static const char* Type() { return "CompactionFilter"; }
  // Creates a built-in filter from its name: RemoveEmptyValueCompactionFilter. For any other name
  // *result is not changed, and the status is OK if config_options.ignore_unsupported_options is
  // set, else NotSupported.
  static Status CreateFromString(const ConfigOptions& config_options, const std::string& name,
                                 const CompactionFilter** result);

  // The oldest form, for plain values only. Returning true drops the entry. To change the value,
  // set *new_value and *value_changed, and return false.
  virtual bool Filter(int /*level*/, const Slice& /*key*/, const Slice& /*existing_value*/,
                      std::string* /*new_value*/, bool* /*value_changed*/) const {
    return false;
  }
  // Returning true drops a merge operand.
  virtual bool FilterMergeOperand(int /*level*/, const Slice& /*key*/,
                                  const Slice& /*operand*/) const {
    return false;
  }

  // For values and merge operands. `level` is the level from which the compaction starts; 0 in a
  // flush. The default implementation calls the two functions above.
  virtual Decision FilterV2(int level, const Slice& key, ValueType value_type,
                            const Slice& existing_value, std::string* new_value,
                            std::string* skip_until) const;

  // Also for entities: for these existing_columns is set, for all others existing_value. The
  // default implementation keeps entities and calls FilterV2() for all other entries.
  virtual Decision FilterV3(int level, const Slice& key, ValueType value_type,
                            const Slice* existing_value, const WideColumns* existing_columns,
                            std::string* new_value,
                            std::vector<std::pair<std::string, std::string>>* new_columns,
                            std::string* skip_until) const;

  // Can also read columns in blob files, but so far no columns are stored there. Called only if
  // SupportsFilterV4() returns true. The default implementation calls FilterV3().
  virtual Decision FilterV4(int level, const Slice& key, ValueType value_type,
                            const Slice* existing_value, const WideColumns* existing_columns,
                            std::string* new_value,
                            std::vector<std::pair<std::string, std::string>>* new_columns,
                            std::string* skip_until, WideColumnBlobResolver* blob_resolver) const;
  virtual bool SupportsFilterV4() const { return false; }

  // Internal to stacked blob databases.
  virtual BlobDecision PrepareBlobOutput(const Slice& /*key*/, const Slice& /*existing_value*/,
                                         std::string* /*new_value*/) const {
    return BlobDecision::kKeep;
  }
  virtual bool IsStackedBlobDbInternalCompactionFilter() const { return false; }

  // Must return true. With a filter that returns false, jobs fail with NotSupported.
  virtual bool IgnoreSnapshots() const { return true; }

  const char* Name() const override = 0;

  // Decides about a value in a blob file from its key alone. kUndetermined, the default, means that
  // the value is read and the functions above are called.
  virtual Decision FilterBlobByKey(int /*level*/, const Slice& /*key*/, std::string* /*new_value*/,
                                   std::string* /*skip_until*/) const {
    return Decision::kUndetermined;
  }
};

// Creates a filter for each compaction, or for each parallel part of one. Must be thread safe.
class ASHLAR_EXPORT CompactionFilterFactory : public Customizable {
 public:
  virtual ~CompactionFilterFactory() {}

  static const char* Type() { return "CompactionFilterFactory"; }
  // As for CompactionFilter::CreateFromString(). There are no built-in factories.
  static Status CreateFromString(const ConfigOptions& config_options, const std::string& name,
                                 std::shared_ptr<CompactionFilterFactory>* result);

  // Whether flushes or compactions are filtered; by default only compactions are. Recovery never
  // calls a filter.
  virtual bool ShouldFilterTableFileCreation(TableFileCreationReason reason) const {
    return reason == TableFileCreationReason::kCompaction;
  }

  // Creates a filter; nullptr = no filtering.
  virtual std::unique_ptr<CompactionFilter> CreateCompactionFilter(
      const CompactionFilter::Context& context) = 0;

  const char* Name() const override = 0;
};

}  // namespace ashlar
