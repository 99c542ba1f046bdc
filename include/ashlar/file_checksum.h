// SPDX-License-Identifier: Apache-2.0
//
// Checksums of whole table files, which the MANIFEST records. Set
// DBOptions::file_checksum_gen_factory to compute them for new files.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/customizable.h"
#include "ashlar/export.h"
#include "ashlar/status.h"

namespace ashlar {

// Recorded for a file without a checksum.
constexpr char kUnknownFileChecksum[] = "";
constexpr char kUnknownFileChecksumFuncName[] = "Unknown";
constexpr char kNoFileChecksumFuncName[] = "Unavailable";
// Name of the built-in checksum function.
constexpr char kStandardDbFileChecksumFuncName[] = "FileChecksumCrc32c";

// Facts about the file whose checksum will be computed.
struct FileChecksumGenContext {
  std::string file_name;
  // Set when an existing file is verified: the name of the function that its recorded checksum
  // needs. May be empty.
  std::string requested_checksum_func_name;
};

// Computes the checksum of one file. The engine calls Update() for all its bytes in order, then
// Finalize() once, then GetChecksum(). Threads: one at a time.
class ASHLAR_EXPORT FileChecksumGenerator {
 public:
  virtual ~FileChecksumGenerator() {}
  virtual void Update(const char* data, size_t n) = 0;
  virtual void Finalize() = 0;
  virtual std::string GetChecksum() const = 0;
  // The name of the function, which is recorded with the checksum.
  virtual const char* Name() const = 0;
};

// Creates generators. Must be thread safe.
class ASHLAR_EXPORT FileChecksumGenFactory : public Customizable {
 public:
  ~FileChecksumGenFactory() override {}
  static const char* Type() { return "FileChecksumGenFactory"; }
  // Returns the built-in factory with this name: "FileChecksumGenCrc32cFactory".
  static Status CreateFromString(const ConfigOptions& options, const std::string& value,
                                 std::shared_ptr<FileChecksumGenFactory>* result);

  // Creates a generator for one file; nullptr if the factory does not have the requested function.
  virtual std::unique_ptr<FileChecksumGenerator> CreateFileChecksumGenerator(
      const FileChecksumGenContext& context) = 0;
  const char* Name() const override = 0;
};

// A list of checksums by file number. Threads: one at a time.
class ASHLAR_EXPORT FileChecksumList {
 public:
  virtual ~FileChecksumList() {}
  virtual void reset() = 0;
  virtual size_t size() const = 0;
  virtual Status GetAllFileChecksums(std::vector<uint64_t>* file_numbers,
                                     std::vector<std::string>* checksums,
                                     std::vector<std::string>* checksum_func_names) = 0;
  // NotFound if the list has no entry for the file.
  virtual Status SearchOneFileChecksum(uint64_t file_number, std::string* checksum,
                                       std::string* checksum_func_name) = 0;
  virtual Status InsertOneFileChecksum(uint64_t file_number, const std::string& checksum,
                                       const std::string& checksum_func_name) = 0;
  virtual Status RemoveOneFileChecksum(uint64_t file_number) = 0;
};

// Creates an empty list. The caller owns it.
ASHLAR_EXPORT FileChecksumList* NewFileChecksumList();

// The built-in factory: CRC32C, stored as four bytes, most significant byte first.
ASHLAR_EXPORT std::shared_ptr<FileChecksumGenFactory> GetFileChecksumGenCrc32cFactory();

}  // namespace ashlar
