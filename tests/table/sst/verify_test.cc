// SPDX-License-Identifier: Apache-2.0
//
// VerifyChecksums() on tables that have valid checksums but contradict themselves.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>

#include "ashlar/comparator.h"
#include "ashlar/options.h"
#include "table/format/footer.h"
#include "table/sst/read/table_reader.h"
#include "tests/support/sample_table.h"
#include "tests/support/status_matchers.h"

namespace ashlar {
namespace {

// The table of a version 5 sample, whose footer is changed to say that it has no checksums.
class VerifyTest : public testing::Test {
 protected:
  VerifyTest() : sample_(LoadSampleTable("v78_nofilter_fv5")), icmp_(BytewiseComparator()) {
    sample_.bytes[sample_.bytes.size() - kFooterBytes] = 0;
  }

  Status Verify(const RecordedBounds* bounds = nullptr) {
    TableReaderOptions options;
    options.icmp = &icmp_;
    auto opened = TableReader::Open(ReaderOverBytes(sample_.bytes, "sample"), options);
    if (!opened.ok()) return opened.status();
    return opened.Take()->VerifyChecksums(ReadOptions(), bounds);
  }
  RecordedBounds Bounds() const {
    return {.smallest = sample_.entries.front().internal_key,
            .largest = sample_.entries.back().internal_key};
  }

  SampleTable sample_;
  const InternalKeyComparator icmp_;
};

TEST_F(VerifyTest, AnIntactTablePasses) {
  EXPECT_OK(Verify());
  const RecordedBounds bounds = Bounds();
  EXPECT_OK(Verify(&bounds));
}

TEST_F(VerifyTest, AKeyOutOfOrderIsFound) {
  constexpr size_t kFirstKey = 3;  // behind three lengths of one byte
  ASSERT_EQ(sample_.bytes[kFirstKey], sample_.entries.front().internal_key[0]);
  sample_.bytes[kFirstKey] = '\xff';
  const Status status = Verify();
  EXPECT_TRUE(status.IsCorruption()) << status.ToString();
}

TEST_F(VerifyTest, KeysOutsideTheRecordedBoundsAreFound) {
  RecordedBounds bounds = Bounds();
  bounds.smallest = sample_.entries[1].internal_key;
  EXPECT_NE(Verify(&bounds).ToString().find("not inside the bounds"), std::string::npos);
  bounds = Bounds();
  bounds.largest = sample_.entries[sample_.entries.size() - 2].internal_key;
  EXPECT_NE(Verify(&bounds).ToString().find("not inside the bounds"), std::string::npos);
}

TEST_F(VerifyTest, SequenceNumbersOutsideTheRecordedBoundsAreFound) {
  SequenceNumber largest = 0;
  for (const SampleEntry& entry : sample_.entries) {
    largest = std::max(largest, TrailerSeqno(ExtractTrailer(entry.internal_key)));
  }
  RecordedBounds bounds = Bounds();
  bounds.largest_seqno = largest;
  EXPECT_OK(Verify(&bounds));
  ASSERT_GT(largest, 0u);
  bounds.largest_seqno = largest - 1;
  EXPECT_NE(Verify(&bounds).ToString().find("sequence numbers"), std::string::npos);
}

TEST_F(VerifyTest, EntriesThatWereLostAreFound) {
  // The number of entries in the last data block cannot be changed alone. Therefore one entry is
  // hidden in the value of the entry before it: 0 shared bytes, a longer value.
  const std::string& key = sample_.entries[0].internal_key;
  const std::string& value = sample_.entries[0].value;
  const size_t second = 3 + key.size() + value.size();
  const auto shared = static_cast<unsigned char>(sample_.bytes[second]);
  const auto non_shared = static_cast<unsigned char>(sample_.bytes[second + 1]);
  const auto value_bytes = static_cast<unsigned char>(sample_.bytes[second + 2]);
  ASSERT_LT(shared | non_shared | value_bytes, 0x80);
  const size_t grown = value.size() + 3 + non_shared + value_bytes;
  ASSERT_LT(grown, 0x80u);
  sample_.bytes[2] = static_cast<char>(grown);
  const Status status = Verify();
  EXPECT_TRUE(status.IsCorruption()) << status.ToString();
}

}  // namespace
}  // namespace ashlar
