// SPDX-License-Identifier: Apache-2.0
//
// The interface between the hooks, which know the operations of the code, and the exploration,
// which decides which thread continues. All functions are called by the one running thread of a
// scenario; for other threads Current() returns null.
#pragma once

#include <cstdint>

namespace ashlar::interleave {

class Worker;

// The calling thread, if it belongs to a scenario.
Worker* Current();

// Called before an operation on `address`: other threads may run first. `what` is for the report.
void Point(const char* what, const void* address);
// Called after an operation that may have changed something: threads that have yielded may
// continue.
void NoteChange();
// Like Point(), but a repeated load of the same `value` is not a point.
void NoteLoad(const void* address, uint64_t value);

// Sleeps until Wake() of the same address.
void Sleep(const char* what, const void* address);
// Wakes up to `count` sleepers, those with the lowest numbers first. Returns how many.
int Wake(const void* address, int count);
// Lets the other threads run until one of them changes something.
void Yield();

// Whether the next store is delayed; called once for each store.
bool DelaysStore();
void DelayStore(void* address, uint64_t value, int bytes);
// The value of the address in the thread's store buffer.
bool FindDelayed(const void* address, uint64_t* value);
// Makes the delayed stores of this thread, or of all threads, visible.
void Drain();
void DrainAll();

}  // namespace ashlar::interleave
