// SPDX-License-Identifier: Apache-2.0
//
// ThreadObject<T>::Get(): one T of each thread, made at its first use there.
//
// Unlike a thread_local object with a destructor it can be used at any time, also by destructors of
// static objects and of thread-local ones: it goes when a thread ends, after those, and whoever
// asks later still gets a new one. In the main thread it lives as long as the process. T is named
// after its one use: two users of ThreadObject<int> would share it.
#pragma once

#include <pthread.h>

namespace ashlar {

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
  // A process that has no pthread key left keeps the objects of threads that ended.
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
  // Runs again if a later destructor of the ending thread asks for the object once more.
  static void Delete(void* object) {
    object_ = nullptr;
    delete static_cast<T*>(object);
  }

  static inline constinit thread_local T* object_ = nullptr;
};

}  // namespace ashlar
