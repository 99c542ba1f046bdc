// SPDX-License-Identifier: Apache-2.0
//
// One line for each call.
#include "db/api/unbuilt_calls.h"

#include <memory>
#include <string>
#include <vector>

namespace ashlar {

Status UnbuiltCalls::GetNewestUserDefinedTimestamp(ColumnFamilyHandle*, std::string*) {
  return Status::NotSupported("GetNewestUserDefinedTimestamp");
}

Status UnbuiltCalls::GetPreparedFileInfoForExternalSstIngestion(
    const std::string&, std::shared_ptr<const PreparedFileInfo>*) {
  return Status::NotSupported("GetPreparedFileInfoForExternalSstIngestion");
}

}  // namespace ashlar
