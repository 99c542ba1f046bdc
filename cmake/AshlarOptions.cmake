# SPDX-License-Identifier: Apache-2.0
#
# Options, build types, and the flags that every target shares (through `ashlar_flags`).

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Release, Dev or Debug" FORCE)
endif()
set_property(CACHE CMAKE_BUILD_TYPE PROPERTY STRINGS Release Dev Debug)
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")  # and those of cmake/AshlarRareCode.cmake
set(CMAKE_CXX_FLAGS_DEV "-O1 -g1" CACHE STRING "assertions on, compiles fast" FORCE)
set(CMAKE_CXX_FLAGS_DEBUG "-O0 -g")

set(SANITIZE "" CACHE STRING "empty, address,undefined or thread")
option(ASHLAR_NATIVE "tune for this machine (-march=native); the default is portable" OFF)
option(ASHLAR_INVARIANTS "run the deep CheckInvariants after every change" OFF)
option(ASHLAR_FUZZ "build libFuzzer binaries (clang)" OFF)
option(ASHLAR_COVERAGE "instrument for gcov" OFF)
# Off for builds that only use the library, because another compiler, or more optimization, may
# report other warnings (GCC 12 does in its own AVX-512 header).
if(CMAKE_BUILD_TYPE STREQUAL "Release")
  set(ashlar_werror_default OFF)
else()
  set(ashlar_werror_default ON)
endif()
option(ASHLAR_WERROR "warnings are errors" ${ashlar_werror_default})
option(ASHLAR_RTTI "build with run-time type information" ON)
option(ASHLAR_LTO "optimize rare code as a whole when a shared library is linked (GCC): a fifth smaller" OFF)
# A whole build takes a third of the time; a build after a change of one file takes a bit longer.
option(ASHLAR_UNITY "compile several sources of a room at once" ON)
# Who adds Ashlar to a project, or packages it, wants no tests unless they are asked for.
if(PROJECT_IS_TOP_LEVEL AND BUILD_TESTING)
  set(ashlar_tests_default ON)
else()
  set(ashlar_tests_default OFF)
endif()
option(ASHLAR_BUILD_TESTS "build tests/, and with `all` also examples and benchmark programs"
  ${ashlar_tests_default})
option(ASHLAR_BUILD_TOOLS "build tools/, examples/ and benchmarks/" ON)

# The drop-in compiles every source a second time, so light builds omit it unless it is requested.
if(SANITIZE OR ASHLAR_FUZZ OR ASHLAR_COVERAGE OR NOT CMAKE_BUILD_TYPE STREQUAL "Release")
  set(ashlar_dropin_default OFF)
else()
  set(ashlar_dropin_default ON)
endif()
option(ASHLAR_BUILD_DROPIN "build librocksdb from the same sources" ${ashlar_dropin_default})

add_library(ashlar_flags INTERFACE)
target_include_directories(ashlar_flags INTERFACE
  "${PROJECT_SOURCE_DIR}" "${PROJECT_SOURCE_DIR}/include")
# GCC 12 reports -Wrestrict inside its own std::string (bug 105651).
target_compile_options(ashlar_flags INTERFACE -Wall -Wextra -Wno-missing-field-initializers
  $<$<BOOL:${ASHLAR_WERROR}>:-Werror>
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
  $<$<CXX_COMPILER_ID:Clang>:-Wthread-safety>
  $<$<NOT:$<BOOL:${ASHLAR_RTTI}>>:-fno-rtti>
  $<$<BOOL:${ASHLAR_NATIVE}>:-march=native>)
target_compile_definitions(ashlar_flags INTERFACE
  $<$<BOOL:${ASHLAR_INVARIANTS}>:ASHLAR_INVARIANTS=1>)

if(SANITIZE)
  set(ashlar_sanitize -fsanitize=${SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer -g1)
  add_compile_options(${ashlar_sanitize})
  add_link_options(${ashlar_sanitize})
endif()
if(ASHLAR_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "ASHLAR_FUZZ needs clang: -DCMAKE_CXX_COMPILER=clang++")
  endif()
  add_compile_options(-fsanitize=fuzzer-no-link,address -g1)
  add_link_options(-fsanitize=address)
endif()
if(ASHLAR_COVERAGE)
  add_compile_options(--coverage)
  add_link_options(--coverage)
endif()

# Several build folders of one checkout share ccache results if the hash does not contain the
# folder's name.
find_program(ASHLAR_CCACHE ccache)
if(ASHLAR_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER
      "env;CCACHE_NOHASHDIR=1;CCACHE_BASEDIR=${PROJECT_SOURCE_DIR};CCACHE_SLOPPINESS=pch_defines,time_macros;${ASHLAR_CCACHE}")
endif()
