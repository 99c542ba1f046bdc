// SPDX-License-Identifier: Apache-2.0
//
// ldb file_checksum_dump: the checksums of whole files, as the MANIFEST has them. Nothing is read
// of the files themselves: whether they still have these checksums, DB::VerifyFileChecksums says.
#include <map>

#include "tools/ldb/command.h"
#include "tools/ldb/manifest_state.h"
#include "tools/lib/key_text.h"
#include "tools/lib/output.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

struct FileChecksum {
  std::string function;
  std::string value;
};

std::map<FileNumber, FileChecksum> ChecksumsOf(const ManifestState& state) {
  std::map<FileNumber, FileChecksum> checksums;
  for (const auto& [id, family] : state.families()) {
    for (const std::vector<FileMetadata>& level : family.levels) {
      for (const FileMetadata& meta : level) {
        // As RocksDB writes it for a file without.
        checksums[meta.number] = {meta.has_file_checksum ? meta.file_checksum_function : "Unknown",
                                  meta.file_checksum};
      }
    }
    for (const auto& [number, blob] : family.blobs) {
      const std::string& method = blob.added.checksum_method;
      checksums[number] = {method.empty() ? "Unknown" : method, blob.added.checksum_value};
    }
  }
  return checksums;
}

}  // namespace

Status RunFileChecksumDump(const Invocation& call) {
  FileSystem* const fs = FileSystem::Default().get();
  std::string path = call.line->Value("path").value_or("");
  if (path.empty()) {
    if (call.db.empty()) {
      return Status::InvalidArgument(
          "file_checksum_dump needs --db=<directory> or --path=<MANIFEST file>");
    }
    ASSIGN_OR_RETURN(path, LiveManifestPath(fs, call.db));
  }
  ASSIGN_OR_RETURN(const ManifestState state, ReadManifestState(fs, path));
  for (const auto& [number, checksum] : ChecksumsOf(state)) {
    const std::string value =
        call.hex_values && !checksum.value.empty() ? HexText(checksum.value) : checksum.value;
    PrintLine(StrCat(number, ", ", checksum.function, ", ", value));
  }
  PrintLine("Print SST file checksum information finished ");
  return Status::OK();
}

}  // namespace ashlar
