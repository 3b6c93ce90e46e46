# Programs in NOVA as libraries of CMake:
#
#   execute_process(COMMAND novac --print cmake-dir
#                   OUTPUT_VARIABLE Nova_DIR OUTPUT_STRIP_TRAILING_WHITESPACE)
#   find_package(Nova REQUIRED)
#   nova_add_library(statistics SOURCES statistics.nova TARGET pthreads)
#   target_link_libraries(app PRIVATE statistics)
#
# NOVA_NOVAC names the command; otherwise novac is looked for on the PATH.

cmake_minimum_required(VERSION 3.20)

find_program(NOVA_NOVAC novac DOC "The compiler of NOVA")
if(NOT NOVA_NOVAC)
  set(Nova_FOUND FALSE)
  set(Nova_NOT_FOUND_MESSAGE "novac is not on the PATH; name it in NOVA_NOVAC")
  return()
endif()

# nova_add_library(NAME SOURCES PROG.nova… [TARGET seq|pthreads|opencl|cuda|hip] [PREFIX P]
#                  [LINK FILE…] [OPTIONS OPTION…])
#
# Adds a static library with the functions of programs, and their headers to the include path of what links
# it. TARGET is seq unless given. PREFIX stands before the names of the functions. LINK names code of the
# device. OPTIONS are further options of novac. A program is compiled again when it, one of its imports or
# novac changes. cuda and hip need the language CUDA or HIP in the project.
function(nova_add_library name)
  cmake_parse_arguments(PARSE_ARGV 1 NOVA "" "TARGET;PREFIX" "SOURCES;LINK;OPTIONS")
  if(NOVA_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "nova_add_library(${name}): unknown arguments: ${NOVA_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT NOVA_SOURCES)
    message(FATAL_ERROR "nova_add_library(${name}): SOURCES are missing")
  endif()
  if(NOT NOVA_TARGET)
    set(NOVA_TARGET seq)
  endif()
  set(ending_seq c)
  set(ending_pthreads c)
  set(ending_opencl c)
  set(ending_cuda cu)
  set(ending_hip hip)
  if(NOT DEFINED ending_${NOVA_TARGET})
    message(FATAL_ERROR
      "nova_add_library(${name}): TARGET is ${NOVA_TARGET}; it can be seq, pthreads, opencl, cuda or hip")
  endif()
  set(ending ${ending_${NOVA_TARGET}})

  set(options --target ${NOVA_TARGET} ${NOVA_OPTIONS})
  if(NOVA_PREFIX)
    list(APPEND options --prefix ${NOVA_PREFIX})
  endif()
  foreach(file IN LISTS NOVA_LINK)
    get_filename_component(file "${file}" ABSOLUTE)
    list(APPEND options --link "${file}")
  endforeach()

  set(folder "${CMAKE_CURRENT_BINARY_DIR}/${name}.nova")
  file(MAKE_DIRECTORY "${folder}")
  set(generated)
  foreach(source IN LISTS NOVA_SOURCES)
    get_filename_component(source "${source}" ABSOLUTE)
    get_filename_component(program "${source}" NAME_WE)
    set(code "${folder}/${program}.${ending}")
    set(header "${folder}/${program}.h")
    add_custom_command(
      OUTPUT "${code}" "${header}"
      COMMAND "${NOVA_NOVAC}" ${options} -o "${folder}" --depfile "${folder}/${program}.d" "${source}"
      DEPENDS "${source}" "${NOVA_NOVAC}"
      DEPFILE "${folder}/${program}.d"
      COMMENT "Compiling ${program}.nova"
      VERBATIM)
    list(APPEND generated "${code}" "${header}")
  endforeach()

  add_library(${name} STATIC ${generated})
  target_include_directories(${name} PUBLIC "${folder}")
  if(ending STREQUAL c)
    set_target_properties(${name} PROPERTIES C_STANDARD 11 C_STANDARD_REQUIRED ON)
  elseif(ending STREQUAL hip)
    set_source_files_properties(${generated} PROPERTIES LANGUAGE HIP)
  endif()
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)

  # What every target needs: the C runtime of programs guards its state by locks.
  set(THREADS_PREFER_PTHREAD_FLAG ON)
  find_package(Threads REQUIRED)
  target_link_libraries(${name} PUBLIC Threads::Threads)
  if(UNIX AND NOT APPLE)
    target_link_libraries(${name} PUBLIC m)
  endif()
  if(NOVA_TARGET STREQUAL opencl)
    find_package(OpenCL REQUIRED)
    target_link_libraries(${name} PUBLIC OpenCL::OpenCL)
  endif()
endfunction()
