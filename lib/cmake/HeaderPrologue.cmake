# cmake -DINPUTS=a.h;b.h -DOUTPUT=x.inc -P HeaderPrologue.cmake: what stands between the marks of each header, as one
# C++ string.
set(all "")
foreach(input ${INPUTS})
  file(READ ${input} text)
  string(REGEX REPLACE
    ".*begin of what emitted headers repeat --\n(.*)// -- end of what.*" "\\1"
    text "${text}")
  string(APPEND all "${text}\n")
endforeach()
get_filename_component(folder ${OUTPUT} DIRECTORY)
file(MAKE_DIRECTORY ${folder})
file(WRITE ${OUTPUT} "R\"prologue(${all})prologue\"\n")
