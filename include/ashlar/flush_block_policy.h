// SPDX-License-Identifier: Apache-2.0
//
// FlushBlockPolicy decides where a data block of a table ends. By default a block ends by its size.
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

// Used for one table file, by one thread.
class ASHLAR_EXPORT FlushBlockPolicy {
 public:
  virtual ~FlushBlockPolicy() {}
  // Called before an entry is added. If it returns true, the current block ends before that entry.
  virtual bool Update(const Slice& key, const Slice& value) = 0;
};

// Creates policies; if it returns nullptr, blocks end by size. Must be thread safe. The keys that a
// policy receives are internal keys: the user key followed by 8 bytes.
class ASHLAR_EXPORT FlushBlockPolicyFactory : public Customizable {
 public:
  ~FlushBlockPolicyFactory() override {}
  static const char* Type() { return "FlushBlockPolicyFactory"; }
  // Returns the built-in factory with this name.
  static Status CreateFromString(const ConfigOptions& config_options, const std::string& value,
                                 std::shared_ptr<FlushBlockPolicyFactory>* result);

  // Creates the policy for a new table. The caller owns the result.
  virtual FlushBlockPolicy* NewFlushBlockPolicy(const BlockBasedTableOptions& table_options,
                                                const BlockBuilder& data_block_builder) const = 0;
};

// Ends a block at BlockBasedTableOptions::block_size, taking block_size_deviation into account.
class ASHLAR_EXPORT FlushBlockBySizePolicyFactory : public FlushBlockPolicyFactory {
 public:
  FlushBlockBySizePolicyFactory();
  static const char* kClassName() { return "FlushBlockBySizePolicyFactory"; }
  const char* Name() const override { return kClassName(); }

  // Both forms return nullptr, because the table builder implements this policy itself.
  FlushBlockPolicy* NewFlushBlockPolicy(const BlockBasedTableOptions& table_options,
                                        const BlockBuilder& data_block_builder) const override;
  static FlushBlockPolicy* NewFlushBlockPolicy(const uint64_t size, const int deviation,
                                               const BlockBuilder& data_block_builder);
};

}  // namespace ashlar
