// SPDX-License-Identifier: Apache-2.0
//
// Tables that are written and read without a database.
#include "ashlar/sst_file_writer.h"

#include <algorithm>

#include "ashlar/convenience.h"
#include "ashlar/file_checksum.h"
#include "ashlar/file_system_wrapper.h"
#include "ashlar/merge_operator.h"
#include "ashlar/rate_limiter.h"
#include "ashlar/sst_file_reader.h"
#include "ashlar/utilities/types_util.h"
#include "ashlar/wide_columns.h"
#include "env/file_util.h"
#include "tests/support/test_db.h"
#include "util/keys/internal_key.h"

namespace ashlar {
namespace {

class SstFile : public DbTest {
 protected:
  SstFile() {
    options_.compression = kNoCompression;
    EXPECT_OK(
        MergeOperator::CreateFromString(ConfigOptions(), "stringappend", &options_.merge_operator));
  }

  static std::string Key(int i) {
    const std::string digits = std::to_string(i);
    return "k" + std::string(6 - digits.size(), '0') + digits;
  }
  // Keys [0, count), every tenth a merge operand, every seventh deleted, [k3, k5) in a tombstone.
  ExternalSstFileInfo WriteMixed(int count) {
    SstFileWriter writer(EnvOptions(), options_);
    EXPECT_OK(writer.Open("/x.sst"));
    for (int i = 0; i < count; i++) {
      EXPECT_OK(i % 10 == 0  ? writer.Merge(Key(i), "m")
                : i % 7 == 0 ? writer.Delete(Key(i))
                             : writer.Put(Key(i), "v" + std::to_string(i)));
    }
    EXPECT_OK(writer.DeleteRange(Key(3), Key(5)));
    ExternalSstFileInfo info;
    EXPECT_OK(writer.Finish(&info));
    return info;
  }
};

// Notes how the files are written.
class WatchedOutputs final : public FileSystemWrapper {
 public:
  explicit WatchedOutputs(const std::shared_ptr<FileSystem>& target) : FileSystemWrapper(target) {}
  const char* Name() const override { return "WatchedOutputs"; }
  IOStatus NewWritableFile(const std::string& name, const FileOptions& options,
                           std::unique_ptr<FSWritableFile>* file, IODebugContext* dbg) override {
    is_strict = options.strict_bytes_per_sync;
    IOStatus status = FileSystemWrapper::NewWritableFile(name, options, file, dbg);
    if (status.ok()) *file = std::make_unique<Output>(std::move(*file), this);
    return status;
  }

  size_t largest_write = 0;
  int synced_ranges = 0;
  bool is_strict = false;

 private:
  class Output final : public FSWritableFileOwnerWrapper {
   public:
    Output(std::unique_ptr<FSWritableFile>&& file, WatchedOutputs* all)
        : FSWritableFileOwnerWrapper(std::move(file)), all_(all) {}
    using FSWritableFileOwnerWrapper::Append;
    IOStatus Append(const Slice& data, const IOOptions& options, IODebugContext* dbg) override {
      all_->largest_write = std::max(all_->largest_write, data.size());
      return FSWritableFileOwnerWrapper::Append(data, options, dbg);
    }
    IOStatus RangeSync(uint64_t offset, uint64_t bytes, const IOOptions& options,
                       IODebugContext* dbg) override {
      all_->synced_ranges++;
      return FSWritableFileOwnerWrapper::RangeSync(offset, bytes, options, dbg);
    }

