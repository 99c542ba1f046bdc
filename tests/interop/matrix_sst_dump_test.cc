// SPDX-License-Identifier: Apache-2.0
//
// RocksDB's sst_dump reads tables that we wrote with combined options: it verifies them, lists the
// same entries, and counts the same as our properties. Skipped if it is not installed.
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "tests/support/paths.h"
#include "tests/support/run_command.h"
#include "tests/support/skip.h"
#include "tests/support/status_matchers.h"
#include "tests/support/table_matrix.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

constexpr uint64_t kTables = 150;
constexpr uint64_t kSeed = 30'000'000;

class MatrixSstDump : public testing::Test {
 protected:
  void SetUp() override {
    if (!HasProgram("sst_dump")) return SkipAsMissing("sst_dump of RocksDB");
    dir_ = FreshTempDir("matrix_sst_dump");
    for (uint64_t i = 0; i < kTables; ++i) {
      std::unique_ptr<MatrixTable> matrix = MakeMatrixTable(kSeed + i, /*reader_of_7_8=*/true);
      ASSERT_FALSE(HasFatalFailure()) << matrix->description;
      const std::string path = StrCat(dir_, "/", 100'000 + i, ".sst");
      std::ofstream(path, std::ios::binary) << matrix->bytes;
      tables_[path] = std::move(matrix);
    }
  }
  void TearDown() override {
    if (!dir_.empty()) std::filesystem::remove_all(dir_);
  }

  // The tool's output for each table, from one run for all tables, because starting it takes long.
  std::map<std::string, std::string> Run(const std::string& arguments) const {
    const std::string output = RunCommand(StrCat("sst_dump --file=", dir_, " ", arguments));
    constexpr std::string_view kHead = "Process ";
    std::map<std::string, std::string> pieces;
    size_t begin = output.find(kHead);
    while (begin != std::string::npos) {
      const size_t end = output.find(StrCat("\n", kHead), begin);
      const std::string piece = output.substr(begin, end == std::string::npos ? end : end - begin);
      const std::string path = piece.substr(kHead.size(), piece.find('\n') - kHead.size());
      pieces[path] = piece;
      begin = end == std::string::npos ? end : end + 1;
    }
    EXPECT_EQ(pieces.size(), tables_.size()) << output.substr(0, 2000);
    return pieces;
  }

  static std::string LineOf(const SampleEntry& entry) {
    const uint64_t trailer = ExtractTrailer(entry.internal_key);
    return StrCat("'", HexBytes(ExtractUserKey(entry.internal_key)),
                  "' seq:", TrailerSeqno(trailer), ", type:", int{TrailerType(trailer)}, " => ",
                  HexBytes(entry.value), "\n");
  }

  std::string dir_;
  std::map<std::string, std::unique_ptr<MatrixTable>> tables_;  // by path
};

TEST_F(MatrixSstDump, VerifiesEveryTable) {
  const std::map<std::string, std::string> pieces = Run("--command=verify");
  for (const auto& [path, matrix] : tables_) {
    ASSERT_TRUE(pieces.contains(path)) << matrix->description;
    EXPECT_NE(pieces.at(path).find("The file is ok"), std::string::npos)
        << matrix->description << "\n"
        << pieces.at(path);
  }
}

TEST_F(MatrixSstDump, ListsTheSameEntries) {
  const std::map<std::string, std::string> pieces = Run("--command=scan --output_hex");
  for (const auto& [path, matrix] : tables_) {
    ASSERT_TRUE(pieces.contains(path)) << matrix->description;
    const std::string piece = pieces.at(path) + "\n";
    const size_t entries = piece.find("\n'");
    std::string expected;
    for (const SampleEntry& entry : matrix->points) expected += LineOf(entry);
    const std::string found =
        entries == std::string::npos ? "" : piece.substr(entries + 1, expected.size());
    EXPECT_EQ(found, expected) << matrix->description << "\n" << piece.substr(0, 600);
    if (HasFailure()) return;
  }
}

TEST_F(MatrixSstDump, CountsAsTheProperties) {
  const std::map<std::string, std::string> pieces = Run("--command=none --show_properties");
  for (const auto& [path, matrix] : tables_) {
    ASSERT_TRUE(pieces.contains(path)) << matrix->description;
    const std::string& piece = pieces.at(path);
    const TableProperties& p = matrix->properties;
    for (const std::string& line : {StrCat("# data blocks: ", p.num_data_blocks, "\n"),
                                    StrCat("# entries: ", p.num_entries, "\n"),
                                    StrCat("# range deletions: ", p.num_range_deletions, "\n"),
                                    StrCat("data block size: ", p.data_size, "\n"),
                                    StrCat("# index partitions: ", p.index_partitions, "\n"),
                                    StrCat("filter block size: ", p.filter_size, "\n"),
                                    StrCat("# entries for filter: ", p.num_filter_entries, "\n")}) {
      const bool is_there = piece.find(line) != std::string::npos;
      // Printed for partitioned tables only.
      if (line.starts_with("# index partitions") && p.index_partitions == 0) continue;
      EXPECT_TRUE(is_there) << line << matrix->description << "\n" << piece;
    }
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace ashlar
