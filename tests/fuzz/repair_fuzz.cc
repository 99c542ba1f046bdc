// SPDX-License-Identifier: Apache-2.0
//
// The readers of damaged files: whatever the bytes are, what ReadDamagedTable() hands on is
// ascending, and SurveyBlobFile() stays inside of the file. Half of the tables are changed to have
// no checksums, so that wrong contents reach the parsers.
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>

#include "ashlar/comparator.h"
#include "ashlar/table.h"
#include "db/repair/blob_survey.h"
#include "env/memory/memory_file_system.h"
#include "table/format/footer.h"
#include "table/sst/read/table_salvage.h"

namespace ashlar {
namespace {

std::string WithoutChecksums(std::string bytes) {
  if (bytes.size() < kFooterBytes) return bytes;
  const size_t offset = bytes.size() - kFooterBytes;
  auto footer = DecodeFooter(Slice(bytes.data() + offset, kFooterBytes), bytes.size(), "fuzz.sst");
  if (!footer.ok()) return bytes;
  footer->checksum.type = kNoChecksum;
  bytes.resize(offset);
  AppendFooter(*footer, offset, &bytes);
  return bytes;
}

void ReadTable(FileSystem* fs) {
  const InternalKeyComparator order(BytewiseComparator());
  std::string last;
  const SalvageVisitor visitor{
      .entry =
          [&](const Slice& key, const Slice&) {
            if (!last.empty() && order.Compare(last, key) >= 0) std::abort();
            last = key.ToString();
            return Status::OK();
          },
      .tombstones = [](const std::vector<RangeTombstone>&) { return Status::OK(); },
      .damage =
          [](const Status& damage) {
            if (!damage.IsCorruption()) std::abort();
          }};
  IgnoreError(ReadDamagedTable(fs, FileOptions(), "/fuzz.sst", order, kMaxSequenceNumber, visitor),
              "any answer will do");
}

void ReadBlobs(FileSystem* fs) {
  const auto survey = SurveyBlobFile(fs, FileOptions(), "/fuzz.sst");
  if (!survey.ok() || survey.value().has_footer) return;
  const Status completed =
      CompleteBlobFile(fs, FileOptions(), "/fuzz.sst", survey.value(), "/fuzz.blob");
  if (!completed.ok()) std::abort();
  const auto again = SurveyBlobFile(fs, FileOptions(), "/fuzz.blob");
  if (!again.ok() || !again.value().has_footer) std::abort();
  if (again.value().blob_count != survey.value().blob_count) std::abort();
}

}  // namespace
}  // namespace ashlar

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  std::string bytes(reinterpret_cast<const char*>(data), size - 1);
  if (data[size - 1] % 2 == 0) bytes = ashlar::WithoutChecksums(std::move(bytes));
  ashlar::MemoryFileSystem fs;
  fs.PutFile("/fuzz.sst", std::move(bytes));
  ashlar::ReadTable(&fs);
  ashlar::ReadBlobs(&fs);
  return 0;
}
