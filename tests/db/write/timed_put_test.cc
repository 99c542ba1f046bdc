// SPDX-License-Identifier: Apache-2.0
//
// A value that is put with a time of its own is stored as by a plain put, from a batch and from a
// log; the log keeps the time, as RocksDB writes it.
#include "ashlar/write_batch.h"
#include "db/write/write_batch_reader.h"
#include "tests/support/test_db.h"
#include "util/keys/coding.h"

namespace ashlar {
namespace {

class TimedPutTest : public DbTest {
 protected:
  TimedPutTest() : DbTest(TestFiles::kSim) { options_.disable_auto_compactions = true; }
};

constexpr uint64_t kTime = 1700000000;

TEST_F(TimedPutTest, IsReadAsItsValueFromMemoryLogAndTables) {
  Open({"default", "other"});
  WriteBatch batch(0, 0, /*protection_bytes_per_key=*/8, 0);
  ASSERT_OK(batch.Put("a", "0"));
  ASSERT_OK(batch.TimedPut(handles_[0], "a", "1", kTime));
  ASSERT_OK(batch.TimedPut(handles_[1], "b", "", kTime));
  ASSERT_OK(batch.Put("c", "1"));
  Write(&batch);
  for (int place = 0; place < 4; place++) {
    SCOPED_TRACE(place);
    if (place == 1) {
      Kill();
      OpenAll();
    }
    if (place == 2) Flush(handles_);
    if (place == 3) CompactAndRewrite();
    EXPECT_EQ(Get("a"), "1");
    EXPECT_EQ(Scan(), "a=1 c=1");
    EXPECT_EQ(Scan({}, Family("other")), "b=");
  }
}

TEST_F(TimedPutTest, KeepsItsTimeInTheLog) {
  Open();
  WriteBatch batch;
  ASSERT_OK(batch.TimedPut(db_->DefaultColumnFamily(), "a", "1", kTime));
  Write(&batch);
  std::unique_ptr<WalIterator> log;
  ASSERT_OK(db_->GetUpdatesSince(1, &log));
  ASSERT_TRUE(log->Valid());
  const BatchResult logged = log->GetBatch();
  WriteBatchReader reader{Slice(logged.writeBatchPtr->Data())};
  WriteBatchRecord record;
  ASSERT_TRUE(reader.Next(&record));
  EXPECT_EQ(record.type, kTypeValuePreferredSeqno);
  ASSERT_EQ(record.value.size(), 9u);
  EXPECT_EQ(DecodeFixed64(record.value.data() + 1), kTime);
}

}  // namespace
}  // namespace ashlar
