// SPDX-License-Identifier: Apache-2.0
//
// Only lookups that want their value are read; the others just need to know that the key exists.
#include "db/read/blob_lookups.h"

#include <cassert>
#include <utility>
#include <vector>

#include "ashlar/options.h"
#include "db/blob/blob_store.h"
#include "db/read/super_version.h"
#include "db/table_cache/table_cache.h"
#include "db/version/version.h"
#include "table/iterator/point_lookup.h"
#include "util/threads/epoch.h"

namespace ashlar {

void ReadBlob(const SuperVersion& super_version, const ReadOptions& options, PointLookup* lookup) {
  ReadBlobs(super_version, options, {&lookup, 1});
}

// Collects the blob indexes of all lookups, so that the store can read them with one call.
void ReadBlobs(const SuperVersion& super_version, const ReadOptions& options,
               std::span<PointLookup* const> lookups) {
  assert(!InEpoch());
  std::vector<PointLookup*> wanted;
  std::vector<BlobRead> reads;
  for (PointLookup* lookup : lookups) {
    if (!lookup->is_blob_index() || lookup->value() == nullptr) continue;
    wanted.push_back(lookup);
    reads.push_back({.user_key = lookup->stored_key(),
                     .index = *lookup->value(),
                     .value = lookup->value(),
                     .status = {}});
  }
  if (wanted.empty()) return;
  assert(wanted.size() == reads.size());
  const Version& version = *super_version.version();
  version.tables()->blobs()->ReadMany(version.blobs(), options, reads);
  for (size_t i = 0; i < wanted.size(); i++) {
    wanted[i]->FinishBlob();
    if (!reads[i].status.ok()) wanted[i]->Fail(std::move(reads[i].status));
  }
}

}  // namespace ashlar
