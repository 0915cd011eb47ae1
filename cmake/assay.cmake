# Flags that every target shares, and the two functions through which targets are declared.

add_library(assay_flags INTERFACE)
target_include_directories(assay_flags INTERFACE ${PROJECT_SOURCE_DIR}/include)
# Contracted multiply-adds would give other last bits on CPUs with FMA: every number must re-derive.
target_compile_options(assay_flags INTERFACE
  -ffp-contract=off -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wnon-virtual-dtor
  -Wold-style-cast -Wno-missing-field-initializers $<$<BOOL:${ASSAY_WERROR}>:-Werror>)
# g++ 12 takes "text" + std::string and std::string::insert for overlapping or overlong copies (its bugs
# 105651 and 105329). clang and AddressSanitizer watch the same code.
target_compile_options(assay_flags INTERFACE
  $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-restrict;-Wno-array-bounds;-Wno-stringop-overflow>)

# Parsing the same large headers is most of a build's time, so they are compiled once: one precompiled
# header for the layers, one for the test programs. Not with a compiler cache, which could not use it.
# Each belongs to an empty library, so that nothing else has to be built before its users.
function(assay_precompiled owner)
  cmake_parse_arguments(ARG "" "" "HEADERS;LINKS" ${ARGN})
  set(empty ${PROJECT_BINARY_DIR}/precompiled/${owner}.cpp)
  file(CONFIGURE OUTPUT ${empty} CONTENT "")
  add_library(${owner} OBJECT ${empty})
  target_link_libraries(${owner} PRIVATE assay_flags ${ARG_LINKS})
  target_precompile_headers(${owner} PRIVATE ${ARG_HEADERS})
endfunction()

# assay_precompile(TARGET OWNER): TARGET is compiled with the headers of OWNER.
function(assay_precompile target owner)
  if(TARGET ${owner})
    target_precompile_headers(${target} REUSE_FROM ${owner})
  endif()
endfunction()

# assay_layer(NAME SOURCES ... LINKS ...): one static library per folder of src/. LINKS names the
# layers below; src/ itself is not on the include path, so a private header stays private.
function(assay_layer name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINKS;PRIVATE_LINKS" ${ARGN})
  add_library(assay_${name} STATIC ${ARG_SOURCES})
  target_link_libraries(assay_${name} PUBLIC assay_flags ${ARG_LINKS} PRIVATE ${ARG_PRIVATE_LINKS})
  assay_precompile(assay_${name} assay_precompiled_layers)
endfunction()

# assay_test(NAME SOURCES ... LINKS ...): one GoogleTest program, run by ./test and by ctest.
function(assay_test name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINKS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE ${ARG_LINKS} GTest::gmock GTest::gtest_main)
  target_compile_definitions(${name} PRIVATE ASSAY_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
                                             ASSAY_BINARY_DIR="${PROJECT_BINARY_DIR}")
  # The source folder of the layer under test, so that its private headers can be tested.
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests ${PROJECT_SOURCE_DIR}/src)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  assay_precompile(${name} assay_precompiled_tests)
  add_test(NAME ${name} COMMAND ${name})
endfunction()
