// SPDX-License-Identifier: Apache-2.0
//
// Saved blocks: a second cache tier may return any bytes. A block that is accepted is valid, and is
// saved as the same bytes again.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "ashlar/advanced_options.h"
#include "table/block/block_cursor.h"
#include "table/sst/read/block_forms.h"
#include "table/sst/read/table_objects.h"
#include "util/hash/hash.h"
#include "util/keys/coding.h"
#include "util/threads/epoch.h"

namespace ashlar {
namespace {

void Walk(DataBlock* block) {
  BlockCursor cursor;
  cursor.Attach(&block->block, BlockKeyFormat());
  Slice key, value;
  for (bool more = cursor.First(&key, &value); more; more = cursor.Next(&key, &value)) {
    if (key.size() > block->allocated_bytes * 64) std::abort();
  }
}

void Create(CacheEntryRole role, const Slice& bytes) {
  const Cache::CacheItemHelper* const form = TableBlockForms().Of(role);
  Cache::CreateContext context;
  Cache::ObjectPtr object = nullptr;
  size_t charge = 0;
  const Status status = form->create_cb(bytes, kNoCompression, CacheTier::kVolatileTier, &context,
                                        nullptr, &object, &charge);
  if (!status.ok()) return;
  if (charge < bytes.size() - 8) std::abort();
  std::string saved(form->size_cb(object), '\0');
  if (!form->saveto_cb(object, 0, saved.size(), saved.data()).ok()) std::abort();
  if (Slice(saved) != bytes) std::abort();
  if (role == CacheEntryRole::kDataBlock) {
    Walk(static_cast<DataBlock*>(static_cast<CachedObject*>(object)));
  }
  form->del_cb(object, nullptr);
}

void CreateAll(const Slice& bytes) {
  std::string sealed;
  PutFixed64(&sealed, HashBytes(bytes));
  sealed.append(bytes.data(), bytes.size());
  for (const CacheEntryRole role :
       {CacheEntryRole::kDataBlock, CacheEntryRole::kFilterBlock, CacheEntryRole::kOtherBlock}) {
    Create(role, bytes);
    Create(role, sealed);
  }
  EpochReclaim();
}

}  // namespace
}  // namespace ashlar

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  ashlar::CreateAll(ashlar::Slice(reinterpret_cast<const char*>(data), size));
  return 0;
}
