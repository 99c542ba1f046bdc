// SPDX-License-Identifier: Apache-2.0
//
// Counter mode (CTR): each block of a file is combined with a key block by XOR. The key block is
// the encryption of a counter and a vector, both of which the file's prefix contains. Prefixes come
// from getrandom(), because two files with the same prefix would have the same key stream, and
// comparing them would reveal their contents.
#include "env/encryption/ctr_provider.h"

#include <sys/random.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <cstring>
#include <utility>

#include "ashlar/convenience.h"
#include "util/interfaces/registered_objects.h"
#include "util/keys/coding.h"
#include "util/result.h"
#include "util/text/option_text.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

// The prefix length of new files. Existing files may have a prefix of another length, if it holds
// at least two blocks.
constexpr size_t kPrefixBytes = 4096;
constexpr size_t kDefaultRot13Block = 32;

// Fills the memory with random bytes of the kernel. The call waits only if the system has just
// booted.
Status FillRandom(char* data, size_t bytes) {
  assert(data != nullptr);
  while (bytes > 0) {
    const ssize_t got = getrandom(data, bytes, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return Status::IOError("getrandom", std::strerror(errno));
    assert(static_cast<size_t>(got) <= bytes);
    data += got;
    bytes -= static_cast<size_t>(got);
  }
  return Status::OK();
}

// This cipher protects nothing. ROT13 exists for tests, and because option strings may name it.
// Each byte is shifted by 13, modulo 256.
class Rot13 final : public BlockCipher {
 public:
  explicit Rot13(size_t block_size) : block_size_(block_size) { assert(block_size > 0); }
  static const char* kClassName() { return "ROT13"; }
  const char* Name() const override { return kClassName(); }
  size_t BlockSize() override { return block_size_; }
  Status Encrypt(char* data) override {
    for (size_t i = 0; i < block_size_; ++i) data[i] = static_cast<char>(data[i] + 13);
    return Status::OK();
  }
  Status Decrypt(char* data) override {
    for (size_t i = 0; i < block_size_; ++i) data[i] = static_cast<char>(data[i] - 13);
    return Status::OK();
  }

 protected:
  std::string SerializeOptions(const ConfigOptions&, const std::string&) const override {
    return StrCat("block_size=", block_size_, ";");
  }
  Status ConfigureOptions(const ConfigOptions& config,
                          const std::unordered_map<std::string, std::string>& options,
                          std::unordered_map<std::string, std::string>* unused) override {
    auto rest = options;
    size_t block_size = block_size_;
    RETURN_IF_ERROR(TakeSizeOption("block_size", &rest, &block_size));
    if (block_size == 0) return Status::InvalidArgument("ROT13: block_size must not be 0");
    block_size_ = block_size;
    return BlockCipher::ConfigureOptions(config, rest, unused);
  }

 private:
  size_t block_size_;
};

// The stream of one file. Encryption and decryption are the same operation: XOR with the key
// stream. The object does not change after its construction, so any thread may use it.
class CtrStream final : public BlockAccessCipherStream {
 public:
  CtrStream(std::shared_ptr<BlockCipher> cipher, std::string vector, uint64_t counter)
      : cipher_(std::move(cipher)), vector_(std::move(vector)), counter_(counter) {
    assert(vector_.size() == cipher_->BlockSize());
    assert(vector_.size() >= sizeof(counter));
  }

  size_t BlockSize() override { return vector_.size(); }
  Status Encrypt(uint64_t file_offset, char* data, size_t data_size) override {
    assert(data != nullptr || data_size == 0);
    std::string key;
    // Each round handles the bytes of one block. The first and the last block may be used in part.
    while (data_size > 0) {
      const uint64_t block = file_offset / vector_.size();
      const size_t skipped = file_offset % vector_.size();
      const size_t bytes = std::min(data_size, vector_.size() - skipped);
      assert(bytes > 0 && bytes <= vector_.size());
      RETURN_IF_ERROR(MakeKey(block, &key));
      // XOR twice gives the old byte, so the same code decrypts.
      for (size_t i = 0; i < bytes; ++i) data[i] = static_cast<char>(data[i] ^ key[skipped + i]);
      file_offset += bytes;
      data += bytes;
      data_size -= bytes;
    }
    return Status::OK();
  }
  Status Decrypt(uint64_t file_offset, char* data, size_t data_size) override {
    return Encrypt(file_offset, data, data_size);
  }

 protected:
  void AllocateScratch(std::string& scratch) override { scratch.resize(vector_.size()); }
  Status EncryptBlock(uint64_t block_index, char* data, char* /*scratch*/) override {
    return Encrypt(block_index * vector_.size(), data, vector_.size());
  }
  Status DecryptBlock(uint64_t block_index, char* data, char* /*scratch*/) override {
    return Encrypt(block_index * vector_.size(), data, vector_.size());
  }

 private:
  // The key of a block: the encrypted vector, whose first 8 bytes are the counter. The counter
  // wraps around at 2^64.
  Status MakeKey(uint64_t block, std::string* key) const {
    assert(key != nullptr);
    key->assign(vector_);
    // The counter of a block is that of block 0 plus its index, so any block can be decrypted
    // alone.
    EncodeFixed64(key->data(), counter_ + block);
    return cipher_->Encrypt(key->data());
  }

  const std::shared_ptr<BlockCipher> cipher_;
  const std::string vector_;
  const uint64_t counter_;  // of block 0
};

// Calls `change` with whole blocks. If a block is only covered in part, its bytes are copied to
// their place in a zeroed block and copied back afterwards. This is correct if a changed byte
// depends only on its old value and its place, as in counter mode.
template <typename Change>
Status ForEachBlock(size_t block_bytes, uint64_t offset, char* data, size_t size, Change&& change) {
  assert(block_bytes > 0);
  std::string part;
  while (size > 0) {
    const size_t skipped = offset % block_bytes;
    const size_t bytes = std::min(size, block_bytes - skipped);
    assert(bytes > 0 && bytes <= block_bytes);
    char* block = data;
    if (bytes < block_bytes) {
      part.assign(block_bytes, '\0');
      std::memcpy(part.data() + skipped, data, bytes);
      block = part.data();
    }
    // The index is that of the block in the file, on which the key of counter mode depends.
    RETURN_IF_ERROR(change(offset / block_bytes, block));
    if (block != data) std::memcpy(data, block + skipped, bytes);
    offset += bytes;
    data += bytes;
    size -= bytes;
  }
  return Status::OK();
}

}  // namespace

