#include "compiler/superkernel/capture_scope.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace skdsl::superkernel {

namespace {

std::string spelled(const std::optional<std::string>& name) {
  return name ? fmt::format("`{}`", *name) : "None";
}

constexpr CaptureBreakRow kBreaks[] = {
#define SK_CAPTURE_BREAK(Name, word, reason) {word, reason},
#include "compiler/superkernel/capture_breaks.def"
};

}  // namespace

const CaptureBreakRow& row(CaptureBreak why) { return kBreaks[static_cast<size_t>(why)]; }

bool satisfies(MemoryFlag flag, uint64_t word, uint64_t value) {
  switch (flag) {
    case MemoryFlag::Geq:
      return static_cast<int64_t>(word - value) >= 0;  // a counter may wrap
    case MemoryFlag::Eq:
      return word == value;
    case MemoryFlag::And:
      return (word & value) != 0;
    case MemoryFlag::Nor:
      return ~(word | value) != 0;
  }
  return false;
}

Cores cores_of(plan::KernelType type, uint32_t block_dim) {
  if (plan::is_vector(type)) return {0, block_dim};
  if (plan::is_cube(type)) return {block_dim, 0};
  return {block_dim, type == plan::KernelType::MixAic12 ? 2 * block_dim : block_dim};
}

tl::expected<TaskScopes, OptionError> read_scopes(const std::vector<CaptureTask>& tasks) {
  TaskScopes out;
  out.open.resize(tasks.size());
  out.unfused.resize(tasks.size());
  struct Stream {
    std::map<uint32_t, uint32_t> open;  // name -> how often
    uint32_t unnamed = 0, beyond = 0;
    std::map<std::string, uint32_t> beyond_names;
  };
  std::map<uint32_t, Stream> streams;
  std::map<std::string, uint32_t, std::less<>> number;
  bool any_named = false;
  const auto open_set = [](const Stream& s) {
    std::vector<uint32_t> set;
    for (const auto& [n, times] : s.open) set.push_back(n);
    return set;
  };
  for (uint32_t i = 0; i < tasks.size(); ++i) {
    const CaptureTask& t = tasks[i];
    Stream& s = streams[t.stream];
    const bool begin = t.kind == CaptureTask::Kind::Begin, end = t.kind == CaptureTask::Kind::End;
    if ((begin || end) && t.scope) {
      if (t.scope->empty() || t.scope->size() > kMaxScopeNameBytes)
        return tl::unexpected(
            OptionError{"",
                        fmt::format("the name of a super-kernel scope has {} bytes, expected 1 to {}",
                                    t.scope->size(), kMaxScopeNameBytes),
                        "give the scope a shorter name, or none to keep its tasks apart", false});
      any_named |= begin;
    }
    if (begin && t.scope) {
      const auto found = number.find(*t.scope);
      if (found == number.end() && number.size() >= kMaxScopeNames) {
        ++s.beyond;
        if (s.beyond_names[*t.scope]++ == 0)
          out.warnings.push_back(
              fmt::format("scope `{}` is beyond the {} names that can be told apart; its tasks run alone",
                          *t.scope, kMaxScopeNames));
      } else {
        const uint32_t n = found != number.end() ? found->second : static_cast<uint32_t>(number.size());
        if (found == number.end()) {
          number.emplace(*t.scope, n);
          out.names.push_back(*t.scope);
        }
        ++s.open[n];
      }
    }
    // A marker of a scope without a name is itself outside of it.
    const bool end_unnamed = end && !t.scope;
    if (end_unnamed) {
      if (s.unnamed == 0)
        out.warnings.push_back(
            fmt::format("task {} ends a scope without a name, and none is open on stream {}", i, t.stream));
      else
        --s.unnamed;
    }
    out.open[i] = open_set(s);
    if (s.unnamed > 0)
      out.unfused[i] = CaptureReason::InUnfusibleScope;
    else if (s.beyond > 0)
      out.unfused[i] = CaptureReason::TooManyScopes;
    if (begin && !t.scope) ++s.unnamed;
    if (end && t.scope) {
      const auto found = number.find(*t.scope);
      if (found != number.end() && s.open.contains(found->second)) {
        if (--s.open[found->second] == 0) s.open.erase(found->second);
      } else if (const auto it = s.beyond_names.find(*t.scope);
                 it != s.beyond_names.end() && it->second > 0) {
        --it->second;
        --s.beyond;
      } else {
        out.warnings.push_back(
            fmt::format("task {} ends scope `{}`, which is not open on stream {}", i, *t.scope, t.stream));
      }
    }
  }
  for (const auto& [id, s] : streams) {
    for (const auto& [n, times] : s.open)
      out.warnings.push_back(fmt::format("scope `{}` is never ended on stream {}", out.names[n], id));
    if (s.unnamed > 0)
      out.warnings.push_back(fmt::format("a scope without a name is never ended on stream {}", id));
  }
  if (any_named)
    for (uint32_t i = 0; i < tasks.size(); ++i)
      if (out.open[i].empty() && !out.unfused[i]) out.unfused[i] = CaptureReason::NotInScope;
  return out;
}

std::string scope_text(const std::vector<uint32_t>& open, const std::vector<std::string>& names) {
  std::string out;
  for (const uint32_t n : open) out += (out.empty() ? "" : "_") + names[n];
  return out.empty() ? "none" : out;
}

ScopePairs check_scopes(const std::vector<ScopeCall>& calls) {
  ScopePairs out;
  std::vector<uint32_t> open;
  const auto trouble = [&](ScopeTrouble what, uint32_t at, std::string message) {
    out.trouble = what;
    out.at = at;
    out.message = std::move(message);
    return out;
  };
  for (uint32_t i = 0; i < calls.size(); ++i) {
    if (calls[i].begin) {
      open.push_back(i);
      continue;
    }
    if (open.empty())
      return trouble(
          ScopeTrouble::EndWithoutOpenBegin, i,
          fmt::format("super_kernel_scope_end of {} stands where no scope is open", spelled(calls[i].name)));
    const auto oldest =
        std::find_if(open.begin(), open.end(), [&](uint32_t b) { return calls[b].name == calls[i].name; });
    if (oldest == open.end())
      return trouble(ScopeTrouble::NoMatchingBegin, i,
                     fmt::format("super_kernel_scope_end of {} has no open begin of that name; {} is open",
                                 spelled(calls[i].name), spelled(calls[open.back()].name)));
    out.pairs.emplace_back(*oldest, i);
    open.erase(oldest);
  }
  if (!open.empty())
    return trouble(
        ScopeTrouble::BeginWithoutEnd, open.front(),
        fmt::format("super_kernel_scope_begin of {} is never ended", spelled(calls[open.front()].name)));
  return out;
}

ScopeAttributes scope_attributes(const std::vector<ScopeFrame>& frames) {
  ScopeAttributes out;
  for (const ScopeFrame& f : frames) {
    if (f.superkernel) {
      out.scope = f.scope.value_or("");
      out.options = f.scope ? f.options : "";
    }
    if (f.stream) out.stream = *f.stream;
  }
  return out;
}

}  // namespace skdsl::superkernel
