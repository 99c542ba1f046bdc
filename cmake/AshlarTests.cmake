# SPDX-License-Identifier: Apache-2.0
#
# tests/<a>/<b> that holds *_test.cc -> one GoogleTest binary <a>_<b>_test, linked with the room it
# mirrors and the rooms below; folders that mirror no room (api, model, crash ...) get everything.
# tests/fuzz/<name>_fuzz.cc -> <name>_fuzz_replay, and the libFuzzer binary <name>_fuzz.
find_package(GTest REQUIRED)

file(GLOB_RECURSE ashlar_support_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/support/*.cc")
add_library(ashlar_test_support STATIC EXCLUDE_FROM_ALL ${ashlar_support_sources})
target_link_libraries(ashlar_test_support PRIVATE ashlar_flags GTest::gtest)
target_compile_definitions(ashlar_test_support PRIVATE
  ASHLAR_SOURCE_DIR="${PROJECT_SOURCE_DIR}" ASHLAR_BUILD_DIR="${PROJECT_BINARY_DIR}")

# Labels: `fast` is what `make check` runs.
function(ashlar_add_test name timeout)
  add_test(NAME ${name} COMMAND ${ARGN} WORKING_DIRECTORY "${PROJECT_BINARY_DIR}")
  set_tests_properties(${name} PROPERTIES TIMEOUT ${timeout})
endfunction()

function(ashlar_test_folder folder)
  file(GLOB sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/${folder}/*.cc")
  string(REPLACE "/" "_" name "${folder}")
  set(room all)
  if(DEFINED ASHLAR_KNOWS_${name})
    set(room ${name})
  endif()
  add_executable(${name}_test ${sources})
  target_link_libraries(${name}_test PRIVATE ashlar_test_support GTest::gtest GTest::gtest_main)
  # The option tables, in util, make caches by name; so every test needs at least that floor.
  ashlar_link_rooms(${name}_test ${room})
  # Every test is named as it starts, so that the output of one that hangs ends with its name.
  if(folder MATCHES "^(model|crash|fault|corruption|interop|stress|sample)")
    ashlar_add_test(${name} 900 ${name}_test)
  else()
    ashlar_add_test(${name} 300 ${name}_test)
    set_tests_properties(${name} PROPERTIES LABELS fast)
  endif()
endfunction()

file(GLOB_RECURSE ashlar_test_files CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}/tests"
     "${PROJECT_SOURCE_DIR}/tests/*_test.cc")
set(ashlar_test_folders "")
foreach(file ${ashlar_test_files})
  get_filename_component(folder "${file}" DIRECTORY)
  list(APPEND ashlar_test_folders "${folder}")
endforeach()
list(REMOVE_DUPLICATES ashlar_test_folders)
foreach(folder ${ashlar_test_folders})
  ashlar_test_folder("${folder}")
endforeach()

# Fuzz drivers. The replay needs no fuzzer: recorded inputs, then seeded mutations of them.
set(ashlar_fuzz_dir "${PROJECT_SOURCE_DIR}/tests/fuzz")
file(GLOB ashlar_fuzz_files CONFIGURE_DEPENDS "${ashlar_fuzz_dir}/*_fuzz.cc")
add_custom_target(fuzz_replay)
foreach(source ${ashlar_fuzz_files})
  get_filename_component(target "${source}" NAME_WE)
  string(REGEX REPLACE "_fuzz$" "" short "${target}")
  ashlar_rooms_of("${source}" rooms)
  add_executable(${target}_replay "${source}" "${ashlar_fuzz_dir}/standalone_driver.cc")
  target_link_libraries(${target}_replay PRIVATE ashlar_test_support GTest::gtest)
  ashlar_link_rooms(${target}_replay ${rooms})
  add_dependencies(fuzz_replay ${target}_replay)
  ashlar_add_test(fuzz_${short} 300 ${target}_replay --seconds=5
    "${ashlar_fuzz_dir}/corpus/${short}" "${ashlar_fuzz_dir}/regress/${short}")
  set_tests_properties(fuzz_${short} PROPERTIES LABELS fast)
  if(ASHLAR_FUZZ)
    add_executable(${target} "${source}")
    target_link_libraries(${target} PRIVATE ashlar_test_support GTest::gtest)
    ashlar_link_rooms(${target} ${rooms})
    target_link_options(${target} PRIVATE -fsanitize=fuzzer)
  endif()
endforeach()

# Scripts: tests/<name>/<name>_test.py, and tidy.
find_package(Python3 COMPONENTS Interpreter)
if(Python3_FOUND)
  ashlar_add_test(tidy 60 ${Python3_EXECUTABLE} "${PROJECT_SOURCE_DIR}/tests/tidy/tidy.py"
    "${PROJECT_SOURCE_DIR}")
  set_tests_properties(tidy PROPERTIES LABELS fast)
  file(GLOB ashlar_scripts CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/*/*_test.py")
  foreach(script ${ashlar_scripts})
    get_filename_component(name "${script}" NAME_WE)
    string(REGEX REPLACE "_test$" "" name "${name}")
    ashlar_add_test(${name}_script 600 ${Python3_EXECUTABLE} "${script}")
    set_tests_properties(${name}_script PROPERTIES
      SKIP_RETURN_CODE 77
      ENVIRONMENT "ASHLAR_SOURCE_DIR=${PROJECT_SOURCE_DIR};ASHLAR_BUILD_DIR=${PROJECT_BINARY_DIR}")
  endforeach()
endif()

# Installs the build into a folder of its own and builds programs against it from outside. Sanitized
# libraries are left out: a client would have to be built with the same flags.
if(ASHLAR_BUILD_TOOLS AND NOT SANITIZE AND NOT ASHLAR_FUZZ AND NOT ASHLAR_COVERAGE)
  ashlar_add_test(install 600 "${PROJECT_SOURCE_DIR}/tests/install/install_test.sh"
    "${PROJECT_BINARY_DIR}" $<IF:$<BOOL:${ASHLAR_BUILD_DROPIN}>,dropin,plain>)
endif()

# One client source, written for RocksDB alone, against the drop-in: with and without RTTI, static
# and shared. When RocksDB itself is installed, the same file also runs against that.
set(ashlar_client "${PROJECT_SOURCE_DIR}/tests/dropin/client.cc")
if(ASHLAR_BUILD_DROPIN AND EXISTS "${ashlar_client}")
  foreach(rtti rtti no-rtti)
    foreach(library rocksdb rocksdb_shared)
      set(name dropin_client_${library}_${rtti})
      add_executable(${name} "${ashlar_client}")
      set_target_properties(${name} PROPERTIES CXX_STANDARD 17)
      target_compile_options(${name} PRIVATE -Wall -Wextra -Werror $<$<STREQUAL:${rtti},no-rtti>:-fno-rtti>)
      target_link_libraries(${name} PRIVATE ${library})
      ashlar_add_test(${name} 60 ${name})
    endforeach()
  endforeach()
  find_library(ASHLAR_REFERENCE_ROCKSDB rocksdb)
  find_path(ASHLAR_REFERENCE_INCLUDE rocksdb/db.h)
  if(ASHLAR_REFERENCE_ROCKSDB AND ASHLAR_REFERENCE_INCLUDE AND NOT SANITIZE)
    add_executable(dropin_client_reference "${ashlar_client}")
    set_target_properties(dropin_client_reference PROPERTIES CXX_STANDARD 17)
    target_include_directories(dropin_client_reference SYSTEM PRIVATE "${ASHLAR_REFERENCE_INCLUDE}")
    target_link_libraries(dropin_client_reference PRIVATE "${ASHLAR_REFERENCE_ROCKSDB}" Threads::Threads)
    ashlar_add_test(dropin_client_reference 60 dropin_client_reference)
    add_executable(dropin_reader_reference "${PROJECT_SOURCE_DIR}/tests/dropin/reader.cc")
    set_target_properties(dropin_reader_reference PROPERTIES CXX_STANDARD 17)
    target_include_directories(dropin_reader_reference SYSTEM PRIVATE "${ASHLAR_REFERENCE_INCLUDE}")
    target_link_libraries(dropin_reader_reference PRIVATE "${ASHLAR_REFERENCE_ROCKSDB}" Threads::Threads)
    set(ashlar_reference_reader "$<TARGET_FILE:dropin_reader_reference>")
  endif()
  # The same program reads RocksDB's sample databases through both.
  add_executable(dropin_reader "${PROJECT_SOURCE_DIR}/tests/dropin/reader.cc")
  set_target_properties(dropin_reader PROPERTIES CXX_STANDARD 17)
  target_link_libraries(dropin_reader PRIVATE rocksdb)
  ashlar_add_test(dropin_readers 120 python3 "${PROJECT_SOURCE_DIR}/tests/dropin/compare_readers.py"
    "$<TARGET_FILE:dropin_reader>" "${PROJECT_SOURCE_DIR}/../shared" ${ashlar_reference_reader})
endif()
