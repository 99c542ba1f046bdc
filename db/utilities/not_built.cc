// SPDX-License-Identifier: Apache-2.0
//
// Utilities that are declared but not built yet: opening one returns NotSupported with the name of
// the call. A utility is removed from this file when it is built. NewPersistentCache() stays: newer
// releases of RocksDB have no use for it.
#include <memory>

#include "ashlar/persistent_cache.h"

namespace ashlar {

Status NewPersistentCache(Env* const, const std::string&, const uint64_t,
                          const std::shared_ptr<Logger>&, const bool,
                          std::shared_ptr<PersistentCache>* cache) {
  cache->reset();
  return Status::NotSupported("NewPersistentCache: use a SecondaryCache");
}

}  // namespace ashlar
