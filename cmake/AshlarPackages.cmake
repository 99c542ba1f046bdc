# SPDX-License-Identifier: Apache-2.0
#
# Debian packages (`make deb`, or cpack in a build folder), one for each component of
# AshlarInstall.cmake:
#
#   libashlar, libashlar-dev                    the library, and the files to build programs with it
#   librocksdb-ashlar, librocksdb-ashlar-dev    the drop-in
#   ashlar-tools                                ldb, sst_dump, db_bench
#
# Relation to Debian's RocksDB: the runtime libraries have other sonames and can be installed
# together with librocksdb7.8, so programs of the distribution keep working. Headers, librocksdb.so
# and the tools have the same paths, so librocksdb-ashlar-dev replaces librocksdb-dev, and
# ashlar-tools replaces rocksdb-tools; packages that depend on those accept the replacement.
# tests/install/packages_test.sh tests this.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME ashlar)
set(CPACK_PACKAGE_VENDOR "Ashlar")
set(CPACK_PACKAGE_CONTACT "The Ashlar maintainers <maintainers@ashlar.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "")  # otherwise each package would begin with the project's summary
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_COMPONENTS_ALL ${ASHLAR_COMPONENTS})
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
# Below 1.0 a minor version may break programs, so packages that link libashlar need exactly this
# version.
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY "=")

# ashlar_deb(component SECTION s SUMMARY s TEXT t [LINKED] [DEPENDS d] [REPLACES package version]).
# LINKED: the dependencies are read from the binaries.
macro(ashlar_deb component)
  cmake_parse_arguments(DEB "LINKED" "SECTION;SUMMARY;TEXT;DEPENDS" "REPLACES" ${ARGN})
  string(TOUPPER ${component} upper)
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${component})
  set(CPACK_DEBIAN_${upper}_PACKAGE_SECTION ${DEB_SECTION})
  set(CPACK_DEBIAN_${upper}_PACKAGE_SHLIBDEPS ${DEB_LINKED})
  set(CPACK_DEBIAN_${upper}_PACKAGE_DEPENDS "${DEB_DEPENDS}")
  set(CPACK_DEBIAN_${upper}_DESCRIPTION "${DEB_SUMMARY}\n${DEB_TEXT}")
  if(DEB_REPLACES)
    list(GET DEB_REPLACES 0 replaced)
    list(GET DEB_REPLACES 1 replaced_version)
    set(CPACK_DEBIAN_${upper}_PACKAGE_CONFLICTS ${replaced})
    set(CPACK_DEBIAN_${upper}_PACKAGE_REPLACES ${replaced})
    set(CPACK_DEBIAN_${upper}_PACKAGE_PROVIDES "${replaced} (= ${replaced_version})")
  endif()
endmacro()

# The static libraries need the libraries that the shared ones are linked with.
set(ashlar_dev_packages "")
foreach(dep ${ASHLAR_DEPS})
  string(REGEX REPLACE " .*" "" name "${dep}")
  if(name STREQUAL "zlib")
    list(APPEND ashlar_dev_packages zlib1g-dev)
  elseif(name STREQUAL "bzip2")
    list(APPEND ashlar_dev_packages libbz2-dev)
  else()
    list(APPEND ashlar_dev_packages lib${name}-dev)
  endif()
endforeach()
list(JOIN ashlar_dev_packages ", " ashlar_dev_packages)

ashlar_deb(libashlar LINKED SECTION libs
  SUMMARY "embeddable LSM storage engine on RocksDB's API and file formats"
  TEXT "Ashlar is a key-value engine that programs link: a log-structured merge tree that\nreads and writes RocksDB's files.")
ashlar_deb(libashlar-dev SECTION libdevel
  SUMMARY "embeddable LSM storage engine (development)"
  TEXT "Headers (C++ and C), static libraries, CMake package and pkg-config files of Ashlar."
  DEPENDS "libashlar (= ${PROJECT_VERSION}), ${ashlar_dev_packages}")
ashlar_deb(librocksdb-ashlar LINKED SECTION libs
  SUMMARY "Ashlar under the names of RocksDB"
  TEXT "The library that programs are linked with which were built with librocksdb-ashlar-dev.")
ashlar_deb(librocksdb-ashlar-dev SECTION libdevel
  SUMMARY "Ashlar under the names of RocksDB (development)"
  TEXT "Builds programs that were written for RocksDB ${ASHLAR_ROCKSDB_VERSION} or older with Ashlar: headers,\nlibraries, CMake package RocksDB and rocksdb.pc, in the place of librocksdb-dev."
  DEPENDS "librocksdb-ashlar (= ${PROJECT_VERSION}), libashlar-dev (= ${PROJECT_VERSION})"
  REPLACES librocksdb-dev ${ASHLAR_ROCKSDB_VERSION})
ashlar_deb(ashlar-tools LINKED SECTION database
  SUMMARY "tools for databases of Ashlar and RocksDB"
  TEXT "ldb, sst_dump and db_bench, in the place of those of rocksdb-tools."
  REPLACES rocksdb-tools ${ASHLAR_ROCKSDB_VERSION})
include(CPack)
