// SPDX-License-Identifier: Apache-2.0
//
// What repair does with one blob file: read it record by record, and complete one that has no
// footer. Threads: any.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ashlar/file_system.h"
#include "util/keys/file_number.h"
#include "util/result.h"

namespace ashlar {

// What was found in one blob file. Sizes are in bytes.
struct SurveyedBlobFile {
  uint32_t family_id = 0;
  uint64_t blob_count = 0;
  uint64_t blob_bytes = 0;  // of whole records
  bool has_footer = false;  // without one it cannot be read, see CompleteBlobFile()
  std::vector<std::string> damage;
};

// Corruption if even the header cannot be read: then the file is of no use.
Result<SurveyedBlobFile> SurveyBlobFile(FileSystem* fs, const FileOptions& options,
                                        const std::string& path);

// Writes all whole records and a footer to `temporary_path`, and syncs the file. The offsets of the
// records stay the same, so that references to them stay valid.
Status CompleteBlobFile(FileSystem* fs, const FileOptions& options, const std::string& path,
                        const SurveyedBlobFile& survey, const std::string& temporary_path);

}  // namespace ashlar
