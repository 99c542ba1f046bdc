// SPDX-License-Identifier: Apache-2.0
//
// DB::StartBlockCacheTrace() and DB::StartIOTrace().
#include "db/trace/block_trace.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "ashlar/comparator.h"
#include "ashlar/snapshot.h"
#include "env/trace/trace_frame.h"
#include "tests/db/stamps/stamped_db.h"
#include "tests/support/memory_trace.h"
#include "tests/support/test_db.h"
#include "util/keys/coding.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

// What a program's writer gets.
struct Seen {
  std::vector<BlockCacheTraceRecord> records;  // with their strings
  int headers = 0;
  Status next;
};

class ProgramsWriter final : public BlockCacheTraceWriter {
 public:
  explicit ProgramsWriter(Seen* seen) : seen_(seen) {}
  Status WriteBlockAccess(const BlockCacheTraceRecord& record, const Slice& block_key,
                          const Slice& cf_name, const Slice& referenced_key) override {
    if (!seen_->next.ok()) return seen_->next;
    BlockCacheTraceRecord& copy = seen_->records.emplace_back(record);
    copy.block_key = block_key.ToString();
    copy.cf_name = cf_name.ToString();
    copy.referenced_key = referenced_key.ToString();
    return Status::OK();
  }
  Status WriteHeader() override {
    seen_->headers++;
    return Status::OK();
  }

 private:
  Seen* const seen_;
};

class BlockTraceTest : public DbTest {
 protected:
  BlockTraceTest() {
    Open({kDefaultColumnFamilyName, "two"});
    Fill(100);
    Put(Family("two"), "k", "v");
    Flush();
    EXPECT_OK(db_->Flush(FlushOptions(), Family("two")));
  }
  void Start(uint64_t sampling = 1) {
    BlockCacheTraceOptions options;
    options.sampling_frequency = sampling;
    ASSERT_OK(db_->StartBlockCacheTrace(options, std::make_unique<ProgramsWriter>(&seen_)));
  }
  Seen seen_;
};

TEST_F(BlockTraceTest, AGetNamesItsBlockAndWhatItFoundThere) {
  Start();
  Get(Key(5));
  Get(Key(5));
  Get("key100005x");  // in the same block, and absent
  ASSERT_OK(db_->EndBlockCacheTrace());
  Get(Key(5));
  EXPECT_EQ(seen_.headers, 1);
  ASSERT_EQ(seen_.records.size(), 3u);
  const BlockCacheTraceRecord& first = seen_.records[0];
  EXPECT_EQ(first.block_type, kBlockTraceDataBlock);
  EXPECT_EQ(first.caller, kUserGet);
  EXPECT_EQ(first.cf_name, kDefaultColumnFamilyName);
  EXPECT_EQ(first.cf_id, 0u);
  EXPECT_EQ(first.level, 0u);
  EXPECT_GT(first.sst_fd_number, 0u);
  EXPECT_GT(first.block_size, 0u);
  EXPECT_FALSE(first.is_cache_hit);
  EXPECT_FALSE(first.no_insert);
  EXPECT_TRUE(first.referenced_key_exist_in_block);
  EXPECT_EQ(first.referenced_key.substr(0, Key(5).size()), Key(5));
  EXPECT_EQ(first.referenced_data_size, first.referenced_key.size() + 100);
  EXPECT_TRUE(seen_.records[1].is_cache_hit);
  EXPECT_EQ(seen_.records[1].block_key, first.block_key);
  EXPECT_NE(seen_.records[1].get_id, first.get_id);
  EXPECT_EQ(seen_.records[2].block_key, first.block_key);
  EXPECT_FALSE(seen_.records[2].referenced_key_exist_in_block);
  EXPECT_EQ(seen_.records[2].referenced_data_size, 0u);
}

TEST_F(BlockTraceTest, AMultiGetHasOneIdAndTheFamilyOfEachKey) {
  Start();
  ColumnFamilyHandle* families[] = {handles_[0], handles_[1], handles_[0]};
  const std::string a = Key(1);
  const std::string b = Key(2);
  const Slice keys[] = {a, "k", b};
  PinnableSlice values[3];
  Status statuses[3];
  ReadOptions options;
  options.snapshot = db_->GetSnapshot();
  db_->MultiGet(options, 3, families, keys, values, statuses);
  db_->ReleaseSnapshot(options.snapshot);
  for (const Status& status : statuses) EXPECT_OK(status);
  EXPECT_EQ(values[1].ToString(), "v");
  ASSERT_OK(db_->EndBlockCacheTrace());
  ASSERT_EQ(seen_.records.size(), 3u);
  std::vector<std::string> names;
  for (const BlockCacheTraceRecord& record : seen_.records) {
    EXPECT_EQ(record.caller, kUserMultiGet);
    EXPECT_EQ(record.get_id, seen_.records[0].get_id);
    EXPECT_TRUE(record.get_from_user_specified_snapshot);
    EXPECT_TRUE(record.referenced_key_exist_in_block);
    names.push_back(StrCat(record.cf_name, " ",
                           record.referenced_key.substr(0, record.referenced_key.size() - 8)));
  }
  std::sort(names.begin(), names.end());
  EXPECT_EQ(names, (std::vector<std::string>{"default " + a, "default " + b, "two k"}));
}

