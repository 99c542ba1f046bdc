// SPDX-License-Identifier: Apache-2.0
//
// Reads near the end of a file that is being opened are one read.
#include "env/random_reader.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "ashlar/file_system.h"
#include "tests/support/status_matchers.h"

namespace ashlar {
namespace {

struct Reads {
  int count = 0;
  IOStatus answer;
};

class FileOfText : public FSRandomAccessFile {
 public:
  FileOfText(std::string text, Reads* reads) : text_(std::move(text)), reads_(reads) {}
  IOStatus Read(uint64_t offset, size_t n, const IOOptions&, Slice* result, char* scratch,
                IODebugContext*) const override {
    reads_->count++;
    n = std::min(n, text_.size() - std::min<size_t>(offset, text_.size()));
    std::memcpy(scratch, text_.data() + offset, n);
    *result = Slice(scratch, n);
    return reads_->answer;
  }

 private:
  const std::string text_;
  Reads* const reads_;
};

class HeldTailTest : public testing::Test {
 protected:
  std::string Read(uint64_t offset, size_t n) {
    std::string scratch(n, '?');
    Slice result;
    const Status status = reader_.ReadExactly(offset, n, scratch.data(), &result);
    return status.ok() ? result.ToString() : status.ToString();
  }

  Reads reads_;
  RandomReader reader_{std::make_unique<FileOfText>("0123456789", &reads_), "file", 10};
};

TEST_F(HeldTailTest, IsReadOnce) {
  reader_.HoldTail(4);
  EXPECT_EQ(reads_.count, 1);
  EXPECT_EQ(Read(6, 4), "6789");
  EXPECT_EQ(Read(8, 1), "8");
  EXPECT_EQ(Read(9, 1), "9");
  EXPECT_EQ(Read(10, 0), "");
  EXPECT_EQ(reads_.count, 1);
}

TEST_F(HeldTailTest, WhatLiesInFrontIsReadFromTheFile) {
  reader_.HoldTail(4);
  EXPECT_EQ(Read(5, 5), "56789");
  EXPECT_EQ(Read(0, 2), "01");
  EXPECT_EQ(reads_.count, 3);
}

TEST_F(HeldTailTest, EndsBeforeOthersRead) {
  reader_.HoldTail(4);
  reader_.DropTail();
  EXPECT_EQ(Read(6, 4), "6789");
  EXPECT_EQ(reads_.count, 2);
}

TEST_F(HeldTailTest, OfASmallFileIsTheFile) {
  reader_.HoldTail(100);
  EXPECT_EQ(Read(0, 10), "0123456789");
  EXPECT_EQ(reads_.count, 1);
}

TEST_F(HeldTailTest, ThatCannotBeReadIsAskedForAgain) {
  reads_.answer = IOStatus::IOError("the disk");
  reader_.HoldTail(4);
  EXPECT_NE(Read(8, 1).find("the disk"), std::string::npos);
  reads_.answer = IOStatus::OK();
  EXPECT_EQ(Read(8, 1), "8");
  EXPECT_EQ(reads_.count, 3);
}

}  // namespace
}  // namespace ashlar
