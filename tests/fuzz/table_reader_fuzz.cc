// SPDX-License-Identifier: Apache-2.0
//
// Whole tables: any bytes can be opened or not; an opened table can be iterated over, searched and
// verified.
//
// Half of the inputs are changed to have no checksums, so that wrong contents reach the parsers: a
// mutator does not find a valid checksum.
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>

#include "ashlar/cache.h"
#include "ashlar/comparator.h"
#include "ashlar/options.h"
#include "ashlar/table.h"
#include "cache/block_cache.h"
#include "table/format/footer.h"
#include "table/sst/read/table_reader.h"
#include "tests/support/sample_table.h"
#include "tests/support/table_lookup.h"
#include "util/threads/epoch.h"

namespace ashlar {
namespace {

constexpr size_t kMaxSteps = 200000;

std::string WithoutChecksums(std::string bytes) {
  if (bytes.size() < kFooterBytes) return bytes;
  const size_t offset = bytes.size() - kFooterBytes;
  auto footer = DecodeFooter(Slice(bytes.data() + offset, kFooterBytes), bytes.size(), "fuzz.sst");
  if (!footer.ok()) return bytes;
  footer->checksum.type = kNoChecksum;
  bytes.resize(offset);
  AppendFooter(*footer, offset, &bytes);
  return bytes;
}

void ReadKey(const TableReader& table, const Slice& user_key) {
  const LookupKey key(user_key, kMaxSequenceNumber, KeyOrder::kBytewise);
  PinnableSlice value;
  PointLookup lookup(key, &value);
  IgnoreError(LookUp(table, ReadOptions(), &lookup), "any answer will do");
}

void ReadAll(const TableReader& table) {
  std::unique_ptr<InternalIterator> iterator(table.NewIterator(ReadOptions(), nullptr));
  size_t steps = 0;
  for (iterator->SeekToFirst(); iterator->Valid() && steps < kMaxSteps; iterator->Next()) {
    if (steps++ % 16 == 0) ReadKey(table, ExtractUserKey(iterator->key()));
  }
  steps = 0;
  for (iterator->SeekToLast(); iterator->Valid() && steps < kMaxSteps; iterator->Prev()) ++steps;
  iterator->Seek(MakeInternalKey("key000010", 5, kTypeValue));
  iterator->SeekForPrev(MakeInternalKey("key000020", 5, kTypeValue));
  ReadKey(table, "key000003");
  ReadKey(table, "");
  IgnoreError(table.VerifyChecksums(ReadOptions()), "any answer will do");
}

void ReadTable(std::string bytes, BlockCacheView* cache) {
  const InternalKeyComparator icmp(BytewiseComparator());
  TableReaderOptions options;
  options.icmp = &icmp;
  options.block_cache = cache;
  auto table = TableReader::Open(ReaderOverBytes(std::move(bytes), "fuzz.sst"), options);
  if (table.ok()) ReadAll(**table);
}

}  // namespace
}  // namespace ashlar

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 1) return 0;
  const uint8_t control = data[size - 1];
  std::string bytes(reinterpret_cast<const char*>(data), size - 1);
  if (control % 2 == 0) bytes = ashlar::WithoutChecksums(std::move(bytes));
  ashlar::BlockCacheView cache(ashlar::NewLRUCache(1 << 16, 0));
  ashlar::ReadTable(std::move(bytes), control % 4 < 2 ? &cache : nullptr);
  ashlar::EpochDrain();
  return 0;
}
