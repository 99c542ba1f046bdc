# SPDX-License-Identifier: Apache-2.0
#
# A folder tests/<a>/<b> with *_test.cc files becomes one GoogleTest binary <a>_<b>_test, linked
# with the room that it mirrors and the rooms below; folders that mirror no room (api, model, crash
# ...) are linked with everything. tests/fuzz/<name>_fuzz.cc becomes <name>_fuzz_replay, and the
# libFuzzer binary <name>_fuzz.
find_package(GTest REQUIRED)

# tests/support becomes two libraries: files that need only env/ and below, for the tests of every
# room, and files that use options or a database, for tests that link everything. A file belongs to
# the second library if it, or a header of tests/support that it includes, matches this pattern.
set(ashlar_db_headers "ashlar/(db|options|table|convenience|utilities/[a-z_]+)\\.h|db/")
function(ashlar_support_uses_db file result)
  set(uses FALSE)
  file(STRINGS "${PROJECT_SOURCE_DIR}/${file}" includes REGEX "^#include \"")
  foreach(line ${includes})
    if(line MATCHES "\"(${ashlar_db_headers})")
      set(uses TRUE)
    elseif(line MATCHES "\"(tests/support/[a-z_]+\\.h)\"" AND NOT CMAKE_MATCH_1 STREQUAL file)
      ashlar_support_uses_db("${CMAKE_MATCH_1}" header_uses)
      if(header_uses)
        set(uses TRUE)
      endif()
    endif()
  endforeach()
  set(${result} ${uses} PARENT_SCOPE)
endfunction()

file(GLOB ashlar_support_sources CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}"
     "${PROJECT_SOURCE_DIR}/tests/support/*.cc")
set(ashlar_support_low "")
set(ashlar_support_db "")
foreach(source ${ashlar_support_sources})
  ashlar_support_uses_db("${source}" uses)
  if(uses)
    list(APPEND ashlar_support_db "${PROJECT_SOURCE_DIR}/${source}")
  else()
    list(APPEND ashlar_support_low "${PROJECT_SOURCE_DIR}/${source}")
  endif()
endforeach()
add_library(ashlar_test_support STATIC EXCLUDE_FROM_ALL ${ashlar_support_low})
target_link_libraries(ashlar_test_support PRIVATE ashlar_flags GTest::gtest INTERFACE ashlar_env_sim)
add_library(ashlar_test_support_db STATIC EXCLUDE_FROM_ALL ${ashlar_support_db})
target_link_libraries(ashlar_test_support_db PRIVATE ashlar_flags GTest::gtest
  INTERFACE ashlar_test_support ashlar_rooms_all)
target_compile_definitions(ashlar_test_support PRIVATE
  ASHLAR_SOURCE_DIR="${PROJECT_SOURCE_DIR}" ASHLAR_BUILD_DIR="${PROJECT_BINARY_DIR}")
target_compile_definitions(ashlar_test_support_db PRIVATE
  ASHLAR_SOURCE_DIR="${PROJECT_SOURCE_DIR}" ASHLAR_BUILD_DIR="${PROJECT_BINARY_DIR}")

# Links a test program with its rooms (`all`: everything) and the matching support libraries.
function(ashlar_link_test target)
  if("all" IN_LIST ARGN)
    target_link_libraries(${target} PRIVATE ashlar_test_support_db)
  endif()
  target_link_libraries(${target} PRIVATE ashlar_test_support GTest::gtest)
  ashlar_link_rooms(${target} ${ARGN})
endfunction()

# The label `fast` marks the tests that `make check` runs. `timeout` is in seconds; for long tests
# it is large enough for a sanitizer build.
function(ashlar_add_test name timeout)
  if(SANITIZE)
    set(timeout 900)
  endif()
  add_test(NAME ${name} COMMAND ${ARGN} WORKING_DIRECTORY "${PROJECT_BINARY_DIR}")
  set_tests_properties(${name} PROPERTIES TIMEOUT ${timeout})
endfunction()

function(ashlar_opens_databases file result)
  set(opens FALSE)
  file(STRINGS "${PROJECT_SOURCE_DIR}/${file}" includes REGEX "^#include \"")
  foreach(line ${includes})
    if(line MATCHES "\"ashlar/utilities/env_[a-z]+\\.h\"")
      continue()  # of env/
    elseif(line MATCHES "\"ashlar/(db|utilities/[a-z_]+)\\.h\"")
      set(opens TRUE)
    elseif(line MATCHES "\"(tests/support/[a-z_]+\\.h)\"")
      ashlar_support_uses_db("${CMAKE_MATCH_1}" uses)
      if(uses)
        set(opens TRUE)
      endif()
    endif()
  endforeach()
  set(${result} ${opens} PARENT_SCOPE)
