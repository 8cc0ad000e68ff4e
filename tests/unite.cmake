# Several tests in one text, so that what they all include is read, and what they all instantiate is made, once for them:
#
#   cmake "-DSOURCES=one_test.cpp;two_test.cpp" -DUNITED=both.cpp -P unite.cmake
#
# The unnamed namespace of one_test.cpp becomes `one_test`, so that the same names in two tests do not meet. Messages and
# failures name the original file and line.
set(united "")
foreach(source ${SOURCES})
  get_filename_component(name ${source} NAME_WE)
  file(READ ${source} text)
  string(REGEX REPLACE "(^|\n)namespace {" "\\1namespace ${name} {" text "${text}")
  string(APPEND united "#line 1 \"${source}\"\n${text}\n")
endforeach()
file(WRITE ${UNITED} "${united}")
