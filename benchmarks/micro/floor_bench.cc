// SPDX-License-Identifier: Apache-2.0
//
// The limits of the machine, without any engine. A ratio in docs/performance.md cannot get better
// when both programs wait for one of these.
//
//   TMPDIR=DIR build/native/floor_bench        DIR is on the disk to measure
//
// Measures reads of 4 KiB that bypass the page cache, one at a time and 32 at once; threads that
// share each sync of a mapped file and do nothing else; threads that pass a turn on in a fixed
// order, as the owner of a lock does that goes to those who wait in the order of their arrival; a
// block read from the page cache and decompressed.
#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/file_system.h"
#include "benchmarks/micro/workload.h"
#include "table/format/compression.h"
#include "util/memory/page_buffer.h"
#include "util/random.h"
#include "util/threads/futex.h"

namespace ashlar {
namespace {

void Require(bool holds) {
  if (!holds) std::abort();
}

std::string FloorPath() {
  const char* folder = std::getenv("TMPDIR");
  return std::string(folder != nullptr ? folder : "/tmp") + "/ashlar_floor_bench";
}

// A file that is deleted with the object.
class FloorFile {
 public:
  explicit FloorFile(uint64_t bytes) { Write(std::string(1 << 20, 'f'), bytes >> 20); }
  explicit FloorFile(const std::string& contents) { Write(contents, 1); }
  ~FloorFile() { Require(fs()->DeleteFile(FloorPath(), IOOptions(), nullptr).ok()); }

  static FileSystem* fs() { return FileSystem::Default().get(); }

