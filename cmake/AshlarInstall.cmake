# SPDX-License-Identifier: Apache-2.0
#
# What `cmake --install` puts in place: headers, both kinds of library, the CMake packages Ashlar
# and RocksDB, and pkg-config files. tests/install builds programs against the result.
include(CMakePackageConfigHelpers)
set(ashlar_package_dir "${CMAKE_INSTALL_LIBDIR}/cmake")

# "lz4 lz4.h lz4;..." becomes the package's own dependency calls, and `-llz4 ...` for pkg-config.
set(ASHLAR_DEPENDENCY_CALLS "")
set(ASHLAR_PRIVATE_LIBS "-pthread")
foreach(dep ${ASHLAR_DEPS})
  string(APPEND ASHLAR_DEPENDENCY_CALLS "ashlar_find_dep(${dep})\n")
  string(REGEX REPLACE ".* " "" library "${dep}")
  string(APPEND ASHLAR_PRIVATE_LIBS " -l${library}")
endforeach()
string(APPEND ASHLAR_PRIVATE_LIBS " -lstdc++")

# ashlar_install_package(Package folder library targets...)
function(ashlar_install_package package folder library)
  set(ASHLAR_PACKAGE ${package})
  set(ASHLAR_LIBRARY ${library})
  install(TARGETS ${ARGN} EXPORT ${package}Targets
    ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
  install(EXPORT ${package}Targets NAMESPACE ${package}::
    DESTINATION "${ashlar_package_dir}/${folder}")
  set(out "${PROJECT_BINARY_DIR}/package/${folder}")
  configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/PackageConfig.cmake.in"
    "${out}/${package}Config.cmake" INSTALL_DESTINATION "${ashlar_package_dir}/${folder}")
  write_basic_package_version_file("${out}/${package}ConfigVersion.cmake"
    VERSION ${PROJECT_VERSION} COMPATIBILITY SameMajorVersion)
  install(FILES "${out}/${package}Config.cmake" "${out}/${package}ConfigVersion.cmake"
    "${PROJECT_SOURCE_DIR}/cmake/AshlarFindDep.cmake"
    DESTINATION "${ashlar_package_dir}/${folder}")
  configure_file("${PROJECT_SOURCE_DIR}/cmake/package.pc.in" "${out}/${library}.pc" @ONLY)
  install(FILES "${out}/${library}.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
endfunction()

install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/ashlar" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
  FILES_MATCHING PATTERN "*.h")
ashlar_install_package(Ashlar Ashlar ashlar ashlar ashlar_shared)
if(ASHLAR_BUILD_DROPIN)
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/rocksdb" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
    FILES_MATCHING PATTERN "*.h")
  ashlar_install_package(RocksDB rocksdb rocksdb rocksdb rocksdb_shared)
endif()

# The tools of the build, when they are part of it.
foreach(tool ldb sst_dump db_bench)
  if(TARGET ${tool})
    install(TARGETS ${tool} RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
  endif()
endforeach()
