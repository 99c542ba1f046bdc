// SPDX-License-Identifier: Apache-2.0
//
// RocksDB 7.8 treats a property that it does not know as a user property, so new names do no harm
// there.
#include "table/sst/write/table_origin.h"

#include <algorithm>
#include <cassert>
#include <string>
#include <string_view>
#include <utility>

#include "ashlar/comparator.h"
#include "ashlar/filter_policy.h"
#include "ashlar/slice_transform.h"
#include "ashlar/table.h"
#include "ashlar/table_properties.h"
#include "table/format/properties.h"
#include "table/format/table_property_names.h"
#include "table/sst/write/builder_settings.h"
#include "table/sst/write/table_builder.h"
#include "util/keys/coding.h"
#include "util/keys/internal_key.h"

namespace ashlar {

namespace {

// Properties that readers need to interpret the file; they are stored among the user properties.
void AddFormatProperties(const TableBuilderOptions& options, TableProperties* properties) {
  assert(properties != nullptr);
  const BlockBasedTableOptions& table = *options.table;
  const auto set = [properties](std::string_view name, std::string value) {
    properties->user_collected_properties[std::string(name)] = std::move(value);
  };
  const auto flag = [](bool value) { return std::string(value ? kPropertyTrue : kPropertyFalse); };
  std::string index_type;
  PutFixed32(&index_type, static_cast<uint32_t>(WrittenIndexType(options)));
  set(kIndexTypeProperty, std::move(index_type));
  set(kWholeKeyFilteringProperty, flag(table.whole_key_filtering));
  set(kPrefixFilteringProperty, flag(options.prefix_extractor != nullptr));
  if (table.decouple_partitioned_filters) set(kDecoupledFiltersProperty, flag(true));
  if (options.is_external_file) {
    std::string version;
    PutFixed32(&version, kExternalTableVersion);
    set(kExternalVersionProperty, version);
    set(kGlobalSeqnoProperty, std::string(sizeof(uint64_t), '\0'));
  }
}

}  // namespace

void AddOriginProperties(const TableBuilderOptions& options, const TableOrigin& facts,
                         TableProperties* properties) {
  assert(properties != nullptr);
  assert(options.icmp != nullptr);
  const BlockBasedTableOptions& table = *options.table;
  TableProperties& p = *properties;
  p.orig_file_number = options.file_number.value();
  p.format_version = table.format_version;
  p.column_family_id = options.column_family_id;
  p.column_family_name = options.column_family_name;
  p.creation_time = options.oldest_ancestor_time;
  p.oldest_key_time = options.oldest_key_time;
  p.newest_key_time = options.newest_key_time;
  p.file_creation_time = options.file_creation_time;
  p.data_block_restart_interval = static_cast<uint64_t>(std::max(1, table.block_restart_interval));
  p.index_block_restart_interval =
      static_cast<uint64_t>(std::max(1, table.index_block_restart_interval));
  p.separate_key_value_in_data_block = table.separate_key_value_in_data_block ? 1 : 0;
  if (p.num_entries > 0) {
    assert(facts.smallest_seqno <= facts.largest_seqno);
    p.key_smallest_seqno = facts.smallest_seqno;
    p.key_largest_seqno = facts.largest_seqno;
  }
  p.fast_compression_estimated_data_size = facts.sampled.fast;
  p.slow_compression_estimated_data_size = facts.sampled.slow;
  p.db_id = options.db_id;
  p.db_session_id = options.db_session_id;
  p.db_host_id = options.db_host_id;
  p.comparator_name = options.icmp->user_comparator()->Name();
  p.merge_operator_name =
      options.merge_operator_name.empty() ? "nullptr" : options.merge_operator_name;
  p.prefix_extractor_name =
      options.prefix_extractor == nullptr ? "nullptr" : options.prefix_extractor->AsString();
  if (table.filter_policy != nullptr) p.filter_policy_name = table.filter_policy->Name();
  p.compression_name = EncodeCompressionProperty(options.compression, facts.used_compression_types,
                                                 table.format_version);
  p.compression_options = DescribeCompression(options);
  AddFormatProperties(options, &p);
}

}  // namespace ashlar
