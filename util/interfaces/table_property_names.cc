// SPDX-License-Identifier: Apache-2.0
//
// The names of properties in files. Format: docs/formats/block_based_table.md, section 8.
#include "ashlar/table.h"
#include "ashlar/table_properties.h"

namespace ashlar {

const std::string TablePropertiesNames::kDbId = "rocksdb.creating.db.identity";
const std::string TablePropertiesNames::kDbSessionId = "rocksdb.creating.session.identity";
const std::string TablePropertiesNames::kDbHostId = "rocksdb.creating.host.identity";
const std::string TablePropertiesNames::kOriginalFileNumber = "rocksdb.original.file.number";
const std::string TablePropertiesNames::kDataSize = "rocksdb.data.size";
const std::string TablePropertiesNames::kIndexSize = "rocksdb.index.size";
const std::string TablePropertiesNames::kIndexPartitions = "rocksdb.index.partitions";
const std::string TablePropertiesNames::kTopLevelIndexSize = "rocksdb.top-level.index.size";
const std::string TablePropertiesNames::kIndexKeyIsUserKey = "rocksdb.index.key.is.user.key";
const std::string TablePropertiesNames::kIndexValueIsDeltaEncoded =
    "rocksdb.index.value.is.delta.encoded";
const std::string TablePropertiesNames::kUDIIsPrimaryIndex = "rocksdb.udi.is.primary.index";
const std::string TablePropertiesNames::kFilterSize = "rocksdb.filter.size";
const std::string TablePropertiesNames::kRawKeySize = "rocksdb.raw.key.size";
const std::string TablePropertiesNames::kRawValueSize = "rocksdb.raw.value.size";
const std::string TablePropertiesNames::kNumDataBlocks = "rocksdb.num.data.blocks";
const std::string TablePropertiesNames::kNumDataBlocksCompressionRejected =
    "rocksdb.num.data.blocks.compression.rejected";
const std::string TablePropertiesNames::kNumDataBlocksCompressionBypassed =
    "rocksdb.num.data.blocks.compression.bypassed";
const std::string TablePropertiesNames::kNumUniformBlocks = "rocksdb.num.uniform.blocks";
const std::string TablePropertiesNames::kNumEntries = "rocksdb.num.entries";
const std::string TablePropertiesNames::kNumFilterEntries = "rocksdb.num.filter_entries";
const std::string TablePropertiesNames::kDeletedKeys = "rocksdb.deleted.keys";
const std::string TablePropertiesNames::kMergeOperands = "rocksdb.merge.operands";
const std::string TablePropertiesNames::kNumRangeDeletions = "rocksdb.num.range-deletions";
const std::string TablePropertiesNames::kFormatVersion = "rocksdb.format.version";
const std::string TablePropertiesNames::kFixedKeyLen = "rocksdb.fixed.key.length";
const std::string TablePropertiesNames::kFilterPolicy = "rocksdb.filter.policy";
const std::string TablePropertiesNames::kColumnFamilyName = "rocksdb.column.family.name";
const std::string TablePropertiesNames::kColumnFamilyId = "rocksdb.column.family.id";
const std::string TablePropertiesNames::kComparator = "rocksdb.comparator";
const std::string TablePropertiesNames::kMergeOperator = "rocksdb.merge.operator";
const std::string TablePropertiesNames::kPrefixExtractorName = "rocksdb.prefix.extractor.name";
const std::string TablePropertiesNames::kPropertyCollectors = "rocksdb.property.collectors";
const std::string TablePropertiesNames::kCompression = "rocksdb.compression";
const std::string TablePropertiesNames::kCompressionOptions = "rocksdb.compression_options";
const std::string TablePropertiesNames::kCreationTime = "rocksdb.creation.time";
const std::string TablePropertiesNames::kOldestKeyTime = "rocksdb.oldest.key.time";
const std::string TablePropertiesNames::kNewestKeyTime = "rocksdb.newest.key.time";
const std::string TablePropertiesNames::kFileCreationTime = "rocksdb.file.creation.time";
const std::string TablePropertiesNames::kSlowCompressionEstimatedDataSize =
    "rocksdb.sample_for_compression.slow.data.size";
const std::string TablePropertiesNames::kFastCompressionEstimatedDataSize =
    "rocksdb.sample_for_compression.fast.data.size";
const std::string TablePropertiesNames::kSequenceNumberTimeMapping = "rocksdb.seqno.time.map";
const std::string TablePropertiesNames::kTailStartOffset = "rocksdb.tail.start.offset";
const std::string TablePropertiesNames::kUserDefinedTimestampsPersisted =
    "rocksdb.user.defined.timestamps.persisted";
const std::string TablePropertiesNames::kKeyLargestSeqno = "rocksdb.key.largest.seqno";
const std::string TablePropertiesNames::kKeySmallestSeqno = "rocksdb.key.smallest.seqno";
const std::string TablePropertiesNames::kDataBlockRestartInterval =
    "rocksdb.data.block.restart.interval";
const std::string TablePropertiesNames::kIndexBlockRestartInterval =
    "rocksdb.index.block.restart.interval";
const std::string TablePropertiesNames::kSeparateKeyValueInDataBlock =
    "rocksdb.separate.key.value.in.data.block";

const std::string BlockBasedTablePropertyNames::kIndexType = "rocksdb.block.based.table.index.type";
const std::string BlockBasedTablePropertyNames::kWholeKeyFiltering =
    "rocksdb.block.based.table.whole.key.filtering";
const std::string BlockBasedTablePropertyNames::kPrefixFiltering =
    "rocksdb.block.based.table.prefix.filtering";
const std::string BlockBasedTablePropertyNames::kDecoupledPartitionedFilters =
    "rocksdb.block.based.table.decoupled.partitioned.filters";

}  // namespace ashlar
