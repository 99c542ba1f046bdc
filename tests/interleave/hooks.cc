// SPDX-License-Identifier: Apache-2.0
//
// The functions that instrumented code calls for each atomic operation, instead of those of a
// sanitizer, and the C functions that the linker redirects here (--wrap). Threads that do not
// belong to a scenario use the original functions. Every operation is sequentially consistent;
// memory orders only decide which stores may be delayed.
#include <errno.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <stdarg.h>
#include <sys/syscall.h>

#include <atomic>
#include <climits>
#include <cstdint>

#include "tests/interleave/scheduler.h"

using ashlar::interleave::Current;
using ashlar::interleave::DelaysStore;
using ashlar::interleave::DelayStore;
using ashlar::interleave::Drain;
using ashlar::interleave::DrainAll;
using ashlar::interleave::FindDelayed;
using ashlar::interleave::NoteChange;
using ashlar::interleave::NoteLoad;
using ashlar::interleave::Point;
using ashlar::interleave::Sleep;
using ashlar::interleave::Wake;
using ashlar::interleave::Yield;

namespace {

constexpr int kSeqCst = __ATOMIC_SEQ_CST;

template <typename T>
T LoadNow(const volatile T* address) {
  uint64_t delayed;
  if (FindDelayed(const_cast<const T*>(address), &delayed)) return static_cast<T>(delayed);
  return __atomic_load_n(address, kSeqCst);
}

template <typename T>
T Load(const volatile T* address) {
  if (Current() == nullptr) return __atomic_load_n(address, kSeqCst);
  NoteLoad(const_cast<const T*>(address), LoadNow(address));
  return LoadNow(address);  // other threads may have run
}

template <typename T>
void Store(volatile T* address, T value, int order) {
  if (Current() == nullptr) return __atomic_store_n(address, value, kSeqCst);
  T* const plain = const_cast<T*>(address);
  Point("store", plain);
  if (order == kSeqCst) {
    Drain();
  } else if (DelaysStore()) {
    return DelayStore(plain, static_cast<uint64_t>(value), sizeof(T));
  }
  __atomic_store_n(address, value, kSeqCst);
  NoteChange();
}

// Read-modify-write operations empty the store buffer, as they do on x86.
template <typename T, typename Change>
T Modify(volatile T* address, const char* what, const Change& change) {
  if (Current() == nullptr) return change();
  Point(what, const_cast<T*>(address));
  Drain();
  const T result = change();
  NoteChange();
  return result;
}

template <typename T>
int CompareExchange(volatile T* address, T* expected, T desired) {
  const T wanted = *expected;
  const T found = Modify(address, "compare and swap", [&] {
    T seen = wanted;
    __atomic_compare_exchange_n(address, &seen, desired, false, kSeqCst, kSeqCst);
    return seen;
  });
  *expected = found;
  return found == wanted;
}

}  // namespace

#define HOOKS(bits, T)                                                                    \
  T __tsan_atomic##bits##_load(const volatile T* a, int) { return Load(a); }              \
  void __tsan_atomic##bits##_store(volatile T* a, T v, int order) { Store(a, v, order); } \
  T __tsan_atomic##bits##_exchange(volatile T* a, T v, int) {                             \
    return Modify(a, "exchange", [&] { return __atomic_exchange_n(a, v, kSeqCst); });     \
  }                                                                                       \
  T __tsan_atomic##bits##_fetch_add(volatile T* a, T v, int) {                            \
    return Modify(a, "add", [&] { return __atomic_fetch_add(a, v, kSeqCst); });           \
  }                                                                                       \
  T __tsan_atomic##bits##_fetch_sub(volatile T* a, T v, int) {                            \
    return Modify(a, "subtract", [&] { return __atomic_fetch_sub(a, v, kSeqCst); });      \
  }                                                                                       \
  T __tsan_atomic##bits##_fetch_and(volatile T* a, T v, int) {                            \
    return Modify(a, "and", [&] { return __atomic_fetch_and(a, v, kSeqCst); });           \
  }                                                                                       \
  T __tsan_atomic##bits##_fetch_or(volatile T* a, T v, int) {                             \
    return Modify(a, "or", [&] { return __atomic_fetch_or(a, v, kSeqCst); });             \
  }                                                                                       \
  T __tsan_atomic##bits##_fetch_xor(volatile T* a, T v, int) {                            \
    return Modify(a, "xor", [&] { return __atomic_fetch_xor(a, v, kSeqCst); });           \
  }                                                                                       \
  int __tsan_atomic##bits##_compare_exchange_strong(volatile T* a, T* e, T d, int, int) { \
    return CompareExchange(a, e, d);                                                      \
  }                                                                                       \
  int __tsan_atomic##bits##_compare_exchange_weak(volatile T* a, T* e, T d, int, int) {   \
    return CompareExchange(a, e, d);                                                      \
  }

