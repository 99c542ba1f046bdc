// SPDX-License-Identifier: Apache-2.0
//
// One file: MultiRead(). Several: each read is started, then all are waited for. Where a file
// system reads at once when it is asked to start, that comes to the same.
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

std::vector<FSReadRequest> RequestsFor(std::span<const FileRead> reads) {
  std::vector<FSReadRequest> requests(reads.size());
  for (size_t i = 0; i < reads.size(); ++i) {
    requests[i].offset = reads[i].offset;
    requests[i].len = reads[i].n;
    requests[i].scratch = reads[i].scratch;
  }
  return requests;
}

void TakeAnswer(const FSReadRequest& request, FileRead* read) {
  read->result = request.result;
  read->status = request.status;
  if (!read->status.ok()) return;
  read->status = read->file->CheckLength(read->offset, read->n, read->result.size());
}

// All of one file.
void ReadFromOne(std::span<FileRead> reads, const IOOptions& io) {
  std::vector<FSReadRequest> requests = RequestsFor(reads);
  const Status status = reads[0].file->MultiReadExactly(requests.data(), requests.size(), io);
  for (size_t i = 0; i < reads.size(); ++i) {
    TakeAnswer(requests[i], &reads[i]);
    // The call itself failed, and the request was not tried.
    if (!status.ok() && requests[i].status.ok() && !reads[i].status.ok()) reads[i].status = status;
  }
}

// Of several files of `fs`.
void ReadFromMany(FileSystem* fs, std::span<FileRead> reads, const IOOptions& io) {
  std::vector<FSReadRequest> requests = RequestsFor(reads);
  std::vector<void*> handles(reads.size(), nullptr);
  std::vector<IOHandleDeleter> deleters(reads.size());
  for (size_t i = 0; i < reads.size(); ++i) {
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
  // Those that were done at once have no handle.
  std::vector<void*> waiting;
  std::copy_if(handles.begin(), handles.end(), std::back_inserter(waiting),
               [](const void* handle) { return handle != nullptr; });
  const IOStatus polled = waiting.empty() ? IOStatus::OK() : fs->Poll(waiting, waiting.size());
  for (size_t i = 0; i < reads.size(); ++i) {
    if (!polled.ok() && handles[i] != nullptr) requests[i].status = polled;
    TakeAnswer(requests[i], &reads[i]);
    if (reads[i].status.ok()) AddIoBytes(&IOStatsContext::bytes_read, reads[i].result.size());
    if (handles[i] != nullptr && deleters[i]) deleters[i](handles[i]);
  }
}

// The file system that can read from all of these files at once, or null.
FileSystem* CommonAsyncSystem(std::span<const FileRead> reads) {
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
  if (reads.front().file != reads.back().file) {
    if (FileSystem* const fs = CommonAsyncSystem(reads)) return ReadFromMany(fs, reads, io);
  }
  for (size_t begin = 0, end = 0; begin < reads.size(); begin = end) {
    while (end < reads.size() && reads[end].file == reads[begin].file) ++end;
    ReadFromOne(reads.subspan(begin, end - begin), io);
  }
}

}  // namespace ashlar
