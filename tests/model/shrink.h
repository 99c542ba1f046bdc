// SPDX-License-Identifier: Apache-2.0
//
// Shrinks a failing model case: fewer operations, default options, short keys and values. Every
// attempt runs in a forked child, so cases that crash or hang can be shrunk, too. Threads: one.
#pragma once

#include <functional>
#include <string>

#include "tests/model/model_case.h"

namespace ashlar {

using CaseRunner = std::function<Outcome(const ModelCase&)>;

// Calls `run` in a child of this process. The death of the child is a result like any other.
Outcome RunForked(const ModelCase& test, const CaseRunner& run);

// The smallest case found in that time for which `run` still fails.
ModelCase Shrink(ModelCase test, size_t failed_op, const CaseRunner& run, double seconds);

}  // namespace ashlar
