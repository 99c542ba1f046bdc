# SPDX-License-Identifier: Apache-2.0
#
# Builds libashlar from the objects of all rooms, libashlar-c (AshlarCApi) from those of the C API,
# and the drop-in librocksdb from both: the same sources, compiled with the namespace `ashlar` renamed
# to `rocksdb`.
#
# Versions. libashlar has the version of the project; below 1.0 a minor version may break programs,
# so the soname is libashlar.so.0.1. For build systems the drop-in has the version of the RocksDB
# whose API it has. The layout of its objects differs from RocksDB's, so its soname must never be
# one that RocksDB has or will have: librocksdb.so.11.9-ashlar0.1 can be installed together with
# RocksDB's own library.
include(GNUInstallDirs)
file(STRINGS "${PROJECT_SOURCE_DIR}/include/ashlar/version.h" ashlar_version_lines
  REGEX "^#define ROCKSDB_(MAJOR|MINOR|PATCH) [0-9]+$")
string(REGEX MATCHALL "[0-9]+" ashlar_rocksdb_version "${ashlar_version_lines}")
list(JOIN ashlar_rocksdb_version "." ASHLAR_ROCKSDB_VERSION)
string(REGEX REPLACE "\\.[0-9]+$" "" ashlar_rocksdb_abi "${ASHLAR_ROCKSDB_VERSION}")
set(ashlar_abi "${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}")
set(ashlar_objects "")
set(ashlar_sources "")
set(ashlar_testing_objects "")
foreach(room ${ASHLAR_TESTING_ROOMS})
  list(APPEND ashlar_testing_objects $<TARGET_OBJECTS:ashlar_${room}>)
endforeach()
set(ashlar_engine_rooms ${ASHLAR_ROOMS})
list(REMOVE_ITEM ashlar_engine_rooms ${ASHLAR_TESTING_ROOMS} ${ASHLAR_APART_ROOMS})
foreach(room ${ashlar_engine_rooms})
  list(APPEND ashlar_objects $<TARGET_OBJECTS:ashlar_${room}>)
  get_target_property(room_sources ashlar_${room} SOURCES)
  list(APPEND ashlar_sources ${room_sources})
endforeach()
list(REMOVE_DUPLICATES ashlar_sources)

