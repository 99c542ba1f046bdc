// SPDX-License-Identifier: Apache-2.0
//
// Reads that are made together return the same as single reads: with an io_uring, if the kernel
// refuses it at first or later, with more reads than the ring has room for, at the end of a file,
// in a child process, and if another thread waits for the reads.
#include "env/read_together.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/magic.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "ashlar/env.h"
#include "ashlar/file_system.h"
#include "env/file_util.h"
#include "env/posix/posix_uring.h"
#include "env/random_reader.h"
#include "tests/support/forbidden_call.h"
#include "tests/support/paths.h"
#include "tests/support/skip.h"
#include "tests/support/status_matchers.h"
#include "util/random.h"

namespace ashlar {
namespace {

constexpr size_t kFileBytes = 300000;

class ReadTogetherTest : public testing::Test {
 protected:
  ReadTogetherTest() {
    for (int i = 0; i < 3; i++) {
      std::string& content = contents_.emplace_back(kFileBytes, '\0');
      for (char& byte : content) byte = static_cast<char>(random_.Next());
      const std::string path = dir_ + "/" + std::to_string(i);
      EXPECT_OK(WriteStringToFile(Env::Default(), content, path, /*should_sync=*/true));
      auto reader = RandomReader::Open(FileSystem::Default().get(), path, FileOptions());
      EXPECT_OK(reader.status());
      readers_.push_back(reader.Take());
    }
  }
  ~ReadTogetherTest() override {
    for (const auto& reader : readers_) EXPECT_OK(Env::Default()->DeleteFile(reader->path()));
  }

  // Reads of bytes in the page cache never go through a ring. (Files in memory are always there.)
  void ForgetPages() {
    for (const auto& reader : readers_) EXPECT_OK(reader->file()->InvalidateCache(0, 0));
  }
  bool IsInMemory() const {
    struct statfs system = {};
    return statfs(dir_.c_str(), &system) == 0 && system.f_type == TMPFS_MAGIC;
  }

  // Reads `count` random ranges of the first `files` files together, and checks the results.
  void CheckReads(size_t count, size_t files) {
    std::vector<std::string> buffers(count);
    std::vector<FileRead> reads(count);
    std::vector<size_t> file_of(count);
    for (size_t i = 0; i < count; i++) {
      file_of[i] = i * files / count;
      const size_t n = 1 + random_.Uniform(20000);
      buffers[i].resize(n);
      reads[i] = {.file = readers_[file_of[i]].get(),
                  .offset = random_.Uniform(kFileBytes - n),
                  .n = n,
                  .scratch = buffers[i].data()};
    }
    if (count != 3) ForgetPages();  // those are read from the cache
    ReadTogether(reads);
    for (size_t i = 0; i < count; i++) {
      ASSERT_OK(reads[i].status);
      ASSERT_EQ(reads[i].result, Slice(contents_[file_of[i]].data() + reads[i].offset, reads[i].n));
    }
  }
  // Callable from any thread.
  void ReadSomewhere(size_t file) {
    constexpr size_t kReads = 8, kBytes = 3000;
    ForgetPages();
    std::string buffer(kReads * kBytes, '\0');
    std::vector<FileRead> reads(kReads);
    for (size_t i = 0; i < kReads; i++) {
      reads[i] = {.file = readers_[file].get(),
                  .offset = i * kFileBytes / kReads,
                  .n = kBytes,
                  .scratch = buffer.data() + i * kBytes};
    }
    ReadTogether(reads);
    for (const FileRead& read : reads) {
      EXPECT_OK(read.status);
      EXPECT_EQ(read.result, Slice(contents_[file].data() + read.offset, read.n));
    }
  }
  void CheckAll() {
    for (const size_t files : {1, 3}) {
      for (const size_t count : {1, 2, 3, 17, 200}) CheckReads(count, files);
    }
  }
  // Runs the checks in a thread in which the system call is forbidden.
  void CheckWithout(uint32_t system_call, bool after_first_use) {
    bool is_possible = true;
    std::thread([&] {
      if (after_first_use) CheckReads(5, 3);
      is_possible = ForbidSystemCall(system_call);
      if (!is_possible) return;
      CheckAll();
      EXPECT_TRUE(IsInMemory() || PosixUring::OfThread() == nullptr);
    }).join();
    if (!is_possible) SkipAsImpossible("a filter of system calls");
  }

