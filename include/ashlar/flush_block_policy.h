// SPDX-License-Identifier: Apache-2.0
//
// FlushBlockPolicy: when a data block is full. The default ends a block by its size.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "ashlar/customizable.h"
#include "ashlar/export.h"
#include "ashlar/status.h"

namespace ashlar {

class BlockBuilder;
class Slice;
struct BlockBasedTableOptions;

// Serves one table file, in one thread.
class ASHLAR_EXPORT FlushBlockPolicy {
 public:
  virtual ~FlushBlockPolicy() {}
  // Called before the entry is added: true ends the block first.
  virtual bool Update(const Slice& key, const Slice& value) = 0;
};

// Makes policies; nullptr: blocks end by size. Thread safe. What a policy is told are internal
// keys.
class ASHLAR_EXPORT FlushBlockPolicyFactory : public Customizable {
 public:
  ~FlushBlockPolicyFactory() override {}
  static const char* Type() { return "FlushBlockPolicyFactory"; }
  static Status CreateFromString(const ConfigOptions& config_options, const std::string& value,
                                 std::shared_ptr<FlushBlockPolicyFactory>* result);

  virtual FlushBlockPolicy* NewFlushBlockPolicy(const BlockBasedTableOptions& table_options,
                                                const BlockBuilder& data_block_builder) const = 0;
};

// Ends a block at BlockBasedTableOptions::block_size, with block_size_deviation.
class ASHLAR_EXPORT FlushBlockBySizePolicyFactory : public FlushBlockPolicyFactory {
 public:
  FlushBlockBySizePolicyFactory();
  static const char* kClassName() { return "FlushBlockBySizePolicyFactory"; }
  const char* Name() const override { return kClassName(); }

  // The table builder has this policy built in: both forms return nullptr.
  FlushBlockPolicy* NewFlushBlockPolicy(const BlockBasedTableOptions& table_options,
                                        const BlockBuilder& data_block_builder) const override;
  static FlushBlockPolicy* NewFlushBlockPolicy(const uint64_t size, const int deviation,
                                               const BlockBuilder& data_block_builder);
};

}  // namespace ashlar
