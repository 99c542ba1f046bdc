// SPDX-License-Identifier: Apache-2.0
//
// What messages of errors and logs say of keys: DBOptions::allow_data_in_errors.
//
// Errors are made where no options are known (blocks, records, merges), so the answer is the
// process's: keys are shown once anybody has allowed it. Messages that a program or a tool asks for
// (dumps, properties, explanations) are no errors and always show them. Threads: all at once.
#pragma once

#include <string>

#include "ashlar/slice.h"

namespace ashlar {

// From here on keys are shown.
void AllowDataInErrors();

// The key in hexadecimal digits, or how long it is.
std::string KeyInError(const Slice& user_key);
// The same with sequence number and kind.
std::string InternalKeyInError(const Slice& internal_key);

}  // namespace ashlar
