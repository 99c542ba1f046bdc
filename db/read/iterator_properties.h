// SPDX-License-Identifier: Apache-2.0
//
// The properties that all iterators over a view have. Threads: as the iterator.
#pragma once

#include <string>

#include "ashlar/status.h"

namespace ashlar {

class ReadView;

// Answers Iterator::GetProperty() for an iterator over the view that pins nothing. `is_valid`:
// whether it is on an entry. InvalidArgument for a null place and for an unknown name.
Status GetPropertyOverView(const ReadView& view, bool is_valid, const std::string& name,
                           std::string* value);

}  // namespace ashlar
