// SPDX-License-Identifier: Apache-2.0
//
// Reads of one file are one MultiRead(). Reads of several files are all started and then awaited
// together; in a file system that reads already when a read is started, this costs the same as
// reading one after the other.
#include "env/read_together.h"

#include <algorithm>
#include <cassert>
#include <utility>
#include <vector>

#include "env/io_rule.h"
#include "env/random_reader.h"
#include "util/statistics/perf_level_impl.h"

namespace ashlar {
namespace {

// The requests refer to the memory of the reads.
std::vector<FSReadRequest> RequestsFor(std::span<const FileRead> reads) {
  std::vector<FSReadRequest> requests(reads.size());
  for (size_t i = 0; i < reads.size(); ++i) {
    requests[i].offset = reads[i].offset;
    requests[i].len = reads[i].n;
    requests[i].scratch = reads[i].scratch;
  }
  return requests;
}

// Copies the answer. A short read becomes Corruption.
void TakeAnswer(const FSReadRequest& request, FileRead* read) {
  assert(read != nullptr);
  read->result = request.result;
  read->status = request.status;
  if (!read->status.ok()) return;
  read->status = read->file->CheckLength(read->offset, read->n, read->result.size());
}

// Reads of a single file.
void ReadFromOne(std::span<FileRead> reads, const IOOptions& io) {
  assert(!reads.empty());
  std::vector<FSReadRequest> requests = RequestsFor(reads);
  const Status status = reads[0].file->MultiReadExactly(requests.data(), requests.size(), io);
  for (size_t i = 0; i < reads.size(); ++i) {
    TakeAnswer(requests[i], &reads[i]);
    // The whole call failed, and this request was not attempted.
    if (!status.ok() && requests[i].status.ok() && !reads[i].status.ok()) reads[i].status = status;
  }
}

// Reads of several files, which all belong to `fs`.
void ReadFromMany(FileSystem* fs, std::span<FileRead> reads, const IOOptions& io) {
  std::vector<FSReadRequest> requests = RequestsFor(reads);
  std::vector<void*> handles(reads.size(), nullptr);
  std::vector<IOHandleDeleter> deleters(reads.size());
  for (size_t i = 0; i < reads.size(); ++i) {
    // A file system may answer with a request of its own instead of ours; then the answer is
    // copied.
    const auto done = [](FSReadRequest& answered, void* request) {
      auto* const mine = static_cast<FSReadRequest*>(request);
      if (mine == &answered) return;
      mine->result = answered.result;
      mine->status = answered.status;
    };
    reads[i].file->Pace(reads[i].n, io);
    const IOStatus started = reads[i].file->file()->ReadAsync(requests[i], io, done, &requests[i],
                                                              &handles[i], &deleters[i], nullptr);
    if (!started.ok()) requests[i].status = started;
  }
  // A read that was completed when it was started has no handle, and nothing is awaited for it.
  std::vector<void*> waiting;
  std::copy_if(handles.begin(), handles.end(), std::back_inserter(waiting),
               [](const void* handle) { return handle != nullptr; });
  // All reads run now; one wait covers them.
  const IOStatus polled = waiting.empty() ? IOStatus::OK() : fs->Poll(waiting, waiting.size());
  for (size_t i = 0; i < reads.size(); ++i) {
    // Without a successful wait, nothing is known about the read. Its memory is still the caller's,
    // who gives it up together with the error.
    if (!polled.ok() && handles[i] != nullptr) requests[i].status = polled;
    TakeAnswer(requests[i], &reads[i]);
    if (reads[i].status.ok()) {
      AddIoBytes(&IOStatsContext::bytes_read, reads[i].result.size());
      reads[i].file->CountInTier(reads[i].result.size());
    }
    if (handles[i] != nullptr && deleters[i]) deleters[i](handles[i]);
  }
}

// The file system that all these files belong to, if it supports asynchronous reads; else null.
// Files with direct I/O are excluded, because their reads need aligned memory.
FileSystem* CommonAsyncSystem(std::span<const FileRead> reads) {
  assert(!reads.empty());
  FileSystem* const fs = reads[0].file->fs();
  const bool is_common = std::all_of(reads.begin(), reads.end(), [fs](const FileRead& read) {
    return read.file->fs() == fs && !read.file->is_direct();
  });
  if (fs == nullptr || !is_common) return nullptr;
  int64_t supported = 0;
  fs->SupportedOps(supported);
  return (supported >> FSSupportedOps::kAsyncIO & 1) != 0 ? fs : nullptr;
}

}  // namespace

void ReadTogether(std::span<FileRead> reads, const IOOptions& io) {
  AssertIoAllowed();
  if (reads.empty()) return;
  // Comparing the first with the last is enough, because reads of one file are neighbours.
  if (reads.front().file != reads.back().file) {
    if (FileSystem* const fs = CommonAsyncSystem(reads)) return ReadFromMany(fs, reads, io);
  }
  for (size_t begin = 0, end = 0; begin < reads.size(); begin = end) {
    while (end < reads.size() && reads[end].file == reads[begin].file) ++end;
    ReadFromOne(reads.subspan(begin, end - begin), io);
  }
}

}  // namespace ashlar