TEST_F(BlockTraceTest, ReadsOfEntitiesAndOperandsAreTraced) {
  Start();
  PinnableWideColumns columns[3];
  ASSERT_OK(db_->GetEntity(ReadOptions(), handles_[0], Key(5), &columns[0]));
  const std::string a = Key(1);
  const Slice keys[] = {a, "k"};
  ColumnFamilyHandle* families[] = {handles_[0], handles_[1]};
  Status statuses[2];
  db_->MultiGetEntity(ReadOptions(), 2, families, keys, &columns[1], statuses);
  for (const Status& status : statuses) EXPECT_OK(status);
  PinnableSlice operand;
  GetMergeOperandsOptions options;
  options.expected_max_number_of_operands = 1;
  int count = 0;
  ASSERT_OK(db_->GetMergeOperands(ReadOptions(), handles_[1], "k", &operand, &options, &count));
  EXPECT_EQ(count, 1);
  ASSERT_OK(db_->EndBlockCacheTrace());
  ASSERT_EQ(seen_.records.size(), 4u);
  std::vector<std::string> reads;
  for (const BlockCacheTraceRecord& record : seen_.records) {
    EXPECT_TRUE(record.referenced_key_exist_in_block);
    reads.push_back(StrCat(static_cast<int>(record.caller), " ", record.cf_name, " ",
                           record.referenced_key.substr(0, record.referenced_key.size() - 8)));
  }
  std::sort(reads.begin() + 1, reads.begin() + 3);
  const int get = kUserGet, multi_get = kUserMultiGet;
  EXPECT_EQ(reads, (std::vector<std::string>{StrCat(get, " default ", Key(5)),
                                             StrCat(multi_get, " default ", a),
                                             StrCat(multi_get, " two k"), StrCat(get, " two k")}));
  EXPECT_EQ(seen_.records[1].get_id, seen_.records[2].get_id);
  EXPECT_NE(seen_.records[0].get_id, seen_.records[3].get_id);
}

TEST_F(BlockTraceTest, AnIteratorIsTracedFromItsBeginning) {
  const std::unique_ptr<Iterator> before(db_->NewIterator(ReadOptions()));
  Start();
  before->SeekToFirst();
  ReadOptions options;
  options.fill_cache = false;
  const std::unique_ptr<Iterator> iterator(db_->NewIterator(options));
  int rows = 0;
  for (iterator->SeekToFirst(); iterator->Valid(); iterator->Next()) rows++;
  EXPECT_EQ(rows, 100);
  EXPECT_OK(iterator->status());
  ASSERT_OK(db_->EndBlockCacheTrace());
  ASSERT_GE(seen_.records.size(), 2u);  // blocks of 4 KiB with 100 values of 100 bytes
  for (const BlockCacheTraceRecord& record : seen_.records) {
    EXPECT_EQ(record.caller, kUserIterator);
    EXPECT_TRUE(record.no_insert);
    EXPECT_EQ(record.referenced_key, "");
    EXPECT_EQ(record.get_id, BlockCacheTraceRecord::kReservedGetId);
  }
  iterator->SeekToFirst();  // after the end of the trace
}

class StampedBlockTraceTest : public BlockTraceTest {
 protected:
  StampedBlockTraceTest() {
    ColumnFamilyOptions options(options_);
    options.comparator = BytewiseComparatorWithU64Ts();
    stamped_ = CreateFamily("stamped", options);
    for (int i = 0; i < 10; i++) {
      EXPECT_OK(db_->Put(WriteOptions(), stamped_, Key(i), Stamp(5), "v"));
    }
    EXPECT_OK(db_->Flush(FlushOptions(), stamped_));
  }
  std::vector<Status> MultiGet(const ReadOptions& read, ColumnFamilyHandle* family) {
    const std::string a = Key(1), b = Key(2);
    const Slice keys[] = {a, b};
    ColumnFamilyHandle* families[] = {family, family};
    PinnableSlice values[2];
    std::vector<Status> statuses(2);
    db_->MultiGet(read, 2, families, keys, values, statuses.data());
    return statuses;
  }
  // Of the trace: who has read, and in which family.
  std::set<std::string> Readers() const {
    std::set<std::string> readers;
    for (const BlockCacheTraceRecord& record : seen_.records) {
      readers.insert(StrCat(static_cast<int>(record.caller), " ", record.cf_id, record.cf_name));
    }
    return readers;
  }