 private:
  static void Write(const std::string& piece, uint64_t times) {
    std::unique_ptr<FSWritableFile> file;
    Require(fs()->NewWritableFile(FloorPath(), FileOptions(), &file, nullptr).ok());
    for (uint64_t i = 0; i < times; i++) {
      Require(file->Append(piece, IOOptions(), nullptr).ok());
    }
    Require(file->Sync(IOOptions(), nullptr).ok() && file->Close(IOOptions(), nullptr).ok());
  }
};

constexpr uint64_t kReadBytes = 4096, kReadFileBytes = 1 << 30;

void BM_FloorDirectReads(benchmark::State& state) {
  const auto together = static_cast<size_t>(state.range(0));
  const FloorFile made(kReadFileBytes);
  FileOptions options;
  options.use_direct_reads = true;
  std::unique_ptr<FSRandomAccessFile> file;
  Require(FloorFile::fs()->NewRandomAccessFile(FloorPath(), options, &file, nullptr).ok());
  const PageBuffer memory(std::max(together * kReadBytes, PageBuffer::kMinMappedBytes));
  Random64 random(1);
  std::vector<FSReadRequest> requests(together);
  for (auto _ : state) {
    for (size_t i = 0; i < together; i++) {
      requests[i].offset = random.Uniform(kReadFileBytes / kReadBytes) * kReadBytes;
      requests[i].len = kReadBytes;
      requests[i].scratch = memory.data() + i * kReadBytes;
    }
    Require(file->MultiRead(requests.data(), together, IOOptions(), nullptr).ok());
    for (const FSReadRequest& request : requests) Require(request.status.ok());
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(BM_FloorDirectReads)->Arg(1)->Arg(32)->UseRealTime();

// The last thread to arrive syncs for all. Pages are made dirty by stores, not by write(): the
// pages that one large write() brings to the page cache become dirty together, and each sync would
// write all of them.
struct SharedFile {
  static constexpr size_t kBytes = 64 << 20, kRecordBytes = 128;

  FloorFile made{""};
  const int fd = open(FloorPath().c_str(), O_RDWR);
  char* memory = nullptr;
  std::atomic<uint64_t> end{0};
  std::atomic<int> waiting{0};
  std::atomic<uint32_t> round{0};

  SharedFile() {
    Require(fd >= 0 && posix_fallocate(fd, 0, kBytes) == 0);
    void* const mapped = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    Require(mapped != MAP_FAILED);
    memory = static_cast<char*>(mapped);
    std::fill_n(memory, kBytes, 'f');
    Require(fsync(fd) == 0);
  }
  ~SharedFile() {
    munmap(memory, kBytes);
    close(fd);
  }
  void WriteAndSync(int threads) {
    const uint64_t offset = end.fetch_add(kRecordBytes) % kBytes;
    std::fill_n(memory + offset, kRecordBytes, 'r');
    const uint32_t seen = round.load();
    if (waiting.fetch_add(1) + 1 < threads) {
      while (round.load() == seen) FutexWait(round, seen);
      return;
    }
    Require(fdatasync(fd) == 0);
    waiting.store(0);
    round.fetch_add(1);
    FutexWakeAll(round);
  }
};

void BM_FloorSharedSyncs(benchmark::State& state) {
  static std::unique_ptr<SharedFile> file;
  if (state.thread_index() == 0) file = std::make_unique<SharedFile>();
  for (auto _ : state) file->WriteAndSync(state.threads());
  if (state.thread_index() == 0) file.reset();
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_FloorSharedSyncs)->Threads(1)->Threads(4)->Threads(16)->UseRealTime();

// Each thread waits for its turn and passes it on to the next thread.
struct Turns {
  static constexpr int kMostThreads = 64;
  std::array<std::atomic<uint32_t>, kMostThreads> given{};

  void WaitAndPass(int thread, int threads) {
    std::atomic<uint32_t>& own = given[static_cast<size_t>(thread)];
    while (own.load() == 0) FutexWait(own, 0);
    own.store(0);
    std::atomic<uint32_t>& next = given[static_cast<size_t>((thread + 1) % threads)];
    next.store(1);
    FutexWakeAll(next);
  }
};

void BM_FloorTurns(benchmark::State& state) {
  static Turns turns;
  if (state.thread_index() == 0) turns.given[0].store(1);
  for (auto _ : state) turns.WaitAndPass(state.thread_index(), state.threads());
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_FloorTurns)->Threads(4)->Threads(16)->UseRealTime();

// Records as db_bench writes them: values of 100 bytes, half of which compression saves.
std::string RawBlock(Random64* random) {
  constexpr size_t kBlockBytes = 4096, kValueBytes = 100;
  std::string block;
  uint64_t key = random->Uniform(1'000'000);
  while (block.size() < kBlockBytes) {
    block += BenchInternalKey(key += 3, 1);
    std::string half(kValueBytes / 2, '\0');
    for (char& c : half) c = static_cast<char>(' ' + random->Uniform(95));
    block += half + half;
  }
  return block;
}

void BM_FloorCompressedReads(benchmark::State& state, CompressionType type) {
  constexpr size_t kBlocks = 20'000, kMostBytes = 8192;
  struct Place {
    uint64_t offset;
    size_t bytes;
  };
  Random64 random(1);
  auto compressor = Compressor::Create(type, CompressionOptions());
  Require(compressor.ok());
  std::string contents;
  std::vector<Place> places;
  PageString stored;
  for (size_t i = 0; i < kBlocks; i++) {
    Require((*compressor)->Compress(RawBlock(&random), kMostBytes, &stored));
    places.push_back({contents.size(), stored.size()});
    contents.append(stored.data(), stored.size());
  }
  const FloorFile made(contents);
  std::unique_ptr<FSRandomAccessFile> file;
  Require(FloorFile::fs()->NewRandomAccessFile(FloorPath(), FileOptions(), &file, nullptr).ok());
  std::string read(kMostBytes, '\0'), raw(kMostBytes, '\0');
  for (auto _ : state) {
    const Place& place = places[random.Uniform(kBlocks)];
    Slice found;
    Require(file->Read(place.offset, place.bytes, IOOptions(), &found, read.data(), nullptr).ok());
    auto block = ParseCompressedBlock(type, found);
    Require(block.ok() && block->raw_bytes <= kMostBytes);
    Require(UncompressBlock(*block, nullptr, raw.data()).ok());
  }
  state.SetLabel(std::to_string(contents.size() / kBlocks) + " bytes");
}
BENCHMARK_CAPTURE(BM_FloorCompressedReads, lz4, kLZ4Compression);
BENCHMARK_CAPTURE(BM_FloorCompressedReads, zstd, kZSTD);

}  // namespace
}  // namespace ashlar
