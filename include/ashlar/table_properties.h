// SPDX-License-Identifier: Apache-2.0
//
// TableProperties: facts about a table that are stored in its file; and collectors, with which a
// program can add its own properties.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>

#include "ashlar/customizable.h"
#include "ashlar/export.h"
#include "ashlar/status.h"
#include "ashlar/types.h"

namespace ashlar {

class CompressionManager;
class InternalTblPropColl;
class Slice;
struct ConfigOptions;

// Properties by name. The values are bytes.
using UserCollectedProperties = std::map<std::string, std::string>;

// Names of the properties in the file.
struct ASHLAR_EXPORT TablePropertiesNames {
  static const std::string kDbId;
  static const std::string kDbSessionId;
  static const std::string kDbHostId;
  static const std::string kOriginalFileNumber;
  static const std::string kDataSize;
  static const std::string kIndexSize;
  static const std::string kIndexPartitions;
  static const std::string kTopLevelIndexSize;
  static const std::string kIndexKeyIsUserKey;
  static const std::string kIndexValueIsDeltaEncoded;
  static const std::string kUDIIsPrimaryIndex;
  static const std::string kFilterSize;
  static const std::string kRawKeySize;
  static const std::string kRawValueSize;
  static const std::string kNumDataBlocks;
  static const std::string kNumDataBlocksCompressionRejected;
  static const std::string kNumDataBlocksCompressionBypassed;
  static const std::string kNumUniformBlocks;
  static const std::string kNumEntries;
  static const std::string kNumFilterEntries;
  static const std::string kDeletedKeys;
  static const std::string kMergeOperands;
  static const std::string kNumRangeDeletions;
  static const std::string kFormatVersion;
  static const std::string kFixedKeyLen;
  static const std::string kFilterPolicy;
  static const std::string kColumnFamilyName;
  static const std::string kColumnFamilyId;
  static const std::string kComparator;
  static const std::string kMergeOperator;
  static const std::string kPrefixExtractorName;
  static const std::string kPropertyCollectors;
  static const std::string kCompression;
  static const std::string kCompressionOptions;
  static const std::string kCreationTime;
  static const std::string kOldestKeyTime;
  static const std::string kNewestKeyTime;
  static const std::string kFileCreationTime;
  static const std::string kSlowCompressionEstimatedDataSize;
  static const std::string kFastCompressionEstimatedDataSize;
  static const std::string kSequenceNumberTimeMapping;
  static const std::string kTailStartOffset;
  static const std::string kUserDefinedTimestampsPersisted;
  static const std::string kKeyLargestSeqno;
  static const std::string kKeySmallestSeqno;
  static const std::string kDataBlockRestartInterval;
  static const std::string kIndexBlockRestartInterval;
  static const std::string kSeparateKeyValueInDataBlock;
};

// Receives every entry of a table while it is built. Threads: one at a time.
class ASHLAR_EXPORT TablePropertiesCollector {
 public:
  virtual ~TablePropertiesCollector() {}

  // Deprecated; override AddUserKey() instead.
  virtual Status Add(const Slice& /*key*/, const Slice& /*value*/) {
    return Status::InvalidArgument("TablePropertiesCollector::Add: not implemented");
  }
  // Called for each entry, in the order of the table. An error is ignored.
  virtual Status AddUserKey(const Slice& key, const Slice& value, EntryType /*type*/,
                            SequenceNumber /*seq*/, uint64_t /*file_size*/) {
    return Add(key, value);
  }
  // Called when a data block is complete. Sizes in bytes; 0 = not sampled.
  virtual void BlockAdd(uint64_t /*block_uncomp_bytes*/, uint64_t /*block_compressed_bytes_fast*/,
                        uint64_t /*block_compressed_bytes_slow*/) {}
  // Called once, after the last entry. Returns the properties to be stored.
  virtual Status Finish(UserCollectedProperties* properties) = 0;
  // Returns the same properties in readable form. Called after Finish().
  virtual UserCollectedProperties GetReadableProperties() const = 0;
  virtual const char* Name() const = 0;
  // Return true to mark the table for compaction.
  virtual bool NeedCompact() const { return false; }
  // Used internally.
  virtual InternalTblPropColl* AsInternal() { return nullptr; }
};

// Creates one collector for each table. Must be thread safe.
class ASHLAR_EXPORT TablePropertiesCollectorFactory : public Customizable {
 public:
  // Facts about the table for which a collector is created.
  struct Context {
    uint32_t column_family_id = kUnknownColumnFamily;
    int level_at_creation = kUnknownLevelAtCreation;
    int num_levels = kUnknownNumLevels;
    // Entries with sequence numbers up to this one belong on the last level. Not used.
    SequenceNumber last_level_inclusive_max_seqno_threshold = (SequenceNumber{1} << 56) - 1;

