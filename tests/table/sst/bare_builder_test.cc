// SPDX-License-Identifier: Apache-2.0
//
// Tables without blocks. RocksDB's files are read, and written again byte for byte. What a format
// cannot hold is an error, which stays.
#include <gtest/gtest.h>

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/comparator.h"
#include "ashlar/env.h"
#include "ashlar/slice_transform.h"
#include "ashlar/table.h"
#include "env/file_writer.h"
#include "env/memory/memory_file_system.h"
#include "env/random_reader.h"
#include "table/plain/bare_table_writer.h"
#include "table/plain/cuckoo_buckets.h"
#include "table/plain/plain_rows.h"
#include "table/sst/read/table_reader.h"
#include "table/sst/write/table_builder.h"
#include "tests/support/paths.h"
#include "tests/support/status_matchers.h"
#include "util/keys/internal_key.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

const char* const kBarePath = "/000007.sst";
using Entries = std::vector<std::pair<std::string, std::string>>;

const InternalKeyComparator& Order() {
  static const InternalKeyComparator order(BytewiseComparator());
  return order;
}

// A builder whose file is in memory.
class Built {
 public:
  Built(const BareTableFormat& format, TableBuilderOptions options = {}) : format_(format) {
    options.icmp = &Order();
    options.table = &table_;
    options.bare = &format_;
    options.prefix_extractor = format.prefix_extractor;
    auto file = FileWriter::Create(&files_, kBarePath, FileOptions(), FileWriterOptions());
    EXPECT_OK(file.status());
    file_ = file.Take();
    builder_ = std::make_unique<TableBuilder>(options, file_.get());
  }
  ~Built() {
    if (!is_finished_) builder_->Abandon();
  }

  Status Add(const std::string& user_key, SequenceNumber seqno, ValueType type,
             const std::string& value) {
    return builder_->Add(MakeInternalKey(user_key, seqno, type), value);
  }
  Status AddAll(const Entries& entries) {
    for (const auto& [key, value] : entries) RETURN_IF_ERROR(builder_->Add(key, value));
    return Status::OK();
  }
  Status Finish() {
    is_finished_ = true;
    RETURN_IF_ERROR(builder_->Finish());
    return file_->Close();
  }
  std::string Bytes() {
    const auto reader = RandomReader::Open(&files_, kBarePath, FileOptions());
    EXPECT_OK(reader.status());
    std::string bytes(reader.value()->size(), '\0');
    Slice read;
    EXPECT_OK(reader.value()->ReadExactly(0, bytes.size(), bytes.data(), &read));
    return read.ToString();
  }
  Result<std::unique_ptr<TableReader>> Open() {
    ASSIGN_OR_RETURN(auto reader, RandomReader::Open(&files_, kBarePath, FileOptions()));
    TableReaderOptions options;
    options.icmp = &Order();
    return TableReader::Open(std::move(reader), options);
  }
  // Reads the table that was written.
  Entries ReadBack() {
    Entries entries;
    const auto table = Open();
    EXPECT_OK(table.status());
    if (!table.ok()) return entries;
    const std::unique_ptr<InternalIterator> it(table.value()->NewIterator(ReadOptions(), nullptr));
    for (it->SeekToFirst(); it->Valid(); it->Next()) {
      entries.emplace_back(it->key().ToString(), it->value().ToString());
    }
    EXPECT_OK(it->status());
    return entries;
  }
  TableBuilder& builder() { return *builder_; }

 private:
  const BareTableFormat format_;
  const BlockBasedTableOptions table_;
  MemoryFileSystem files_;
  std::unique_ptr<FileWriter> file_;
  std::unique_ptr<TableBuilder> builder_;
  bool is_finished_ = false;
};

std::string SamplePath(const std::string& name) {
  return SourcePath(StrCat("tests/data/plain/", name, ".sst"));
}

