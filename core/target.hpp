// What depends on the compiler, the C library and the processor.
//
// One source, several instruction sets: a function marked TM_CLONES is compiled for AVX-512, AVX2 and the baseline, and
// the best one is picked when the module loads. Everything it calls must be TM_INLINE, or it would stay at the
// baseline.
#pragma once

#include <cstddef>

// GCC, clang, Apple's clang and clang-cl have integers of 128 bits and GNU attributes; MSVC has neither.
#if !defined(__SIZEOF_INT128__)
#error "tallymark needs 128-bit integers: build with GCC, clang or, on Windows, clang-cl"
#endif

// Clones need GNU ifuncs, which musl, macOS and Windows lack.
#if defined(__x86_64__) && defined(__GLIBC__) && !defined(TM_NO_CLONES)
#define TM_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define TM_CLONES
#endif

// clang does not clone templates.
#if defined(__clang__)
#define TM_CLONES_OF_TEMPLATE
#else
#define TM_CLONES_OF_TEMPLATE TM_CLONES
#endif

#if defined(__SANITIZE_ADDRESS__)
#define TM_ADDRESS_SANITIZER
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TM_ADDRESS_SANITIZER
#endif
#endif

#define TM_INLINE inline __attribute__((always_inline))
#define TM_LAMBDA __attribute__((always_inline))
#define TM_PREFETCH(address) __builtin_prefetch(address)
// Several numbers as one, `bytes` wide, which may be read and written wherever numbers lie.
#define TM_VECTOR(bytes) __attribute__((vector_size(bytes), aligned(8), may_alias))

// The term of row i, as a lambda. By value, so that no store can alias what it reads; always inline, so that it joins
// its clone.
#define TM_EACH(expression) [=]([[maybe_unused]] std::size_t i) TM_LAMBDA { return expression; }

namespace tallymark {

__extension__ using Int128 = __int128;
__extension__ using UInt128 = unsigned __int128;

}  // namespace tallymark
