// SPDX-License-Identifier: Apache-2.0
//
// UnbuiltCalls implements the pure virtual calls of DB that this library has not built yet: they
// return NotSupported, which names the call. When a call is built it moves to DBImpl. So DBImpl
// declares exactly what the engine can do. Stateless; any thread.
#pragma once

#include <string>

#include "ashlar/db.h"

namespace ashlar {

class UnbuiltCalls : public DB {
 public:
  Status GetNewestUserDefinedTimestamp(ColumnFamilyHandle* handle, std::string* newest) override;
};

}  // namespace ashlar
