// SPDX-License-Identifier: Apache-2.0
//
// The built-in flush block policy can be named in options, but the table builder implements it.
// Therefore the factory returns no object.
#include "ashlar/flush_block_policy.h"

namespace ashlar {

FlushBlockBySizePolicyFactory::FlushBlockBySizePolicyFactory() = default;

FlushBlockPolicy* FlushBlockBySizePolicyFactory::NewFlushBlockPolicy(
    const BlockBasedTableOptions& /*table_options*/,
    const BlockBuilder& /*data_block_builder*/) const {
  return nullptr;
}

FlushBlockPolicy* FlushBlockBySizePolicyFactory::NewFlushBlockPolicy(
    const uint64_t /*size*/, const int /*deviation*/, const BlockBuilder& /*data_block_builder*/) {
  return nullptr;
}

}  // namespace ashlar