    static constexpr uint32_t kUnknownColumnFamily = 0x7fffffff;
    static constexpr int kUnknownLevelAtCreation = -1;
    static constexpr int kUnknownNumLevels = -1;

    Context() {}
    Context(uint32_t _column_family_id, int _level_at_creation, int _num_levels,
            SequenceNumber _last_level_inclusive_max_seqno_threshold)
        : column_family_id(_column_family_id),
          level_at_creation(_level_at_creation),
          num_levels(_num_levels),
          last_level_inclusive_max_seqno_threshold(_last_level_inclusive_max_seqno_threshold) {}
  };

  ~TablePropertiesCollectorFactory() override {}
  static const char* Type() { return "TablePropertiesCollectorFactory"; }
  // Returns the built-in factory with this name.
  static Status CreateFromString(const ConfigOptions& options, const std::string& value,
                                 std::shared_ptr<TablePropertiesCollectorFactory>* result);

  // Creates a collector, which the engine owns; nullptr = none.
  virtual TablePropertiesCollector* CreateTablePropertiesCollector(
      TablePropertiesCollectorFactory::Context context) = 0;
  const char* Name() const override = 0;
  using Customizable::ToString;
  virtual std::string ToString() const { return Name(); }
};

// Facts about a table. Sizes are in bytes, times in seconds since 1970; 0 also means "not
// recorded".
struct ASHLAR_EXPORT TableProperties {
  // Number of the file in the database that wrote it.
  uint64_t orig_file_number = 0;
  // Size of all data blocks as stored, and before compression.
  uint64_t data_size = 0;
  uint64_t uncompressed_data_size = 0;
  // Size of all index blocks.
  uint64_t index_size = 0;
  // Number of index partitions, and size of the top-level index; 0 if the index is not partitioned.
  uint64_t index_partitions = 0;
  uint64_t top_level_index_size = 0;
  // 1 if the keys of the index are user keys, 0 if they are internal keys.
  uint64_t index_key_is_user_key = 0;
  // 1 if the values of the index store differences of block handles.
  uint64_t index_value_is_delta_encoded = 0;
  // 1 if an index of the program replaces the built-in one.
  uint64_t udi_is_primary_index = 0;
  uint64_t filter_size = 0;
  // Size of all keys and values before prefixes are shared and before compression.
  uint64_t raw_key_size = 0;
  uint64_t raw_value_size = 0;
  uint64_t num_data_blocks = 0;
  // Number of data blocks that are stored uncompressed because compression did not help, and
  // because it was not tried.
  uint64_t num_data_blocks_compression_rejected = 0;
  uint64_t num_data_blocks_compression_bypassed = 0;
  // Number of index blocks whose keys are evenly distributed.
  uint64_t num_uniform_blocks = 0;
  uint64_t num_entries = 0;
  // Number of keys and prefixes in the filter.
  uint64_t num_filter_entries = 0;
  // Number of tombstones, including the range tombstones that num_range_deletions counts.
  uint64_t num_deletions = 0;
  uint64_t num_merge_operands = 0;
  uint64_t num_range_deletions = 0;
  uint64_t format_version = 0;
  // Length of all keys; 0 = variable.
  uint64_t fixed_key_len = 0;
  // kUnknownColumnFamily if the file does not belong to a family.
  uint64_t column_family_id = TablePropertiesCollectorFactory::Context::kUnknownColumnFamily;
  // When the oldest data was inserted into a memtable; oldest and newest time of keys; when the
  // file was created.
  uint64_t creation_time = 0;
  uint64_t oldest_key_time = 0;
  uint64_t newest_key_time = 0;
  uint64_t file_creation_time = 0;
  // Estimated size with a slow and with a fast compression algorithm, from samples; 0 = no samples.
  uint64_t slow_compression_estimated_data_size = 0;
  uint64_t fast_compression_estimated_data_size = 0;
  // Offset in the file at which an ingested file stores its sequence number; 0 = it does not.
  uint64_t external_sst_file_global_seqno_offset = 0;
  // Offset in the file of the metadata that is read when the table is opened.
  uint64_t tail_start_offset = 0;
  // 0 if timestamps were removed at flush.
  uint64_t user_defined_timestamps_persisted = 1;
  // Largest and smallest sequence number; UINT64_MAX = not recorded.
  uint64_t key_largest_seqno = UINT64_MAX;
  bool HasKeyLargestSeqno() const { return key_largest_seqno != UINT64_MAX; }
  uint64_t key_smallest_seqno = UINT64_MAX;
  bool HasKeySmallestSeqno() const { return key_smallest_seqno != UINT64_MAX; }
  uint64_t data_block_restart_interval = 0;
  uint64_t index_block_restart_interval = 0;
  uint64_t separate_key_value_in_data_block = 0;
  // Ids of the database and of the process that wrote the table, and the name of the host.
  std::string db_id;
  std::string db_session_id;
  std::string db_host_id;
  // Names; empty if there is none.
  std::string column_family_name;
  std::string filter_policy_name;
  std::string comparator_name;
  std::string merge_operator_name;
  std::string prefix_extractor_name;
  std::string property_collectors_names;
  std::string compression_name;
  std::string compression_options;
  // Encoded list of pairs (sequence number, time).
  std::string seqno_to_time_mapping;
  // Properties from collectors, as stored and in readable form.
  UserCollectedProperties user_collected_properties;
  UserCollectedProperties readable_properties;

