// SPDX-License-Identifier: Apache-2.0
//
// Checksums of whole table files, recorded in the MANIFEST. Those that are there are listed; making
// them is not built yet: a database with a factory is refused with NotSupported.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/customizable.h"
#include "ashlar/export.h"
#include "ashlar/status.h"

namespace ashlar {

// What is recorded for a file without a checksum.
constexpr char kUnknownFileChecksum[] = "";
constexpr char kUnknownFileChecksumFuncName[] = "Unknown";
constexpr char kNoFileChecksumFuncName[] = "Unavailable";
// Name of the built-in generator.
constexpr char kStandardDbFileChecksumFuncName[] = "FileChecksumCrc32c";

struct FileChecksumGenContext {
  std::string file_name;
  // Set when an existing file is checked: the function to use. May be empty.
  std::string requested_checksum_func_name;
};

// Computes one file's checksum: Update() over its bytes in order, Finalize() once, then
// GetChecksum(). One thread at a time.
class ASHLAR_EXPORT FileChecksumGenerator {
 public:
  virtual ~FileChecksumGenerator() {}
  virtual void Update(const char* data, size_t n) = 0;
  virtual void Finalize() = 0;
  virtual std::string GetChecksum() const = 0;
  virtual const char* Name() const = 0;
};

// Makes generators. Thread safe.
class ASHLAR_EXPORT FileChecksumGenFactory : public Customizable {
 public:
  ~FileChecksumGenFactory() override {}
  static const char* Type() { return "FileChecksumGenFactory"; }
  // By name: "FileChecksumGenCrc32cFactory".
  static Status CreateFromString(const ConfigOptions& options, const std::string& value,
                                 std::shared_ptr<FileChecksumGenFactory>* result);

  virtual std::unique_ptr<FileChecksumGenerator> CreateFileChecksumGenerator(
      const FileChecksumGenContext& context) = 0;
  const char* Name() const override = 0;
};

// Checksums by file number. One thread at a time.
class ASHLAR_EXPORT FileChecksumList {
 public:
  virtual ~FileChecksumList() {}
  virtual void reset() = 0;
  virtual size_t size() const = 0;
  virtual Status GetAllFileChecksums(std::vector<uint64_t>* file_numbers,
                                     std::vector<std::string>* checksums,
                                     std::vector<std::string>* checksum_func_names) = 0;
  // NotFound if the file has no entry.
  virtual Status SearchOneFileChecksum(uint64_t file_number, std::string* checksum,
                                       std::string* checksum_func_name) = 0;
  virtual Status InsertOneFileChecksum(uint64_t file_number, const std::string& checksum,
                                       const std::string& checksum_func_name) = 0;
  virtual Status RemoveOneFileChecksum(uint64_t file_number) = 0;
};

// An empty list; the caller owns it.
ASHLAR_EXPORT FileChecksumList* NewFileChecksumList();

// CRC32C, four bytes, most significant first.
ASHLAR_EXPORT std::shared_ptr<FileChecksumGenFactory> GetFileChecksumGenCrc32cFactory();

}  // namespace ashlar