  ColumnFamilyHandle* stamped_ = nullptr;
  const ReadAt at_{9};
};

TEST_F(StampedBlockTraceTest, ReadsOfFamiliesOfBothKindsAreTraced) {
  ASSERT_NE(stamped_, nullptr);
  Start();
  EXPECT_EQ(Get(Key(5), at_.options, stamped_), "v");
  EXPECT_EQ(Get(Key(5)).size(), 100u);
  for (const Status& status : MultiGet(at_.options, stamped_)) EXPECT_OK(status);
  for (const Status& status : MultiGet(ReadOptions(), handles_[0])) EXPECT_OK(status);
  EXPECT_EQ(ReadRows(at_.options, stamped_).size(), 10u);
  EXPECT_EQ(ReadRows(ReadOptions(), handles_[0]).size(), 100u);
  ASSERT_OK(db_->EndBlockCacheTrace());
  std::set<std::string> expected;
  for (const TableReaderCaller caller : {kUserGet, kUserMultiGet, kUserIterator}) {
    for (const char* family : {"0default", "2stamped"}) {
      expected.insert(StrCat(static_cast<int>(caller), " ", family));
    }
  }
  EXPECT_EQ(Readers(), expected);
}

TEST_F(StampedBlockTraceTest, ALookupNamesWhatItFound) {
  ASSERT_NE(stamped_, nullptr);
  Start();
  EXPECT_EQ(Get(Key(5), at_.options, stamped_), "v");
  EXPECT_EQ(Get(Key(5) + "x", at_.options, stamped_), "(none)");
  for (const Status& status : MultiGet(at_.options, stamped_)) EXPECT_OK(status);
  ASSERT_OK(db_->EndBlockCacheTrace());
  std::set<uint64_t> gets, multi_gets;
  std::set<std::string> found, missing;
  for (const BlockCacheTraceRecord& record : seen_.records) {
    ASSERT_GT(record.referenced_key.size(), 8u);
    (record.caller == kUserGet ? gets : multi_gets).insert(record.get_id);
    (record.referenced_key_exist_in_block ? found : missing)
        .insert(record.referenced_key.substr(0, record.referenced_key.size() - 8));
    EXPECT_EQ(record.referenced_data_size,
              record.referenced_key_exist_in_block ? record.referenced_key.size() + 1 : 0);
  }
  EXPECT_EQ(gets.size(), 2u);
  EXPECT_EQ(multi_gets.size(), 1u);
  EXPECT_TRUE(found.contains(Key(5) + Stamp(5)));
  EXPECT_TRUE(found.contains(Key(1) + Stamp(5)));  // the block of the next key is in use already
  EXPECT_TRUE(missing.contains(Key(5) + "x" + Stamp(9)));
}

TEST_F(BlockTraceTest, SamplingChoosesBlocks) {
  Fill(2000);
  Flush();
  Start(4);
  for (int round = 0; round < 2; round++) {
    for (int i = 0; i < 2000; i += 10) Get(Key(i));
  }
  ASSERT_OK(db_->EndBlockCacheTrace());
  const size_t count = seen_.records.size();
  EXPECT_GT(count, 0u);
  EXPECT_LT(count, 300u);
  ASSERT_EQ(count % 2, 0u);  // a block is in the trace each time or never
  for (size_t i = 0; i < count / 2; i++) {
    EXPECT_EQ(seen_.records[i].block_key, seen_.records[count / 2 + i].block_key);
  }
}

TEST_F(BlockTraceTest, OneTraceRunsAtATimeAndAnErrorEndsIt) {
  EXPECT_OK(db_->EndBlockCacheTrace());
  EXPECT_TRUE(db_->StartBlockCacheTrace(TraceOptions(), std::unique_ptr<TraceWriter>())
                  .IsInvalidArgument());
  Start();
  MemoryTrace other;
  EXPECT_TRUE(
      db_->StartBlockCacheTrace(TraceOptions(), std::make_unique<WriterInto>(&other)).IsBusy());
  EXPECT_TRUE(other.is_closed);
  seen_.next = Status::NoSpace("disk");
  EXPECT_EQ(Get(Key(1)).size(), 100u);
  seen_.next = Status::OK();
  Get(Key(2));
  EXPECT_TRUE(seen_.records.empty());
  EXPECT_TRUE(db_->EndBlockCacheTrace().IsNoSpace());
}

