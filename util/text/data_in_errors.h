// SPDX-License-Identifier: Apache-2.0
//
// How messages of errors and logs show keys: DBOptions::allow_data_in_errors.
//
// Errors occur in places that know no options (blocks, records, merges). Therefore the setting is
// that of the process: keys are shown after any database has allowed it. Output that a program or a
// tool requests (dumps, properties, explanations) is not an error and always shows keys. Threads:
// any, at the same time.
#pragma once

#include <string>

#include "ashlar/slice.h"

namespace ashlar {

// From now on keys are shown.
void AllowDataInErrors();

// Returns the key in hexadecimal digits, or its length.
std::string KeyInError(const Slice& user_key);
// The same, with the sequence number and kind.
std::string InternalKeyInError(const Slice& internal_key);

}  // namespace ashlar