  const std::string dir_ = FreshTempDir("read_together");
  Random64 random_{17};
  std::vector<std::string> contents_;
  std::vector<std::unique_ptr<RandomReader>> readers_;
};

TEST_F(ReadTogetherTest, AnswersAsSingleReads) { CheckAll(); }

TEST_F(ReadTogetherTest, AnswersWhereTheKernelRefusesARing) {
  CheckWithout(SYS_io_uring_setup, false);
}

TEST_F(ReadTogetherTest, AnswersWhereTheKernelRefusesInTheMiddle) {
  if (PosixUring::OfThread() == nullptr) return SkipAsImpossible("io_uring");
  CheckWithout(SYS_io_uring_enter, true);
}

// The memory of a closed ring is used for the next one.
TEST_F(ReadTogetherTest, RingsComeAndGoWithTheirThreads) {
  for (int round = 0; round < 20; round++) {
    std::thread first([this] { ReadSomewhere(0); }), second([this] { ReadSomewhere(1); });
    first.join();
    second.join();
  }
}

TEST_F(ReadTogetherTest, AChildReadsThroughARingOfItsOwn) {
  CheckReads(5, 3);
  const std::shared_ptr<PosixUring> parents = PosixUring::OfThread();
  const pid_t child = fork();
  if (child == 0) {
    EXPECT_TRUE(parents == nullptr || PosixUring::OfThread() != parents);
    CheckReads(5, 3);
    _exit(HasFailure() ? 1 : 0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  CheckReads(5, 3);
}

TEST_F(ReadTogetherTest, WhatLiesBehindTheEndFailsAlone) {
  for (const size_t files : {1, 3}) {
    std::string buffer(3000, '\0');
    std::vector<FileRead> reads(3);
    for (size_t i = 0; i < 3; i++) {
      reads[i] = {.file = readers_[files == 1 ? 0 : i].get(),
                  .offset = i == 1 ? kFileBytes - 500 : 1000 * i,
                  .n = 1000,
                  .scratch = buffer.data() + 1000 * i};
    }
    ReadTogether(reads);
    EXPECT_OK(reads[0].status);
    EXPECT_TRUE(reads[1].status.IsCorruption()) << reads[1].status.ToString();
    EXPECT_NE(reads[1].status.ToString().find("expected 1000 bytes, found 500"), std::string::npos);
    EXPECT_OK(reads[2].status);
  }
}

// The interface of the file system itself, which programs may use as well.
TEST_F(ReadTogetherTest, StartedReadsAreCalledBackOnce) {
  FileSystem* const fs = FileSystem::Default().get();
  int64_t supported = 0;
  fs->SupportedOps(supported);
  EXPECT_EQ((supported >> FSSupportedOps::kAsyncIO & 1) != 0, PosixUring::OfThread() != nullptr);
  std::string buffers[4];
  FSReadRequest requests[4];
  std::vector<void*> handles(4);
  IOHandleDeleter deleters[4];
  int calls[4] = {};
  for (size_t i = 0; i < 4; i++) {
    buffers[i].resize(100);
    requests[i].offset = 1000 * i;
    requests[i].len = 100;
    requests[i].scratch = buffers[i].data();
    if (i == 2) ForgetPages();
    ASSERT_OK(readers_[0]->file()->ReadAsync(
        requests[i], IOOptions(), [](FSReadRequest&, void* count) { ++*static_cast<int*>(count); },
        &calls[i], &handles[i], &deleters[i], nullptr));
  }
  ASSERT_OK(fs->Poll(handles, 2));
  ASSERT_OK(fs->AbortIO(handles));
  ASSERT_OK(fs->Poll(handles, 4));
  for (size_t i = 0; i < 4; i++) {
    EXPECT_EQ(calls[i], 1);
    EXPECT_OK(requests[i].status);
    EXPECT_EQ(requests[i].result, Slice(contents_[0].data() + 1000 * i, 100));
    if (handles[i] != nullptr) deleters[i](handles[i]);
  }
}

#if defined(__SANITIZE_THREAD__)
constexpr int kRounds = 400;
#else
constexpr int kRounds = 50;
#endif

// The alignment that direct reads need.
struct alignas(4096) Page {
  char bytes[4096];
};

// Reads of `pages` pages each, one after the other, from the beginning of a file.
struct DirectReads {
  DirectReads(size_t count, size_t pages) : memory(count * pages), requests(count) {
    for (size_t i = 0; i < count; i++) {
      requests[i].offset = i * pages * sizeof(Page);
      requests[i].len = pages * sizeof(Page);
      requests[i].scratch = memory[i * pages].bytes;
    }
  }
  void Expect(const std::string& content) const {
    for (const FSReadRequest& request : requests) {
      ASSERT_OK(request.status);
      ASSERT_EQ(request.result,
                Slice(content.substr(std::min(request.offset, content.size()), request.len)));
    }
  }

  std::vector<Page> memory;
  std::vector<FSReadRequest> requests;
};

// A waiting thread takes every completion from the ring, including reads that the ring's own thread
// has just queued: reads behind the end of the file are done at once, before the large reads that
// are awaited. The waiting thread begins a little later in each round, so that it comes between two
// of many reads. The thread sanitizer then detects other writes to a read that is in the ring.
TEST_F(ReadTogetherTest, AThreadReadsOnWhileAnotherWaitsForWhatItStarted) {
  if (PosixUring::OfThread() == nullptr) return SkipAsImpossible("io_uring");
  FileSystem* const fs = FileSystem::Default().get();
  FileOptions options;
  options.use_direct_reads = true;
  std::unique_ptr<FSRandomAccessFile> file;
  const IOStatus opened = fs->NewRandomAccessFile(readers_[0]->path(), options, &file, nullptr);
  if (!opened.ok()) return SkipAsImpossible("direct reads");
  for (int round = 0; round < kRounds; round++) {
    DirectReads started(2, 32), together(50, 1);
    for (size_t i = 5; i < 50; i++) together.requests[i].offset = 80 * sizeof(Page);
    std::vector<void*> handles(2);
    IOHandleDeleter deleters[2];
    for (size_t i = 0; i < 2; i++) {
      ASSERT_OK(file->ReadAsync(
          started.requests[i], IOOptions(), [](FSReadRequest&, void*) {}, nullptr, &handles[i],
          &deleters[i], nullptr));
    }
    std::atomic<bool> is_there{false};
    std::thread other([&] {
      is_there.store(true);
      for (std::atomic<int> later = 10 * (round % 200); later > 0; --later) {
      }
      EXPECT_OK(fs->Poll(handles, 2));
    });
    while (!is_there.load()) {
    }
    EXPECT_OK(file->MultiRead(together.requests.data(), 50, IOOptions(), nullptr));
    other.join();
    for (size_t i = 0; i < 2; i++) {
      if (handles[i] != nullptr) deleters[i](handles[i]);
    }
    started.Expect(contents_[0]);
    together.Expect(contents_[0]);
  }
}

// If the kernel refuses the queue, it is tried again when a running read is done. If that was the
// last one, no completion follows.
TEST_F(ReadTogetherTest, WhatIsRefusedBehindTheLastReadIsHandedBack) {
  if (PosixUring::OfThread() == nullptr) return SkipAsImpossible("io_uring");
  const int fd = open(readers_[0]->path().c_str(), O_RDONLY | O_CLOEXEC);
  ASSERT_GE(fd, 0);
  char buffers[2][100];
  UringRead taken{.fd = fd, .offset = 5000, .n = 100, .buffer = buffers[0]};
  UringRead refused{.fd = fd, .offset = 7000, .n = 100, .buffer = buffers[1]};
  bool is_possible = true;
  std::thread([&] {
    PosixUring* const ring = PosixUring::OfThread().get();
    ASSERT_TRUE(ring->Start(&taken));
    ring->Submit();
    is_possible = ForbidSystemCall(SYS_io_uring_enter);
    ASSERT_TRUE(ring->Start(&refused));
    ring->Wait(&refused);
    ring->Wait(&taken);
  }).join();
  close(fd);
  if (!is_possible) return SkipAsImpossible("a filter of system calls");
  EXPECT_EQ(Slice(buffers[0], taken.done_bytes), Slice(contents_[0].data() + 5000, 100));
  EXPECT_EQ(refused.done_bytes, 0u) << "left to the caller";
}

}  // namespace
}  // namespace ashlar
