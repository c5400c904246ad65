// One source, several instruction sets: a function marked TM_CLONES is compiled for AVX-512, AVX2 and the baseline, and
// the best one is picked when the module loads. Everything it calls must be TM_INLINE, or it would stay at the
// baseline.
#pragma once

// Clones need GNU ifuncs, which musl and macOS lack.
#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__) && !defined(TM_NO_CLONES)
#define TM_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define TM_CLONES
#endif

#if defined(__GNUC__)
#define TM_INLINE inline __attribute__((always_inline))
#define TM_LAMBDA __attribute__((always_inline))
#else
#define TM_INLINE inline
#define TM_LAMBDA
#endif

// The term of row i, as a lambda. By value, so that no store can alias what it reads; always inline, so that it joins
// its clone.
#define TM_EACH(expression) [=]([[maybe_unused]] std::size_t i) TM_LAMBDA { return expression; }
