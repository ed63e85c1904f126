#include "runtime/model/sampling.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "stdlib/kernels/math.h"

namespace skdsl::model {

namespace {

/// A token that may be drawn.
struct Candidate {
  float logit;
  int32_t id;
  bool operator<(const Candidate& other) const {  // the more likely one first
    return logit != other.logit ? logit > other.logit : id < other.id;
  }
};

tl::unexpected<Error> usage(std::string message, std::string help) {
  return tl::unexpected(Error{ErrorKind::Usage, std::move(message), {std::move(help)}});
}

}  // namespace

Expected<void> check(const Sampling& s) {
  if (!(s.temperature >= 0) || std::isinf(s.temperature))
    return usage(fmt::format("--temperature is {}; it must be a number of at least 0", s.temperature),
                 "help: 0 is greedy, 1 draws from the model's own distribution");
  if (s.top_k && *s.top_k < 1)
    return usage(fmt::format("--top-k is {}; it must be at least 1", *s.top_k),
                 "help: leave it out to draw from all tokens");
  if (s.top_p && !(*s.top_p > 0 && *s.top_p <= 1))
    return usage(fmt::format("--top-p is {}; it must be above 0 and at most 1", *s.top_p),
                 "help: leave it out to draw from all tokens");
  if (s.seed < 0)
    return usage(fmt::format("--seed is {}; it must be at least 0", s.seed),
                 "help: any other integer will do");
  if (s.greedy() && (s.top_k || s.top_p))
    return usage(
        fmt::format("--top-{} without --temperature: greedy decoding draws nothing", s.top_k ? "k" : "p"),
        "help: add --temperature 1");
  return {};
}

std::array<uint32_t, 4> philox4x32(std::array<uint32_t, 4> c, std::array<uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const uint64_t a = uint64_t{0xD2511F53} * c[0];
    const uint64_t b = uint64_t{0xCD9E8D57} * c[2];
    c = {static_cast<uint32_t>(b >> 32) ^ c[1] ^ key[0], static_cast<uint32_t>(b),
         static_cast<uint32_t>(a >> 32) ^ c[3] ^ key[1], static_cast<uint32_t>(a)};
    key[0] += 0x9E3779B9;
    key[1] += 0xBB67AE85;
  }
  return c;
}

double uniform(int64_t seed, uint64_t request, uint64_t token) {
  const auto low = [](uint64_t x) { return static_cast<uint32_t>(x); };
  const auto high = [](uint64_t x) { return static_cast<uint32_t>(x >> 32); };
  const auto bits = philox4x32({low(token), high(token), low(request), high(request)},
                               {low(static_cast<uint64_t>(seed)), high(static_cast<uint64_t>(seed))});
  return static_cast<double>((uint64_t{bits[1]} << 32 | bits[0]) >> 11) * 0x1p-53;
}

std::optional<int32_t> largest(std::span<const float> logits) {
  std::optional<int32_t> best;
  for (size_t i = 0; i < logits.size(); ++i)
    if (!std::isnan(logits[i]) && (!best || logits[i] > logits[static_cast<size_t>(*best)]))
      best = static_cast<int32_t>(i);
  return best;
}

std::optional<int32_t> sample(std::span<const float> logits, const Sampling& s, double uniform) {
  const auto best = largest(logits);
  if (!best || s.greedy()) return best;
  const float top = logits[static_cast<size_t>(*best)];
  std::vector<Candidate> kept;
  for (size_t i = 0; i < logits.size(); ++i)
    if (!std::isnan(logits[i])) kept.push_back({logits[i], static_cast<int32_t>(i)});
  if (s.top_k && *s.top_k < static_cast<int64_t>(kept.size())) {
    std::nth_element(kept.begin(), kept.begin() + *s.top_k, kept.end());
    kept.resize(static_cast<size_t>(*s.top_k));
  }
  std::sort(kept.begin(), kept.end());

  // Sums run from the most likely token to the least.
  const double scale = 1.0 / s.temperature;
  std::vector<double> up_to(kept.size());  // the mass of a token and all before it
  double sum = 0;
  for (size_t i = 0; i < kept.size(); ++i) {
    // The largest is subtracted first so that nothing overflows, however small the temperature.
    const double distance = kept[i].logit == top ? 0.0 : (static_cast<double>(kept[i].logit) - top) * scale;
    sum += kernels::math::exp(static_cast<float>(std::max(distance, -200.0)));
    up_to[i] = sum;
  }
  if (s.top_p) {
    // A token stays while those before it have less than p: the one that reaches p is the last.
    size_t n = 1;
    while (n < kept.size() && up_to[n - 1] < *s.top_p * sum) ++n;
    kept.resize(n);
    sum = up_to[n - 1];
  }
  const double target = uniform * sum;
  size_t i = 0;
  while (i + 1 < kept.size() && up_to[i] <= target && up_to[i] < sum) ++i;  // never a token without mass
  return kept[i].id;
}

}  // namespace skdsl::model