# ashlar_library(target STATIC|SHARED output_name export_name objects)
function(ashlar_library target kind output export objects)
  add_library(${target} ${kind} ${objects})
  set_target_properties(${target} PROPERTIES OUTPUT_NAME ${output} EXPORT_NAME ${export}
    LINKER_LANGUAGE CXX)
  target_include_directories(${target} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_compile_features(${target} INTERFACE cxx_std_17)
  get_target_property(deps ashlar_deps INTERFACE_LINK_LIBRARIES)
  target_link_libraries(${target} PRIVATE ${deps})
endfunction()

# Relocations as a bitmap: 8,000 of them take 2 KB instead of 190. Loaders of glibc support this
# since 2.36; a library linked against an older glibc must not use it.
include(CheckCXXSourceCompiles)
set(CMAKE_REQUIRED_LINK_OPTIONS "-Wl,-z,pack-relative-relocs" "-Wl,--fatal-warnings")
check_cxx_source_compiles("
  #include <cstdlib>
  #if !defined(__GLIBC__) || !__GLIBC_PREREQ(2, 36)
  #error the loader may not know them
  #endif
  int main() { return 0; }" ASHLAR_HAS_PACKED_RELOCATIONS)
unset(CMAKE_REQUIRED_LINK_OPTIONS)
set(ashlar_packed_relocations "")
if(ASHLAR_HAS_PACKED_RELOCATIONS)
  set(ashlar_packed_relocations $<$<CONFIG:Release>:-Wl,-z,pack-relative-relocs>)
endif()

# The patterns of the names of a namespace in a version script: members, const and ref-qualified
# ones, type information, tables, thunks.
function(ashlar_exports_of namespace result)
  string(LENGTH ${namespace} length)
  set(mangled "${length}${namespace}")
  set(patterns _ZN _ZN[KRO] _ZNK[RO] _ZT[ISTVHW]N _ZTh*_N _ZTh*_NK _ZTv*_N _ZTv*_NK)
  list(TRANSFORM patterns APPEND "${mangled}*")
  set(${result} "${patterns}" PARENT_SCOPE)
endfunction()

# ashlar_shared_library(target output_name objects VERSION v ABI soversion EXPORTS "pattern;..."):
# exports only these names of those that are visible, not the std:: templates over our types.
function(ashlar_shared_library target output objects)
  cmake_parse_arguments(LIBRARY "" "VERSION;ABI" "EXPORTS" ${ARGN})
  ashlar_library(${target} SHARED ${output} ${output}-shared "${objects}")
  set_target_properties(${target} PROPERTIES VERSION ${LIBRARY_VERSION} SOVERSION ${LIBRARY_ABI})
  list(JOIN LIBRARY_EXPORTS ";\n    " ASHLAR_EXPORTS)
  set(map "${PROJECT_BINARY_DIR}/${output}.map")
  configure_file("${PROJECT_SOURCE_DIR}/cmake/exports.map.in" "${map}" @ONLY)
  target_link_options(${target} PRIVATE "-Wl,--version-script=${map}"
    $<$<CONFIG:Release>:-Wl,--gc-sections,-Bsymbolic-functions> ${ashlar_packed_relocations}
    ${ashlar_lto_link})
  set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS "${map}")
endfunction()

ashlar_library(ashlar STATIC ashlar ashlar "${ashlar_objects}")
# The simulated machine (ashlar/testing/), for tests of programs. It uses inner parts of the engine, which the shared
# library hides, so it goes with the static one.
ashlar_library(ashlar_testing STATIC ashlar-testing ashlar-testing "${ashlar_testing_objects}")
target_link_libraries(ashlar_testing PUBLIC ashlar)
ashlar_exports_of(ashlar ashlar_exports)
ashlar_shared_library(ashlar_shared ashlar "${ashlar_objects}"
  VERSION ${PROJECT_VERSION} ABI ${ashlar_abi} EXPORTS ${ashlar_exports})
include(AshlarCApi)

if(ASHLAR_BUILD_DROPIN)
  add_library(rocksdb_objects OBJECT ${ashlar_sources})
  target_link_libraries(rocksdb_objects PRIVATE ashlar_flags ashlar_deps)
  target_compile_definitions(rocksdb_objects PRIVATE ashlar=rocksdb)
  ashlar_hide(rocksdb_objects)
  ashlar_c_objects_for_dropin(rocksdb_c_objects)
  set(rocksdb_all_objects $<TARGET_OBJECTS:rocksdb_objects> $<TARGET_OBJECTS:rocksdb_c_objects>)
  ashlar_library(rocksdb STATIC rocksdb rocksdb "${rocksdb_all_objects}")
  ashlar_exports_of(rocksdb rocksdb_exports)
  ashlar_shared_library(rocksdb_shared rocksdb "${rocksdb_all_objects}"
    VERSION ${ASHLAR_ROCKSDB_VERSION}-ashlar${PROJECT_VERSION}
    ABI ${ashlar_rocksdb_abi}-ashlar${ashlar_abi} EXPORTS ${rocksdb_exports} rocksdb_*)
endif()

# Compiles a program written for RocksDB against the drop-in or against RocksDB itself.
function(ashlar_add_client target rocksdb)
  add_executable(${target} ${ashlar_only_with_tests} ${ARGN})
  set_target_properties(${target} PROPERTIES CXX_STANDARD 17)
  target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}")
  target_link_libraries(${target} PRIVATE ${rocksdb} Threads::Threads)
endfunction()
