// SPDX-License-Identifier: Apache-2.0
//
// One MultiRead() for each file.
#include "env/read_together.h"

#include <cassert>
#include <utility>
#include <vector>

#include "env/io_rule.h"
#include "env/random_reader.h"

namespace ashlar {
namespace {

// All of one file.
void ReadFrom(const RandomReader& file, std::span<FileRead> reads) {
  std::vector<FSReadRequest> requests(reads.size());
  for (size_t i = 0; i < reads.size(); ++i) {
    requests[i].offset = reads[i].offset;
    requests[i].len = reads[i].n;
    requests[i].scratch = reads[i].scratch;
  }
  const Status status = file.MultiReadExactly(requests.data(), requests.size());
  for (size_t i = 0; i < reads.size(); ++i) {
    reads[i].result = requests[i].result;
    reads[i].status = requests[i].status;
    // The call itself failed, and no request was tried.
    if (reads[i].status.ok() && reads[i].result.size() != reads[i].n) reads[i].status = status;
    assert(!reads[i].status.ok() || reads[i].result.size() == reads[i].n);
  }
}

}  // namespace

void ReadTogether(std::span<FileRead> reads) {
  AssertIoAllowed();
  for (size_t begin = 0, end = 0; begin < reads.size(); begin = end) {
    while (end < reads.size() && reads[end].file == reads[begin].file) ++end;
    ReadFrom(*reads[begin].file, reads.subspan(begin, end - begin));
  }
}

}  // namespace ashlar
