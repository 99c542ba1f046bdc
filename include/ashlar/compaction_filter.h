// SPDX-License-Identifier: Apache-2.0
//
// CompactionFilter lets a program drop or change entries while they are compacted. It is offered
// the newest version of a key, unless that is a tombstone or hidden by one, and merge operands.
// Snapshots give no protection: a newest version that a snapshot sees is offered, and dropped, all
// the same; older versions and operands that a snapshot sees are not offered. A filter given as
// ColumnFamilyOptions::compaction_filter is used by many threads at once and must outlive the
// database; one made by a factory serves one thread. Must not throw.
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

// Reads columns that live in blob files, for FilterV4. Valid during the call.
class ASHLAR_EXPORT WideColumnBlobResolver {
 public:
  virtual ~WideColumnBlobResolver() = default;

  // The value of a column; it stays valid as long as the resolver.
  virtual Status ResolveColumn(size_t column_index, Slice* resolved_value) = 0;
  // The values of many. The default reads one after the other and stops at the first error.
  virtual Status ResolveColumns(const std::vector<size_t>& column_indices,
                                std::vector<Slice>* resolved_values);
  virtual bool IsBlobColumn(size_t column_index) const = 0;
  virtual size_t NumColumns() const = 0;
};

class ASHLAR_EXPORT CompactionFilter : public Customizable {
 public:
  virtual ~CompactionFilter() {}

  // What is offered.
  enum ValueType {
    kValue,
    kMergeOperand,
    kBlobIndex,  // internal to stacked blob databases: never offered
    kWideColumnEntity,
  };

  // What becomes of it.
  enum class Decision {
    kKeep,
    kRemove,              // leave a tombstone, unless nothing older can exist
    kChangeValue,         // to *new_value
    kRemoveAndSkipUntil,  // drop all keys in [key, *skip_until) without tombstones; older versions
                          // below may come to light again
    kChangeBlobIndex,     // internal: fails the job
    kIOError,             // fail the flush or compaction, with a Status that names the filter
    kPurge,               // drop; a SingleDelete takes its place
    kChangeWideColumnEntity,  // to *new_columns
    kUndetermined,            // FilterBlobByKey: the value is needed
  };

  enum class BlobDecision { kKeep, kChangeValue, kCorruption, kIOError };

  // Facts about the flush or compaction a filter is made for.
  struct Context {
    bool is_full_compaction;    // all files of the family take part
    bool is_manual_compaction;  // DB::CompactRange or CompactFiles
    int input_start_level = kUnknownStartLevel;
    uint32_t column_family_id;
    TableFileCreationReason reason;
    TablePropertiesCollection input_table_properties;  // by file name; empty for a flush

    static constexpr int kUnknownStartLevel = -1;
  };

  static const char* Type() { return "CompactionFilter"; }
  // RemoveEmptyValueCompactionFilter is built in. For another name *result stays, and the status is
  // OK if config_options.ignore_unsupported_options, else NotSupported.
  static Status CreateFromString(const ConfigOptions& config_options, const std::string& name,
                                 const CompactionFilter** result);

  // Oldest form, for values only: true drops the entry; to change it set *new_value and
  // *value_changed and return false.
  virtual bool Filter(int /*level*/, const Slice& /*key*/, const Slice& /*existing_value*/,
                      std::string* /*new_value*/, bool* /*value_changed*/) const {
    return false;
  }
  // True drops one merge operand.
  virtual bool FilterMergeOperand(int /*level*/, const Slice& /*key*/,
                                  const Slice& /*operand*/) const {
    return false;
  }

  // For values and merge operands. `level` is the one that a compaction starts from; 0 in a flush.
  // The default calls the two functions above.
  virtual Decision FilterV2(int level, const Slice& key, ValueType value_type,
                            const Slice& existing_value, std::string* new_value,
                            std::string* skip_until) const;

  // Also for entities: existing_columns is set for those and existing_value for everything else.
  // The default keeps entities and calls FilterV2() otherwise.
  virtual Decision FilterV3(int level, const Slice& key, ValueType value_type,
                            const Slice* existing_value, const WideColumns* existing_columns,
                            std::string* new_value,
                            std::vector<std::pair<std::string, std::string>>* new_columns,
                            std::string* skip_until) const;

  // Also reads columns in blob files on demand, where there are none so far; only called if
  // SupportsFilterV4(). The default calls FilterV3().
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

  // Must be true: with a filter that wants to respect snapshots jobs fail with NotSupported.
  virtual bool IgnoreSnapshots() const { return true; }

  const char* Name() const override = 0;

  // Decides from the key alone about a value in a blob file. kUndetermined, the default, reads the
  // value and calls the functions above.
  virtual Decision FilterBlobByKey(int /*level*/, const Slice& /*key*/, std::string* /*new_value*/,
                                   std::string* /*skip_until*/) const {
    return Decision::kUndetermined;
  }
};

// Makes a filter for each compaction, or each part of one. Called from many threads at once.
class ASHLAR_EXPORT CompactionFilterFactory : public Customizable {
 public:
  virtual ~CompactionFilterFactory() {}

  static const char* Type() { return "CompactionFilterFactory"; }
  // As CompactionFilter::CreateFromString.
  static Status CreateFromString(const ConfigOptions& config_options, const std::string& name,
                                 std::shared_ptr<CompactionFilterFactory>* result);

  // Whether flushes or compactions are filtered; recovery never is. By default only compactions.
  virtual bool ShouldFilterTableFileCreation(TableFileCreationReason reason) const {
    return reason == TableFileCreationReason::kCompaction;
  }

  // May return null for no filtering.
  virtual std::unique_ptr<CompactionFilter> CreateCompactionFilter(
      const CompactionFilter::Context& context) = 0;

  const char* Name() const override = 0;
};

}  // namespace ashlar
