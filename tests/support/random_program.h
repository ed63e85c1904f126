// random_program — well-formed programs from a seed
//
// A decode phase over rows of a symbolic size with layers it calls, weights, a const, states, contexts, host
// numbers, `if` and `while`. The same seed and options give the same program on every machine.
#pragma once
#include <cstdint>

#include "runtime/plan/plan.h"

namespace skdsl::testing {

struct RandomProgramOptions {
  size_t ops = 40;         // about as many in the body of the phase
  bool eager_only = true;  // also what no graph can hold: item, nonzero, print, tensor-valued control flow
  size_t streams = 3;      // beside the main one
  bool explicit_events = true;
};

/// Functions: "M.decode" (a decode phase), its layers "layers.N", and "table" (a const). Symbols: T (rows), N
/// (a host integer), and fresh ones. Parameters of the phase: x f32[T, 8], ids i32[T] in 0..8, slots i32[T]
/// in -1..16, n int(N).
plan::Program random_program(uint64_t seed, const RandomProgramOptions& options = {});

/// splitmix64: a small generator that is the same everywhere.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t next() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  size_t below(size_t n) { return n == 0 ? 0 : static_cast<size_t>(next() % n); }
  bool chance(int percent) { return below(100) < static_cast<size_t>(percent); }

 private:
  uint64_t state_;
};

/// How often a random test repeats: `usual`, or `full` when SKDSL_SOAK is 1.
size_t repeats(size_t usual, size_t full);

}  // namespace skdsl::testing
