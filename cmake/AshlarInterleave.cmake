# SPDX-License-Identifier: Apache-2.0
#
# interleave_test: parts of the library (listed in AshlarUnity.cmake) under every order of threads.
# They and the tests are compiled with the instrumentation of the thread sanitizer, but linked with
# tests/interleave/hooks.cc instead of its runtime. As objects they take precedence over the same
# parts in the archives of the rooms.
if(NOT ashlar_interleaves)
  message(STATUS "interleave_test is left out: it needs GCC and no sanitizer")
  return()
endif()

set(ashlar_interleave_dir "${PROJECT_SOURCE_DIR}/tests/interleave")
file(GLOB ashlar_interleave_tests CONFIGURE_DEPENDS "${ashlar_interleave_dir}/*_test.cc")

add_library(ashlar_interleaved OBJECT ${ashlar_interleave_tests} ${ashlar_interleaved_pieces})
target_link_libraries(ashlar_interleaved PRIVATE ashlar_flags ashlar_deps GTest::gtest)
target_compile_options(ashlar_interleaved PRIVATE -fsanitize=thread -U__SANITIZE_THREAD__ -Wno-tsan
  --param tsan-instrument-func-entry-exit=0)

add_executable(interleave_test $<TARGET_OBJECTS:ashlar_interleaved>
  "${ashlar_interleave_dir}/scheduler.cc" "${ashlar_interleave_dir}/hooks.cc")
target_link_libraries(interleave_test PRIVATE ashlar_test_support GTest::gtest GTest::gtest_main)
foreach(function pthread_mutex_lock pthread_mutex_trylock pthread_mutex_unlock pthread_cond_wait
        pthread_cond_timedwait pthread_cond_signal pthread_cond_broadcast sched_yield syscall)
  target_link_options(interleave_test PRIVATE -Wl,--wrap=${function})
endforeach()
ashlar_link_rooms(interleave_test all)
ashlar_add_test(interleave 300 interleave_test)
set_tests_properties(interleave PROPERTIES LABELS fast)
