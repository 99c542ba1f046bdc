// SPDX-License-Identifier: Apache-2.0
//
// The built-in whole-file checksum, CRC32C, and an in-memory list of checksums.
#include "ashlar/file_checksum.h"

#include <cassert>
#include <map>
#include <utility>

#include "util/hash/crc32c.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

// The checksum is big-endian, as other tools print it. One generator is for one file.
class Crc32cGenerator final : public FileChecksumGenerator {
 public:
  void Update(const char* data, size_t n) override { crc_ = crc32c::Extend(crc_, data, n); }
  void Finalize() override {
    assert(checksum_.empty());
    for (int shift = 24; shift >= 0; shift -= 8) {
      checksum_.push_back(static_cast<char>(crc_ >> shift & 0xff));
    }
  }
  std::string GetChecksum() const override { return checksum_; }
  const char* Name() const override { return kStandardDbFileChecksumFuncName; }

 private:
  uint32_t crc_ = 0;
  std::string checksum_;
};

class Crc32cFactory final : public FileChecksumGenFactory {
 public:
  static const char* kClassName() { return "FileChecksumGenCrc32cFactory"; }
  const char* Name() const override { return kClassName(); }
  // Returns nullptr if another function was requested.
  std::unique_ptr<FileChecksumGenerator> CreateFileChecksumGenerator(
      const FileChecksumGenContext& context) override {
    const std::string& wanted = context.requested_checksum_func_name;
    if (!wanted.empty() && wanted != kStandardDbFileChecksumFuncName) return nullptr;
    return std::make_unique<Crc32cGenerator>();
  }
};

// A sorted map, so that listings are in the order of file numbers. Not synchronized.
class ChecksumMap final : public FileChecksumList {
 public:
  void reset() override { checksums_.clear(); }
  size_t size() const override { return checksums_.size(); }
  Status GetAllFileChecksums(std::vector<uint64_t>* file_numbers,
                             std::vector<std::string>* checksums,
                             std::vector<std::string>* names) override {
    if (file_numbers == nullptr || checksums == nullptr || names == nullptr) {
      return Status::InvalidArgument("GetAllFileChecksums: an output is nullptr");
    }
    for (const auto& [number, entry] : checksums_) {
      file_numbers->push_back(number);
      checksums->push_back(entry.first);
      names->push_back(entry.second);
    }
    return Status::OK();
  }
  Status SearchOneFileChecksum(uint64_t file_number, std::string* checksum,
                               std::string* name) override {
    if (checksum == nullptr || name == nullptr) {
      return Status::InvalidArgument("SearchOneFileChecksum: an output is nullptr");
    }
    const auto found = checksums_.find(file_number);
    if (found == checksums_.end()) return Status::NotFound();
    std::tie(*checksum, *name) = found->second;
    return Status::OK();
  }
  Status InsertOneFileChecksum(uint64_t file_number, const std::string& checksum,
                               const std::string& name) override {
    checksums_[file_number] = {checksum, name};
    return Status::OK();
  }
  Status RemoveOneFileChecksum(uint64_t file_number) override {
    if (checksums_.erase(file_number) == 0) return Status::NotFound();
    return Status::OK();
  }

 private:
  // File number -> (checksum, function name).
  std::map<uint64_t, std::pair<std::string, std::string>> checksums_;
};

}  // namespace

FileChecksumList* NewFileChecksumList() { return new ChecksumMap; }

std::shared_ptr<FileChecksumGenFactory> GetFileChecksumGenCrc32cFactory() {
  static const std::shared_ptr<FileChecksumGenFactory> factory = std::make_shared<Crc32cFactory>();
  return factory;
}

}  // namespace ashlar
