// SPDX-License-Identifier: Apache-2.0
//
// Reads with readahead return the same as single reads, in order or not, also if the next piece is
// read in the background: through an io_uring, by the prefetch of the file system, in one thread
// and from one thread to another. The pieces grow, and do not go beyond the given end.
#include "table/sst/read/readahead.h"

#include <gtest/gtest.h>
#include <sys/syscall.h>

#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "ashlar/env.h"
#include "env/file_util.h"
#include "tests/support/forbidden_call.h"
#include "tests/support/paths.h"
#include "tests/support/read_recorder.h"
#include "tests/support/skip.h"
#include "tests/support/status_matchers.h"

namespace ashlar {
namespace {

constexpr size_t kFileBytes = 2 << 20;

class ReadaheadTest : public testing::Test {
 protected:
  ReadaheadTest() : content_(kFileBytes, '\0') {
    for (char& byte : content_) byte = static_cast<char>(random_());
    const std::string path = dir_ + "/000001.sst";
    EXPECT_OK(WriteStringToFile(Env::Default(), content_, path));
    auto file = RandomReader::Open(&fs_, path, FileOptions());
    EXPECT_OK(file.status());
    file_ = file.Take();
  }
  ~ReadaheadTest() override { EXPECT_OK(Env::Default()->DeleteFile(file_->path())); }

  // If the kernel has no rings, a read ends when it is started.
  void MakeReadsStartable() {
    int64_t supported = 0;
    fs_.SupportedOps(supported);
    if ((supported >> FSSupportedOps::kAsyncIO & 1) == 0) recorder_.ClaimAsync();
  }
  static Readahead::Options Asynchronous(size_t fixed_bytes = 0) {
    Readahead::Options options;
    options.is_async = true;
    options.fixed_bytes = fixed_bytes;
    return options;
  }
  void Check(Readahead* readahead, uint64_t offset, size_t n) {
    std::string scratch(n, '\0');
    Slice result;
    ASSERT_OK(readahead->Read(*file_, offset, n, scratch.data(), &result));
    ASSERT_EQ(result, Slice(content_.data() + offset, n)) << offset << ", " << n;
  }
  // `count` consecutive reads from `offset` on, with sizes like those of blocks.
  uint64_t Walk(Readahead* readahead, uint64_t offset, int count) {
    for (int i = 0; i < count; i++) {
      const size_t n = 1 + random_() % 9000;
      if (offset + n > kFileBytes) return kFileBytes;
      Check(readahead, offset, n);
      offset += n + (random_() % 4 == 0 ? random_() % 3000 : 0);
    }
    return offset;
  }
  void WalkAbout(const Readahead::Options& options) {
    Readahead readahead(options);
    for (int i = 0; i < 40 && !HasFatalFailure(); i++) {
      Walk(&readahead, random_() % kFileBytes, static_cast<int>(random_() % 60));
    }
    Walk(&readahead, 0, 1000);
  }

