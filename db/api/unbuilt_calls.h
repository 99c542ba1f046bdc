// SPDX-License-Identifier: Apache-2.0
//
// UnbuiltCalls answers the pure calls of DB that no database of ours can do yet with NotSupported,
// which names the call. A call leaves for DBImpl when it is built; so the façade declares what the
// engine does, and nothing else. Stateless; any thread.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ashlar/db.h"

namespace ashlar {

class UnbuiltCalls : public DB {
 public:
  Status IncreaseFullHistoryTsLow(ColumnFamilyHandle* handle, std::string ts_low) override;
  Status GetFullHistoryTsLow(ColumnFamilyHandle* handle, std::string* ts_low) override;
  Status GetNewestUserDefinedTimestamp(ColumnFamilyHandle* handle, std::string* newest) override;

  Status GetPreparedFileInfoForExternalSstIngestion(
      const std::string& file_name, std::shared_ptr<const PreparedFileInfo>* info) override;
};

}  // namespace ashlar
