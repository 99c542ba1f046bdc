// SPDX-License-Identifier: Apache-2.0
//
// A database in memory that is damaged and repaired.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "db/repair/repair_db.h"
#include "tests/support/test_db.h"

namespace ashlar {

class RepairTest : public DbTest {
 protected:
  RepairTest() {
    options_.disable_auto_compactions = true;
    options_.compression = kNoCompression;
  }

  // All files of the directory with this ending, by path; "MANIFEST" finds MANIFESTs.
  std::vector<std::string> Files(const std::string& part) {
    std::vector<std::string> found;
    for (const auto& [path, bytes] : memory_->AllFiles()) {
      const std::string name = path.substr(path.rfind('/') + 1);
      const bool is_lost = path.find("/lost/") != std::string::npos;
      if (!is_lost && name.find(part) != std::string::npos) found.push_back(path);
    }
    return found;
  }
  std::string Newest(const std::string& part) {
    const std::vector<std::string> found = Files(part);
    EXPECT_FALSE(found.empty()) << part;
    return found.empty() ? "" : found.back();
  }
  std::string Bytes(const std::string& path) { return memory_->AllFiles().at(path); }
  void Flip(const std::string& path, size_t offset) {
    std::string bytes = Bytes(path);
    bytes.at(offset) = static_cast<char>(bytes[offset] ^ 0x10);
    memory_->PutFile(path, bytes);
  }
  void Cut(const std::string& path, size_t bytes) {
    memory_->PutFile(path, Bytes(path).substr(0, bytes));
  }
  void Unlink(const std::string& path) {
    ASSERT_OK(memory_->DeleteFile(path, IOOptions(), nullptr));
  }
  void DeleteAll(const std::string& part) {
    for (const std::string& path : Files(part)) Unlink(path);
  }
  bool IsLost(const std::string& part) {
    for (const auto& [path, bytes] : memory_->AllFiles()) {
      if (path.find("/lost/") != std::string::npos && path.find(part) != std::string::npos) {
        return true;
      }
    }
    return false;
  }

  // Closes the database first. With all families under options_.
  Status TryRepair() {
    Drop();
    report_.clear();
    return RepairWithReport(dir_, options_, {{kDefaultColumnFamilyName, options_}}, options_,
                            &report_);
  }
  void Repair(CallSite at = CallSite::Here()) {
    const Status status = TryRepair();
    EXPECT_TRUE(status.ok()) << at.line() << ": " << status.ToString();
  }
  bool Reports(const std::string& part) {
    return std::any_of(report_.begin(), report_.end(), [&](const std::string& line) {
      return line.find(part) != std::string::npos;
    });
  }

  std::vector<std::string> report_;
};

}  // namespace ashlar