// The entries of a file of RocksDB, read with the parsers that were made for such files.
Entries EntriesOf(const RandomReader& file, const BareTable& table) {
  std::string memory(table.properties.data_size, '\0');
  Slice bytes;
  EXPECT_OK(file.ReadExactly(0, memory.size(), memory.data(), &bytes));
  Entries entries;
  if (table.kind == BareTableKind::kCuckoo) {
    const auto format = CuckooFormatOf(file, table.properties);
    const auto sorted = SortedEntries(bytes, format.value(), Order());
    for (const auto& [key, value] : sorted.value()) entries.emplace_back(key, value.ToString());
    return entries;
  }
  const auto format = PlainRowFormatOf(file, table.properties);
  PlainRows rows(bytes, format.value());
  while (rows.Next()) entries.emplace_back(rows.key().ToString(), rows.value().ToString());
  EXPECT_OK(rows.status());
  return entries;
}

// Writes the entries of a sample again, with the origin that the sample names.
void ExpectWrittenAgain(const std::string& name, const BareTableFormat& format) {
  SCOPED_TRACE(name);
  const auto file =
      RandomReader::Open(FileSystem::Default().get(), SamplePath(name), FileOptions());
  ASSERT_OK(file.status());
  Result<BareTable> table = ReadBareTable(*file.value());
  ASSERT_OK(table.status());
  const TableProperties& from = table->properties;
  TableBuilderOptions options;
  options.column_family_id = static_cast<uint32_t>(from.column_family_id);
  options.column_family_name = from.column_family_name;
  options.db_id = from.db_id;
  options.db_session_id = from.db_session_id;
  options.db_host_id = from.db_host_id;
  options.file_number = FileNumber{from.orig_file_number};
  Built built(format, options);
  ASSERT_OK(built.AddAll(EntriesOf(*file.value(), *table)));
  ASSERT_OK(built.Finish());
  std::string expected;
  ASSERT_OK(ReadFileToString(Env::Default(), SamplePath(name), &expected));
  const std::string found = built.Bytes();
  size_t same = 0;
  while (same < found.size() && same < expected.size() && found[same] == expected[same]) same++;
  EXPECT_TRUE(found == expected) << "the first " << same << " of " << expected.size()
                                 << " bytes are equal; " << found.size() << " were written";
  EXPECT_EQ(built.builder().FileSize(), expected.size());
}

TEST(BareBuilder, PlainTablesOfRocksDbAreWrittenAgainByteForByte) {
  const std::unique_ptr<const SliceTransform> prefixes(NewFixedPrefixTransform(2));
  for (const bool shares_prefixes : {false, true}) {
    for (const bool stores_index : {false, true}) {
      for (const bool has_fixed_keys : {false, true}) {
        const std::string name =
            StrCat(shares_prefixes ? 1 : 0, stores_index ? 1 : 0, has_fixed_keys ? 1 : 0);
        if (!Env::Default()->FileExists(SamplePath(name)).ok()) continue;
        BareTableFormat format{.kind = BareTableKind::kPlain, .prefix_extractor = prefixes.get()};
        format.plain.encoding_type = shares_prefixes ? kPrefix : kPlain;
        format.plain.store_index_in_file = stores_index;
        format.plain.user_key_len = has_fixed_keys ? 4 : 0;
        ExpectWrittenAgain(name, format);
      }
    }
  }
}

TEST(BareBuilder, CuckooTablesOfRocksDbAreWrittenAgainByteForByte) {
  BareTableFormat format{.kind = BareTableKind::kCuckoo};
  format.cuckoo.use_module_hash = false;
  ExpectWrittenAgain("cuckoo", format);
  format.cuckoo.use_module_hash = true;
  format.cuckoo.identity_as_first_hash = true;
  ExpectWrittenAgain("cuckoo_last", format);
}

