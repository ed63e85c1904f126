#include "tests/support/random_sk.h"

namespace skdsl::test {
namespace {

constexpr const char* kPlain[] = {"x",   "y",           "h", "attn", "norm_in", "q_a",
                                  "w13", "hidden_size", "T", "_",    "layers",  "_tmp9"};
constexpr const char* kSoft[] = {
    "max",    "from",          "after",           "stream", "event", "record", "wait",     "tap",   "by",
    "op",     "model",         "config",          "none",   "draft", "cores",  "prefetch", "gears", "dump",
    "unused", "uninitialized", "default_weights", "replace"};
constexpr const char* kAfterDot[] = {"out", "decode", "prefill", "forward", "item", "o_proj",
                                     "for", "state",  "layer",   "kv_len",  "max",  "in"};
constexpr const char* kDtypes[] = {"act", "f32", "bf16", "i32", "out"};
constexpr const char* kSkOptions[] = {"stream-fusion",  "split-mode", "early-start",
                                      "debug-dcci-all", "from-state", "strict"};
constexpr const char* kStreamOptions[] = {"priority"};
constexpr const char* kCoreOptions[] = {"aic", "aiv"};

}  // namespace

std::string RandomSk::plain_name() { return pick(kPlain); }
std::string RandomSk::name() { return chance(80) ? pick(kPlain) : pick(kSoft); }

std::string RandomSk::number() {
  switch (below(6)) {
    case 0:
      return std::to_string(below(10));
    case 1:
      return std::to_string(1 + below(1000)) + "_000";
    case 2:
      return "0x1F";
    case 3:
      return std::to_string(below(100)) + "." + std::to_string(below(1000));
    case 4:
      return std::to_string(1 + below(9)) + "e-" + std::to_string(below(9));
    default:
      return std::to_string(below(100000));
  }
}

std::string RandomSk::string_literal(int depth) {
  std::string out = "\"";
  for (int i = below(4); i > 0; --i) {
    switch (below(7)) {
      case 0:
        out += "scope_";
        break;
      case 1:
        out += "\\n\\\"\\\\";
        break;
      case 2:
        out += "{{}}";
        break;
      case 3:
        out += "experts.ü.";
        break;
      case 4:
        out += "// no comment";
        break;
      case 5:
        out += "{" + plain_name() + "}";
        break;
      default:
        // No string stands inside an interpolation.
        out += depth > 0 ? "{" + plain_name() + " + " + std::to_string(below(9)) + " * (k - 1)}" : "<x>";
    }
  }
  return out + "\"";
}

std::string RandomSk::gap() { return chance(70) ? " " : chance(50) ? "" : "  "; }

std::string RandomSk::bracket_gap() {
  if (one_line_ || chance(92)) return gap();
  return " " + comment() + "\n" + std::string(static_cast<size_t>(below(8)), ' ');
}

std::string RandomSk::comment() {
  if (chance(40)) return "";
  return "// note " + std::to_string(comments_++) + (chance(20) ? "  " : "");
}

std::string RandomSk::list(int depth, int most, bool named) {
  std::string out = bracket_gap();
  const int n = below(most + 1);
  for (int i = 0; i < n; ++i) {
    if (i > 0) out += "," + bracket_gap();
    if (named && chance(40)) out += (chance(15) ? std::string("in") : name()) + " = ";
    out += expression(depth - 1);
  }
  if (n > 0 && named && chance(10)) out += ",";
  return out + bracket_gap();
}

std::string RandomSk::index_item(int depth) {
  switch (below(5)) {
    case 0:
      return ":";
    case 1:
      return expression(depth - 1) + ".." + expression(depth - 1);
    case 2:
      return ".." + expression(depth - 1);
    case 3:
      return expression(depth - 1) + "..";
    default:
      return expression(depth - 1);
  }
}

std::string RandomSk::term(int depth) {
  std::string out;
  const int form = depth <= 0 ? below(4) : below(8);
  switch (form) {
    case 0:
      out = number();
      break;
    case 1:
      out = chance(50) ? "true" : "false";
      break;
    case 2:
      out = string_literal(depth);
      break;
    case 5:
      out = "(" + bracket_gap() + expression(depth - 1) + bracket_gap() + ")";
      break;
    case 6:
      out = "[" + list(depth, 4, false) + "]";
      break;
    case 7:
      out = "[" + expression(depth - 1) + " for " + name() + " in 0.." + expression(depth - 1) + "]";
      break;
    default:
      out = name();
  }
  if (form < 3) return out;
  for (int i = below(3); i > 0 && depth > 0; --i) {
    switch (below(3)) {
      case 0:
        out += "." + pick(kAfterDot);
        break;
      case 1:
        out += "(" + list(depth, 3, true) + ")";
        break;
      default:
        out += "[" + index_item(depth);
        while (chance(40)) out += ", " + index_item(depth);
        out += "]";
    }
  }
  return out;
}

std::string RandomSk::power(int depth) {
  std::string out;
  while (chance(8)) out += "-";
  out += term(depth);
  if (chance(5)) out += " ** " + power(depth - 1);
  return out;
}
std::string RandomSk::product(int depth) {
  static constexpr const char* kOps[] = {"*", "/", "%"};
  std::string out = power(depth);
  while (depth > 0 && chance(15))
    out += gap() + pick(kOps) + (one_line_ || chance(95) ? " " : "\n  ") + power(depth - 1);
  return out;
}
std::string RandomSk::sum(int depth) {
  std::string out = product(depth);
  while (depth > 0 && chance(15)) out += (chance(50) ? " + " : " - ") + product(depth - 1);
  return out;
}
std::string RandomSk::comparison(int depth) {
  static constexpr const char* kOps[] = {"==", "!=", "<", "<=", ">", ">="};
  std::string out = sum(depth);
  if (depth > 0 && chance(10)) out += " " + pick(kOps) + " " + sum(depth - 1);
  return out;
}
std::string RandomSk::logic(int depth) {
  std::string out;
  while (depth > 0 && chance(5)) out += "not ";
  out += comparison(depth);
  if (depth > 0 && chance(10)) out += (chance(50) ? " and " : " or ") + logic(depth - 1);
  return out;
}
std::string RandomSk::expression(int depth) {
  if (depth > 0 && chance(6)) {
    return "if " + logic(depth - 1) + " then " + expression(depth - 1) + " else " + expression(depth - 1);
  }
  return logic(depth);
}

std::string RandomSk::type(int depth) {
  switch (below(6)) {
    case 0:
      return pick(kDtypes);
    case 1:
      return "list[" + std::string(chance(50) ? "int" : "act[B, 4]") + "]";
    case 2:
      if (depth > 1) return "(" + type(0) + ", " + type(depth - 1) + ")";
      [[fallthrough]];
    default: {
      std::string out = (chance(80) ? pick(kDtypes) : std::string()) + "[";
      for (int i = 0, n = below(4); i < n; ++i) out += (i > 0 ? ", " : "") + sum(depth > 1 ? 1 : 0);
      return out + "]";
    }
  }
}

std::string RandomSk::params(int depth) {
  std::string out = "(" + bracket_gap();
  const int n = below(4);
  for (int i = 0; i < n; ++i) {
    if (i > 0) out += "," + bracket_gap();
    out += name() + ":" + gap() + type(depth);
    if (chance(20)) out += " = " + expression(1);
  }
  return out + (n > 0 && chance(10) ? ",)" : ")");
}
std::string RandomSk::result(int depth) { return chance(70) ? " -> " + type(depth) : ""; }

std::string RandomSk::guard(int depth, bool before_super_kernel) {
  if (chance(60)) return "";
  return " when " + (before_super_kernel ? plain_name() + " and (" + logic(depth) + ")" : logic(1));
}

std::string RandomSk::options(const char* const* names, int count) {
  std::string out = "(";
  for (int i = 0, n = 1 + below(2); i < n; ++i) {
    out += (i > 0 ? ", " : "") + std::string(names[below(count)]) + " = " + expression(1);
  }
  return out + ")";
}

std::string RandomSk::path() {
  std::string out = plain_name();
  while (chance(50)) out += chance(50) ? "." + plain_name() : "[" + std::to_string(below(3)) + "]";
  return out;
}

std::string RandomSk::line_end() {
  std::string out = gap() + comment() + "\n";
  while (chance(15)) out += "\n";
  while (chance(10))
    out += std::string(static_cast<size_t>(below(6)), ' ') +
           (chance(30) ? "#! allow(SK418): note" : comment()) + "\n";
  while (chance(5)) out += "\n";
  return out + std::string(static_cast<size_t>(below(4)), ' ');
}

std::string RandomSk::separator(bool one_line) {
  if (one_line || chance(20)) return chance(50) ? "; " : ";";
  return line_end();
}

template <class Make>
std::string RandomSk::block(const char* open, const char* close, int depth, Make make) {
  const bool was = one_line_;
  one_line_ = one_line_ || chance(25);
  const bool one_line = one_line_;
  std::string out = open;
  out += one_line ? " " : line_end();
  const int n = depth <= 0 ? 0 : below(5);
  for (int i = 0; i < n; ++i) {
    if (i > 0) out += separator(one_line);
    out += make(depth - 1);
  }
  if (n > 0 && chance(10)) out += ";";
  out += one_line ? " " : line_end();
  one_line_ = was;
  return out + close;
}

std::string RandomSk::statement(int depth) {
  switch (below(depth > 0 ? 22 : 12)) {
    case 0:
      return "let " + name() + " = " + expression(2) + (chance(30) ? ", z = " + expression(1) : "");
    case 1:
      return "return" + (chance(80) ? " " + expression(2) + (chance(30) ? ", " + expression(1) : "") : "");
    case 2:
      return (chance(50) ? "scope_begin " : "scope_end ") + string_literal(1);
    case 3:
      return "prefetch " + path() + " after " + path() +
             (chance(50) ? " max " + std::to_string(below(40)) + "MiB" : "") + guard(1, false);
    case 4:
      return (chance(30) ? "event " : chance(50) ? "record " : "wait ") + plain_name();
    case 5:
      return "gears [2, 4, " + std::to_string(below(99)) + "]";
    case 6:
      return (chance(50) ? "dump " : "tap ") + plain_name();
    case 7:
      return plain_name() + ", " + plain_name() + " = " + expression(2) +
             (chance(50) ? ", " + expression(1) : "");
    case 8:
      return plain_name() + (chance(50) ? "[" + index_item(1) + "]" : ".out") + " = " + expression(2);
    case 9:
      return plain_name() + "(" + list(2, 3, true) + ")";
    case 10:
    case 11:
      return plain_name() + gap() + "=" + (one_line_ || chance(90) ? gap() : "\n    ") + expression(3);
    case 12:
      return "for " + name() + " in " + sum(1) + ".." + sum(1) + " " + statements(depth);
    case 13:
      return "while " + logic(1) + " " + statements(depth);
    case 14:
    case 15: {
      std::string out = "if " + logic(1) + " " + statements(depth);
      while (chance(30))
        out += (one_line_ || chance(80) ? " else if " : line_end() + "else if ") + logic(1) + " " +
               statements(depth);
      if (chance(40)) out += " else " + statements(depth);
      return out;
    }
    case 16:
      return "stream " + string_literal(1) + (chance(30) ? " " + options(kStreamOptions, 1) : "") +
             guard(1, false) + " " + statements(depth);
    case 17:
      return "cores" + options(kCoreOptions, 2) + guard(1, false) + " " + statements(depth);
    default:
      return "superkernel " + (chance(80) ? string_literal(1) : std::string("none")) +
             (chance(30) ? " " + options(kSkOptions, 6) : "") + guard(2, true) +
             block(" <", ">", depth, [this](int d) { return statement(d); });
  }
}

std::string RandomSk::member(int depth) {
  const auto from = [&] {
    std::string out = " from " + (chance(60)   ? string_literal(1)
                                  : chance(50) ? "[\"a\", \"b{e}\"]"
                                               : "(" + expression(1) + ")");
    while (chance(20)) out += " for e in 0.." + sum(1);
    return out;
  };
  switch (below(11)) {
    case 0:
      return "weight " + name() + ": " + type(1) + (chance(80) ? from() : "") + guard(1, false);
    case 1:
      return "const " + name() + (chance(50) ? ": " + type(1) : "") + (chance(30) ? ", c2" : "") + " = " +
             expression(2);
    case 2:
      return "state " + name() + ": " + type(1) + (chance(40) ? " uninitialized" : "");
    case 3:
      return "let N = " + expression(1);
    case 4:
      return "default_weights \"some-folder\"";
    case 5:
      return "unused \"model.mtp.*\"";
    case 6:
      return "fn " + name() + params(1) + result(2) + " " + statements(depth);
    case 7:
    case 8:
      return std::string(chance(30)   ? "prefill"
                         : chance(50) ? "decode"
                                      : "forward") +
             params(1) + result(2) + " " + statements(depth);
    default:
      return name() + " = " + (chance(70) ? "Mla(" + list(1, 3, true) + ")" : expression(2)) +
             (chance(50) ? from() : "") + guard(1, false);
  }
}

std::string RandomSk::config_item(int depth) {
  switch (below(depth > 0 ? 4 : 3)) {
    case 0:
      return "require " + logic(2) + (chance(70) ? ", \"why not\"" : "");
    case 3:
      return name() + " " + block("{", "}", depth, [this](int d) { return config_item(d); });
    default:
      return name() + ": " + pick(kDtypes) + (chance(80) ? " = " + expression(2) : "");
  }
}

std::string RandomSk::item() {
  const auto members = [&] { return block("{", "}", 3, [this](int d) { return member(d); }); };
  switch (below(12)) {
    case 0:
      return "import \"std/attention.sk\"";
    case 1:
      return "config " + block("{", "}", 2, [this](int d) { return config_item(d); });
    case 2:
      return "fn " + name() + params(2) + result(2) + " " + statements(3);
    case 3:
    case 4:
      return "layer " + name() + params(2) + " " + members();
    case 5:
      return "model " + plain_name() + " " + members();
    case 6:
      return "draft " + plain_name() + " " + members();
    case 7:
      return "extern op " + name() + params(1) + result(1);
    case 8:
      return "replace " + plain_name() + params(1) + " " + statements(2) + " by " + statements(2);
    default:
      return statement(3);
  }
}

std::string RandomSk::program(int items) {
  std::string out = chance(30) ? line_end() : "";
  for (int i = 0; i < items; ++i) {
    if (i > 0) out += separator(false);
    out += item();
  }
  return out + (chance(80) ? line_end() : "");
}

}  // namespace skdsl::test
