// SPDX-License-Identifier: Apache-2.0
//
// ThreadObject<T>::Get() returns one T for each thread, which is created when the thread first uses
// it.
//
// Unlike a thread_local object with a destructor, it can be used at any time, even by destructors
// of static and thread-local objects: it is deleted when the thread ends, after these, and if it is
// needed later a new one is created. In the main thread it exists until the process ends. T must be
// a type for this purpose only: two users of ThreadObject<int> would share it.
#pragma once

#include <pthread.h>

namespace ashlar {

// Objects are never shared between threads, so that T needs no synchronization.
template <typename T>
class ThreadObject {
 public:
  ThreadObject() = delete;

  // Hot: one load of a thread-local pointer.
  static T& Get() {
    T* const object = object_;
    return object != nullptr ? *object : Make();
  }

 private:
  // The key is for the destructor only; object_ is what Get() reads.
  // If the process has no pthread key left, the objects of ended threads are leaked.
  struct Key {
    Key() : is_made(pthread_key_create(&key, &Delete) == 0) {}
    pthread_key_t key{};
    const bool is_made;
  };

  static T& Make() {
    static const Key key;
    object_ = new T();
    if (key.is_made) pthread_setspecific(key.key, object_);
    return *object_;
  }
  // Runs again if a later destructor of the ending thread uses the object again.
  static void Delete(void* object) {
    object_ = nullptr;
    delete static_cast<T*>(object);
  }

  static inline constinit thread_local T* object_ = nullptr;
};

}  // namespace ashlar