   private:
    WatchedOutputs* const all_;
  };
};

}  // namespace

TEST_F(SstFile, TellsWhatItHolds) {
  const ExternalSstFileInfo info = WriteMixed(1000);
  EXPECT_EQ(info.file_path, "/x.sst");
  EXPECT_EQ(info.smallest_key, Key(0));
  EXPECT_EQ(info.largest_key, Key(999));
  EXPECT_EQ(info.smallest_range_del_key, Key(3));
  EXPECT_EQ(info.largest_range_del_key, Key(5));
  EXPECT_EQ(info.num_entries, 1000u);
  EXPECT_EQ(info.num_range_del_entries, 1u);
  EXPECT_EQ(info.version, 2);
  EXPECT_EQ(info.sequence_number, 0u);
  uint64_t bytes = 0;
  ASSERT_OK(env_->GetFileSize("/x.sst", &bytes));
  EXPECT_EQ(info.file_size, bytes);
  EXPECT_EQ(info.file_checksum_func_name, "Unknown");
}

// Like the tables of a database.
TEST_F(SstFile, NamesTheHostThatWroteIt) {
  std::string host;
  ASSERT_OK(env_->GetHostNameString(&host));
  for (const char* const given : {"__hostname__", "another name", ""}) {
    options_.db_host_id = given;
    WriteMixed(10);
    SstFileReader reader(options_);
    ASSERT_OK(reader.Open("/x.sst"));
    const std::string expected = given == std::string("__hostname__") ? host : given;
    EXPECT_EQ(reader.GetTableProperties()->db_host_id, expected);
  }
}

// The options of a database with a limit of memory, which has its manager only when it is open.
TEST_F(SstFile, IsWrittenWithTheOptionsOfEachIntent) {
  for (const Options::Intent intent :
       {Options::kServer, Options::kEmbedded, Options::kBulkLoad, Options::kLowMemory}) {
    Options options = Options::for_intent(intent);
    options.env = env_.get();
    SstFileWriter writer(EnvOptions(), options);
    ASSERT_OK(writer.Open("/x.sst"));
    ASSERT_OK(writer.Put("key", "value"));
    ASSERT_OK(writer.Finish());
    SstFileReader reader(options);
    ASSERT_OK(reader.Open("/x.sst"));
    EXPECT_EQ(reader.GetTableProperties()->num_entries, 1u);
  }
}

TEST_F(SstFile, TellsTheChecksumOfItsBytes) {
  options_.file_checksum_gen_factory = GetFileChecksumGenCrc32cFactory();
  const ExternalSstFileInfo info = WriteMixed(5000);
  auto generator = options_.file_checksum_gen_factory->CreateFileChecksumGenerator({});
  auto bytes = ReadWholeFile(env_->GetFileSystem().get(), "/x.sst");
  ASSERT_OK(bytes.status());
  generator->Update(bytes->data(), bytes->size());
  generator->Finalize();
  EXPECT_EQ(info.file_checksum, generator->GetChecksum());
  EXPECT_EQ(info.file_checksum_func_name, generator->Name());
}

// Columns are sorted by name.
TEST_F(SstFile, HoldsEntities) {
  SstFileWriter writer(EnvOptions(), options_);
  ASSERT_OK(writer.Open("/x.sst"));
  ASSERT_OK(writer.PutEntity("a", {{"two", "2"}, {"one", "1"}}));
  EXPECT_TRUE(writer.PutEntity("b", {{"one", "1"}, {"one", "2"}}).IsCorruption());
  ASSERT_OK(writer.Finish(nullptr));
  Open();
  ASSERT_OK(db_->IngestExternalFile({"/x.sst"}, IngestExternalFileOptions()));
  PinnableWideColumns entity;
  ASSERT_OK(db_->GetEntity(ReadOptions(), db_->DefaultColumnFamily(), "a", &entity));
  EXPECT_EQ(entity.columns(), (WideColumns{{"one", "1"}, {"two", "2"}}));
}

TEST_F(SstFile, RefusesKeysOutOfOrder) {
  SstFileWriter writer(EnvOptions(), options_);
  ASSERT_OK(writer.Open("/x.sst"));
  ASSERT_OK(writer.Put("b", "1"));
  EXPECT_TRUE(writer.Put("b", "2").IsInvalidArgument());
  EXPECT_TRUE(writer.Delete("a").IsInvalidArgument());
  EXPECT_TRUE(writer.Merge("b", "x").IsInvalidArgument());
  ASSERT_OK(writer.Put("c", "3"));  // the refused calls had no effect
  EXPECT_TRUE(writer.DeleteRange("z", "a").IsInvalidArgument());
  ASSERT_OK(writer.DeleteRange("a", "a"));
  ExternalSstFileInfo info;
  ASSERT_OK(writer.Finish(&info));
  EXPECT_EQ(info.num_entries, 2u);
  EXPECT_EQ(info.num_range_del_entries, 0u);
}

TEST_F(SstFile, RefusesCallsOutOfTurn) {
  SstFileWriter writer(EnvOptions(), options_);
  EXPECT_TRUE(writer.Put("a", "1").IsInvalidArgument());
  EXPECT_TRUE(writer.DeleteRange("a", "b").IsInvalidArgument());
  EXPECT_TRUE(writer.Finish().IsInvalidArgument());
  ASSERT_OK(writer.Open("/x.sst"));
  EXPECT_TRUE(writer.Open("/y.sst").IsInvalidArgument());
  EXPECT_TRUE(writer.Finish().IsInvalidArgument());  // no entries
  ASSERT_OK(writer.Put("a", "1"));
  ASSERT_OK(writer.Finish());
  EXPECT_TRUE(writer.Put("b", "1").IsInvalidArgument());
  EXPECT_TRUE(writer.Finish().IsInvalidArgument());
  ASSERT_OK(writer.Open("/y.sst"));  // the next file
  ASSERT_OK(writer.Put("a", "1"));
  ASSERT_OK(writer.Finish());
}

TEST_F(SstFile, LeavesNothingUnfinished) {
  {
    SstFileWriter writer(EnvOptions(), options_);
    ASSERT_OK(writer.Open("/x.sst"));
    ASSERT_OK(writer.Put("a", "1"));
  }
  EXPECT_TRUE(env_->FileExists("/x.sst").IsNotFound());
}

TEST_F(SstFile, IsReadAsADatabaseWithJustThisFileReadsIt) {
  WriteMixed(1000);
  SstFileReader reader(options_);
  ASSERT_OK(reader.Open("/x.sst"));
  EXPECT_TRUE(reader.Open("/x.sst").IsInvalidArgument());
  std::unique_ptr<Iterator> it(reader.NewIterator(ReadOptions()));
  int expected = 0, shown = 0;
  // The range tombstone hides no entry of its own file.
  for (int i = 0; i < 1000; i++) expected += i % 10 == 0 || i % 7 != 0;
  for (it->SeekToFirst(); it->Valid(); it->Next()) shown++;
  ASSERT_OK(it->status());
  EXPECT_EQ(shown, expected);
  it->Seek(Key(4));
  ASSERT_TRUE(it->Valid());
  EXPECT_EQ(it->key(), Slice(Key(4)));
  it->SeekToLast();
  ASSERT_TRUE(it->Valid());
  EXPECT_EQ(it->key(), Slice(Key(999)));
  it.reset();

  const std::vector<std::string> keys = {Key(1), Key(7), Key(20), "zzz"};
  std::vector<std::string> values;
  const std::vector<Status> statuses =
      reader.MultiGet(ReadOptions(), {keys.begin(), keys.end()}, &values);
  EXPECT_OK(statuses[0]);
  EXPECT_EQ(values[0], "v1");
  EXPECT_TRUE(statuses[1].IsNotFound());
  EXPECT_OK(statuses[2]);
  EXPECT_EQ(values[2], "m");
  EXPECT_TRUE(statuses[3].IsNotFound());
  EXPECT_OK(reader.VerifyChecksum());
  EXPECT_OK(reader.VerifyNumEntries(ReadOptions()));
  EXPECT_EQ(reader.GetTableProperties()->num_entries, 1001u);
  EXPECT_TRUE(SstFileWriter::CreatedBySstFileWriter(*reader.GetTableProperties()));
}

TEST_F(SstFile, PinnedEntriesStayWhileTheIteratorMoves) {
  WriteMixed(1000);
  SstFileReader reader(options_);
  ASSERT_OK(reader.Open("/x.sst"));
  ReadOptions read;
  read.pin_data = true;
  const std::unique_ptr<Iterator> it(reader.NewIterator(read));
  std::vector<std::pair<Slice, Slice>> pinned;
  std::vector<std::pair<std::string, std::string>> copied;
  for (it->SeekToFirst(); it->Valid(); it->Next()) {
    std::string is_pinned;
    ASSERT_OK(it->GetProperty("rocksdb.iterator.is-key-pinned", &is_pinned));
    ASSERT_EQ(is_pinned, "1");
    pinned.emplace_back(it->key(), it->value());
    copied.emplace_back(it->key().ToString(), it->value().ToString());
  }
  ASSERT_OK(it->status());
  EXPECT_GT(pinned.size(), 800u);
  for (size_t i = 0; i < pinned.size(); i++) {
    ASSERT_EQ(pinned[i].first, copied[i].first);
    ASSERT_EQ(pinned[i].second, copied[i].second);
  }
}

TEST_F(SstFile, ShowsItsEntriesAsTheyAreStored) {
  WriteMixed(30);
  SstFileReader reader(options_);
  ASSERT_OK(reader.Open("/x.sst"));
  const std::unique_ptr<Iterator> it = reader.NewTableIterator();
  int i = 0;
  for (it->SeekToFirst(); it->Valid(); it->Next(), i++) {
    ParsedEntryInfo entry;
    ASSERT_OK(reader.ParseTableIteratorKey(it->key(), &entry));
    EXPECT_EQ(entry.user_key, Slice(Key(i)));
    EXPECT_EQ(entry.sequence, 0u);
    EXPECT_EQ(entry.type, i % 10 == 0 ? kEntryMerge : i % 7 == 0 ? kEntryDelete : kEntryPut);
  }
  ASSERT_OK(it->status());
  EXPECT_EQ(i, 30);
  ParsedEntryInfo entry;
  EXPECT_TRUE(reader.ParseTableIteratorKey("short", &entry).IsInvalidArgument());
  std::string target;
  ASSERT_OK(GetInternalKeyForSeek(Key(7), options_.comparator, &target));
  it->Seek(target);
  ASSERT_TRUE(it->Valid());
  ASSERT_OK(ParseEntry(it->key(), options_.comparator, &entry));
  EXPECT_EQ(entry.user_key, Slice(Key(7)));
  ASSERT_OK(GetInternalKeyForSeekForPrev(Key(7), options_.comparator, &target));
  it->SeekForPrev(target);
  ASSERT_TRUE(it->Valid());
  ASSERT_OK(ParseEntry(it->key(), options_.comparator, &entry));
  EXPECT_EQ(entry.user_key, Slice(Key(7)));
}

// With two versions of one key and timestamps.
TEST(TypesUtil, InternalKeysSurroundTheVersionsOfAKey) {
  const Comparator* const comparator = BytewiseComparatorWithU64Ts();
  const InternalKeyComparator order(comparator);
  std::string stamp;
  EncodeU64Ts(7, &stamp);
  std::string first, last;
  ASSERT_OK(GetInternalKeyForSeek("b", comparator, &first));
  ASSERT_OK(GetInternalKeyForSeekForPrev("b", comparator, &last));
  const auto key_of = [&](const std::string& key, SequenceNumber seqno, ValueType type) {
    return MakeInternalKey(key + stamp, seqno, type);
  };
  for (const std::string& version :
       {key_of("b", 0, kTypeDeletion), key_of("b", 9, kTypeDeletionWithTimestamp),
        key_of("b", kMaxSequenceNumber, kTypeValuePreferredSeqno)}) {
    EXPECT_LT(order.Compare(first, version), 0);
    EXPECT_GT(order.Compare(last, version), 0);
  }
  EXPECT_GT(order.Compare(first, key_of("a", 0, kTypeDeletion)), 0);
  EXPECT_LT(order.Compare(last, key_of("c", 9, kTypeValue)), 0);
  ParsedEntryInfo entry;
  const std::string deletion = key_of("b", 9, kTypeDeletionWithTimestamp);
  ASSERT_OK(ParseEntry(deletion, comparator, &entry));
  EXPECT_EQ(entry.user_key, "b");
  EXPECT_EQ(entry.timestamp, stamp);
  EXPECT_EQ(entry.sequence, 9u);
  EXPECT_EQ(entry.type, kEntryDeleteWithTimestamp);
  EXPECT_TRUE(
      ParseEntry(MakeInternalKey("short", 1, kTypeValue), comparator, &entry).IsInvalidArgument());
  EXPECT_TRUE(ParseEntry("b", nullptr, &entry).IsInvalidArgument());
  EXPECT_TRUE(ParseEntry(first, comparator, nullptr).IsInvalidArgument());
  EXPECT_TRUE(GetInternalKeyForSeek("b", nullptr, &first).IsInvalidArgument());
  EXPECT_TRUE(GetInternalKeyForSeekForPrev("b", comparator, nullptr).IsInvalidArgument());
}

TEST_F(SstFile, NamesFileAndOffsetOfDamage) {
  WriteMixed(5000);
  auto bytes = ReadWholeFile(env_->GetFileSystem().get(), "/x.sst");
  ASSERT_OK(bytes.status());
  std::string damaged = *bytes;
  damaged[5000] ^= 1;  // in the second data block
  ASSERT_OK(WriteStringToFile(env_.get(), damaged, "/y.sst"));
  SstFileReader reader(options_);
  ASSERT_OK(reader.Open("/y.sst"));
  const Status status = reader.VerifyChecksum();
  EXPECT_TRUE(status.IsCorruption()) << status.ToString();
  EXPECT_NE(status.ToString().find("/y.sst"), std::string::npos) << status.ToString();
  EXPECT_FALSE(reader.VerifyNumEntries(ReadOptions()).ok());

  ASSERT_OK(WriteStringToFile(env_.get(), bytes->substr(0, bytes->size() - 1), "/z.sst"));
  SstFileReader cut(options_);
  EXPECT_TRUE(cut.Open("/z.sst").IsCorruption());
  std::unique_ptr<Iterator> nothing(cut.NewIterator(ReadOptions()));
  EXPECT_FALSE(nothing->status().ok());
  EXPECT_FALSE(cut.VerifyChecksum().ok());
}

// A table of these bytes with damage at the offset.
class DamagedTable {
 public:
  DamagedTable(const Options& options, std::string bytes, size_t offset) : reader_(options) {
    bytes[offset] ^= 1;
    EXPECT_OK(WriteStringToFile(options.env, bytes, "/y.sst"));
    EXPECT_OK(reader_.Open("/y.sst"));
    it_.reset(reader_.NewIterator(ReadOptions()));
  }
  SstFileReader& reader() { return reader_; }
  Iterator& it() { return *it_; }
  // The error must name file and offset.
  static void ExpectDamage(const Status& status, const std::string& offset) {
    EXPECT_TRUE(status.IsCorruption()) << status.ToString();
    EXPECT_NE(status.ToString().find("/y.sst"), std::string::npos) << status.ToString();
    EXPECT_NE(status.ToString().find(offset), std::string::npos) << status.ToString();
  }

