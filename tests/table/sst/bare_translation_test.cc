// SPDX-License-Identifier: Apache-2.0
//
// Tables without blocks that claim more than they have: their translation ends early, before its
// memory is much larger than the file.
#include "table/sst/read/bare_translation.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <memory>
#include <string>

#include "ashlar/comparator.h"
#include "ashlar/table_properties.h"
#include "env/memory/memory_file_system.h"
#include "env/random_reader.h"
#include "table/block/block_builder.h"
#include "table/format/block_handle.h"
#include "table/format/properties.h"
#include "tests/support/status_matchers.h"
#include "util/keys/coding.h"
#include "util/keys/internal_key.h"

namespace ashlar {
namespace {

constexpr uint64_t kPlainMagic = 0x4f3418eb7a8f13b8ull;
const char* const kPath = "/000007.sst";

std::string BlockOf(const EncodedProperties& entries) {
  BlockBuilder block(BlockBuilderOptions{});
  for (const auto& [name, value] : entries) block.Add(name, value);
  return block.Finish().ToString();
}

// A PlainTable with these rows: docs/formats/plain_table.md.
std::string PlainTableOf(const std::string& rows, uint64_t num_entries, uint32_t encoding) {
  TableProperties properties;
  properties.data_size = rows.size();
  properties.num_entries = num_entries;
  PutFixed32(&properties.user_collected_properties["rocksdb.plain.table.encoding.type"], encoding);
  std::string file = rows;
  const auto append = [&file](const std::string& block) {
    std::string handle;
    PutVarint64(&handle, file.size());
    PutVarint64(&handle, block.size());
    file += block;
    return handle;
  };
  const std::string place = append(BlockOf(EncodeProperties(properties)));
  std::string footer = append(BlockOf({{"rocksdb.properties", place}}));
  footer.resize(40);
  PutFixed64(&footer, kPlainMagic);
  return file + footer;
}

// A whole key of `prefix_bytes` bytes, and rows behind it that share all of them.
std::string SharingRows(uint32_t prefix_bytes, int count) {
  const std::string end_of_row("\xff\x00", 2);
  std::string rows = "\x3f";
  PutVarint32(&rows, prefix_bytes - 63);
  rows += std::string(prefix_bytes, 'k') + end_of_row + "\x7f";
  PutVarint32(&rows, prefix_bytes - 63);
  for (int i = 1; i < count; i++) {
    char suffix[16];
    std::snprintf(suffix, sizeof(suffix), "%05d", i);
    rows += "\x85" + std::string(suffix) + end_of_row;
  }
  return rows;
}

Result<BareTranslation> Translate(const std::string& table) {
  static const InternalKeyComparator order(BytewiseComparator());
  MemoryFileSystem files;
  std::unique_ptr<FSWritableFile> file;
  EXPECT_OK(files.NewWritableFile(kPath, {}, &file, nullptr));
  EXPECT_OK(file->Append(table, {}, nullptr));
  EXPECT_OK(file->Close({}, nullptr));
  const Result<std::unique_ptr<RandomReader>> reader =
      RandomReader::Open(&files, kPath, FileOptions());
  EXPECT_OK(reader.status());
  TableReaderOptions options;
  options.icmp = &order;
  return TranslateBareTable(*reader.value(), options);
}

void ExpectCorruption(const Status& status, const std::string& what) {
  EXPECT_TRUE(status.IsCorruption()) << status.ToString();
  EXPECT_NE(status.ToString().find(kPath), std::string::npos) << status.ToString();
  EXPECT_NE(status.ToString().find(what), std::string::npos) << status.ToString();
}

TEST(BareTranslation, KeysThatShareALongPrefixAreTranslated) {
  const auto image = Translate(PlainTableOf(SharingRows(1000, 5000), 5000, 1));
  ASSERT_OK(image.status());
  EXPECT_LT(image.value().image->size(), 5000u * 1000);
}

TEST(BareTranslation, ASmallTableThatGrowsBeyondMeasureIsCorruption) {
  const std::string table = PlainTableOf(SharingRows(200'000, 600), 600, 1);
  ExpectCorruption(Translate(table).status(), "of a file of " + std::to_string(table.size()));
}

TEST(BareTranslation, MoreRowsThanInThePropertiesAreCorruption) {
  const std::string table = PlainTableOf(SharingRows(100, 5000), 7, 1);
  ExpectCorruption(Translate(table).status(), "more than the 7 rows of the properties");
}

}  // namespace
}  // namespace ashlar
