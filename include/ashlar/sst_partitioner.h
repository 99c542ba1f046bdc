// SPDX-License-Identifier: Apache-2.0
//
// SstPartitioner adds boundaries at which a compaction ends an output file and begins the next one.
// It is not asked about files of level 0, which flushes write. It can also prevent files from being
// moved down without being rewritten.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "ashlar/customizable.h"
#include "ashlar/export.h"
#include "ashlar/slice.h"
#include "ashlar/status.h"

namespace ashlar {

// Whether the current output file ends before a key.
enum PartitionerResult : char {
  kNotRequired = 0x0,
  kRequired = 0x1  // end the file before the current key
};

// Facts for ShouldPartition(). The pointers are valid during the call; the size is in bytes.
struct PartitionerRequest {
  PartitionerRequest(const Slice& prev_user_key_, const Slice& current_user_key_,
                     uint64_t current_output_file_size_)
      : prev_user_key(&prev_user_key_),
        current_user_key(&current_user_key_),
        current_output_file_size(current_output_file_size_) {}
  const Slice* prev_user_key;
  const Slice* current_user_key;
  uint64_t current_output_file_size;
};

// Serves one compaction, or one parallel part of it, in one thread.
class ASHLAR_EXPORT SstPartitioner {
 public:
  virtual ~SstPartitioner() {}
  virtual const char* Name() const = 0;
  // Called for each user key except the first of a file.
  virtual PartitionerResult ShouldPartition(const PartitionerRequest& request) = 0;
  // Whether a file with these smallest and largest keys may be moved down without being rewritten.
  virtual bool CanDoTrivialMove(const Slice& smallest_user_key, const Slice& largest_user_key) = 0;

  // Facts about the compaction. The keys are the bounds of its inputs, inclusive.
  struct Context {
    bool is_full_compaction;
    bool is_manual_compaction;
    int output_level;
    Slice smallest_user_key;
    Slice largest_user_key;
  };
};

// Creates partitioners. Must be thread safe.
class ASHLAR_EXPORT SstPartitionerFactory : public Customizable {
 public:
  ~SstPartitionerFactory() override {}
  static const char* Type() { return "SstPartitionerFactory"; }
  // Creates a built-in factory from its name.
  static Status CreateFromString(const ConfigOptions& options, const std::string& value,
                                 std::shared_ptr<SstPartitionerFactory>* result);

  // Creates a partitioner for one compaction; nullptr = no extra boundaries.
  virtual std::unique_ptr<SstPartitioner> CreatePartitioner(
      const SstPartitioner::Context& context) const = 0;
  const char* Name() const override = 0;
};

// Ends a file where the first `len` bytes of the user key change.
class ASHLAR_EXPORT SstPartitionerFixedPrefix : public SstPartitioner {
 public:
  explicit SstPartitionerFixedPrefix(size_t len) : len_(len) {}
  ~SstPartitionerFixedPrefix() override {}
  const char* Name() const override { return "SstPartitionerFixedPrefix"; }
  PartitionerResult ShouldPartition(const PartitionerRequest& request) override;
  bool CanDoTrivialMove(const Slice& smallest_user_key, const Slice& largest_user_key) override;

 private:
  size_t len_;
};

// Creates SstPartitionerFixedPrefix objects.
class ASHLAR_EXPORT SstPartitionerFixedPrefixFactory : public SstPartitionerFactory {
 public:
  explicit SstPartitionerFixedPrefixFactory(size_t len);
  ~SstPartitionerFixedPrefixFactory() override {}
  static const char* kClassName() { return "SstPartitionerFixedPrefixFactory"; }
  const char* Name() const override { return kClassName(); }
  std::unique_ptr<SstPartitioner> CreatePartitioner(
      const SstPartitioner::Context& context) const override;

 protected:
  Status ConfigureOptions(const ConfigOptions& config_options,
                          const std::unordered_map<std::string, std::string>& opts_map,
                          std::unordered_map<std::string, std::string>* unused) override;
  std::string SerializeOptions(const ConfigOptions& config_options,
                               const std::string& prefix) const override;

 private:
  size_t len_;
};

ASHLAR_EXPORT std::shared_ptr<SstPartitionerFactory> NewSstPartitionerFixedPrefixFactory(
    size_t prefix_len);

}  // namespace ashlar
