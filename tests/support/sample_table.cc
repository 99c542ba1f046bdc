// SPDX-License-Identifier: Apache-2.0
//
// Listings are JSON: [user key hex, sequence number, type, value hex] for each entry.
#include "tests/support/sample_table.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <utility>

#include "ashlar/file_system.h"
#include "tests/support/json.h"
#include "tests/support/paths.h"

namespace ashlar {
namespace {

std::vector<std::string> NamesIn(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".sst") names.push_back(entry.path().stem());
  }
  std::sort(names.begin(), names.end());
  return names;
}

class BytesFile final : public FSRandomAccessFile {
 public:
  explicit BytesFile(std::string bytes) : bytes_(std::move(bytes)) {}

  IOStatus Read(uint64_t offset, size_t n, const IOOptions&, Slice* result, char* scratch,
                IODebugContext*) const override {
    const size_t begin = std::min<size_t>(offset, bytes_.size());
    const size_t size = std::min(n, bytes_.size() - begin);
    std::memcpy(scratch, bytes_.data() + begin, size);
    *result = Slice(scratch, size);
    return IOStatus::OK();
  }

 private:
  const std::string bytes_;
};

}  // namespace

std::vector<std::string> SmallSampleTableNames() { return NamesIn(SourcePath("tests/data/sst")); }

std::vector<std::string> SampleTableNames() {
  return SharedDataExists() ? NamesIn(SharedPath("data/sst")) : SmallSampleTableNames();
}

SampleTable LoadSampleTable(const std::string& name) {
  std::string base = SourcePath("tests/data/sst/" + name);
  if (!std::filesystem::exists(base + ".sst")) base = SharedPath("data/sst/" + name);
  const Json listing = Json::ParseFile(base + ".json");
  SampleTable table;
  table.name = name;
  table.bytes = ReadTestFile(base + ".sst");
  table.comparator = listing["comparator"].text();
  table.range_tombstone_count = listing["range_tombstones"].size();
  const bool is_ingested = name.find("_ingested_") != std::string::npos;
  if (is_ingested) table.manifest_seqno = 6;  // as the samples' description says
  for (const Json& entry : listing["entries"].elements()) {
    const SequenceNumber seqno = is_ingested ? table.manifest_seqno : entry[1].number();
    table.entries.push_back({MakeInternalKey(FromHex(entry[0].text()), seqno,
                                             static_cast<ValueType>(entry[2].number())),
                             FromHex(entry[3].text())});
  }
  return table;
}

std::unique_ptr<RandomReader> ReaderOverBytes(std::string bytes, const std::string& path) {
  const uint64_t size = bytes.size();
  return std::make_unique<RandomReader>(std::make_unique<BytesFile>(std::move(bytes)), path, size);
}

}  // namespace ashlar
