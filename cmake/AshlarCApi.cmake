# SPDX-License-Identifier: Apache-2.0
#
# The C API (capi/, include/ashlar/c.h): libashlar-c over libashlar, and its sources under the names
# of RocksDB for the drop-in. A header of macros, made here of all names in the C headers, renames
# ashlar_put to rocksdb_put.
file(GLOB ashlar_c_headers CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/include/ashlar/c.h"
     "${PROJECT_SOURCE_DIR}/include/ashlar/c/*.h")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${ashlar_c_headers})
set(ashlar_c_names "")
foreach(header ${ashlar_c_headers})
  file(STRINGS "${header}" lines REGEX "ashlar_")
  string(REGEX MATCHALL "ashlar_[A-Za-z0-9_]+" names "${lines}")
  list(APPEND ashlar_c_names ${names})
endforeach()
list(REMOVE_DUPLICATES ashlar_c_names)
list(TRANSFORM ashlar_c_names REPLACE "^ashlar_(.*)$" "#define ashlar_\\1 rocksdb_\\1\n" OUTPUT_VARIABLE CONTENT)
list(JOIN CONTENT "" CONTENT)
set(ASHLAR_C_DROPIN_NAMES "${PROJECT_BINARY_DIR}/c_dropin_names.h")
file(CONFIGURE OUTPUT "${ASHLAR_C_DROPIN_NAMES}" CONTENT "@CONTENT@" @ONLY)

ashlar_library(ashlar_c STATIC ashlar-c ashlar-c $<TARGET_OBJECTS:ashlar_capi>)
target_link_libraries(ashlar_c PUBLIC ashlar)
ashlar_shared_library(ashlar_c_shared ashlar-c $<TARGET_OBJECTS:ashlar_capi>
  VERSION ${PROJECT_VERSION} ABI ${ashlar_abi} EXPORTS ashlar_*)
target_link_libraries(ashlar_c_shared PUBLIC ashlar_shared)
# The C API uses what libashlar exports, and nothing else.
target_link_options(ashlar_c_shared PRIVATE -Wl,-z,defs)
# It finds libashlar.so beside itself, wherever both are installed.
set_target_properties(ashlar_c_shared PROPERTIES INSTALL_RPATH "\$ORIGIN")

# ashlar_c_objects_for_dropin(target): the sources of the C API, compiled under RocksDB's names.
function(ashlar_c_objects_for_dropin target)
  get_target_property(sources ashlar_capi SOURCES)
  add_library(${target} OBJECT ${sources})
  target_link_libraries(${target} PRIVATE ashlar_flags ashlar_deps)
  target_compile_definitions(${target} PRIVATE ashlar=rocksdb)
  target_compile_options(${target} PRIVATE -include "${ASHLAR_C_DROPIN_NAMES}")
  set_property(SOURCE ${sources} APPEND PROPERTY OBJECT_DEPENDS "${ASHLAR_C_DROPIN_NAMES}")
  set_target_properties(${target} PROPERTIES DISABLE_PRECOMPILE_HEADERS ON)
  ashlar_hide(${target})
endfunction()
