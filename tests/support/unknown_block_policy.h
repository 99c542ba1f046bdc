// SPDX-License-Identifier: Apache-2.0
//
// A flush block policy of the program's own, for all that anybody knows: blocks end as always.
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
