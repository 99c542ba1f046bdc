# SPDX-License-Identifier: Apache-2.0
#
# The libraries that Ashlar depends on, each as an imported target Ashlar::dep_<name>. All are plain
# C or C++ libraries with one header and one library file, so one function finds them all. The
# installed packages contain the same function (AshlarFindDep.cmake).
include(AshlarFindDep)

option(ASHLAR_WITH_SNAPPY "Snappy compression" ON)
option(ASHLAR_WITH_LZ4 "LZ4 and LZ4HC compression" ON)
option(ASHLAR_WITH_ZSTD "Zstandard compression" ON)
option(ASHLAR_WITH_ZLIB "zlib compression" ON)
option(ASHLAR_WITH_BZIP2 "bzip2 compression" ON)
# AUTO: used if it is found. Without it the reads of a batch are made one after the other.
set(ASHLAR_IO_URING AUTO CACHE STRING "io_uring for batched reads: AUTO, ON or OFF")

find_package(Threads REQUIRED)
add_library(ashlar_deps INTERFACE)
target_link_libraries(ashlar_deps INTERFACE Threads::Threads)
set(ASHLAR_DEPS "")  # "name header library" of each dependency in use; written into the packages

function(ashlar_use_dep name header library)
  ashlar_find_dep(${name} ${header} ${library})
  if(NOT TARGET Ashlar::dep_${name})
    string(TOUPPER ${name} upper)
    message(FATAL_ERROR "${name} not found: need ${header} and lib${library}. "
      "Run tools/setup.sh, or leave it out with -DASHLAR_WITH_${upper}=OFF where that option exists.")
  endif()
  target_link_libraries(ashlar_deps INTERFACE Ashlar::dep_${name})
  set(ASHLAR_DEPS ${ASHLAR_DEPS} "${name} ${header} ${library}" PARENT_SCOPE)
endfunction()

# Sources test the macro ASHLAR_WITH_<NAME>, which is defined to 1 or not at all.
macro(ashlar_use_optional_dep name header library)
  string(TOUPPER ${name} ashlar_upper)
  if(ASHLAR_WITH_${ashlar_upper})
    ashlar_use_dep(${name} ${header} ${library})
    target_compile_definitions(ashlar_flags INTERFACE ASHLAR_WITH_${ashlar_upper}=1)
  endif()
endmacro()

ashlar_use_dep(xxhash xxhash.h xxhash)
ashlar_use_optional_dep(snappy snappy.h snappy)
ashlar_use_optional_dep(lz4 lz4.h lz4)
ashlar_use_optional_dep(zstd zstd.h zstd)
ashlar_use_optional_dep(zlib zlib.h z)
ashlar_use_optional_dep(bzip2 bzlib.h bz2)
if(ASHLAR_IO_URING STREQUAL "AUTO")
  ashlar_find_dep(uring liburing.h uring)
  if(TARGET Ashlar::dep_uring)
    set(ASHLAR_WITH_URING ON)
  else()
    set(ASHLAR_WITH_URING OFF)
  endif()
else()
  set(ASHLAR_WITH_URING ${ASHLAR_IO_URING})
endif()
if(ASHLAR_WITH_URING)
  ashlar_use_dep(uring liburing.h uring)
  # Only one file depends on it, so that a change of the option recompiles nothing else.
  set_source_files_properties(${PROJECT_SOURCE_DIR}/env/posix/posix_uring.cc PROPERTIES
    COMPILE_DEFINITIONS ASHLAR_WITH_URING=1)
endif()
