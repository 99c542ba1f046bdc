// SPDX-License-Identifier: Apache-2.0
//
// A flush block policy that the engine does not know; its blocks end like those of the default
// policy.
#pragma once

#include "ashlar/flush_block_policy.h"

namespace ashlar {

class UnknownBlockPolicyFactory final : public FlushBlockPolicyFactory {
 public:
  const char* Name() const override { return "UnknownBlockPolicyFactory"; }
  FlushBlockPolicy* NewFlushBlockPolicy(const BlockBasedTableOptions&,
                                        const BlockBuilder&) const override {
    return nullptr;
  }
};

}  // namespace ashlar
