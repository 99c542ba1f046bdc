# SPDX-License-Identifier: Apache-2.0
#
# ashlar_find_dep(name header library): creates Ashlar::dep_<name> if header and library are found.
# The build uses it and, installed with the packages, every program that links Ashlar.
function(ashlar_find_dep name header library)
  if(TARGET Ashlar::dep_${name})
    return()
  endif()
  find_path(ASHLAR_DEP_${name}_INCLUDE ${header})
  find_library(ASHLAR_DEP_${name}_LIBRARY ${library})
  mark_as_advanced(ASHLAR_DEP_${name}_INCLUDE ASHLAR_DEP_${name}_LIBRARY)
  if(NOT ASHLAR_DEP_${name}_INCLUDE OR NOT ASHLAR_DEP_${name}_LIBRARY)
    return()
  endif()
  add_library(Ashlar::dep_${name} UNKNOWN IMPORTED GLOBAL)
  set_target_properties(Ashlar::dep_${name} PROPERTIES
    IMPORTED_LOCATION "${ASHLAR_DEP_${name}_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${ASHLAR_DEP_${name}_INCLUDE}")
endfunction()
