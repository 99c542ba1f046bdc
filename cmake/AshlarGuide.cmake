# SPDX-License-Identifier: Apache-2.0
#
# The code in docs/guide. tests/guide/page.py writes a C++ file for each page, and all of these
# become the program guide_snippets. A page with a complete program also gives guide_program_<page>.
# tests/guide/guide_test.py runs them.
set(ashlar_page_script "${PROJECT_SOURCE_DIR}/tests/guide/page.py")
file(GLOB ashlar_guide_pages CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/docs/guide/*.md")
file(MAKE_DIRECTORY "${PROJECT_BINARY_DIR}/guide")

function(ashlar_code_of_page page kind output)
  add_custom_command(OUTPUT "${output}"
    COMMAND ${Python3_EXECUTABLE} "${ashlar_page_script}" "${page}" ${kind} "${output}"
    DEPENDS "${page}" "${ashlar_page_script}" VERBATIM)
  # Created at configuration, for tools that read every source file without building
  # (clang_check.py).
  if(NOT EXISTS "${output}")
    execute_process(COMMAND ${Python3_EXECUTABLE} "${ashlar_page_script}" "${page}" ${kind}
      "${output}" COMMAND_ERROR_IS_FATAL ANY)
  endif()
endfunction()

set(ashlar_guide_sources "${PROJECT_SOURCE_DIR}/tests/guide/runner.cc")
foreach(page ${ashlar_guide_pages})
  get_filename_component(name "${page}" NAME_WE)
  ashlar_code_of_page("${page}" snippets "${PROJECT_BINARY_DIR}/guide/${name}.cc")
  list(APPEND ashlar_guide_sources "${PROJECT_BINARY_DIR}/guide/${name}.cc")
  file(STRINGS "${page}" programs REGEX "^```cpp program")
  if(programs)
    ashlar_code_of_page("${page}" program "${PROJECT_BINARY_DIR}/guide/program_${name}.cc")
    add_executable(guide_program_${name} "${PROJECT_BINARY_DIR}/guide/program_${name}.cc")
    ashlar_link_rooms(guide_program_${name} all)
  endif()
  file(STRINGS "${page}" c_programs REGEX "^```c program")
  if(c_programs)
    ashlar_code_of_page("${page}" program "${PROJECT_BINARY_DIR}/guide/program_${name}.c")
    add_executable(guide_program_${name} "${PROJECT_BINARY_DIR}/guide/program_${name}.c")
    ashlar_link_rooms(guide_program_${name} all)
  endif()
endforeach()
add_executable(guide_snippets ${ashlar_guide_sources})
target_link_libraries(guide_snippets PRIVATE ashlar_env_sim)
ashlar_link_rooms(guide_snippets all)