  std::mt19937 random_{11};
  ReadRecorder recorder_;
  RecordingFileSystem fs_{FileSystem::Default(), &recorder_};
  const std::string dir_ = FreshTempDir("readahead");
  std::string content_;
  std::unique_ptr<RandomReader> file_;
};

TEST_F(ReadaheadTest, AnswersAsSingleReads) {
  MakeReadsStartable();
  for (const size_t fixed_bytes : {0, 5000, 100'000, 700'000}) {
    for (const bool is_async : {false, true}) {
      Readahead::Options options = Asynchronous(fixed_bytes);
      options.is_async = is_async;
      WalkAbout(options);
    }
  }
}

TEST_F(ReadaheadTest, AnswersWhereNoReadsCanBeStarted) {
  bool is_possible = true;
  std::thread([&] {
    is_possible = ForbidSystemCall(SYS_io_uring_setup);
    if (!is_possible) return;
    recorder_.Take();
    WalkAbout(Asynchronous());
    const auto reads = recorder_.Take();
    EXPECT_TRUE(std::none_of(reads.begin(), reads.end(), [](const auto& r) { return r.is_async; }));
    EXPECT_TRUE(
        std::any_of(reads.begin(), reads.end(), [](const auto& r) { return r.is_prefetch; }));
  }).join();
  if (!is_possible) SkipAsImpossible("a filter of system calls");
}

TEST_F(ReadaheadTest, ThePieceThatIsUsedNextIsReadMeanwhile) {
  MakeReadsStartable();
  Readahead readahead(Asynchronous());
  recorder_.Take();
  Walk(&readahead, 0, 100000);
  const auto reads = recorder_.Take();
  uint64_t started_bytes = 0, waited_bytes = 0;
  for (const auto& read : reads) (read.is_async ? started_bytes : waited_bytes) += read.n;
  EXPECT_GT(started_bytes, kFileBytes * 9 / 10);
  EXPECT_LT(waited_bytes, kFileBytes / 10);
  EXPECT_LT(started_bytes + waited_bytes, kFileBytes * 11 / 10) << "nothing is read twice";
}

// Several threads may use an iterator one after the other, and it may outlive the thread that
// started a read.
TEST_F(ReadaheadTest, APieceMayBeStartedByAThreadThatIsGone) {
  MakeReadsStartable();
  auto readahead = std::make_unique<Readahead>(Asynchronous());
  uint64_t offset = 0;
  for (int i = 0; i < 30 && !HasFatalFailure(); i++) {
    std::thread([&] { offset = Walk(readahead.get(), offset, 7); }).join();
  }
  EXPECT_GT(offset, 500000u);
  std::thread([&] { offset = Walk(readahead.get(), offset, 7); }).join();
  readahead.reset();
}

// Together with other reads of the thread, which go through the same ring.
TEST_F(ReadaheadTest, SeveralAtATimeByTwoThreads) {
  MakeReadsStartable();
  std::vector<std::unique_ptr<Readahead>> all;
  std::vector<uint64_t> offsets;
  for (int i = 0; i < 6; i++) {
    all.push_back(std::make_unique<Readahead>(Asynchronous()));
    offsets.push_back(static_cast<uint64_t>(i) * 300000);
  }
  const auto advance = [&](size_t first) {
    std::mt19937 sizes(static_cast<uint32_t>(first));
    for (size_t i = first; i < all.size(); i += 2) {
      for (int step = 0; step < 3; step++) {
        const size_t n = 1 + sizes() % 9000;
        if (offsets[i] + n > kFileBytes) break;
        Check(all[i].get(), offsets[i], n);
        offsets[i] += n;
      }
    }
  };
  for (size_t round = 0; round < 20 && !HasFatalFailure(); round++) {
    std::thread other([&] { advance(round % 2); });
    advance(1 - round % 2);
    other.join();
  }
}

TEST_F(ReadaheadTest, ItEndsWhereItIsTold) {
  MakeReadsStartable();
  for (const bool is_async : {false, true}) {
    for (const size_t fixed_bytes : {0, 64 << 10, 1 << 20}) {
      static constexpr uint64_t kEnd = 100'000;
      Readahead::Options options = Asynchronous(fixed_bytes);
      options.is_async = is_async;
      options.find_end = [](const void* end) { return *static_cast<const uint64_t*>(end); };
      options.context = &kEnd;
      recorder_.Take();
      Readahead readahead(options);
      for (uint64_t offset = 0; offset + 4000 <= kEnd; offset += 4000) {
        Check(&readahead, offset, 4000);
      }
      for (const auto& read : recorder_.Take()) {
        EXPECT_LE(read.offset + read.n, kEnd) << (read.is_prefetch ? "prefetch" : "read");
      }
      Check(&readahead, kEnd, 4000);  // reads beyond the end are allowed
    }
  }
}

TEST_F(ReadaheadTest, SaysWhatItHoldsAndExpects) {
  Readahead readahead({});
  EXPECT_EQ(readahead.DebugString(),
            "holds [0, 0), expects 0 after 0 reads in a row, reads 0 ahead");
  for (uint64_t offset = 0; offset < 12000; offset += 4000) Check(&readahead, offset, 4000);
  EXPECT_EQ(readahead.DebugString(),
            "holds [8000, 20192), expects 12000 after 3 reads in a row, reads 16384 ahead");
}

TEST_F(ReadaheadTest, ThePaceGoesOnInTheNextFile) {
  Readahead::Options options;
  Readahead first(options);
  Walk(&first, 0, 60);
  EXPECT_GE(first.pace(), size_t{64} << 10);
  for (const size_t pace : {size_t{0}, first.pace()}) {
    Readahead second(options);
    second.ContinueAt(pace);
    recorder_.Take();
    Check(&second, 0, 4000);
    const auto reads = recorder_.Take();
    ASSERT_EQ(reads.size(), 1u);
    EXPECT_EQ(reads[0].n > 50'000, pace != 0);
  }
}

TEST_F(ReadaheadTest, AStartedReadThatFailsIsTriedAgain) {
  MakeReadsStartable();
  Readahead readahead(Asynchronous());
  uint64_t offset = 0;
  for (int i = 0; i < 20; i++, offset += 4000) Check(&readahead, offset, 4000);
  recorder_.FailIf([](const ReadRecorder::Read& read) { return read.is_async; });
  for (int i = 0; i < 100; i++, offset += 4000) Check(&readahead, offset, 4000);
  recorder_.FailIf([](const ReadRecorder::Read&) { return true; });
  std::string scratch(4000, '\0');
  Slice result;
  Status status;
  for (int i = 0; i < 200 && status.ok(); i++, offset += 4000) {
    status = readahead.Read(*file_, offset, 4000, scratch.data(), &result);
  }
  EXPECT_TRUE(status.IsIOError());
  recorder_.FailIf(nullptr);
  Check(&readahead, offset, 4000);
}

}  // namespace
}  // namespace ashlar
