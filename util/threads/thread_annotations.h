// SPDX-License-Identifier: Apache-2.0
//
// Clang's thread-safety attributes with short names. Other compilers ignore them.
#pragma once

#if defined(__clang__)
#define ASHLAR_THREAD_ATTRIBUTE(x) __attribute__((x))
#else
#define ASHLAR_THREAD_ATTRIBUTE(x)
#endif

#define CAPABILITY(name) ASHLAR_THREAD_ATTRIBUTE(capability(name))
#define SCOPED_CAPABILITY ASHLAR_THREAD_ATTRIBUTE(scoped_lockable)
#define GUARDED_BY(mutex) ASHLAR_THREAD_ATTRIBUTE(guarded_by(mutex))
#define REQUIRES(...) ASHLAR_THREAD_ATTRIBUTE(requires_capability(__VA_ARGS__))
#define EXCLUDES(...) ASHLAR_THREAD_ATTRIBUTE(locks_excluded(__VA_ARGS__))
#define ACQUIRE(...) ASHLAR_THREAD_ATTRIBUTE(acquire_capability(__VA_ARGS__))
#define RELEASE(...) ASHLAR_THREAD_ATTRIBUTE(release_capability(__VA_ARGS__))
#define TRY_ACQUIRE(...) ASHLAR_THREAD_ATTRIBUTE(try_acquire_capability(__VA_ARGS__))
#define ASSERT_CAPABILITY(...) ASHLAR_THREAD_ATTRIBUTE(assert_capability(__VA_ARGS__))
#define NO_THREAD_SAFETY_ANALYSIS ASHLAR_THREAD_ATTRIBUTE(no_thread_safety_analysis)