// Tombstones of both kinds, operands and several versions.
TEST(BareBuilder, PlainTablesHoldEveryPointEntry) {
  const std::unique_ptr<const SliceTransform> prefixes(NewFixedPrefixTransform(3));
  Entries entries;
  for (int i = 0; i < 500; i++) {
    char key[16];
    std::snprintf(key, sizeof(key), "%c%03d", 'a' + i / 100, i % 100);
    const ValueType types[] = {kTypeValue, kTypeMerge, kTypeDeletion, kTypeSingleDeletion,
                               kTypeWideColumnEntity};
    for (const SequenceNumber seqno : {900, 7, 0}) {
      const ValueType type = types[(i + seqno) % 5];
      const bool has_value = type != kTypeDeletion && type != kTypeSingleDeletion;
      entries.emplace_back(MakeInternalKey(key, seqno, type),
                           has_value ? std::string(static_cast<size_t>(i), 'v') : "");
    }
  }
  // Short keys are not in the extractor's domain.
  entries.emplace(entries.begin(), MakeInternalKey("", 1, kTypeValue), "the empty key");
  entries.emplace(entries.begin() + 1, MakeInternalKey("a", 1, kTypeValue), "short");
  for (const EncodingType encoding : {kPlain, kPrefix}) {
    for (const size_t sparseness : {0, 1, 3, 16}) {
      BareTableFormat format{.kind = BareTableKind::kPlain, .prefix_extractor = prefixes.get()};
      format.plain.encoding_type = encoding;
      format.plain.index_sparseness = sparseness;
      format.plain.store_index_in_file = true;
      Built built(format);
      ASSERT_OK(built.AddAll(entries));
      ASSERT_OK(built.Finish());
      ASSERT_EQ(built.ReadBack(), entries);
      EXPECT_OK(built.Open().value()->VerifyChecksums(ReadOptions()));
    }
  }
}

// The first key of the last level says nothing about those behind it.
TEST(BareBuilder, CuckooTablesKeepSequenceNumbersUnlessAllAreZero) {
  const Entries entries = {{MakeInternalKey("a", 0, kTypeValue), "1"},
                           {MakeInternalKey("b", 7, kTypeValue), "2"},
                           {MakeInternalKey("c", 0, kTypeDeletion), ""},
                           {MakeInternalKey("d", 9, kTypeDeletion), ""}};
  Built built({.kind = BareTableKind::kCuckoo});
  ASSERT_OK(built.AddAll(entries));
  ASSERT_OK(built.Finish());
  EXPECT_EQ(built.ReadBack(), entries);
}

// The key of free buckets lies before the keys, behind them, or in between.
TEST(BareBuilder, CuckooTablesFindAKeyForFreeBuckets) {
  const std::string least(1, '\0'), greatest(1, '\xff');
  Built between({.kind = BareTableKind::kCuckoo});
  ASSERT_OK(between.Add(least, 0, kTypeValue, "v"));
  ASSERT_OK(between.Add(greatest, 0, kTypeValue, "w"));
  ASSERT_OK(between.Finish());
  EXPECT_EQ(between.ReadBack().size(), 2u);
  Built full({.kind = BareTableKind::kCuckoo});
  for (int i = 0; i < 256; i++) {
    ASSERT_OK(full.Add(std::string(1, static_cast<char>(i)), 0, kTypeValue, "v"));
  }
  const Status status = full.Finish();
  EXPECT_TRUE(status.IsNotSupported()) << status.ToString();
}

struct BareRefusal {
  const char* what;  // a part of the message
  BareTableFormat format;
  std::string user_key, value;
  ValueType type = kTypeValue;
};