endfunction()

# The room that tests/<folder> mirrors. `all` if it mirrors none, or if one of its files opens
# databases, which shows in its #include of "ashlar/db.h" or of a support header that uses it.
function(ashlar_room_of_test folder result)
  string(REPLACE "/" "_" name "${folder}")
  set(room all)
  if(TARGET ashlar_${name} AND DEFINED ASHLAR_KNOWS_${name})
    set(room ${name})
    file(GLOB files RELATIVE "${PROJECT_SOURCE_DIR}" "${PROJECT_SOURCE_DIR}/tests/${folder}/*")
    foreach(file ${files})
      ashlar_opens_databases("${file}" opens)
      if(opens)
        set(room all)
      endif()
    endforeach()
  endif()
  set(${result} ${room} PARENT_SCOPE)
endfunction()

function(ashlar_test_folder folder)
  file(GLOB sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/${folder}/*.cc")
  if(NOT TARGET ashlar_bench_calls)  # no gflags
    list(FILTER sources EXCLUDE REGEX "/bench_call_test\\.cc$")
  endif()
  string(REPLACE "/" "_" name "${folder}")
  ashlar_room_of_test("${folder}" room)
  ashlar_unite(tests_${name} united ${sources})
  add_executable(${name}_test ${united})
  # The fixtures of included files have no linkage, which GCC takes for an accident.
  target_compile_options(${name}_test PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
  target_link_libraries(${name}_test PRIVATE GTest::gtest_main)
  ashlar_link_test(${name}_test ${room})
  # Every test prints its name when it starts, so that the output of a hanging test ends with its
  # name.
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
list(REMOVE_ITEM ashlar_test_folders interleave)  # AshlarInterleave builds it
foreach(folder ${ashlar_test_folders})
  ashlar_test_folder("${folder}")
endforeach()
if(TARGET tools_test AND TARGET ashlar_tool_calls)
  target_link_libraries(tools_test PRIVATE ashlar_tool_calls)
  if(TARGET ashlar_bench_calls)
    target_link_libraries(tools_test PRIVATE ashlar_bench_calls)
  endif()
endif()
include(AshlarInterleave)

# The C programs of tests/capi, which capi_test runs.
file(GLOB ashlar_c_tests CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/capi/*.c")
function(ashlar_c_programs target)
  add_library(${target} STATIC EXCLUDE_FROM_ALL ${ashlar_c_tests})
  set_target_properties(${target} PROPERTIES C_STANDARD 11 C_EXTENSIONS OFF C_STANDARD_REQUIRED ON)
  target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}" "${PROJECT_SOURCE_DIR}/include")
  target_compile_options(${target} PRIVATE -Wall -Wextra -pedantic -Werror ${ARGN})
endfunction()
ashlar_c_programs(capi_programs)
target_link_libraries(capi_test PRIVATE capi_programs ashlar_capi)
# The same programs under the names of the drop-in, with its header and its shared library.
if(ASHLAR_BUILD_DROPIN)
  ashlar_c_programs(capi_dropin_programs -include "${ASHLAR_C_DROPIN_NAMES}" -DASHLAR_TEST_DROPIN)
  add_executable(capi_dropin_test "${PROJECT_SOURCE_DIR}/tests/capi/programs_test.cc"
    "${PROJECT_SOURCE_DIR}/tests/support/paths.cc" "${PROJECT_SOURCE_DIR}/util/text/str_cat.cc")
  target_link_libraries(capi_dropin_test PRIVATE capi_dropin_programs GTest::gtest_main rocksdb_shared)
  target_include_directories(capi_dropin_test PRIVATE "${PROJECT_SOURCE_DIR}")
  target_compile_definitions(capi_dropin_test PRIVATE
    ASHLAR_SOURCE_DIR="${PROJECT_SOURCE_DIR}" ASHLAR_BUILD_DIR="${PROJECT_BINARY_DIR}")
  ashlar_add_test(capi_dropin 300 capi_dropin_test)
endif()

foreach(tool ldb sst_dump db_bench)  # docs_test compares their output with docs/compatibility.md
  if(TARGET ${tool})
    add_dependencies(docs_test ${tool})
  endif()
endforeach()

# Fuzz drivers. The replay needs no fuzzer: it runs recorded inputs, then seeded mutations of them.
set(ashlar_fuzz_dir "${PROJECT_SOURCE_DIR}/tests/fuzz")
file(GLOB ashlar_fuzz_files CONFIGURE_DEPENDS "${ashlar_fuzz_dir}/*_fuzz.cc")
add_custom_target(fuzz_replay)
foreach(source ${ashlar_fuzz_files})
  get_filename_component(target "${source}" NAME_WE)
  string(REGEX REPLACE "_fuzz$" "" short "${target}")
  ashlar_rooms_of("${source}" rooms)
  add_executable(${target}_replay "${source}" "${ashlar_fuzz_dir}/standalone_driver.cc")
  ashlar_link_test(${target}_replay ${rooms})
  add_dependencies(fuzz_replay ${target}_replay)
  ashlar_add_test(fuzz_${short} 300 ${target}_replay --seconds=5
    "${ashlar_fuzz_dir}/corpus/${short}" "${ashlar_fuzz_dir}/regress/${short}")
  set_tests_properties(fuzz_${short} PROPERTIES LABELS fast)
  if(ASHLAR_FUZZ)
    add_executable(${target} "${source}")
    ashlar_link_test(${target} ${rooms})
    target_link_options(${target} PRIVATE -fsanitize=fuzzer)
  endif()
endforeach()

# Scripts: tests/<name>/<name>_test.py, and tidy.
find_package(Python3 COMPONENTS Interpreter)
if(Python3_FOUND)
  include(AshlarGuide)
  ashlar_add_test(tidy 180 ${Python3_EXECUTABLE} "${PROJECT_SOURCE_DIR}/tests/tidy/tidy.py"
    "${PROJECT_SOURCE_DIR}")
  set_tests_properties(tidy PROPERTIES LABELS fast)
  # Checks only that the planted bugs still match the code; planted.py --sample runs some of them.
  ashlar_add_test(planted_patches 60 ${Python3_EXECUTABLE}
    "${PROJECT_SOURCE_DIR}/tests/planted/planted.py" --check)
  set_tests_properties(planted_patches PROPERTIES LABELS fast)
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

# Installs the build into a temporary folder and builds programs against it. Sanitizer builds are
# excluded, because programs would need the same flags.
if(ASHLAR_BUILD_TOOLS AND NOT SANITIZE AND NOT ASHLAR_FUZZ AND NOT ASHLAR_COVERAGE)
  ashlar_add_test(install 600 "${PROJECT_SOURCE_DIR}/tests/install/install_test.sh"
    "${PROJECT_BINARY_DIR}" $<IF:$<BOOL:${ASHLAR_BUILD_DROPIN}>,dropin,plain>)
  if(ASHLAR_BUILD_DROPIN)
    ashlar_add_test(packages 600 "${PROJECT_SOURCE_DIR}/tests/install/packages_test.sh"
      "${PROJECT_BINARY_DIR}")
    set_tests_properties(packages PROPERTIES SKIP_RETURN_CODE 77)
  endif()
endif()

# One program written for RocksDB alone, built with the drop-in: with and without RTTI, static and
# shared. If RocksDB is installed, the same source also runs with that.
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
  file(GLOB ashlar_programs CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/dropin/programs/*.cc")
  file(GLOB ashlar_differential CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/interop/differential/*.cc")
  set(ashlar_batches "${PROJECT_SOURCE_DIR}/tests/interop/differential_batches/batches.cc")
  file(GLOB ashlar_transactions CONFIGURE_DEPENDS
    "${PROJECT_SOURCE_DIR}/tests/interop/differential_transactions/*.cc")
  find_library(ASHLAR_REFERENCE_ROCKSDB rocksdb)
  find_path(ASHLAR_REFERENCE_INCLUDE rocksdb/db.h)
  if(ASHLAR_REFERENCE_ROCKSDB AND ASHLAR_REFERENCE_INCLUDE AND NOT SANITIZE)
    foreach(client client reader)
      ashlar_add_client(dropin_${client}_reference "${ASHLAR_REFERENCE_ROCKSDB}"
        "${PROJECT_SOURCE_DIR}/tests/dropin/${client}.cc")
    endforeach()
    ashlar_add_client(dropin_programs_reference "${ASHLAR_REFERENCE_ROCKSDB}" ${ashlar_programs})
    ashlar_add_client(differential_theirs "${ASHLAR_REFERENCE_ROCKSDB}" ${ashlar_differential})
    ashlar_add_client(backup_theirs "${ASHLAR_REFERENCE_ROCKSDB}"
      "${PROJECT_SOURCE_DIR}/tests/interop/backup/backup_client.cc")
    ashlar_add_client(traces_theirs "${ASHLAR_REFERENCE_ROCKSDB}"
      "${PROJECT_SOURCE_DIR}/tests/interop/traces/trace_client.cc")
    ashlar_add_client(utilities_theirs "${ASHLAR_REFERENCE_ROCKSDB}"
      "${PROJECT_SOURCE_DIR}/tests/interop/utilities/utilities_client.cc")
    ashlar_add_client(bare_theirs "${ASHLAR_REFERENCE_ROCKSDB}"
      "${PROJECT_SOURCE_DIR}/tests/interop/bare_tables/bare_client.cc")
    add_dependencies(interop_test backup_theirs traces_theirs utilities_theirs bare_theirs)
    ashlar_add_client(differential_batches_theirs "${ASHLAR_REFERENCE_ROCKSDB}" ${ashlar_batches})
    ashlar_add_client(differential_transactions_theirs "${ASHLAR_REFERENCE_ROCKSDB}"
      ${ashlar_transactions})
    # The examples are written for RocksDB: all of them run with it.
    set(ashlar_reference_examples "")
    foreach(source ${ashlar_rocksdb_examples})
      get_filename_component(name "${source}" NAME_WE)
      ashlar_add_client(reference_${name} "${ASHLAR_REFERENCE_ROCKSDB}" "${source}")
      list(APPEND ashlar_reference_examples reference_${name})
    endforeach()
    foreach(target dropin_client_reference dropin_reader_reference dropin_programs_reference differential_theirs backup_theirs traces_theirs utilities_theirs bare_theirs
            differential_batches_theirs differential_transactions_theirs ${ashlar_reference_examples})
      target_include_directories(${target} SYSTEM PRIVATE "${ASHLAR_REFERENCE_INCLUDE}")
    endforeach()
    ashlar_add_test(dropin_client_reference 60 dropin_client_reference)
    ashlar_add_test(dropin_programs_reference 120 dropin_programs_reference)
    set(ashlar_reference_reader "$<TARGET_FILE:dropin_reader_reference>")
    set(ashlar_differential_theirs "$<TARGET_FILE:differential_theirs>")
    set(ashlar_batches_theirs "$<TARGET_FILE:differential_batches_theirs>")
    set(ashlar_transactions_theirs "$<TARGET_FILE:differential_transactions_theirs>")
  endif()
  # What known programs do with RocksDB.
  ashlar_add_client(dropin_programs rocksdb_tools ${ashlar_programs})
  ashlar_add_test(dropin_programs 120 dropin_programs)
  # The same program reads RocksDB's sample databases with both libraries.
  ashlar_add_client(dropin_reader rocksdb "${PROJECT_SOURCE_DIR}/tests/dropin/reader.cc")
  ashlar_add_test(dropin_readers 120 python3 "${PROJECT_SOURCE_DIR}/tests/dropin/compare_readers.py"
    "$<TARGET_FILE:dropin_reader>" "${PROJECT_SOURCE_DIR}/../shared" ${ashlar_reference_reader})
  # A random program must print the same with both libraries; see compare.py.
  ashlar_add_client(differential_ours rocksdb ${ashlar_differential})
  ashlar_add_test(differential 900 python3 "${PROJECT_SOURCE_DIR}/tests/interop/differential/compare.py"
    "$<TARGET_FILE:differential_ours>" ${ashlar_differential_theirs})
  ashlar_add_client(differential_batches_ours rocksdb ${ashlar_batches})
  ashlar_add_test(differential_batches 900 python3 "${PROJECT_SOURCE_DIR}/tests/interop/differential/compare.py"
    "$<TARGET_FILE:differential_batches_ours>" ${ashlar_batches_theirs} --relays 0)
  ashlar_add_client(differential_transactions_ours rocksdb ${ashlar_transactions})
  ashlar_add_test(differential_transactions 900 python3 "${PROJECT_SOURCE_DIR}/tests/interop/differential/compare.py"
    "$<TARGET_FILE:differential_transactions_ours>" ${ashlar_transactions_theirs} --relays 0 --seeds 4000
    --sessions 1 --steps 150 --excused "SubBatchCnt() == batch_info.batch_cnt_"
    --excused "TrackedKeyInfo::Merge")
  set_tests_properties(differential differential_batches differential_transactions PROPERTIES SKIP_RETURN_CODE 77)
endif()
