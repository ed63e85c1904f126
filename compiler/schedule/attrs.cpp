#include <algorithm>
#include <charconv>

#include "compiler/schedule/build.h"

namespace skdsl::schedule {

using namespace plan;

namespace {

template <class T>
T parsed(std::string_view text) {
  T x{};
  std::from_chars(text.data(), text.data() + text.size(), x);
  return x;
}

int64_t choice_index(std::string_view choices, std::string_view spelling) {
  for (int64_t i = 0;; ++i) {
    const size_t bar = choices.find('|');
    if (choices.substr(0, bar) == spelling || bar == std::string_view::npos) return i;
    choices.remove_prefix(bar + 1);
  }
}

std::optional<uint32_t> option(const Context& c, std::string_view key) {
  for (const auto& [name, text] : c.options)
    if (name == key)
      if (const auto n = parsed<uint32_t>(text); n > 0) return n;
  return {};
}

}  // namespace

std::optional<TaskAttr> evaluate_attr(const Param& param, const Attr& given, DType result) {
  TaskAttr out;
  out.type = param.attr;
  const Attr attr = std::holds_alternative<std::monostate>(given) ? default_attr(param) : given;
  const bool absent = std::holds_alternative<std::monostate>(attr);  // the rule decides
  const auto constant = [](const Dim& d) {
    return d.is_constant() ? std::optional(d.constant()) : std::nullopt;
  };
  switch (param.attr) {
    case AttrType::Int: {
      const auto n = absent ? std::nullopt : constant(std::get<Dim>(attr));
      if (!n) return {};
      out.i = *n;
      return out;
    }
    case AttrType::Float:
      out.f = absent ? 0 : std::get<double>(attr);
      return out;
    case AttrType::Bool:
      out.i = !absent && std::get<bool>(attr);
      return out;
    case AttrType::Str:
      out.text = absent ? "" : std::get<std::string>(attr);
      return out;
    case AttrType::DType: {
      DType t = absent ? result : std::get<DType>(attr);
      if (t == DType::Stored) t = result;
      out.i = abi_dtype(t);
      return out;
    }
    case AttrType::IntList:
      if (!absent)
        for (const Dim& d : std::get<std::vector<Dim>>(attr)) {
          const auto n = constant(d);
          if (!n) return {};
          out.list.push_back(*n);
        }
      return out;
    case AttrType::Choice:
      out.text = absent ? "" : std::get<std::string>(attr);
      out.i = choice_index(param.choices, out.text);
      return out;
  }
  return {};
}

superkernel::Platform cores_for(const Program& program, ContextId context, superkernel::Platform device) {
  for (ContextId c = context; c != kNone; c = program.contexts[c].parent)
    if (program.contexts[c].kind == Context::Kind::Cores)
      return {option(program.contexts[c], "aic").value_or(device.aic),
              option(program.contexts[c], "aiv").value_or(device.aiv)};
  return device;
}

uint32_t block_dim(const Program& program, const Task& task, int64_t elements) {
  constexpr int64_t kVectorTile = 1024, kCubeTile = 256;
  const auto [aic, aiv] = cores_for(program, task.context, {});
  uint32_t limit = 1;
  int64_t tile = kVectorTile;
  switch (task.core) {
    case Core::Aiv:
      limit = aiv;
      break;
    case Core::Aic:
    case Core::Mix11:
    case Core::Mix12: {
      const uint32_t vectors = task.core == Core::Mix12 ? 2 : task.core == Core::Mix11 ? 1 : 0;
      limit = vectors == 0 ? aic : std::min(aic, aiv / vectors);
      tile = kCubeTile;
      break;
    }
    case Core::None:
    case Core::AiCpu:
    case Core::Host:
      return 1;
  }
  const int64_t tiles = std::max<int64_t>(1, (elements + tile - 1) / tile);
  return static_cast<uint32_t>(std::max<int64_t>(1, std::min<int64_t>(limit, tiles)));
}

}  // namespace skdsl::schedule
