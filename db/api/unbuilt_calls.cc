// SPDX-License-Identifier: Apache-2.0
//
// Each answer is one line.
#include "db/api/unbuilt_calls.h"

#include <memory>
#include <string>
#include <vector>

namespace ashlar {

Status UnbuiltCalls::IncreaseFullHistoryTsLow(ColumnFamilyHandle*, std::string) {
  return Status::NotSupported("IncreaseFullHistoryTsLow");
}

Status UnbuiltCalls::GetFullHistoryTsLow(ColumnFamilyHandle*, std::string*) {
  return Status::NotSupported("GetFullHistoryTsLow");
}

Status UnbuiltCalls::GetNewestUserDefinedTimestamp(ColumnFamilyHandle*, std::string*) {
  return Status::NotSupported("GetNewestUserDefinedTimestamp");
}

Status UnbuiltCalls::GetPreparedFileInfoForExternalSstIngestion(
    const std::string&, std::shared_ptr<const PreparedFileInfo>*) {
  return Status::NotSupported("GetPreparedFileInfoForExternalSstIngestion");
}

}  // namespace ashlar
