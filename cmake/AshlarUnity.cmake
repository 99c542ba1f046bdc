# SPDX-License-Identifier: Apache-2.0
#
# Unity builds (ASHLAR_UNITY): up to eight files of a room, of a tool or of a test program are
# compiled as one source, also in the drop-in. So a name in an anonymous namespace must be unique in
# its room, tool or test program. Only files with the same optimization (AshlarRareCode) are combined.
#
# Compiled alone: files with definitions of their own (io_uring), the same header of xxHash with
# other instructions in each, tests that replace `operator new`, and what interleave_test replaces,
# because an archive's object of several sources could not be replaced in part. That test is for GCC
# only, which lets us take back the macro by which code knows of the sanitizer and chooses other
# instructions.
set(ashlar_compiled_alone util/hash/xxh3_avx2.cc util/hash/xxh3_avx512.cc
  tests/fault/allocation_hook.cc tests/corruption/supervisor.cc)
set(ashlar_interleaved_pieces
  util/memory/arena.cc util/threads/epoch.cc util/threads/mutex.cc cache/*.cc memtable/blink_*.cc memtable/memory_report.cc db/wal/staging_order.cc
  db/write/commit_pipeline.cc db/read/*.cc db/column_family/*.cc db/transaction/locks/*.cc db/*.cc)
foreach(group compiled_alone interleaved_pieces)
  list(TRANSFORM ashlar_${group} PREPEND "${PROJECT_SOURCE_DIR}/")
  file(GLOB ashlar_${group} CONFIGURE_DEPENDS ${ashlar_${group}})
endforeach()
if(NOT ASHLAR_BUILD_TESTS OR SANITIZE OR ASHLAR_FUZZ OR ASHLAR_COVERAGE OR
   NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  set(ashlar_interleaves OFF)
else()
  set(ashlar_interleaves ON)
  list(APPEND ashlar_compiled_alone ${ashlar_interleaved_pieces})
endif()

# ashlar_optimize(kind source): sets the optimization of release builds for a file of the kind
# (plain, rare, hot).
function(ashlar_optimize kind source)
  if(CMAKE_BUILD_TYPE STREQUAL "Release" AND ashlar_${kind}_options)
    set_source_files_properties("${source}" PROPERTIES COMPILE_OPTIONS "${ashlar_${kind}_options}")
  endif()
endfunction()

# ashlar_unite(room result sources...): the sources to compile instead of the files of a room.
function(ashlar_unite room result)
  set(united "")
  foreach(source ${ARGN})
    set(kind plain)
    foreach(other rare hot)
      if(source IN_LIST ashlar_${other})
        set(kind ${other})
      endif()
    endforeach()
    get_source_file_property(definitions "${source}" COMPILE_DEFINITIONS)
    if(NOT ASHLAR_UNITY OR definitions OR source IN_LIST ashlar_compiled_alone)
      ashlar_optimize(${kind} "${source}")
      list(APPEND united "${source}")
    else()
      list(APPEND united_${kind} "${source}")
    endif()
  endforeach()
  foreach(kind plain rare hot)
    set(count 0)
    while(united_${kind})
      list(SUBLIST united_${kind} 0 8 files)
      list(REMOVE_ITEM united_${kind} ${files})
      list(TRANSFORM files REPLACE "^${PROJECT_SOURCE_DIR}/(.*)$" "#include \"\\1\"\n")
      list(JOIN files "" CONTENT)
      set(source "${PROJECT_BINARY_DIR}/united/${room}_${kind}_${count}.cc")
      file(CONFIGURE OUTPUT "${source}" CONTENT "@CONTENT@" @ONLY)
      ashlar_optimize(${kind} "${source}")
      list(APPEND united "${source}")
      math(EXPR count "${count} + 1")
    endwhile()
  endforeach()
  set(${result} ${united} PARENT_SCOPE)
endfunction()
