// SPDX-License-Identifier: Apache-2.0
//
// Utilities that are declared but not built yet: opening one returns NotSupported with the name of
// the call. A utility is removed from this file when it is built. NewPersistentCache() stays: newer
// releases of RocksDB have no use for it.
#include <memory>

#include "ashlar/persistent_cache.h"
#include "ashlar/utilities/checkpoint.h"

namespace ashlar {

Status CheckpointEngine::Open(const CheckpointEngineOptions&,
                              std::unique_ptr<CheckpointEngine>* out_checkpoint_engine) {
  out_checkpoint_engine->reset();
  return Status::NotSupported("CheckpointEngine::Open: not built yet; use Checkpoint::Create");
}

Status NewPersistentCache(Env* const, const std::string&, const uint64_t,
                          const std::shared_ptr<Logger>&, const bool,
                          std::shared_ptr<PersistentCache>* cache) {
  cache->reset();
  return Status::NotSupported("NewPersistentCache: use a SecondaryCache");
}

}  // namespace ashlar
