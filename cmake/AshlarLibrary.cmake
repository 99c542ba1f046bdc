# SPDX-License-Identifier: Apache-2.0
#
# libashlar from the objects of all rooms, and the drop-in librocksdb: the same sources, compiled
# with the namespace `ashlar` renamed to `rocksdb`, plus the C API, which exists only there.
include(GNUInstallDirs)
set(ashlar_objects "")
set(ashlar_sources "")
foreach(room ${ASHLAR_ROOMS})
  list(APPEND ashlar_objects $<TARGET_OBJECTS:ashlar_${room}>)
  get_target_property(room_sources ashlar_${room} SOURCES)
  list(APPEND ashlar_sources ${room_sources})
endforeach()
list(REMOVE_DUPLICATES ashlar_sources)

# ashlar_library(target STATIC|SHARED output_name export_name objects)
function(ashlar_library target kind output export objects)
  add_library(${target} ${kind} ${objects})
  set_target_properties(${target} PROPERTIES OUTPUT_NAME ${output} EXPORT_NAME ${export}
    LINKER_LANGUAGE CXX VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR})
  target_include_directories(${target} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_compile_features(${target} INTERFACE cxx_std_17)
  get_target_property(deps ashlar_deps INTERFACE_LINK_LIBRARIES)
  target_link_libraries(${target} PRIVATE ${deps})
endfunction()

ashlar_library(ashlar STATIC ashlar ashlar "${ashlar_objects}")
ashlar_library(ashlar_shared SHARED ashlar ashlar-shared "${ashlar_objects}")

if(ASHLAR_BUILD_DROPIN)
  file(GLOB_RECURSE ashlar_c_api CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/db/c_api/*.cc")
  add_library(rocksdb_objects OBJECT ${ashlar_sources} ${ashlar_c_api})
  target_link_libraries(rocksdb_objects PRIVATE ashlar_flags ashlar_deps)
  target_compile_definitions(rocksdb_objects PRIVATE ashlar=rocksdb)
  ashlar_library(rocksdb STATIC rocksdb rocksdb $<TARGET_OBJECTS:rocksdb_objects>)
  ashlar_library(rocksdb_shared SHARED rocksdb rocksdb-shared $<TARGET_OBJECTS:rocksdb_objects>)
endif()