extern "C" {

HOOKS(8, uint8_t)
HOOKS(16, uint16_t)
HOOKS(32, uint32_t)
HOOKS(64, uint64_t)

void __tsan_atomic_thread_fence(int order) {
  if (Current() == nullptr || order != kSeqCst) return;
  Point("fence", nullptr);
  Drain();
}
void __tsan_atomic_signal_fence(int) {}

// Plain accesses are ignored.
void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_vptr_update(void**, void*) {}
void __tsan_vptr_read(void**) {}
void __tsan_read_range(void*, unsigned long) {}
void __tsan_write_range(void*, unsigned long) {}
#define PLAIN(bytes)                          \
  void __tsan_read##bytes(void*) {}           \
  void __tsan_write##bytes(void*) {}          \
  void __tsan_unaligned_read##bytes(void*) {} \
  void __tsan_unaligned_write##bytes(void*) {}
PLAIN(1)
PLAIN(2)
PLAIN(4)
PLAIN(8)
PLAIN(16)

// ---- Locks

int __real_pthread_mutex_lock(pthread_mutex_t*);
int __real_pthread_mutex_trylock(pthread_mutex_t*);
int __real_pthread_mutex_unlock(pthread_mutex_t*);
int __real_pthread_cond_wait(pthread_cond_t*, pthread_mutex_t*);
int __real_pthread_cond_timedwait(pthread_cond_t*, pthread_mutex_t*, const timespec*);
int __real_pthread_cond_signal(pthread_cond_t*);
int __real_pthread_cond_broadcast(pthread_cond_t*);
int __real_sched_yield();
long __real_syscall(long, ...);

int __wrap_pthread_mutex_lock(pthread_mutex_t* mutex) {
  if (Current() == nullptr) return __real_pthread_mutex_lock(mutex);
  Point("lock", mutex);
  Drain();
  while (__real_pthread_mutex_trylock(mutex) != 0) Sleep("waits for lock", mutex);
  return 0;
}

int __wrap_pthread_mutex_trylock(pthread_mutex_t* mutex) {
  if (Current() == nullptr) return __real_pthread_mutex_trylock(mutex);
  Point("try lock", mutex);
  Drain();
  return __real_pthread_mutex_trylock(mutex);
}

int __wrap_pthread_mutex_unlock(pthread_mutex_t* mutex) {
  if (Current() == nullptr) return __real_pthread_mutex_unlock(mutex);
  Point("unlock", mutex);
  Drain();
  const int result = __real_pthread_mutex_unlock(mutex);
  Wake(mutex, INT_MAX);
  NoteChange();
  return result;
}

int __wrap_pthread_cond_wait(pthread_cond_t* condition, pthread_mutex_t* mutex) {
  if (Current() == nullptr) return __real_pthread_cond_wait(condition, mutex);
  Point("wait", condition);
  Drain();
  __real_pthread_mutex_unlock(mutex);
  Wake(mutex, INT_MAX);
  Sleep("waits for signal", condition);
  while (__real_pthread_mutex_trylock(mutex) != 0) Sleep("waits for lock", mutex);
  return 0;
}

// Time does not pass in a scenario.
int __wrap_pthread_cond_timedwait(pthread_cond_t* condition, pthread_mutex_t* mutex,
                                  const timespec* deadline) {
  if (Current() == nullptr) return __real_pthread_cond_timedwait(condition, mutex, deadline);
  return __wrap_pthread_cond_wait(condition, mutex);
}

int __wrap_pthread_cond_signal(pthread_cond_t* condition) {
  if (Current() == nullptr) return __real_pthread_cond_signal(condition);
  Point("signal", condition);
  Drain();
  Wake(condition, 1);
  return 0;
}

int __wrap_pthread_cond_broadcast(pthread_cond_t* condition) {
  if (Current() == nullptr) return __real_pthread_cond_broadcast(condition);
  Point("signal all", condition);
  Drain();
  Wake(condition, INT_MAX);
  return 0;
}

int __wrap_sched_yield() {
  if (Current() == nullptr) return __real_sched_yield();
  Drain();
  Yield();
  return 0;
}

// ---- System calls: futexes, as atomic waits use them, and membarrier

// A wait with a timeout ends at once: whatever could happen during it may happen before it, at this
// point.
static long Futex(int* address, int operation, int value, bool has_time) {
  Point("futex", address);
  Drain();
  if ((operation & FUTEX_CMD_MASK) == FUTEX_WAIT) {
    if (has_time || __atomic_load_n(address, kSeqCst) != value) {
      errno = has_time ? ETIMEDOUT : EAGAIN;
      return -1;
    }
    Sleep("waits for wake", address);
    return 0;
  }
  return Wake(address, value);
}

long __wrap_syscall(long number, ...) {
  va_list list;
  va_start(list, number);
  long arguments[6];
  for (long& argument : arguments) argument = va_arg(list, long);
  va_end(list);
  if (Current() != nullptr && number == SYS_futex) {
    return Futex(reinterpret_cast<int*>(arguments[0]), static_cast<int>(arguments[1]),
                 static_cast<int>(arguments[2]), arguments[3] != 0);
  }
  if (Current() != nullptr && number == SYS_membarrier &&
      arguments[0] == MEMBARRIER_CMD_PRIVATE_EXPEDITED) {
    Point("membarrier", nullptr);
    DrainAll();
    return 0;
  }
  return __real_syscall(number, arguments[0], arguments[1], arguments[2], arguments[3],
                        arguments[4], arguments[5]);
}

}  // extern "C"
