// SPDX-License-Identifier: Apache-2.0
//
// Whether the calling thread is the only thread of a simulation (SetSleepReplacement() in
// util/threads/mutex.h). Then no other thread may be started.
#pragma once

namespace ashlar {

bool IsSimulated();

}  // namespace ashlar
