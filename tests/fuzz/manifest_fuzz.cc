// SPDX-License-Identifier: Apache-2.0
//
// MANIFESTs: with any contents, recovery ends with a tree in order or with an error. The first byte
// says whether the checksums of records are repaired first.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/comparator.h"
#include "db/manifest/manifest_reader.h"
#include "db/version/version_set.h"
#include "db/wal/log_format.h"
#include "env/io_rule.h"
#include "env/memory/memory_file_system.h"
#include "util/hash/crc32c.h"
#include "util/threads/mutex.h"

namespace ashlar {
namespace {

void RepairChecksums(std::string* log) {
  for (size_t at = 0; at + kLogHeaderBytes <= log->size();) {
    const size_t left = std::min(kLogBlockBytes - at % kLogBlockBytes, log->size() - at);
    const size_t record =
        left < kLogHeaderBytes ? left + 1 : DecodeFixed16(log->data() + at + 4) + kLogHeaderBytes;
    if (record > left) {
      at += left;
      continue;
    }
    EncodeFixed32(log->data() + at, crc32c::Mask(crc32c::Value(log->data() + at + 6, record - 6)));
    at += record;
  }
}

void RecoverAny(std::string manifest) {
  MemoryFileSystem fs;
  fs.PutFile("/db/CURRENT", "MANIFEST-000001\n");
  fs.PutFile("/db/MANIFEST-000001", std::move(manifest));
  const InternalKeyComparator comparator(BytewiseComparator());
  TableCacheOptions tables(comparator);
  tables.fs = &fs;
  tables.paths = {"/db"};
  std::vector<FamilyRequest> requests, missing;
  requests.emplace_back("default", comparator);
  requests.back().tables = std::make_unique<TableCache>(tables);
  VersionSetOptions options;
  options.fs = &fs;
  options.dir = "/db";
  VersionSet set(options);
  DbMutex mutex;
  MutexLock lock(&mutex);
  const IoUnderDbMutex nobody_waits;
  const Status status = set.Recover(std::move(requests), /*allow_subset=*/true, &missing);
  const auto names = ListFamilies(&fs, "/db");
  if (!status.ok()) return;
  if (!names.ok()) std::abort();
  for (const FamilyVersions* family : set.LiveFamilies()) {
    if (!family->current->CheckInvariants().ok()) std::abort();
  }
  if (set.next_file_number() == 0) std::abort();
}

}  // namespace
}  // namespace ashlar

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 1) return 0;
  std::string manifest(reinterpret_cast<const char*>(data + 1), size - 1);
  if ((data[0] & 1) != 0) ashlar::RepairChecksums(&manifest);
  ashlar::RecoverAny(std::move(manifest));
  return 0;
}
