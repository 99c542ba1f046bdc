// SPDX-License-Identifier: Apache-2.0
//
// Symbolic links and directories among the files of a database, on a real file system: the rows are
// found, and the targets of links are not touched.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "ashlar/env.h"
#include "tests/corruption/samples.h"
#include "tests/support/opened_db.h"
#include "tests/support/paths.h"

namespace ashlar {
namespace {

namespace filesystem = std::filesystem;

std::string ContentsOf(const filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

TEST(StrayLinksTest, AreNeitherFollowedNorHarmful) {
  const Sample sample = MakeSamples().front();
  const filesystem::path dir = FreshTempDir("stray_links");
  const filesystem::path outside = FreshTempDir("stray_links_outside");
  for (const auto& [path, bytes] : sample.files) {
    std::ofstream(dir / filesystem::path(path).filename(), std::ios::binary) << bytes;
  }
  std::ofstream(outside / "precious") << "precious";
  filesystem::create_symlink(outside / "precious", dir / "000777.sst");
  filesystem::create_symlink(outside / "precious", dir / "000778.dbtmp");
  filesystem::create_symlink(outside / "nowhere", dir / "000779.sst");
  filesystem::create_symlink(outside, dir / "000780.sst");
  filesystem::create_symlink(dir, dir / "MANIFEST-000781");
  filesystem::create_directory(dir / "000782.sst");
  std::ofstream(dir / "000782.sst" / "inside") << "kept";
  for (int times = 0; times < 2; ++times) {
    OpenedDb opened;
    const Status status = opened.Open(OptionsOf(sample, Env::Default()), dir.string());
    ASSERT_TRUE(status.ok()) << status.ToString();
    Contents found;
    ASSERT_TRUE(opened.ReadAll(&found).ok());
    EXPECT_EQ(found, sample.expected);
  }
  EXPECT_EQ(ContentsOf(outside / "precious"), "precious");
  EXPECT_EQ(ContentsOf(dir / "000782.sst" / "inside"), "kept");
}

}  // namespace
}  // namespace ashlar
