// SPDX-License-Identifier: Apache-2.0
//
// Whether the calling thread is the one of a simulation (SetSleepReplacement() in
// util/threads/mutex.h): then no thread may be started that lives beside it.
#pragma once

namespace ashlar {

bool IsSimulated();

}  // namespace ashlar
