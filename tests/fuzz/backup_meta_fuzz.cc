// SPDX-License-Identifier: Apache-2.0
//
// Meta files of backups: whatever the bytes are, parsing gives a status, or a backup whose files
// lie where they may and whose text, written again, says the same.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "db/utilities/backup/backup_meta.h"
#include "db/utilities/backup/backup_names.h"

namespace ashlar {
namespace {

constexpr BackupID kId = 1;

void Require(bool is_so) {
  if (!is_so) std::abort();
}

bool IsSame(const BackupFile& a, const BackupFile& b) {
  return a.name == b.name && a.crc == b.crc && a.bytes == b.bytes && a.temperature == b.temperature;
}

void RequireInPlace(const std::string& name) {
  Require(name.find("..") == std::string::npos || name.find("/..") == std::string::npos);
  Require(IsSharedName(name) || name.starts_with(PrivateDirName(kId) + "/"));
  Require(std::ranges::count(name, '/') <= 2);
  Require(IsNameOfBackupFile(name.substr(name.rfind('/') + 1)));
  Require(DatabaseNameOf(name).find('/') == std::string::npos);
}

void ParseAny(std::string_view text) {
  const std::vector<std::string> names = NamesInMeta(text);
  std::vector<std::string> ignored;
  const Result<BackupMeta> parsed = ParseMeta(text, kId, "meta/1", &ignored);
  if (!parsed.ok()) {
    Require(parsed.status().IsCorruption() || parsed.status().IsNotSupported());
    return;
  }
  const BackupMeta& meta = parsed.value();
  // What can be parsed can be read by who only looks for names.
  for (const BackupFile& file : meta.files) {
    RequireInPlace(file.name);
    Require(std::ranges::find(names, file.name) != names.end());
  }
  for (const std::string& name : meta.excluded) RequireInPlace(name);
  const Result<BackupMeta> again = ParseMeta(WriteMeta(meta, 2), kId, "meta/1", nullptr);
  Require(again.ok());
  Require(again.value().timestamp == meta.timestamp && again.value().sequence == meta.sequence);
  Require(again.value().app_metadata == meta.app_metadata);
  Require(again.value().excluded == meta.excluded);
  Require(std::ranges::equal(again.value().files, meta.files, IsSame));
}

}  // namespace
}  // namespace ashlar

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  ashlar::ParseAny({reinterpret_cast<const char*>(data), size});
  return 0;
}
