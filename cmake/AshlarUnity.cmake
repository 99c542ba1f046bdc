# SPDX-License-Identifier: Apache-2.0
#
# What ASHLAR_UNITY asks for: up to eight files of a room are one source, also in the drop-in. So a
# name in an anonymous namespace is used once in a room. Files that are optimized in different ways
# (AshlarRareCode) do not meet, nor do those that tests/interleave replaces with others: an archive's
# object could not be replaced in part.
set(ashlar_interleaved_pieces
  util/arena.cc util/epoch.cc util/mutex.cc cache/*.cc memtable/blink_*.cc db/wal/staging_order.cc
  db/write/commit_pipeline.cc db/read/*.cc db/column_family/*.cc db/*.cc)
list(TRANSFORM ashlar_interleaved_pieces PREPEND "${PROJECT_SOURCE_DIR}/")
file(GLOB ashlar_interleaved_pieces CONFIGURE_DEPENDS ${ashlar_interleaved_pieces})
# The same header of xxHash, with other instructions in each.
set(ashlar_compiled_alone "${PROJECT_SOURCE_DIR}/util/xxh3_avx2.cc" "${PROJECT_SOURCE_DIR}/util/xxh3_avx512.cc")

# ashlar_optimize(kind source): release builds optimize files of the kind (plain, rare, hot) so.
function(ashlar_optimize kind source)
  if(CMAKE_BUILD_TYPE STREQUAL "Release" AND ashlar_${kind}_options)
    set_source_files_properties("${source}" PROPERTIES COMPILE_OPTIONS "${ashlar_${kind}_options}")
  endif()
endfunction()

# ashlar_unite(room result sources...): the sources to compile instead of a room's own.
function(ashlar_unite room result)
  set(united "")
  foreach(source ${ARGN})
    set(kind plain)
    foreach(other rare hot)
      if(source IN_LIST ashlar_${other})
        set(kind ${other})
      endif()
    endforeach()
    if(NOT ASHLAR_UNITY OR source IN_LIST ashlar_compiled_alone)
      ashlar_optimize(${kind} "${source}")
      list(APPEND united "${source}")
    elseif(source IN_LIST ashlar_interleaved_pieces)
      list(APPEND ${kind}_piece "${source}")
    else()
      list(APPEND ${kind}_other "${source}")
    endif()
  endforeach()
  foreach(kind plain rare hot)
    foreach(part piece other)
      set(count 0)
      set(rest ${${kind}_${part}})
      while(rest)
        list(SUBLIST rest 0 8 files)
        list(REMOVE_ITEM rest ${files})
        list(TRANSFORM files REPLACE "^${PROJECT_SOURCE_DIR}/(.*)$" "#include \"\\1\"\n")
        list(JOIN files "" CONTENT)
        set(source "${PROJECT_BINARY_DIR}/united/${room}_${kind}_${part}_${count}.cc")
        file(CONFIGURE OUTPUT "${source}" CONTENT "@CONTENT@" @ONLY)
        ashlar_optimize(${kind} "${source}")
        list(APPEND united "${source}")
        math(EXPR count "${count} + 1")
      endwhile()
    endforeach()
  endforeach()
  set(${result} ${united} PARENT_SCOPE)
endfunction()
