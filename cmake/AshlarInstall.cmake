# SPDX-License-Identifier: Apache-2.0
#
# The files that `cmake --install` installs: headers, both kinds of library, the CMake packages
# Ashlar and RocksDB, pkg-config files and tools. Each belongs to a component, which has the name of
# the package in AshlarPackages.cmake that contains it. tests/install builds programs against the
# result.
include(CMakePackageConfigHelpers)
set(ashlar_package_dir "${CMAKE_INSTALL_LIBDIR}/cmake")
set(ASHLAR_COMPONENTS "")

# The prefix in pkg-config files is relative to the file itself, for any depth of the library folder
# (lib, lib64, lib/x86_64-linux-gnu), so that an installation can be moved.
if(IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}")
  set(ASHLAR_PC_PREFIX "${CMAKE_INSTALL_PREFIX}")
  set(ASHLAR_PC_LIBDIR "${CMAKE_INSTALL_LIBDIR}")
else()
  file(RELATIVE_PATH ashlar_up "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
  string(REGEX REPLACE "/$" "" ashlar_up "${ashlar_up}")
  set(ASHLAR_PC_PREFIX "\${pcfiledir}/${ashlar_up}")
  set(ASHLAR_PC_LIBDIR "\${prefix}/${CMAKE_INSTALL_LIBDIR}")
endif()
if(IS_ABSOLUTE "${CMAKE_INSTALL_INCLUDEDIR}")
  set(ASHLAR_PC_INCLUDEDIR "${CMAKE_INSTALL_INCLUDEDIR}")
else()
  set(ASHLAR_PC_INCLUDEDIR "\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}")
endif()

# "lz4 lz4.h lz4;..." becomes calls in the CMake package that find the dependencies, and `-llz4 ...`
# for pkg-config.
set(ASHLAR_DEPENDENCY_CALLS "")
set(ASHLAR_PRIVATE_LIBS "-pthread")
foreach(dep ${ASHLAR_DEPS})
  string(APPEND ASHLAR_DEPENDENCY_CALLS "ashlar_find_dep(${dep})\n")
  string(REGEX REPLACE ".* " "" library "${dep}")
  string(APPEND ASHLAR_PRIVATE_LIBS " -l${library}")
endforeach()
string(APPEND ASHLAR_PRIVATE_LIBS " -lstdc++")

macro(ashlar_component name)
  list(APPEND ASHLAR_COMPONENTS ${name})
  install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" RENAME copyright
    DESTINATION "${CMAKE_INSTALL_DATAROOTDIR}/doc/${name}" COMPONENT ${name})
endmacro()

# Removes the LTO code from an installed archive, which only this compiler could read.
macro(ashlar_strip_installed library component)
  if(ASHLAR_LTO)
    install(CODE "execute_process(COMMAND \"${CMAKE_STRIP}\" --strip-debug --remove-section=.gnu.lto_*
      --remove-section=.gnu.debuglto_* --strip-symbol=__gnu_lto_v1
      \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBDIR}/lib${library}.a\"
      COMMAND_ERROR_IS_FATAL ANY)" COMPONENT ${component})
  endif()
endmacro()

# ashlar_install_library(Package folder library component VERSION v COMPATIBILITY c TARGETS ...):
# installs the shared library in <component>, and all that is needed to build with it in
# <component>-dev.
macro(ashlar_install_library package folder library component)
  cmake_parse_arguments(ASHLAR_INSTALL "" "VERSION;COMPATIBILITY" "TARGETS" ${ARGN})
  ashlar_component(${component})
  ashlar_component(${component}-dev)
  set(ASHLAR_PACKAGE ${package})
  set(ASHLAR_LIBRARY ${library})
  set(out "${PROJECT_BINARY_DIR}/package/${folder}")
  configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/PackageConfig.cmake.in"
    "${out}/${package}Config.cmake" INSTALL_DESTINATION "${ashlar_package_dir}/${folder}")
  write_basic_package_version_file("${out}/${package}ConfigVersion.cmake"
    VERSION ${ASHLAR_INSTALL_VERSION} COMPATIBILITY ${ASHLAR_INSTALL_COMPATIBILITY})
  configure_file("${PROJECT_SOURCE_DIR}/cmake/package.pc.in" "${out}/${library}.pc" @ONLY)

  install(TARGETS ${ASHLAR_INSTALL_TARGETS} EXPORT ${package}Targets
    ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT ${component}-dev
    LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT ${component}
    NAMELINK_COMPONENT ${component}-dev)
  ashlar_strip_installed(${library} ${component}-dev)
  install(EXPORT ${package}Targets NAMESPACE ${package}::
    DESTINATION "${ashlar_package_dir}/${folder}" COMPONENT ${component}-dev)
  install(FILES "${out}/${package}Config.cmake" "${out}/${package}ConfigVersion.cmake"
    "${PROJECT_SOURCE_DIR}/cmake/AshlarFindDep.cmake"
    DESTINATION "${ashlar_package_dir}/${folder}" COMPONENT ${component}-dev)
  install(FILES "${out}/${library}.pc"
    DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig" COMPONENT ${component}-dev)
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/${library}"
    DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT ${component}-dev
    FILES_MATCHING PATTERN "*.h")
endmacro()

set(ashlar_tools_target "")
set(rocksdb_tools_target "")
if(TARGET ashlar_tools)
  set(ashlar_tools_target ashlar_tools)
endif()
if(TARGET rocksdb_tools)
  set(rocksdb_tools_target rocksdb_tools)
endif()
ashlar_install_library(Ashlar Ashlar ashlar libashlar
  VERSION ${PROJECT_VERSION} COMPATIBILITY SameMinorVersion TARGETS ashlar ashlar_testing ashlar_shared
  ashlar_c ashlar_c_shared ${ashlar_tools_target})
ashlar_strip_installed(ashlar-c libashlar-dev)
# Programs in C: `pkg-config --libs ashlar-c`. The drop-in contains its C API.
configure_file("${PROJECT_SOURCE_DIR}/cmake/package_c.pc.in" "${PROJECT_BINARY_DIR}/package/Ashlar/ashlar-c.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/package/Ashlar/ashlar-c.pc"
  DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig" COMPONENT libashlar-dev)
# Programs ask for the RocksDB that they were written with or a newer one, and the API is that of all.
if(ASHLAR_BUILD_DROPIN)
  ashlar_install_library(RocksDB rocksdb rocksdb librocksdb-ashlar
    VERSION ${ASHLAR_ROCKSDB_VERSION} COMPATIBILITY AnyNewerVersion TARGETS rocksdb rocksdb_shared ${rocksdb_tools_target})
endif()

# The tools, if they are part of the build.
if(TARGET ldb)
  ashlar_component(ashlar-tools)
endif()
foreach(tool ldb sst_dump db_bench)
  if(TARGET ${tool})
    install(TARGETS ${tool}
      RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT ashlar-tools)
  endif()
endforeach()
