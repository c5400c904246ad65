// Absolute, squared and relative errors, totalled in the loop that subtracts.
//
// Rows come from beyond the nearest cache, and divisions have a unit of their own: one loop waits for both while it
// adds, where loops of their own would wait one after the other. But the grids of a total must be known before its
// terms. They are guessed from the block before; a block that does not fit them is read again, and no grid shows in a
// total. Multiplying by kept reciprocals of the truth is no faster here than dividing.
#pragma once

#include <cstddef>
#include <cstdint>

#include "terms.hpp"

namespace tallymark::detail {

// What a loop can total besides subtracting; a wish is a sum of these.
inline constexpr unsigned kAbsolute = 1, kSquared = 2, kRelative = 4;

// Whether a term is one of these: together they take half the time that each would take alone.
inline bool can_share(Term t) {
  return t == Term::absolute_error || t == Term::squared_error || t == Term::relative_error;
}

struct ErrorTallies {
  Tally *absolute = nullptr, *squared = nullptr, *relative = nullptr;
};

// Magnitudes that the terms of a block are expected not to exceed, as bit patterns. No total shows them.
struct Guess {
  std::uint64_t errors = 0, relative = 0;
};

struct Found {
  Span errors;
  Span some_errors, some_relative;  // of those that are not 0, which has no digits to lose
  unsigned totalled = 0;            // of what was wanted
};

// Whether grids for magnitudes up to a guess hold all terms of a span.
TM_INLINE bool held(std::uint64_t guess, Span s) {
  return s.most <= guess && Grids::fit(guess) && Grids(guess).hold(s.least);
}

// Those of the wanted terms that fit a guess.
TM_INLINE unsigned fitting(Guess guess, unsigned wanted, const Found& found) {
  const Span errors = found.some_errors, squares{square(errors.least), square(errors.most)};
  const unsigned held_terms = (held(guess.errors, errors) ? kAbsolute : 0) |
                              (held(square(guess.errors), squares) ? kSquared : 0) |
                              (held(guess.relative, found.some_relative) ? kRelative : 0);
  return wanted & held_terms;
}

TM_INLINE void widen(Span& s, std::uint64_t magnitude) {
  s.least = magnitude < s.least ? magnitude : s.least;
  s.most = magnitude > s.most ? magnitude : s.most;
}

// The least magnitude but 0; infinity where there is none.
TM_INLINE std::uint64_t least_above_zero(std::size_t n, const double* x) {
  std::uint64_t least = kInfinity - 1;
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint64_t below = magnitude(x[i]) - 1;  // of which that of 0 is the highest
    least = below < least ? below : least;
  }
  return least + 1;
}

template <unsigned kWanted>
TM_INLINE Found loop_over_errors(const Block& b, double least, Guess guess, const ErrorTallies& to) {
  const double* y = b.y;
  const double* p = b.p;
  double* __restrict out = b.e;
  Grids absolutes(guess.errors), squares(square(guess.errors)), relatives(guess.relative);
  Span errors, relative{kInfinity - 1, 0};
  for (std::size_t i = 0; i < b.n; ++i) {
    const double e = p[i] - y[i], size = absolute(e);
    out[i] = e;
    widen(errors, bits(size));
    if constexpr ((kWanted & kAbsolute) != 0) absolutes.take_held(size);
    if constexpr ((kWanted & kSquared) != 0) squares.take_held(e * e);
    if constexpr ((kWanted & kRelative) != 0) {
      const double x = size / at_least(absolute(y[i]), least);
      relatives.take_held(x);
      const std::uint64_t k = bits(x), below = k - 1;  // of which that of 0 is the highest
      relative.least = below < relative.least ? below : relative.least;
      relative.most = k > relative.most ? k : relative.most;
    }
  }
  Found found{errors, errors, {relative.least + 1, relative.most}};
  if (kWanted == 0) return found;
  if (errors.least == 0) found.some_errors.least = least_above_zero(b.n, out);
  found.totalled = fitting(guess, kWanted, found);
  if ((found.totalled & kAbsolute) != 0) {
    absolutes.give(to.absolute->sum, b.n);
    note_largest(*to.absolute, errors.most);
  }
  if ((found.totalled & kSquared) != 0) {
    squares.give(to.squared->sum, b.n);
    note_largest(*to.squared, errors.most);
  }
  if ((found.totalled & kRelative) != 0) relatives.give(to.relative->sum, b.n);
  return found;
}

// Writes the errors of a block, and adds those that are wanted to their tallies where they fit the guess.
TM_CLONES static inline Found run_errors(unsigned wanted, const Block& b, double least, Guess guess,
                                         const ErrorTallies& to) {
  switch (wanted) {
    case 1: return loop_over_errors<1>(b, least, guess, to);
    case 2: return loop_over_errors<2>(b, least, guess, to);
    case 3: return loop_over_errors<3>(b, least, guess, to);
    case 4: return loop_over_errors<4>(b, least, guess, to);
    case 5: return loop_over_errors<5>(b, least, guess, to);
    case 6: return loop_over_errors<6>(b, least, guess, to);
    case 7: return loop_over_errors<7>(b, least, guess, to);
    default: return loop_over_errors<0>(b, least, guess, to);
  }
}

// The same with one more try, by what the first has found. Terms that two grids cannot hold are left.
inline Found total_errors(unsigned wanted, const Block& b, double least, Guess& guess, const ErrorTallies& to) {
  constexpr std::uint64_t kSlack = std::uint64_t{2} << 52;  // 2 bits
  Found found = run_errors(wanted, b, least, guess, to);
  const Guess next{found.errors.most + kSlack, found.some_relative.most + kSlack};
  const unsigned again = fitting(next, wanted & ~found.totalled, found);
  if (again == 0) return found;
  guess = next;
  found.totalled |= run_errors(again, b, least, guess, to).totalled;
  return found;
}

}  // namespace tallymark::detail
