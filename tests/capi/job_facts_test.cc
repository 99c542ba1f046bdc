// SPDX-License-Identifier: Apache-2.0
//
// Each function for a fact about a job returns the member of its own name.
#include <gtest/gtest.h>

#include <string>

#include "capi/job_info.h"
#include "tests/capi/job_members.h"

namespace ashlar {
namespace {

uint64_t next_value = 0;

// Members that are constants of a file get what they can hold.
template <typename Member>
void Fill(Member& member) {
  ++next_value;
  if constexpr (std::is_same_v<Member, std::string>) {
    member = "text" + std::to_string(next_value);
  } else if constexpr (std::is_same_v<Member, bool>) {
    member = next_value % 2 != 0;
  } else {
    member = static_cast<Member>(next_value % 100);
  }
}

template <typename Member>
uint64_t Number(const Member& member) {
  return static_cast<uint64_t>(member);
}

#define FILL(prefix, member) Fill(facts.member);
#define SAME_NUMBER(prefix, member)                                                        \
  EXPECT_EQ(Number(facts.member), Number(ashlar_##prefix##_##member(capi::Handle(facts)))) \
      << #prefix << "_" << #member;
#define SAME_TEXT(prefix, member)                                                  \
  {                                                                                \
    size_t size = 0;                                                               \
    const char* text = ashlar_##prefix##_##member(capi::Handle(facts), &size);     \
    EXPECT_EQ(facts.member, std::string(text, size)) << #prefix << "_" << #member; \
  }

// Twice, so that flags have both values.
#define CHECK_MEMBERS(MEMBERS, facts_of)       \
  for (int round = 0; round < 2; ++round) {    \
    auto facts = facts_of;                     \
    next_value = static_cast<uint64_t>(round); \
    MEMBERS(FILL, FILL)                        \
    MEMBERS(SAME_NUMBER, SAME_TEXT)            \
  }

TEST(CJobFacts, AreTheMembersOfTheirNames) {
  CHECK_MEMBERS(TABLE_PROPERTIES_MEMBERS, (TableProperties{}));
  CHECK_MEMBERS(FLUSHJOBINFO_MEMBERS, (FlushJobInfo{}));
  CHECK_MEMBERS(COMPACTIONJOBINFO_MEMBERS, (CompactionJobInfo{}));
  CHECK_MEMBERS(SUBCOMPACTIONJOBINFO_MEMBERS, (SubcompactionJobInfo{}));
  CHECK_MEMBERS(EXTERNALFILEINGESTIONINFO_MEMBERS, (ExternalFileIngestionInfo{}));
  CHECK_MEMBERS(MEMTABLEINFO_MEMBERS, (MemTableInfo{}));
  CHECK_MEMBERS(BLOB_FILE_ADDITION_INFO_MEMBERS, (BlobFileAdditionInfo(std::string(), 0, 0, 0)));
  CHECK_MEMBERS(BLOB_FILE_GARBAGE_INFO_MEMBERS, (BlobFileGarbageInfo(std::string(), 0, 0, 0)));
  CHECK_MEMBERS(COMPACTION_FILE_INFO_MEMBERS, (CompactionFileInfo{}));
  CHECK_MEMBERS(COMPACTION_JOB_STATS_MEMBERS, (CompactionJobStats{}));
}

TEST(CJobFacts, OfCompactionsComeFromTheirCountersToo) {
  CompactionJobInfo facts;
  facts.stats.elapsed_micros = 1;
  facts.stats.num_input_records = 2;
  facts.stats.num_output_records = 3;
  facts.stats.total_input_bytes = 4;
  facts.stats.total_output_bytes = 5;
  facts.stats.num_corrupt_keys = 6;
  facts.stats.num_input_files = 7;
  facts.stats.num_input_files_at_output_level = 8;
  const ashlar_compactionjobinfo_t* handle = capi::Handle(facts);
  EXPECT_EQ(ashlar_compactionjobinfo_elapsed_micros(handle), 1U);
  EXPECT_EQ(ashlar_compactionjobinfo_input_records(handle), 2U);
  EXPECT_EQ(ashlar_compactionjobinfo_output_records(handle), 3U);
  EXPECT_EQ(ashlar_compactionjobinfo_total_input_bytes(handle), 4U);
  EXPECT_EQ(ashlar_compactionjobinfo_total_output_bytes(handle), 5U);
  EXPECT_EQ(ashlar_compactionjobinfo_num_corrupt_keys(handle), 6U);
  EXPECT_EQ(ashlar_compactionjobinfo_num_input_files(handle), 7U);
  EXPECT_EQ(ashlar_compactionjobinfo_num_input_files_at_output_level(handle), 8U);
}

}  // namespace
}  // namespace ashlar
