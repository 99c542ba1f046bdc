// SPDX-License-Identifier: Apache-2.0
//
// Errors, buffers and column family handles of the C API.
#include "capi/handles.h"

#include <cassert>
#include <cstdlib>
#include <cstring>

namespace ashlar::capi {

// The string that is there already is freed, so a program may pass the same pointer to many calls
// and look at it once.
bool Failed(char** errptr, const Status& s) {
  // A null `errptr` means that the program does not ask for the text; the call still reports that
  // it failed, through its result.
  if (s.ok()) return false;
  if (errptr != nullptr) {
    std::free(*errptr);
    *errptr = Copy(s.ToString());
  }
  return true;
}

char* Copy(const Slice& text) {
  assert(text.data() != nullptr || text.empty());
  // From malloc(), as C programs free it. The zero byte behind it lets them treat a text as a C
  // string.
  auto* copy = static_cast<char*>(std::malloc(text.size() + 1));
  if (copy == nullptr) return nullptr;
  if (!text.empty()) std::memcpy(copy, text.data(), text.size());
  copy[text.size()] = '\0';
  return copy;
}

char* Copy(const Slice& text, size_t* length) {
  // The length is necessary because values may contain zero bytes, at which a C string would end.
  if (length != nullptr) *length = text.size();
  return Copy(text);
}

char* CopyOfRead(const Status& s, const Slice& value, size_t* length, char** errptr) {
  if (s.ok()) return Copy(value, length);
  // An absent key is no error for a C program: it gets null, no message, and the length 0.
  if (length != nullptr) *length = 0;
  if (!s.IsNotFound()) Failed(errptr, s);
  return nullptr;
}

// The handle has a reference to this list, so the list outlives the database if handles are left.
ashlar_column_family_handle_t* FamilyHandles::Add(ColumnFamilyHandle* rep, bool owned) {
  assert(rep != nullptr);
  // The list does not own the handle, because programs destroy handles one by one. It only
  // remembers which of them must lose their family when the database is closed.
  auto* handle = new ashlar_column_family_handle_t{rep, owned, shared_from_this()};
  const std::lock_guard<std::mutex> lock(mutex_);
  [[maybe_unused]] const bool is_new = handles_.insert(handle).second;
  assert(is_new);
  return handle;
}

void FamilyHandles::Remove(ashlar_column_family_handle_t* handle) {
  assert(handle != nullptr);
  const std::lock_guard<std::mutex> lock(mutex_);
  [[maybe_unused]] const size_t erased = handles_.erase(handle);
  // After the database was closed the list is empty, and the handles refer to nothing.
  assert(erased == 1 || handle->rep == nullptr);
  // Handles that are not owned, such as that of the default family, belong to the database.
  if (handle->owned) delete handle->rep;
  // The program's object stays until the program destroys it; it only refers to nothing now.
  handle->rep = nullptr;
}

// Called when the database is closed. Programs may still destroy their handles afterwards.
void FamilyHandles::DestroyAll() {
  // The families must be deleted before the database, to which they refer.
  const std::lock_guard<std::mutex> lock(mutex_);
  for (ashlar_column_family_handle_t* handle : handles_) {
    if (handle->owned) delete handle->rep;
    handle->rep = nullptr;
  }
  handles_.clear();
}

}  // namespace ashlar::capi
