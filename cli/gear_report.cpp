#include "cli/gear_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <map>

namespace skdsl::cli {

namespace {

constexpr size_t kMostRowsShown = 40;

int64_t round_up(int64_t n, int64_t multiple) { return (n + multiple - 1) / multiple * multiple; }

/// The `count` sizes with the least padding for the rows: cost[g][i] is the least for the first i sizes with
/// g gears.
std::vector<int64_t> best_gears(const std::vector<GearRow>& rows, size_t count, int64_t multiple,
                                int64_t largest) {
  std::vector<int64_t> sizes, times;  // by size; running sum of how often
  for (const GearRow& r : rows) {
    if (!r.gear) continue;
    const int64_t size = round_up(r.batch, multiple);
    if (sizes.empty() || sizes.back() != size) {
      sizes.push_back(size);
      times.push_back(times.empty() ? 0 : times.back());
    }
    times.back() += r.times;
  }
  if (sizes.empty() || sizes.back() != largest) {
    sizes.push_back(largest);
    times.push_back(times.empty() ? 0 : times.back());
  }
  const size_t n = sizes.size();
  if (n > kMostBatchSizes) return {};
  constexpr int64_t kNever = std::numeric_limits<int64_t>::max() / 4;
  std::vector<std::vector<int64_t>> cost(count + 1, std::vector<int64_t>(n + 1, kNever));
  std::vector<std::vector<size_t>> from(count + 1, std::vector<size_t>(n + 1, 0));
  cost[0][0] = 0;
  for (size_t g = 1; g <= count; ++g)
    for (size_t i = 1; i <= n; ++i)
      for (size_t j = 0; j < i; ++j) {
        // Sizes j+1 .. i run as size i; what they compute in all, padding included, is what counts.
        const int64_t here = cost[g - 1][j] + sizes[i - 1] * (times[i - 1] - (j == 0 ? 0 : times[j - 1]));
        if (cost[g - 1][j] < kNever && here < cost[g][i]) cost[g][i] = here, from[g][i] = j;
      }
  size_t g = 1;
  for (size_t k = 2; k <= count; ++k)
    if (cost[k][n] < cost[g][n]) g = k;
  std::vector<int64_t> out;
  for (size_t i = n; i > 0; i = from[g][i], --g) out.push_back(sizes[i - 1]);
  std::reverse(out.begin(), out.end());
  return out;
}

std::optional<int64_t> fitting(const std::vector<int64_t>& gears, int64_t batch) {
  const auto it = std::lower_bound(gears.begin(), gears.end(), batch);
  return it == gears.end() ? std::nullopt : std::optional(*it);
}

std::string share(int64_t part, int64_t all) {
  return fmt::format("{:.1f} %",
                     all == 0 ? 0.0 : 100.0 * static_cast<double>(part) / static_cast<double>(all));
}

}  // namespace

GearReport gear_report(std::vector<int64_t> written, int64_t multiple, std::vector<int64_t> batches) {
  GearReport out;
  out.written = written;
  out.multiple = std::max<int64_t>(1, multiple);
  for (int64_t& n : written) n = round_up(n, out.multiple);
  std::sort(written.begin(), written.end());
  written.erase(std::unique(written.begin(), written.end()), written.end());
  out.gears = std::move(written);
  if (out.gears.empty()) return out;
  if (batches.empty())
    for (int64_t n = 1; n <= out.gears.back(); ++n) batches.push_back(n);
  std::map<int64_t, int64_t> times;
  for (const int64_t n : batches) ++times[n];
  for (const auto& [batch, count] : times) out.rows.push_back({batch, count, fitting(out.gears, batch)});
  for (const GearRow& r : out.rows)
    if (r.gear) out.padding += r.padding() * r.times, out.padded_rows += *r.gear * r.times;
  const std::vector<int64_t> best = best_gears(out.rows, out.gears.size(), out.multiple, out.gears.back());
  for (const GearRow& r : out.rows)
    if (const auto gear = fitting(best, r.batch); gear && r.gear)
      out.better_padding += (*gear - r.batch) * r.times, out.better_rows += *gear * r.times;
  if (!best.empty() && out.better_padding < out.padding) out.better = best;
  return out;
}

std::string text(const GearReport& r) {
  std::string out = fmt::format("gears [{}]", fmt::join(r.written, ", "));
  if (r.gears != r.written)
    out += fmt::format(" run as [{}]{}", fmt::join(r.gears, ", "),
                       r.multiple > 1 ? fmt::format(", multiples of attn_tp_size {}", r.multiple) : "");
  if (r.gears.empty()) return out + "\n";
  out += fmt::format("; at most {} requests in a step\n", r.gears.back());
  out += "  batch   times    gear  padding rows\n";
  size_t shown = 0;
  for (const GearRow& row : r.rows) {
    if (++shown > kMostRowsShown) continue;
    if (row.gear)
      out += fmt::format("  {:>5}  {:>6}  {:>6}  {} of {} ({})\n", row.batch, row.times, *row.gear,
                         row.padding(), *row.gear, share(row.padding(), *row.gear));
    else
      out += fmt::format("  {:>5}  {:>6}       -  larger than every gear: the interpreter serves it\n",
                         row.batch, row.times);
  }
  if (shown > kMostRowsShown)
    out += fmt::format("  … {} more sizes; --json has all\n", shown - kMostRowsShown);
  out += fmt::format("  in all {} of {} rows are padding ({})\n", r.padding, r.padded_rows,
                     share(r.padding, r.padded_rows));
  if (!r.better.empty())
    out += fmt::format("  help: gears [{}] pad {} of {} rows ({})\n", fmt::join(r.better, ", "),
                       r.better_padding, r.better_rows, share(r.better_padding, r.better_rows));
  return out;
}

Json json(const GearReport& r) {
  const auto list = [](const std::vector<int64_t>& sizes) {
    Json out(Json::Array{});
    for (const int64_t n : sizes) out.push(n);
    return out;
  };
  Json rows(Json::Array{});
  for (const GearRow& row : r.rows)
    rows.push(Json::Object{{"batch", row.batch},
                           {"times", row.times},
                           {"gear", row.gear ? Json(*row.gear) : Json()},
                           {"padding", row.padding()}});
  return Json::Object{{"written", list(r.written)},
                      {"gears", list(r.gears)},
                      {"multiple_of", r.multiple},
                      {"batches", std::move(rows)},
                      {"padding_rows", r.padding},
                      {"rows", r.padded_rows},
                      {"better", r.better.empty() ? Json()
                                                  : Json(Json::Object{{"gears", list(r.better)},
                                                                      {"padding_rows", r.better_padding},
                                                                      {"rows", r.better_rows}})}};
}

}  // namespace skdsl::cli