// Blocks are encrypted where they are. A block that the data covers only in part is completed in a
// buffer, because a cipher works on whole blocks.
Status BlockAccessCipherStream::Encrypt(uint64_t file_offset, char* data, size_t data_size) {
  assert(data != nullptr || data_size == 0);
  std::string scratch;
  AllocateScratch(scratch);
  return ForEachBlock(BlockSize(), file_offset, data, data_size, [&](uint64_t index, char* block) {
    return EncryptBlock(index, block, scratch.data());
  });
}

Status BlockAccessCipherStream::Decrypt(uint64_t file_offset, char* data, size_t data_size) {
  assert(data != nullptr || data_size == 0);
  std::string scratch;
  AllocateScratch(scratch);
  return ForEachBlock(BlockSize(), file_offset, data, data_size, [&](uint64_t index, char* block) {
    return DecryptBlock(index, block, scratch.data());
  });
}

std::shared_ptr<BlockCipher> BlockCipher::NewROT13Cipher(size_t block_size) {
  return std::make_shared<Rot13>(std::max<size_t>(block_size, 1));
}

// The only built-in cipher is ROT13, for tests. "ROT13:16" gives its block size in bytes.
Status BlockCipher::CreateFromString(const ConfigOptions& config, const std::string& value,
                                     std::shared_ptr<BlockCipher>* result) {
  assert(result != nullptr);
  Status registered;
  // A class that the program registered has priority.
  if (MakeRegistered<BlockCipher>(config, value, result, &registered)) return registered;
  std::string id;
  std::unordered_map<std::string, std::string> options;
  RETURN_IF_ERROR(Configurable::GetOptionsMap(value, "", &id, &options));
  if (id.empty() || id == "nullptr") {
    // An empty name takes the cipher away, as the text of an option without a value does.
    result->reset();
    return Status::OK();
  }
  uint64_t block_size = kDefaultRot13Block;
  const std::string name = Rot13::kClassName();
  const bool has_size = id.starts_with(name + ":");
  if (id != name && !has_size) {
    if (config.ignore_unsupported_options) return Status::OK();
    return Status::NotSupported("block cipher: unknown name", id);
  }
  if (has_size && (!ParseUint64Text(id.substr(name.size() + 1), &block_size) || block_size == 0)) {
    return Status::InvalidArgument("ROT13: bad block size", id);
  }
  auto made = std::make_shared<Rot13>(block_size);
  RETURN_IF_ERROR(made->ConfigureFromMap(config, options));
  *result = std::move(made);
  return Status::OK();
}

std::shared_ptr<EncryptionProvider> EncryptionProvider::NewCTRProvider(
    const std::shared_ptr<BlockCipher>& cipher) {
  return std::make_shared<CtrProvider>(cipher);
}