std::vector<BareRefusal> Refusals() {
  BareTableFormat plain{.kind = BareTableKind::kPlain};
  plain.plain.hash_table_ratio = 0;
  BareTableFormat fixed = plain;
  fixed.plain.user_key_len = 2;
  const BareTableFormat cuckoo{.kind = BareTableKind::kCuckoo};
  BareTableFormat identity = cuckoo;
  identity.cuckoo.identity_as_first_hash = true;
  return {{"range tombstones", plain, "k2", "k3", kTypeRangeDeletion},
          {"user_key_len is 2", fixed, "k22", "v"},
          {"does not sort behind", plain, "k1", "v"},
          {"range tombstones", cuckoo, "k2", "k3", kTypeRangeDeletion},
          {"a key of 3 bytes", cuckoo, "k22", "v"},
          {"a value of 2 bytes", cuckoo, "k2", "vv"},
          {"only values and deletions", cuckoo, "k2", "v", kTypeMerge},
          {"only values and deletions", cuckoo, "k2", "", kTypeSingleDeletion},
          {"8 bytes or more", identity, "k2", "v"}};
}

// Neither the entry nor any behind it reaches the file, and the table is not finished.
TEST(BareBuilder, WhatAFormatCannotHoldIsAnErrorThatStays) {
  for (const BareRefusal& refusal : Refusals()) {
    SCOPED_TRACE(refusal.what);
    Built built(refusal.format);
    if (!refusal.format.cuckoo.identity_as_first_hash) {
      ASSERT_OK(built.Add("k1", 5, kTypeValue, "v"));
    }
    const Status status = built.Add(refusal.user_key, 5, refusal.type, refusal.value);
    EXPECT_FALSE(status.ok());
    EXPECT_NE(status.ToString().find(refusal.what), std::string::npos) << status.ToString();
    EXPECT_NE(status.ToString().find(kBarePath), std::string::npos) << status.ToString();
    EXPECT_EQ(built.Add("k9", 5, kTypeValue, "v"), status);
    EXPECT_EQ(built.Finish(), status);
  }
}

TEST(BareBuilder, CuckooTablesHaveOneVersionOfAKey) {
  Built built({.kind = BareTableKind::kCuckoo});
  ASSERT_OK(built.Add("k1", 5, kTypeValue, "v"));
  const Status status = built.Add("k1", 3, kTypeValue, "v");
  EXPECT_TRUE(status.IsNotSupported()) << status.ToString();
}

// Each bit of a table that was written is changed: never a crash, and no key that was not written.
TEST(BareBuilder, DamageOfAWrittenTableIsAnErrorOrAnotherEntry) {
  BareTableFormat plain{.kind = BareTableKind::kPlain};
  plain.plain.hash_table_ratio = 0;
  plain.plain.store_index_in_file = true;
  for (const BareTableFormat& format : {plain, BareTableFormat{.kind = BareTableKind::kCuckoo}}) {
    Built built(format);
    for (int i = 0; i < 20; i++) {
      ASSERT_OK(built.Add(StrCat("k", 100 + i), 5, kTypeValue, "v"));
    }
    ASSERT_OK(built.Finish());
    const std::string whole = built.Bytes();
    int errors = 0;
    for (size_t bit = 0; bit < whole.size() * 8; bit += 3) {
      std::string damaged = whole;
      damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
      MemoryFileSystem files;
      std::unique_ptr<FSWritableFile> file;
      ASSERT_OK(files.NewWritableFile(kBarePath, {}, &file, nullptr));
      ASSERT_OK(file->Append(damaged, {}, nullptr));
      ASSERT_OK(file->Close({}, nullptr));
      auto reader = RandomReader::Open(&files, kBarePath, FileOptions());
      ASSERT_OK(reader.status());
      TableReaderOptions options;
      options.icmp = &Order();
      const auto table = TableReader::Open(reader.Take(), options);
      errors += !table.ok();
      if (!table.ok()) continue;
      const std::unique_ptr<InternalIterator> it(
          table.value()->NewIterator(ReadOptions(), nullptr));
      size_t count = 0;
      for (it->SeekToFirst(); it->Valid(); it->Next()) count++;
      EXPECT_EQ(count, 20u) << bit;
    }
    EXPECT_GT(errors, 40);
  }
}

}  // namespace
}  // namespace ashlar
