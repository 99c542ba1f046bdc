// SPDX-License-Identifier: Apache-2.0
//
// Files that are encrypted on disk. A FileSystem or Env around another one encrypts what is written
// and decrypts what is read, with a cipher of the program:
//
//   std::shared_ptr<EncryptionProvider> provider = EncryptionProvider::NewCTRProvider(my_cipher);
//   options.env = NewEncryptedEnv(Env::Default(), provider);   // outlives the database
//
// The built-in cipher, ROT13, protects nothing; it is for tests. A program brings its own block
// cipher, for example AES of a reviewed library, whose Encrypt() encrypts one block.
//
// Format, which is RocksDB's: each file that is not empty begins with a prefix of
// EncryptionProvider::GetPrefixLength() bytes. Sizes and offsets of the file system do not count
// it. Names, sizes and the times of files are visible. The info log is encrypted like all other
// files, in contrast to RocksDB; a logger of the file system or Env below is not asked for. To keep
// a readable log, set DBOptions::info_log. Encryption does not detect changes of the files by an
// attacker, beyond the checksums of the database.
//
// With the CTR provider, each file has its own random counter and vector from the operating system,
// and a file that is written anew, or reused as a recycled log, gets a new prefix: no part of a key
// stream encrypts the bytes of two files. Where bytes of one file are overwritten (the last page of
// a file with direct I/O, the global sequence number of an ingested table), old and new bytes are
// encrypted alike: who sees both versions on disk learns their difference.
//
// Options for memory-mapped files are InvalidArgument.
//
// Threads: file systems and providers may be used by any thread; files as those of FileSystem. A
// cipher is called by several threads at the same time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "ashlar/customizable.h"
#include "ashlar/env.h"
#include "ashlar/export.h"
#include "ashlar/file_system.h"
#include "ashlar/file_system_wrapper.h"

namespace ashlar {

class EncryptionProvider;
struct ConfigOptions;

// An environment with encrypted files; threads and time are those of `base_env`, which outlives the
// result. The caller deletes the result.
ASHLAR_EXPORT Env* NewEncryptedEnv(Env* base_env,
                                   const std::shared_ptr<EncryptionProvider>& provider);
// The same as a file system.
ASHLAR_EXPORT std::shared_ptr<FileSystem> NewEncryptedFS(
    const std::shared_ptr<FileSystem>& base_fs,
    const std::shared_ptr<EncryptionProvider>& provider);

// Encrypts and decrypts the bytes of one file at any offset.
class ASHLAR_EXPORT BlockAccessCipherStream {
 public:
  virtual ~BlockAccessCipherStream() {}

  // Bytes of a block. Blocks are numbered from the beginning of the file, with its prefix.
  virtual size_t BlockSize() = 0;
  // Encrypt or decrypt `data` in place. `file_offset` counts the prefix. The defaults call the
  // functions below for each block, with a whole block for a part of one.
  virtual Status Encrypt(uint64_t file_offset, char* data, size_t data_size);
  virtual Status Decrypt(uint64_t file_offset, char* data, size_t data_size);

 protected:
  // Sizes the memory that the block functions get.
  virtual void AllocateScratch(std::string& scratch) = 0;
  virtual Status EncryptBlock(uint64_t block_index, char* data, char* scratch) = 0;
  virtual Status DecryptBlock(uint64_t block_index, char* data, char* scratch) = 0;
};

// Encrypts single blocks.
class ASHLAR_EXPORT BlockCipher : public Customizable {
 public:
  virtual ~BlockCipher() {}

  // Makes "ROT13", "ROT13:<block size>" (default 32), or a registered cipher. NotSupported: unknown
  // name.
  static Status CreateFromString(const ConfigOptions& config_options, const std::string& value,
                                 std::shared_ptr<BlockCipher>* result);
  static const char* Type() { return "BlockCipher"; }
  // Adds 13 to each byte. For tests only. At least 1 byte.
  static std::shared_ptr<BlockCipher> NewROT13Cipher(size_t block_size);

  virtual size_t BlockSize() = 0;  // bytes
  // Encrypt or decrypt a block of BlockSize() bytes in place.
  virtual Status Encrypt(char* data) = 0;
  virtual Status Decrypt(char* data) = 0;
};

// Makes the cipher streams of files.
class ASHLAR_EXPORT EncryptionProvider : public Customizable {
 public:
  virtual ~EncryptionProvider() {}

  // Makes "CTR" (the option `cipher` names its cipher, "{id=CTR;cipher=ROT13:16}"), "CTR://test" or
  // "1://test" (ROT13 with blocks of 32 bytes), or a registered provider. NotSupported: unknown
  // name.
  static Status CreateFromString(const ConfigOptions& config_options, const std::string& value,
                                 std::shared_ptr<EncryptionProvider>* result);
  static const char* Type() { return "EncryptionProvider"; }
  // A provider in counter mode. The cipher has blocks of 8 to 2048 bytes; with others, and without
  // one, files cannot be created or opened (InvalidArgument).
  static std::shared_ptr<EncryptionProvider> NewCTRProvider(
      const std::shared_ptr<BlockCipher>& cipher);

  // Bytes of the prefix of each file; 0 = no prefix. A multiple of the page size allows direct I/O.
  virtual size_t GetPrefixLength() const = 0;
  // Fills the prefix of a new file.
  virtual Status CreateNewPrefix(const std::string& fname, char* prefix,
                                 size_t prefix_length) const = 0;
  // Adds a key. The CTR provider accepts the descriptor "ROT13" with `len` as block size while it
  // has no cipher; everything else is NotSupported.
  virtual Status AddCipher(const std::string& descriptor, const char* cipher, size_t len,
                           bool for_write) = 0;
  // Makes the stream of a file from its prefix, which it may change.
  virtual Status CreateCipherStream(const std::string& fname, const EnvOptions& options,
                                    Slice& prefix,
                                    std::unique_ptr<BlockAccessCipherStream>* result) = 0;
  // A text that tells this provider from others; "" = none.
  virtual std::string GetMarker() const { return ""; }
};

// The file system that NewEncryptedFS() makes.
class ASHLAR_EXPORT EncryptedFileSystem : public FileSystemWrapper {
 public:
  explicit EncryptedFileSystem(const std::shared_ptr<FileSystem>& base) : FileSystemWrapper(base) {}

  // Adds a key to the provider.
  virtual Status AddCipher(const std::string& descriptor, const char* cipher, size_t len,
                           bool for_write) = 0;

  static const char* kClassName() { return "EncryptedFileSystem"; }
  bool IsInstanceOf(const std::string& name) const override {
    return name == kClassName() || FileSystemWrapper::IsInstanceOf(name);
  }
};

}  // namespace ashlar
