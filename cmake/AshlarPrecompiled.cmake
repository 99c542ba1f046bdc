# SPDX-License-Identifier: Apache-2.0
#
# Precompiled headers: standard headers and those of GoogleTest, which take a third of the time of a
# build with assertions. Release builds and clang do not use them, so a file with a missing #include
# still fails with clang, also in CI. Headers of the project are not precompiled, because a change
# of one would recompile everything.
if(CMAKE_BUILD_TYPE STREQUAL "Release" OR NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU" OR ASHLAR_COVERAGE)
  set(ashlar_precompile_default OFF)
else()
  set(ashlar_precompile_default ON)
endif()
option(ASHLAR_PRECOMPILE "precompile standard headers" ${ashlar_precompile_default})
if(NOT ASHLAR_PRECOMPILE OR NOT TARGET GTest::gtest)
  return()
endif()
# GCC 12 does not treat precompiled headers as system headers and reports warnings inside its
# std::string.
target_compile_options(ashlar_flags INTERFACE
  -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread -Winvalid-pch)
set(ashlar_standard_headers <algorithm> <array> <atomic> <bit> <cassert> <chrono> <condition_variable>
  <cstdint> <cstdlib> <cstring> <deque> <functional> <iosfwd> <limits> <list> <map> <memory> <mutex>
  <optional> <set> <span> <stdexcept> <string> <string_view> <thread> <unordered_map>
  <unordered_set> <utility> <vector>)

# One for libraries and one for tests, which are compiled with different flags (-fPIC, -fPIE).
add_library(ashlar_precompiled_library OBJECT EXCLUDE_FROM_ALL "${ashlar_empty}")
ashlar_hide(ashlar_precompiled_library)
target_precompile_headers(ashlar_precompiled_library PRIVATE ${ashlar_standard_headers})
set(ashlar_empty_program "${PROJECT_BINARY_DIR}/empty_program.cc")
if(NOT EXISTS "${ashlar_empty_program}")
  file(WRITE "${ashlar_empty_program}" "int main() { return 0; }\n")
endif()
add_executable(ashlar_precompiled_test EXCLUDE_FROM_ALL "${ashlar_empty_program}")
target_precompile_headers(ashlar_precompiled_test PRIVATE ${ashlar_standard_headers} <gtest/gtest.h>)
target_link_libraries(ashlar_precompiled_library PRIVATE ashlar_flags)
target_link_libraries(ashlar_precompiled_test PRIVATE ashlar_flags GTest::gtest)

# Targets that share ashlar_flags. Not included: objects instrumented for tests/interleave,
# libraries that export everything (of tests and tools), and programs that are not tests, because
# their flags differ.
get_property(ashlar_targets DIRECTORY PROPERTY BUILDSYSTEM_TARGETS)
foreach(target ${ashlar_targets})
  get_target_property(type ${target} TYPE)
  get_target_property(libraries ${target} LINK_LIBRARIES)
  get_target_property(hides ${target} CXX_VISIBILITY_PRESET)
  if(NOT "ashlar_flags" IN_LIST libraries OR target MATCHES "precompiled")
    continue()
  elseif(type STREQUAL "EXECUTABLE" AND "GTest::gtest" IN_LIST libraries)
    target_precompile_headers(${target} REUSE_FROM ashlar_precompiled_test)
  elseif(hides STREQUAL "hidden")
    target_precompile_headers(${target} REUSE_FROM ashlar_precompiled_library)
  endif()
endforeach()
