# Finds libibverbs and librdmacm (rdma-core). Targets: Verbs::ibverbs, Verbs::rdmacm.
# rdma-core installs no CMake package, and its libraries need no other flags than their names.
include(FindPackageHandleStandardArgs)

find_path(Verbs_INCLUDE_DIR infiniband/verbs.h)
find_library(Verbs_LIBRARY ibverbs)
find_library(Verbs_RDMACM_LIBRARY rdmacm)
mark_as_advanced(Verbs_INCLUDE_DIR Verbs_LIBRARY Verbs_RDMACM_LIBRARY)

find_package_handle_standard_args(Verbs
  REQUIRED_VARS Verbs_LIBRARY Verbs_RDMACM_LIBRARY Verbs_INCLUDE_DIR
  REASON_FAILURE_MESSAGE "install libibverbs-dev and librdmacm-dev, or run ./lab pingpong, which does")

foreach(name IN ITEMS ibverbs rdmacm)
  if(Verbs_FOUND AND NOT TARGET Verbs::${name})
    add_library(Verbs::${name} UNKNOWN IMPORTED)
    set_target_properties(Verbs::${name} PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${Verbs_INCLUDE_DIR}")
  endif()
endforeach()
if(Verbs_FOUND)
  set_target_properties(Verbs::ibverbs PROPERTIES IMPORTED_LOCATION "${Verbs_LIBRARY}")
  set_target_properties(Verbs::rdmacm PROPERTIES
    IMPORTED_LOCATION "${Verbs_RDMACM_LIBRARY}" INTERFACE_LINK_LIBRARIES Verbs::ibverbs)
endif()
