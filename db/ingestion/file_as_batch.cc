// SPDX-License-Identifier: Apache-2.0
//
// The range tombstones of a file come before its points, which they do not hide.
//
// A small file is written like any other batch when its keys overlap a memtable: that is faster
// than a flush, which the file would otherwise have to wait for.
#include "db/ingestion/file_as_batch.h"

#include <algorithm>
#include <cassert>
#include <memory>
#include <vector>

#include "db/write/write_batch_internal.h"
#include "env/random_reader.h"
#include "table/sst/read/table_reader.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

Status AppendTombstones(uint32_t family, const FragmentedTombstones& tombstones,
                        WriteBatch* batch) {
  std::vector<RangeTombstone> fragments;
  tombstones.AppendTo(&fragments);
  for (const RangeTombstone& fragment : fragments) {
    RETURN_IF_ERROR(WriteBatchInternal::DeleteRange(batch, family, fragment.begin, fragment.end));
  }
  return Status::OK();
}

// Adds one entry. The sequence number of the file's entry is dropped, since the batch gets new
// ones.
Status AppendPoint(uint32_t family, const Slice& internal_key, const Slice& value,
                   WriteBatch* batch) {
  const Slice key = ExtractUserKey(internal_key);
  switch (TrailerType(ExtractTrailer(internal_key))) {
    case kTypeValue: return WriteBatchInternal::Put(batch, family, key, value);
    case kTypeMerge: return WriteBatchInternal::Merge(batch, family, key, value);
    case kTypeDeletion: return WriteBatchInternal::Delete(batch, family, key);
    case kTypeWideColumnEntity: return WriteBatchInternal::PutEntity(batch, family, key, value);
    default: return Status::NotSupported("an entry that no batch of ours holds");
  }
}

}  // namespace

uint64_t MaxBytesAsBatch(uint64_t write_buffer_bytes) {
  constexpr uint64_t kMost = 8 << 20;  // the entries are in memory twice
  return std::min(kMost, write_buffer_bytes / 4);
}

// Blocks of the file do not go to the block cache: nobody reads the file again.
Status AppendFile(const InspectOptions& options, const ExternalFile& file, WriteBatch* batch) {
  assert(file.takes_seqno && !file.path.empty());
  ASSIGN_OR_RETURN(auto reader, RandomReader::Open(options.fs, file.path, options.file_options));
  TableReaderOptions table_options;
  table_options.icmp = options.comparator;
  table_options.prefix_extractor = options.prefix_extractor;
  ASSIGN_OR_RETURN(const auto table, TableReader::Open(std::move(reader), table_options));
  if (table->tombstones() != nullptr) {
    RETURN_IF_ERROR(AppendTombstones(options.family_id, *table->tombstones(), batch));
  }
  ReadOptions read;
  read.fill_cache = false;
  const std::unique_ptr<InternalIterator> it(table->NewIterator(read, nullptr));
  for (it->SeekToFirst(); it->Valid(); it->Next()) {
    RETURN_IF_ERROR(AppendPoint(options.family_id, it->key(), it->value(), batch));
  }
  return it->status();
}

}  // namespace ashlar
