// diag — the table and the engine
#include "compiler/diag/diag.h"

#include <array>
#include <unordered_map>

namespace skdsl::diag {
namespace {

constexpr size_t kRules = static_cast<size_t>(Id::kCount);
constexpr std::array<Rule, kRules> kTable = {{
#define SK_DIAGNOSTIC(Name, id, name, severity, fix, category, message) \
  {id, name, Severity::severity, Applicability::fix, category, message},
#include "compiler/diag/diagnostics.def"
#undef SK_DIAGNOSTIC
}};

}  // namespace

std::string_view name(Severity severity) {
  switch (severity) {
    case Severity::Error:
      return "error";
    case Severity::Warning:
      return "warning";
    case Severity::Perf:
      return "perf";
    case Severity::Info:
      return "info";
  }
  return "error";
}

std::string_view name(Applicability applicability) {
  switch (applicability) {
    case Applicability::None:
      return "none";
    case Applicability::Safe:
      return "safe";
    case Applicability::Unsafe:
      return "unsafe";
  }
  return "none";
}

const Rule& rule(Id id) { return kTable[static_cast<size_t>(id)]; }

Id find(std::string_view id_or_name) {
  for (size_t i = 0; i < kRules; ++i) {
    if (kTable[i].id == id_or_name || kTable[i].name == id_or_name) return static_cast<Id>(i);
  }
  return Id::kCount;
}

Engine::Builder& Engine::Builder::note(Span span, std::string text) {
  if (index_ < engine_->all_.size()) engine_->all_[index_].notes.push_back({span, std::move(text)});
  return *this;
}

Engine::Builder& Engine::Builder::help(std::string text) {
  if (index_ < engine_->all_.size()) engine_->all_[index_].helps.push_back(std::move(text));
  return *this;
}

Engine::Builder& Engine::Builder::fix(Span span, std::string text) {
  if (index_ >= engine_->all_.size()) return *this;
  Diagnostic& d = engine_->all_[index_];
  d.fix.applicability = rule(d.id).fix == Applicability::Safe ? Applicability::Safe : Applicability::Unsafe;
  d.fix.edits.push_back({span, std::move(text)});
  return *this;
}

Engine::Builder& Engine::Builder::no_fix() {
  if (index_ < engine_->all_.size()) engine_->all_[index_].fix = {};
  return *this;
}

Engine::Builder& Engine::Builder::did_you_mean(Span span, std::string_view near, std::string written) {
  if (near.empty()) return *this;
  help(fmt::format("did you mean `{}`?", written.empty() ? near : std::string_view(written)));
  if (span) fix(span, written.empty() ? std::string(near) : std::move(written));
  return *this;
}

void Engine::forget_from(size_t index) {
  for (; all_.size() > index; all_.pop_back()) errors_ -= all_.back().severity == Severity::Error;
}

Engine::Builder Engine::add(Span span, Id id, std::string message) {
  constexpr size_t kNowhere = static_cast<size_t>(-1);
  if (quiet_ > 0) {
    dropped_ += rule(id).severity == Severity::Error;
    return {this, kNowhere};
  }
  if (!seen_.emplace(span.file, span.begin, span.end, static_cast<uint16_t>(id), message).second) {
    return {this, kNowhere};
  }
  Severity severity = rule(id).severity;
  if (strict && severity == Severity::Warning) severity = Severity::Error;
  if (severity == Severity::Error) ++errors_;
  per_id_.resize(kRules);
  if (++per_id_[static_cast<size_t>(id)] > kMaxPerId) {
    ++omitted_;
    return {this, kNowhere};
  }
  all_.push_back({id, severity, std::move(message), span, {}, {}, {}});
  return {this, all_.size() - 1};
}

}  // namespace skdsl::diag
