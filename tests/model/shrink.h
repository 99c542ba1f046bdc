// SPDX-License-Identifier: Apache-2.0
//
// Makes a failing model case small: fewer operations, plain options, short keys and values. Every
// attempt runs in a forked child, so cases that crash or hang shrink as well. Threads: one.
#pragma once

#include <functional>
#include <string>

#include "tests/model/model_case.h"

namespace ashlar {

using CaseRunner = std::function<Outcome(const ModelCase&)>;

// `run` in a child of this process. A child that dies is an outcome like any other.
Outcome RunForked(const ModelCase& test, const CaseRunner& run);

// The smallest case found in that time for which `run` still fails.
ModelCase Shrink(ModelCase test, size_t failed_op, const CaseRunner& run, double seconds);

}  // namespace ashlar
