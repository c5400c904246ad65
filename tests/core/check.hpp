// What the tests of the core share: a check that counts its failures, and the end of a run.
#pragma once

#include <cstdio>
#include <cstdlib>

inline int failures = 0;

inline void check(bool ok, const char* what) {
  if (ok) return;
  std::printf("FAILED: %s\n", what);
  ++failures;
}

inline int finish(const char* what) {
  if (failures != 0) return EXIT_FAILURE;
  std::printf("%s: all tests passed\n", what);
  return EXIT_SUCCESS;
}