// The length is that of RocksDB 7.8.3 for a key of four bytes.
TEST_F(BlockTraceTest, TheFileHasRocksDbsBytes) {
  Put("key7", std::string(100, 'x'));
  Flush();
  MemoryTrace trace;
  ASSERT_OK(db_->StartBlockCacheTrace(TraceOptions(), std::make_unique<WriterInto>(&trace)));
  Get("key7");
  ASSERT_OK(db_->EndBlockCacheTrace());
  EXPECT_TRUE(trace.is_closed);
  ASSERT_EQ(trace.records.size(), 2u);
  TraceFrame frame;
  ASSERT_OK(ParseTraceFrame(trace.records[0], &frame));
  EXPECT_EQ(frame.type, kTraceBegin);
  ASSERT_OK(ParseTraceFrame(trace.records[1], &frame));
  EXPECT_EQ(frame.type, kBlockTraceDataBlock);
  EXPECT_EQ(frame.payload.size(), 0x5fu);
  Slice rest = frame.payload;
  Slice key, family, referenced;
  uint64_t bytes, family_id, table, get_id, found_bytes, key_count;
  uint32_t level;
  ASSERT_TRUE(GetLengthPrefixedSlice(&rest, &key) && GetFixed64(&rest, &bytes) &&
              GetFixed64(&rest, &family_id) && GetLengthPrefixedSlice(&rest, &family) &&
              GetFixed32(&rest, &level) && GetFixed64(&rest, &table));
  EXPECT_EQ(key.size(), 16u);
  EXPECT_EQ(family.ToString(), kDefaultColumnFamilyName);
  EXPECT_EQ(rest[0], kUserGet);
  rest.remove_prefix(3);
  ASSERT_TRUE(GetFixed64(&rest, &get_id));
  rest.remove_prefix(1);
  ASSERT_TRUE(GetLengthPrefixedSlice(&rest, &referenced) && GetFixed64(&rest, &found_bytes) &&
              GetFixed64(&rest, &key_count));
  EXPECT_EQ(referenced.size(), 12u);
  EXPECT_EQ(found_bytes, 112u);
  EXPECT_EQ(rest.ToString(), "\x01");
}

TEST_F(BlockTraceTest, ExceptionsOfItsFileAreErrors) {
  MemoryTrace trace;
  trace.close_throws = true;
  ASSERT_OK(db_->StartBlockCacheTrace(TraceOptions(), std::make_unique<WriterInto>(&trace)));
  trace.size_throws = true;
  EXPECT_EQ(Get(Key(1)).size(), 100u);
  EXPECT_TRUE(db_->EndBlockCacheTrace().IsAborted());
  trace.size_throws = false;
  ASSERT_OK(db_->StartBlockCacheTrace(TraceOptions(), std::make_unique<WriterInto>(&trace)));
  EXPECT_TRUE(db_->EndBlockCacheTrace().IsAborted());
  trace.next_write = Status::NoSpace("disk");
  EXPECT_TRUE(
      db_->StartBlockCacheTrace(TraceOptions(), std::make_unique<WriterInto>(&trace)).IsNoSpace());
}

TEST_F(BlockTraceTest, OperationsOnTheFilesOfTheDatabaseAreTraced) {
  EXPECT_OK(db_->EndIOTrace());
  MemoryTrace trace;
  ASSERT_OK(db_->StartIOTrace(TraceOptions(), std::make_unique<WriterInto>(&trace)));
  MemoryTrace other;
  EXPECT_TRUE(db_->StartIOTrace(TraceOptions(), std::make_unique<WriterInto>(&other)).IsBusy());
  Put("a", "1");
  Flush();
  ASSERT_OK(db_->EndIOTrace());
  const auto has = [&](const std::string& text) {
    return std::any_of(trace.records.begin(), trace.records.end(), [&](const std::string& record) {
      return record.find(text) != std::string::npos;
    });
  };
  EXPECT_TRUE(has("NewWritableFile"));
  EXPECT_TRUE(has("Append"));
  EXPECT_TRUE(has(".sst"));
  EXPECT_TRUE(has("MANIFEST-"));
  const size_t count = trace.records.size();
  Put("b", "1");
  Flush();
  EXPECT_EQ(trace.records.size(), count);
}

}  // namespace
}  // namespace ashlar
