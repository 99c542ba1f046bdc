// SPDX-License-Identifier: Apache-2.0
//
// The engine's own table iterator, with the bounds checked here: they are user keys.
#include "tools/lib/table_scan.h"

#include <memory>

#include "ashlar/options.h"
#include "tools/lib/key_text.h"
#include "tools/lib/output.h"

namespace ashlar {
namespace {

bool IsBehind(const Slice& user_key, const InternalKeyComparator& comparator,
              const TableScan& scan) {
  if (scan.prefix && !user_key.starts_with(*scan.prefix)) return true;
  return scan.to && comparator.OrderWithoutTimestamp(user_key, *scan.to) >= 0;
}

}  // namespace

Result<uint64_t> ScanTable(const TableReader& table, const InternalKeyComparator& comparator,
                           const TableScan& scan) {
  const std::unique_ptr<InternalIterator> iterator(table.NewIterator(ReadOptions(), nullptr));
  const std::optional<std::string>& start = scan.prefix ? scan.prefix : scan.from;
  if (start) {
    iterator->Seek(MakeInternalKey(*start, kMaxSequenceNumber, kValueTypeForSeek));
  } else {
    iterator->SeekToFirst();
  }
  Progress progress("entries");
  for (; iterator->Valid() && progress.count() < scan.max_entries; iterator->Next()) {
    const Slice key = iterator->key();
    if (IsBehind(ExtractUserKey(key), comparator, scan)) break;
    progress.Add();
    if (!scan.prints) continue;
    PrintLine(EntryText(key, iterator->value(), scan.hex, scan.decodes_blob_references));
  }
  RETURN_IF_ERROR(iterator->status());
  return progress.count();
}

}  // namespace ashlar