  // Returns "name=value; ...".
  std::string ToString(const std::string& prop_delim = "; ",
                       const std::string& kv_delim = "=") const;
  // Adds the properties that can be summed; the others do not change.
  void Add(const TableProperties& tp);
  std::map<std::string, uint64_t> GetAggregatablePropertiesAsMap() const;
  std::size_t ApproximateMemoryUsage() const;

  // Serialize() returns a text that Parse() can read.
  Status Serialize(const ConfigOptions& opts, std::string* output) const;
  static Status Parse(const ConfigOptions& opts, const std::string& serialized,
                      TableProperties* table_properties);
  // Whether all properties are equal; if not, *mismatch receives the name of the first that
  // differs.
  bool AreEqual(const ConfigOptions& opts, const TableProperties* other_table_properties,
                std::string* mismatch) const;
};

// Returns a name such as "LZ4" for the compression_name property.
ASHLAR_EXPORT std::string ParseCompressionNameForDisplay(const std::string& compression_name);
ASHLAR_EXPORT std::string ParseCompressionNameForDisplay(
    const std::string& compression_name, std::shared_ptr<CompressionManager> compression_manager);

// Return counts that old tables store among the properties of collectors.
ASHLAR_EXPORT uint64_t GetDeletedKeys(const UserCollectedProperties& props);
ASHLAR_EXPORT uint64_t GetMergeOperands(const UserCollectedProperties& props,
                                        bool* property_present);

}  // namespace ashlar