// "CTR" or "1" makes the provider without a cipher; "CTR://test" gives it ROT13.
Status EncryptionProvider::CreateFromString(const ConfigOptions& config, const std::string& value,
                                            std::shared_ptr<EncryptionProvider>* result) {
  // A class that the program registered has priority.
  assert(result != nullptr);
  Status registered;
  if (MakeRegistered<EncryptionProvider>(config, value, result, &registered)) return registered;
  std::string id;
  std::unordered_map<std::string, std::string> options;
  RETURN_IF_ERROR(Configurable::GetOptionsMap(value, "", &id, &options));
  if (id.empty() || id == "nullptr") {
    result->reset();
    return Status::OK();
  }
  const bool is_test = id == "CTR://test" || id == "1://test";
  if (!is_test && id != CtrProvider::kClassName() && id != "1") {
    if (config.ignore_unsupported_options) return Status::OK();
    return Status::NotSupported("encryption provider: unknown name", id);
  }
  // Without a cipher the provider refuses every file until one is added.
  auto made = std::make_shared<CtrProvider>(
      is_test ? BlockCipher::NewROT13Cipher(kDefaultRot13Block) : nullptr);
  RETURN_IF_ERROR(made->ConfigureFromMap(config, options));
  *result = std::move(made);
  return Status::OK();
}

// The prefix needs room for two blocks and for more after them, and the counter in the first block
// has eight bytes.
Status CtrProvider::CheckCipher() const {
  if (cipher_ == nullptr) return Status::InvalidArgument("CTR encryption: no cipher");
  const size_t block_bytes = cipher_->BlockSize();
  if (block_bytes >= sizeof(uint64_t) && block_bytes <= kPrefixBytes / 2) return Status::OK();
  return Status::InvalidArgument(StrCat("CTR encryption: the cipher ", cipher_->Name(),
                                        " has blocks of ", block_bytes,
                                        " bytes; 8 to 2048 are possible"));
}

size_t CtrProvider::GetPrefixLength() const { return kPrefixBytes; }

// The prefix is random. Its first block is the counter from which the file starts, and its second
// block the initialization vector, so that two files do not use the same key stream.
Status CtrProvider::CreateNewPrefix(const std::string& /*fname*/, char* prefix,
                                    size_t prefix_length) const {
  assert(prefix != nullptr);
  RETURN_IF_ERROR(CheckCipher());
  const size_t block_bytes = cipher_->BlockSize();
  if (prefix_length < 2 * block_bytes) {
    return Status::InvalidArgument(StrCat("CTR encryption: a prefix of ", prefix_length, " bytes"));
  }
  RETURN_IF_ERROR(FillRandom(prefix, prefix_length));
  // The first two blocks, counter and vector, stay readable: together with the cipher they suffice
  // to decrypt the rest.
  CtrStream stream(cipher_, std::string(prefix + block_bytes, block_bytes), DecodeFixed64(prefix));
  return stream.Encrypt(0, prefix + 2 * block_bytes, prefix_length - 2 * block_bytes);
}

// RocksDB's call for tests: the length of the "key" is the block size.
Status CtrProvider::AddCipher(const std::string& descriptor, const char* /*cipher*/, size_t len,
                              bool /*for_write*/) {
  if (cipher_ != nullptr) return Status::NotSupported("CTR encryption: there is a cipher already");
  if (descriptor != Rot13::kClassName()) {
    return Status::NotSupported("CTR encryption: unknown cipher", descriptor);
  }
  if (len == 0) return Status::InvalidArgument("CTR encryption: ROT13 with blocks of 0 bytes");
  cipher_ = BlockCipher::NewROT13Cipher(len);
  return Status::OK();
}

// Only the two readable blocks of the prefix are used.
Status CtrProvider::CreateCipherStream(const std::string& fname, const EnvOptions& /*options*/,
                                       Slice& prefix,
                                       std::unique_ptr<BlockAccessCipherStream>* result) {
  assert(result != nullptr);
  RETURN_IF_ERROR(CheckCipher());
  const size_t block_bytes = cipher_->BlockSize();
  if (prefix.size() < 2 * block_bytes) {
    return Status::Corruption(StrCat(fname, ": the prefix has ", prefix.size(), " bytes, ",
                                     2 * block_bytes, " are needed"));
  }
  // Both are taken from the two blocks that are not encrypted.
  *result = std::make_unique<CtrStream>(
      cipher_, std::string(prefix.data() + block_bytes, block_bytes), DecodeFixed64(prefix.data()));
  return Status::OK();
}

Status CtrProvider::ConfigureOptions(const ConfigOptions& config,
                                     const std::unordered_map<std::string, std::string>& options,
                                     std::unordered_map<std::string, std::string>* unused) {
  auto rest = options;
  if (const auto given = rest.find("cipher"); given != rest.end()) {
    RETURN_IF_ERROR(BlockCipher::CreateFromString(config, given->second, &cipher_));
    rest.erase(given);
  }
  return EncryptionProvider::ConfigureOptions(config, rest, unused);
}

std::string CtrProvider::SerializeOptions(const ConfigOptions& config,
                                          const std::string& /*prefix*/) const {
  return StrCat("cipher=", cipher_ == nullptr ? "nullptr" : cipher_->ToString(config), ";");
}

}  // namespace ashlar
