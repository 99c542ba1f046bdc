// SPDX-License-Identifier: Apache-2.0
//
// Between the hooks, which know what the code does, and the exploration, which says who goes on.
// All functions are called by the one running thread of a scenario; others are not scheduled and
// get null from Current().
#pragma once

#include <cstdint>

namespace ashlar::interleave {

class Worker;

// The calling thread, if a scenario runs it.
Worker* Current();

// Before an operation on `address`: here others may run first. `what` is for the report.
void Point(const char* what, const void* address);
// After an operation that may have changed something: who yielded may look again.
void NoteChange();
// As Point(), but a repeated look that found the same `value` as before is none.
void NoteLoad(const void* address, uint64_t value);

// Sleeps until Wake() of the same address. Returns after it.
void Sleep(const char* what, const void* address);
// Wakes up to `count` sleepers, those with the lowest number first. Returns how many.
int Wake(const void* address, int count);
// Lets the others run until one of them changes something.
void Yield();

// Whether the store that comes is delayed; asked once per store.
bool DelaysStore();
void DelayStore(void* address, uint64_t value, int bytes);
// What the own buffer holds for the address.
bool FindDelayed(const void* address, uint64_t* value);
// Makes the delayed stores of this thread visible, or those of all.
void Drain();
void DrainAll();

}  // namespace ashlar::interleave
