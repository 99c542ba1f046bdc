// SPDX-License-Identifier: Apache-2.0
//
// Encryption in counter mode (CTR): the bytes of a file are combined by XOR with a key stream, the
// encrypted values of a counter.
//
// Prefix of a file, with blocks of B bytes:
//   0..7          the counter c of block 0, fixed64
//   8..B-1        random
//   B..2B-1       the vector IV
//   2B..4095      random, encrypted by the stream of the file as if it began at offset 0
// The key stream of block i is E(IV with its first 8 bytes replaced by fixed64(c + i)), where block
// i holds the bytes from i * B of the file, prefix included.
//
// Threads: any; AddCipher() before the first file is used.
#pragma once

#include <memory>
#include <string>

#include "ashlar/env_encryption.h"

namespace ashlar {

// Not copyable in effect: files keep streams, which share the cipher. The provider may be destroyed
// while files are open.
class CtrProvider final : public EncryptionProvider {
 public:
  explicit CtrProvider(std::shared_ptr<BlockCipher> cipher) : cipher_(std::move(cipher)) {}

  static const char* kClassName() { return "CTR"; }
  const char* Name() const override { return kClassName(); }

  size_t GetPrefixLength() const override;
  // `prefix` has room for `prefix_length` bytes, at least two blocks of the cipher.
  Status CreateNewPrefix(const std::string& fname, char* prefix,
                         size_t prefix_length) const override;
  // Only "ROT13", with blocks of `len` bytes. NotSupported if there is a cipher already.
  Status AddCipher(const std::string& descriptor, const char* cipher, size_t len,
                   bool for_write) override;
  // Corruption if the prefix has fewer than two blocks.
  Status CreateCipherStream(const std::string& fname, const EnvOptions& options, Slice& prefix,
                            std::unique_ptr<BlockAccessCipherStream>* result) override;

 protected:
  Status ConfigureOptions(const ConfigOptions& config,
                          const std::unordered_map<std::string, std::string>& options,
                          std::unordered_map<std::string, std::string>* unused) override;
  std::string SerializeOptions(const ConfigOptions& config,
                               const std::string& prefix) const override;

 private:
  // InvalidArgument without a cipher, or with blocks that do not fit the prefix.
  Status CheckCipher() const;

  std::shared_ptr<BlockCipher> cipher_;  // null until one is added
};

}  // namespace ashlar
