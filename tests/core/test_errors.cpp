// Tests of the loop that subtracts and totals errors on the way, built with the sanitizers.
#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "check.hpp"
#include "regression.hpp"

using namespace tallymark;
using namespace tallymark::detail;

namespace {

bool equal(ExactSum a, ExactSum b) {
  unsigned char first[ExactSum::kBytes], second[ExactSum::kBytes];
  const auto la = a.write(first), lb = b.write(second);
  return la.length == lb.length && la.skipped == lb.skipped && std::equal(first, first + la.length, second) &&
         a.above() == b.above() && a.below() == b.below() && a.undefined() == b.undefined();
}

// Rows of a block whose errors and truths span more or less, with zeros among them or not.
struct Rows {
  std::vector<double> y, p, e;

  Rows(std::size_t n, std::mt19937_64& random) : y(n), p(n), e(n) {
    std::normal_distribution<double> normal;
    const int centre = static_cast<int>(random() % 5) * 240 - 480, spans[] = {0, 3, 12, 40, 90};
    const int of_truth = spans[random() % 5], of_errors = spans[random() % 5];
    const std::size_t zeros = random() % 3 == 0 ? 2 + random() % 4 : 0;
    const auto scale = [&](int span) {
      return centre + (span == 0 ? 0 : static_cast<int>(random() % static_cast<unsigned>(span)));
    };
    for (std::size_t i = 0; i < n; ++i) {
      y[i] = zeros != 0 && random() % zeros == 0 ? 0.0 : std::ldexp(normal(random), scale(of_truth));
      p[i] = zeros != 0 && random() % zeros == 0 ? y[i] : y[i] + std::ldexp(normal(random), scale(of_errors));
    }
  }

  Block block() {
    Block b;
    b.n = y.size();
    b.y = y.data();
    b.p = p.data();
    b.e = e.data();
    return b;
  }
};

// Whatever is guessed, a term is totalled as if each were added alone, or not at all.
void totals_are_exact_or_left() {
  std::mt19937_64 random(11);
  const double least = 1e-15;
  int totalled[3] = {}, left[3] = {};
  for (unsigned wanted = 0; wanted < 8; ++wanted) {
    Guess guess;
    Tally tallies[3], alone[3];
    const ErrorTallies to{&tallies[0], &tallies[1], &tallies[2]};
    for (int round = 0; round < 400; ++round) {
      Rows rows(1 + random() % kBlock, random);
      const Found found = total_errors(wanted, rows.block(), least, guess, to);
      check((found.totalled & ~wanted) == 0, "nothing is totalled that nobody wants");
      Span span;
      for (std::size_t i = 0; i < rows.y.size(); ++i) {
        const double e = rows.p[i] - rows.y[i], size = std::fabs(e);
        check(bits(rows.e[i]) == bits(e), "errors are written");
        widen(span, bits(size));
        const double terms[] = {size, e * e, size / std::fmax(std::fabs(rows.y[i]), least)};
        for (unsigned k = 0; k < 3; ++k)
          if ((found.totalled >> k & 1U) != 0) alone[k].sum.add(terms[k]);
      }
      check(found.errors.least == span.least && found.errors.most == span.most, "their span is found");
      for (unsigned k = 0; k < 3; ++k) {
        if ((wanted >> k & 1U) == 0) continue;
        const bool done = (found.totalled >> k & 1U) != 0;
        ++(done ? totalled : left)[k];
        if (done && k < 2) note_largest(alone[k], span.most);
        check(equal(tallies[k].sum, alone[k].sum), "a total is that of single terms");
        check(tallies[k].highest == alone[k].highest, "and so is the largest error behind it");
      }
    }
  }
  for (unsigned k = 0; k < 3; ++k) check(totalled[k] > 400 && left[k] > 50, "both happen");
}

void bad_rows_are_left() {
  std::mt19937_64 random(12);
  for (const double bad : {std::nan(""), -std::nan(""), HUGE_VAL, -HUGE_VAL}) {
    Rows rows(100, random);
    rows.p[60] = bad;
    Guess guess;
    Tally tallies[3];
    const Found found = total_errors(7, rows.block(), 1e-15, guess, {&tallies[0], &tallies[1], &tallies[2]});
    check(found.totalled == 0 && found.errors.most >= kInfinity, "rows that are not finite show in the span");
    for (const Tally& t : tallies) check(t.sum.is_zero(), "and in no total");
  }
}

// After the first block of its like, a guess is right: a block is read once.
void guesses_settle() {
  std::mt19937_64 random(13);
  std::normal_distribution<double> normal;
  Guess guess;
  Tally tallies[3];
  const ErrorTallies to{&tallies[0], &tallies[1], &tallies[2]};
  int right = 0;
  for (int round = 0; round < 200; ++round) {
    Rows rows(kBlock, random);
    for (std::size_t i = 0; i < kBlock; ++i) {
      rows.y[i] = normal(random);
      rows.p[i] = rows.y[i] + normal(random);
    }
    Tally spare[3];
    right += run_errors(7, rows.block(), 1e-15, guess, {&spare[0], &spare[1], &spare[2]}).totalled == 7;
    check(total_errors(7, rows.block(), 1e-15, guess, to).totalled == 7, "ordinary rows are totalled");
  }
  check(right > 180, "most guesses are right");
}

}  // namespace

int main() {
  totals_are_exact_or_left();
  bad_rows_are_left();
  guesses_settle();
  return finish("errors");
}
