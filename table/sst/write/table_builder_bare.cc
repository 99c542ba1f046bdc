// SPDX-License-Identifier: Apache-2.0
//
// Tables without blocks: rows go to the file as they come, and behind them the index blocks of the
// format, the properties, the metaindex and the footer. docs/formats/plain_table.md.
#include <cassert>
#include <cstdint>
#include <string>
#include <vector>

#include "env/file_writer.h"
#include "table/format/meta_block_names.h"
#include "table/format/properties.h"
#include "table/format/table_property_names.h"
#include "table/plain/bare_table.h"
#include "table/sst/write/table_builder_rep.h"
#include "util/keys/coding.h"
#include "util/result.h"
#include "util/text/str_cat.h"

namespace ashlar {

namespace {

constexpr int kOneRestartForAll = INT32_MAX;  // the properties block has one restart point

// Properties that RocksDB 7.8 does not know: it writes none of them, and so the files of both are
// equal.
constexpr const char* kNewerProperties[] = {"rocksdb.newest.key.time", "rocksdb.num.uniform.blocks",
                                            "rocksdb.tail.start.offset"};

// The properties without those of counting. Neither format records times, comparator or merge
// operator, so only the file's metadata in the MANIFEST has the times.
void AddBareOrigin(const TableBuilderOptions& options, TableProperties* properties) {
  assert(properties != nullptr);
  properties->orig_file_number = options.file_number.value();
  properties->column_family_id = options.column_family_id;
  properties->column_family_name = options.column_family_name;
  properties->db_id = options.db_id;
  properties->db_session_id = options.db_session_id;
  if (options.bare->kind == BareTableKind::kPlain) properties->db_host_id = options.db_host_id;
  properties->property_collectors_names.clear();
  properties->num_data_blocks = 1;
  if (!options.is_external_file) return;
  UserCollectedProperties& own = properties->user_collected_properties;
  PutFixed32(&own[std::string(kExternalVersionProperty)], kExternalTableVersion);
  PutFixed64(&own[std::string(kGlobalSeqnoProperty)], 0);
}

}  // namespace

// An error of the format, with the file and the entry.
Status TableBuilder::Rep::InBareTable(const Status& error) const {
  if (error.ok()) return error;
  return Status::CopyAppendMessage(error, "; table ",
                                   StrCat(file->path(), ", entry ", properties.num_entries));
}

Status TableBuilder::Rep::AddBare(const Slice& key, const Slice& value, uint64_t trailer) {
  assert(bare != nullptr);
  assert(data_block.empty());
  if (properties.num_entries > 0 && options.icmp->Compare(bare_last_key, key) >= 0) {
    return RefuseOrder(bare_last_key, key);
  }
  bare_rows.clear();
  status = InBareTable(bare->Add(key, value, &bare_rows));
  if (status.ok()) status = writer.Append(bare_rows);
  if (!status.ok()) return status;
  bare_last_key.assign(key.data(), key.size());
  Count(key, value, trailer);
  if (has_listeners) TellListeners(key, value);
  return Status::OK();
}

Status TableBuilder::Rep::WriteBareTail() {
  assert(bare != nullptr);
  std::vector<BareMetaBlock> blocks;
  bare_rows.clear();
  RETURN_IF_ERROR(InBareTable(bare->Finish(&bare_rows, &blocks, &properties)));
  RETURN_IF_ERROR(writer.Append(bare_rows));
  properties.data_size = writer.offset();
  for (const BareMetaBlock& block : blocks) {
    meta_blocks[std::string(block.name)] = {writer.offset(), block.contents.size()};
    RETURN_IF_ERROR(writer.Append(block.contents));
  }
  RETURN_IF_ERROR(WriteBareProperties());
  BlockBuilder metaindex({.restart_interval = 1});
  for (const auto& [name, handle] : meta_blocks) {
    std::string value;
    handle.AppendTo(&value);
    metaindex.Add(name, value);
  }
  const Slice contents = metaindex.Finish();
  const BlockHandle handle{writer.offset(), contents.size()};
  RETURN_IF_ERROR(writer.Append(contents));
  std::string footer;
  AppendBareFooter(options.bare->kind, handle, &footer);
  return writer.Append(footer);
}

Status TableBuilder::Rep::WriteBareProperties() {
  collectors.Finish(&properties);
  AddBareOrigin(options, &properties);
  EncodedProperties entries = EncodeProperties(properties);
  for (const char* const name : kNewerProperties) entries.erase(name);
  BlockBuilder block({.restart_interval = kOneRestartForAll});
  for (const auto& [name, value] : entries) block.Add(name, value);
  const Slice contents = block.Finish();
  meta_blocks[std::string(kPropertiesBlockName)] = {writer.offset(), contents.size()};
  return writer.Append(contents);
}

}  // namespace ashlar
