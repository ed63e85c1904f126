// svg — the picture of `skdsl explain --svg`: what a scope launches before and after fusion
#include <fmt/format.h>

#include <algorithm>

#include "compiler/superkernel/report.h"

namespace skdsl::superkernel {

using namespace plan;

namespace {

constexpr size_t kMaxScopes = 40;
constexpr int kBox = 14, kGap = 4, kRow = 64, kLeft = 220;

std::string escape(std::string_view s) {
  std::string out;
  for (const char c : s) switch (c) {
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '&':
        out += "&amp;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  return out;
}

std::string_view colour(const Task& t) {
  switch (t.core) {
    case Core::Aic:
      return "#3b6fb6";
    case Core::Aiv:
      return "#4f9d69";
    case Core::Mix11:
    case Core::Mix12:
      return "#8a5fb0";
    default:
      return "#777777";
  }
}

// One op of a scope in order, and the piece it went into.
struct Cell {
  uint32_t task = 0;
  int piece = -1;
};

std::vector<Cell> cells(const ScopeReport& s, const Schedule& schedule) {
  std::vector<Cell> out;
  for (size_t p = 0; p < s.pieces.size(); ++p)
    for (const SkKernel& k : schedule.superkernels[s.pieces[p]].kernels)
      out.push_back({k.task, static_cast<int>(p)});
  for (const FusionCut& c : s.unfused) out.push_back({c.task, -1});
  std::sort(out.begin(), out.end(), [](const Cell& a, const Cell& b) { return a.task < b.task; });
  return out;
}

}  // namespace

std::string svg(const Report& r, const Schedule& schedule, std::string_view scope, std::string_view title) {
  std::string body;
  int y = 86, width = 480;
  size_t shown = 0, left_out = 0;
  for (const ScopeReport& s : r.scopes) {
    if (!scope.empty() && s.name != scope) continue;
    if (shown == kMaxScopes) {
      ++left_out;
      continue;
    }
    ++shown;
    const auto row_of = cells(s, schedule);
    const int w = kLeft + static_cast<int>(row_of.size()) * (kBox + kGap) + 40;
    width = std::max(width, w);
    body += fmt::format(R"(<text x="10" y="{}" font-weight="bold">{}</text>)", y + 12, escape(s.name));
    body += fmt::format(R"(<text x="10" y="{}" fill="#666">{} ops → {} launches</text>)", y + 30, s.ops,
                        s.pieces.size() + s.unfused.size());
    int x = kLeft;
    for (size_t i = 0; i < row_of.size(); ++i) {
      const Task& t = schedule.tasks[row_of[i].task];
      const auto box = [&](int top, std::string_view extra) {
        body += fmt::format(
            R"(<rect x="{}" y="{}" width="{}" height="{}" rx="2" fill="{}"{}><title>{} {}</title></rect>)", x,
            top, kBox, kBox, colour(t), extra, info(t.code).name, escape(t.path));
      };
      box(y, "");
      const bool first = row_of[i].piece >= 0 && (i == 0 || row_of[i - 1].piece != row_of[i].piece);
      if (first) {
        size_t n = 1;
        while (i + n < row_of.size() && row_of[i + n].piece == row_of[i].piece) ++n;
        body += fmt::format(
            R"(<rect x="{}" y="{}" width="{}" height="{}" rx="4" fill="none" stroke="#222" stroke-width="1.5"/>)",
            x - 3, y + 21, static_cast<int>(n) * (kBox + kGap) - kGap + 6, kBox + 6);
      }
      box(y + 24, row_of[i].piece < 0 ? R"( stroke="#c0392b" stroke-width="3")" : "");
      x += kBox + kGap;
    }
    y += kRow;
  }
  if (left_out > 0) {
    body += fmt::format(R"(<text x="10" y="{}" fill="#666">and {} more scopes</text>)", y + 12, left_out);
    y += 24;
  }
  const std::string legend = fmt::format(
      R"(<text x="10" y="24" font-size="15" font-weight="bold">{}</text><text x="10" y="44" fill="#444">{}</text><text x="10" y="62" fill="#444">upper row: before, a launch for each box; lower row: after, a launch for each frame; red: not fused; blue cube, green vector, violet both</text>)",
      escape(title), escape(summary(r)));
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" "
      "font-family=\"sans-serif\" "
      "font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n{2}\n{3}\n</svg>\n",
      std::max(width, 900), y + 10, legend, body);
}

}  // namespace skdsl::superkernel
