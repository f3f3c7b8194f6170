option(LAB_WERROR "Warnings are errors" ON)

# -DLAB_WERROR=OFF is for experiments. -Wno-missing-field-initializers: a structure that is only partly initialised by
# name has the rest set to zero, which is just what verbs attributes want.
add_library(lab_warnings INTERFACE)
target_compile_options(lab_warnings INTERFACE
  -Wall -Wextra $<$<BOOL:${LAB_WERROR}>:-Werror> -Wpedantic -Wshadow -Wconversion -Wsign-conversion
  -Wcast-align -Wcast-qual -Wold-style-cast
  -Wnon-virtual-dtor -Woverloaded-virtual -Wnull-dereference -Wdouble-promotion -Wformat=2 -Wimplicit-fallthrough
  -Wundef -Wno-missing-field-initializers)