 private:
  SstFileReader reader_;
  std::unique_ptr<Iterator> it_;
};

TEST_F(SstFile, OpensWithItsFirstBlockDamaged) {
  WriteMixed(5000);
  auto bytes = ReadWholeFile(env_->GetFileSystem().get(), "/x.sst");
  ASSERT_OK(bytes.status());
  DamagedTable table(options_, *bytes, 100);
  Iterator& it = table.it();
  DamagedTable::ExpectDamage(table.reader().VerifyChecksum(), "offset 0");
  std::string value;
  DamagedTable::ExpectDamage(table.reader().Get(ReadOptions(), Key(1), &value), "offset 0");
  it.SeekToFirst();
  EXPECT_FALSE(it.Valid());
  DamagedTable::ExpectDamage(it.status(), "offset 0");
  it.SeekForPrev(Key(0));
  DamagedTable::ExpectDamage(it.status(), "offset 0");
  it.Seek(Key(4001));
  ASSERT_TRUE(it.Valid());
  EXPECT_EQ(it.key(), Key(4001));
  it.SeekToLast();
  EXPECT_TRUE(it.Valid());
  ASSERT_OK(table.reader().Get(ReadOptions(), Key(4001), &value));
}

TEST_F(SstFile, OpensWithItsLastBlockDamaged) {
  WriteMixed(5000);
  auto bytes = ReadWholeFile(env_->GetFileSystem().get(), "/x.sst");
  ASSERT_OK(bytes.status());
  const size_t last_key = bytes->find("v4999");
  ASSERT_NE(last_key, std::string::npos);
  DamagedTable table(options_, *bytes, last_key);
  Iterator& it = table.it();
  EXPECT_FALSE(table.reader().VerifyChecksum().ok());
  std::string value;
  EXPECT_TRUE(table.reader().Get(ReadOptions(), Key(4999), &value).IsCorruption());
  it.SeekToLast();
  EXPECT_TRUE(it.status().IsCorruption()) << it.status().ToString();
  it.Seek(Key(4999));
  EXPECT_TRUE(it.status().IsCorruption()) << it.status().ToString();
  it.Seek(Key(1));
  ASSERT_TRUE(it.Valid());
  EXPECT_EQ(it.key(), Key(1));
}

TEST_F(SstFile, HoldsTombstonesAlone) {
  SstFileWriter writer(EnvOptions(), options_);
  ASSERT_OK(writer.Open("/x.sst"));
  ASSERT_OK(writer.DeleteRange("m", "p"));
  ASSERT_OK(writer.DeleteRange("a", "c"));  // in any order
  ExternalSstFileInfo info;
  ASSERT_OK(writer.Finish(&info));
  EXPECT_EQ(info.num_entries, 0u);
  EXPECT_EQ(info.num_range_del_entries, 2u);
  EXPECT_EQ(info.smallest_range_del_key + info.largest_range_del_key, "ap");
  SstFileReader reader(options_);
  ASSERT_OK(reader.Open("/x.sst"));
  EXPECT_OK(reader.VerifyChecksum());
  EXPECT_OK(reader.VerifyNumEntries(ReadOptions()));
  std::unique_ptr<Iterator> it(reader.NewIterator(ReadOptions()));
  it->SeekToFirst();
  EXPECT_FALSE(it->Valid());
  EXPECT_OK(it->status());
}

// The options of a database determine the format.
TEST_F(SstFile, IsWrittenAsTheTableOptionsSay) {
  BlockBasedTableOptions table;
  table.format_version = 4;
  table.checksum = kCRC32c;
  options_.table_factory.reset(NewBlockBasedTableFactory(table));
  WriteMixed(100);
  SstFileReader reader(options_);
  ASSERT_OK(reader.Open("/x.sst"));
  EXPECT_EQ(reader.GetTableProperties()->format_version, 4u);
  EXPECT_EQ(reader.GetTableProperties()->comparator_name, options_.comparator->Name());
  EXPECT_EQ(reader.GetTableProperties()->merge_operator_name, options_.merge_operator->Name());
  Options other = options_;
  other.comparator = ReverseBytewiseComparator();
  SstFileReader wrong(other);
  EXPECT_TRUE(wrong.Open("/x.sst").IsInvalidArgument());
}

// Not with the settings of the same names that a database has for its own tables.
TEST_F(SstFile, IsWrittenAsTheEnvOptionsSay) {
  const auto files = std::make_shared<WatchedOutputs>(memory_);
  UseFiles(files);
  constexpr size_t kBufferBytes = 8 << 10;
  const std::unique_ptr<RateLimiter> limiter(NewGenericRateLimiter(int64_t{1} << 40));
  options_.rate_limiter.reset(NewGenericRateLimiter(int64_t{1} << 40));
  EnvOptions env_options;
  const auto write = [&] {
    files->largest_write = 0;
    SstFileWriter writer(env_options, options_, nullptr, true, Env::IO_LOW);
    ASSERT_OK(writer.Open("/x.sst"));
    for (int i = 0; i < 1000; i++) ASSERT_OK(writer.Put(Key(i), std::string(2000, 'v')));
    ASSERT_OK(writer.Finish());
  };
  options_.bytes_per_sync = kBufferBytes;
  write();
  EXPECT_GT(files->largest_write, 2 * kBufferBytes);
  EXPECT_EQ(files->synced_ranges, 0);
  EXPECT_FALSE(files->is_strict);

  env_options.writable_file_max_buffer_size = kBufferBytes;
  env_options.bytes_per_sync = 2 * kBufferBytes;
  env_options.strict_bytes_per_sync = true;
  env_options.rate_limiter = limiter.get();
  write();
  EXPECT_LT(files->largest_write, 2 * kBufferBytes) << "a block may go beyond the buffer";
  EXPECT_GE(files->synced_ranges, 2);
  EXPECT_TRUE(files->is_strict);
  EXPECT_GE(limiter->GetTotalBytesThrough(Env::IO_LOW), 2'000'000);
  EXPECT_EQ(options_.rate_limiter->GetTotalBytesThrough(), 0);
}

}  // namespace ashlar
