# cmake -DINPUT=file -DOUTPUT=file.inc -P Embed.cmake: the bytes of a file as the elements of a C array.
file(READ ${INPUT} bytes HEX)
string(REGEX REPLACE "(..)" "0x\\1,\n" bytes "${bytes}")
get_filename_component(folder ${OUTPUT} DIRECTORY)
file(MAKE_DIRECTORY ${folder})
file(WRITE ${OUTPUT} "${bytes}")
