// diag — what is wrong with the user's program: stable ids, places, notes and a way out
//
// diagnostics.def is the one table of ids, severities and wordings. A diagnostic is reported once for each
// place.
#pragma once
#include <fmt/format.h>

#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "compiler/source/source.h"
#include "runtime/base/span.h"

namespace skdsl::diag {

enum class Severity : uint8_t { Error, Warning, Perf, Info };
std::string_view name(Severity severity);

/// How far an edit can be trusted: Safe keeps the meaning of what works already, Unsafe asks for a look
/// first.
enum class Applicability : uint8_t { None, Safe, Unsafe };
std::string_view name(Applicability applicability);

struct Rule {
  std::string_view id;    // "SK3004"
  std::string_view name;  // "shape-mismatch"
  Severity severity;
  Applicability fix;  // of the edits that its reports may carry
  std::string_view category;
  std::string_view message;  // fmt format with positional {}
};

enum class Id : uint16_t {
#define SK_DIAGNOSTIC(Name, id, name, severity, fix, category, message) Name,
#include "compiler/diag/diagnostics.def"
#undef SK_DIAGNOSTIC
  kCount
};
const Rule& rule(Id id);
/// The table row of "SK3004" or "shape-mismatch"; Id::kCount when there is none.
Id find(std::string_view id_or_name);

struct Note {
  Span span;  // may be empty
  std::string text;
};

/// Replaces the bytes of `span` by `text`; an empty span (begin == end) inserts.
struct Edit {
  Span span;
  std::string text;
};

/// The edits that together remove the cause of a report.
struct Fix {
  Applicability applicability = Applicability::None;
  std::vector<Edit> edits;
};

struct Diagnostic {
  Id id;
  Severity severity;
  std::string message;
  Span span;
  std::vector<Note> notes;
  std::vector<std::string> helps;
  Fix fix;
};

class Engine {
 public:
  explicit Engine(source::Sources& sources) : sources_(&sources) {}

  /// Handle for adding notes and helps to what was just reported; does nothing for a repeated report.
  class Builder {
   public:
    Builder& note(Span span, std::string text);
    Builder& note(std::string text) { return note({}, std::move(text)); }
    Builder& help(std::string text);
    /// The edit that removes the cause; a second one joins the first. As trustworthy as the rule's row says,
    /// where the row says None: Unsafe.
    Builder& fix(Span span, std::string text);
    /// Takes back the edits that it has.
    Builder& no_fix();
    /// The help "did you mean `near`?" and the edit for it; nothing when `near` is empty. `written` is what
    /// the edit writes, where that is not `near` itself.
    Builder& did_you_mean(Span span, std::string_view near, std::string written = {});

   private:
    friend class Engine;
    Builder(Engine* engine, size_t index) : engine_(engine), index_(index) {}
    Engine* engine_;
    size_t index_;
  };

  template <class... Args>
  Builder report(Span span, Id id, const Args&... args) {
    return add(span, id, fmt::format(fmt::runtime(rule(id).message), args...));
  }

  /// Reports beyond kMaxPerId of one id, which are counted and not kept.
  size_t omitted() const { return omitted_; }
  static constexpr size_t kMaxPerId = 200;

  /// While one lives, reports are dropped: for trying whether something would be right.
  class Quiet {
   public:
    explicit Quiet(Engine& engine) : engine_(engine) { ++engine_.quiet_; }
    ~Quiet() { --engine_.quiet_; }
    Quiet(const Quiet&) = delete;
    Quiet& operator=(const Quiet&) = delete;

   private:
    Engine& engine_;
  };
  bool quiet() const { return quiet_ > 0; }
  /// Errors that were dropped so far.
  size_t dropped() const { return dropped_; }
  /// The report number `index` of all(), to add to it.
  Builder at(size_t index) { return {this, index}; }

  /// Forgets the reports from number `index` on: they only followed from an earlier one.
  void forget_from(size_t index);

  bool has_errors() const { return errors_ > 0; }
  size_t errors() const { return errors_; }
  const std::vector<Diagnostic>& all() const { return all_; }
  source::Sources& sources() { return *sources_; }
  const source::Sources& sources() const { return *sources_; }

  /// Severity changes: warnings become errors under --strict.
  bool strict = false;

 private:
  Builder add(Span span, Id id, std::string message);
  source::Sources* sources_;
  std::vector<Diagnostic> all_;
  std::set<std::tuple<uint32_t, uint32_t, uint32_t, uint16_t, std::string>> seen_;
  std::vector<size_t> per_id_;
  size_t errors_ = 0;
  size_t omitted_ = 0;
  int quiet_ = 0;
  size_t dropped_ = 0;
};

/// As on the terminal: header, source excerpt with carets, notes, help.
std::string to_human(const Diagnostic& d, const source::Sources& sources, bool colour);
/// One JSON object as in docs/cli.md.
std::string to_json(const Diagnostic& d, const source::Sources& sources);

/// The nearest of `candidates` to `word` by edit distance (a third of its length at most), or "".
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

/// `text` as a JSON string with its quotes; bytes that are not UTF-8 become U+FFFD.
std::string json_string(std::string_view text);

}  // namespace skdsl::diag
