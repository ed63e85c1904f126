// print — the one layout of a tree
//
// Blocks are walked by recursion: they nest at most as deep as brackets may.

#include "compiler/ast/ast.h"
#include "compiler/ast/layout.h"
#include "compiler/ast/words.h"
#include "runtime/base/assert.h"

namespace skdsl::ast {
namespace {
std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\t':
        out += "\\t";
        break;
      case '\r':
        out += "\\r";
        break;
      case '{':
        out += "{{";
        break;
      case '}':
        out += "}}";
        break;
      default:
        out += c;
    }
  }
  return out + '"';
}

class Printer {
 public:
  explicit Printer(const Ast& ast) : ast_(ast) {}

  std::string run() {
    items(ast_.children(ast_.root), 0);
    if (const Comments* c = ast_.find_comments(ast_.root)) {
      const bool any = !out_.empty();
      for (size_t i = 0; i < c->inner.size(); ++i) {
        if (any || i > 0 || !c->inner[i].empty()) line(c->inner[i], 0);
      }
    }
    return std::move(out_);
  }

 private:
  void line(std::string_view text, size_t indent) {
    if (!text.empty()) out_.append(indent, ' ').append(text);
    out_ += '\n';
  }

  void items(std::span<const NodeId> ids, size_t indent) {
    bool first = true;
    for (const NodeId id : ids) {
      const Comments* const c = ast_.find_comments(id);
      if (c != nullptr) {
        if (c->blank_before && !first) out_ += '\n';
        for (const std::string& comment : c->leading) line(comment, indent);
      }
      first = false;
      item(id, indent);
      if (c != nullptr && !c->trailing.empty()) out_.append("  ").append(c->trailing);
      out_ += '\n';
    }
  }

  void put(Words& words, size_t indent) { lay_out(words.take(), indent, out_); }

  /// The content of a block and its closing bracket; the opening one ends the line at hand.
  void body(NodeId owner, std::span<const NodeId> ids, size_t indent, std::string_view close) {
    const Comments* const c = ast_.find_comments(owner);
    const bool bare = ids.empty() && (c == nullptr || (c->opening.empty() && c->inner.empty()));
    if (bare && close == "}") {
      out_ += close;
      return;
    }
    if (c != nullptr && !c->opening.empty()) out_.append("  ").append(c->opening);
    out_ += '\n';
    items(ids, indent + 2);
    if (c != nullptr) {
      for (size_t i = 0; i < c->inner.size(); ++i) {
        if (!c->inner[i].empty() || i > 0 || !ids.empty()) line(c->inner[i], indent + 2);
      }
    }
    out_.append(indent, ' ').append(close);
  }
  void block(NodeId id, size_t indent, std::string_view close = "}") {
    body(id, ast_.children(id), indent, close);
  }

  void head(Words& w, NodeId params, NodeId result) {
    w.node(params).space();
    if (result != 0) w.word("->").node(result).space();
  }

  void when(Words& w, NodeId guard) {
    if (guard != 0) w.space().word("when").node(guard);
  }

  void item(NodeId id, size_t indent) {
    Words w(ast_);
    const auto child = [&](size_t i) { return ast_.child(id, i); };
    const std::string_view text = ast_.text(id);
    switch (ast_.kind(id)) {
      case Kind::Import:
        w.word("import").owned(quoted(text));
        break;
      case Kind::DefaultWeights:
        w.word("default_weights").owned(quoted(text));
        break;
      case Kind::Unused:
        w.word("unused").node(child(0));
        break;
      case Kind::Config:
        w.word("config").text("{");
        put(w, indent);
        return body(id, ast_.children(id), indent, "}");
      case Kind::ConfigGroup:
        w.word(text).text("{");
        put(w, indent);
        return body(id, ast_.children(id), indent, "}");
      case Kind::ConfigEntry:
        w.node(id);
        break;
      case Kind::Require:
        w.word("require").node(child(0));
        if (child(1) != 0) w.text(",", true, kListComma).node(child(1));
        break;
      case Kind::Fn:
      case Kind::PhaseDecl:
        if (ast_.kind(id) == Kind::Fn) w.word("fn");
        w.text(text);
        head(w, child(0), child(1));
        w.text("{");
        put(w, indent);
        return block(child(2), indent);
      case Kind::Layer:
        w.word("layer").text(text).node(child(0)).space().text("{");
        put(w, indent);
        return body(id, ast_.children(id).subspan(1), indent, "}");
      case Kind::Model:
      case Kind::Draft:
        w.word(ast_.kind(id) == Kind::Model ? "model" : "draft").word(text).text("{");
        put(w, indent);
        return body(id, ast_.children(id), indent, "}");
      case Kind::Extern:
        w.word("extern").word("op").text(text).node(child(0));
        if (child(1) != 0) w.space().word("->").node(child(1));
        break;
      case Kind::Replace: {
        w.word("replace").text(text).node(child(0)).space().text("{");
        put(w, indent);
        block(child(1), indent);
        out_ += " by {";
        return block(child(2), indent);
      }
      case Kind::Weight:
        w.word("weight").text(text).word(":").node(child(0));
        if (child(1) != 0) w.space().node(child(1));
        when(w, child(2));
        break;
      case Kind::Const: {
        const size_t n = ast_.children(id).size();
        w.word("const");
        for (size_t i = 0; i + 1 < n; ++i) {
          if (i > 0) w.text(",", true, kListComma);
          w.node(child(i));
        }
        w.space().word("=", kAssign).node(child(n - 1));
        break;
      }
      case Kind::State:
        w.word("state").text(text).word(":").node(child(0));
        if (ast_[id].flags != 0) w.space().text("uninitialized");
        break;
      case Kind::Instance:
        w.word(text).word("=", kAssign).node(child(0));
        if (child(1) != 0) w.space().node(child(1));
        when(w, child(2));
        break;
      case Kind::Assign:
        w.node(child(0)).space().word("=", kAssign).node(child(1));
        break;
      case Kind::Let:
        w.word("let");
        for (size_t i = 0; i < ast_.children(id).size(); ++i) {
          if (i > 0) w.text(",", true, kListComma);
          w.node(child(i));
        }
        break;
      case Kind::ExprStmt:
        w.node(child(0));
        break;
      case Kind::Return:
        w.text("return");
        if (child(0) != 0) w.space().node(child(0));
        break;
      case Kind::For:
        w.word("for").word(text).word("in").node(child(0)).space().text("{");
        put(w, indent);
        return block(child(1), indent);
      case Kind::While:
        w.word("while").node(child(0)).space().text("{");
        put(w, indent);
        return block(child(1), indent);
      case Kind::If:
        return if_chain(id, indent);
      case Kind::SuperKernel:
        w.word("superkernel");
        if (text == "none") w.text("none");
        if (child(0) != 0) w.node(child(0));
        options_and_guard(w, child(1), child(2));
        w.space().text("<");
        put(w, indent);
        return block(child(3), indent, ">");
      case Kind::Stream:
        w.word("stream").node(child(0));
        options_and_guard(w, child(1), child(2));
        w.space().text("{");
        put(w, indent);
        return block(child(3), indent);
      case Kind::Cores:
        w.text("cores").node(child(0));
        when(w, child(1));
        w.space().text("{");
        put(w, indent);
        return block(child(2), indent);
      case Kind::ScopeBegin:
        w.word("scope_begin").node(child(0));
        break;
      case Kind::ScopeEnd:
        w.word("scope_end").node(child(0));
        break;
      case Kind::Prefetch:
        w.word("prefetch").node(child(0)).space().word("after").node(child(1));
        if (child(2) != 0) w.space().word("max").node(child(2));
        when(w, child(3));
        break;
      case Kind::Event:
        w.word("event").text(text);
        break;
      case Kind::Record:
        w.word("record").node(child(0));
        break;
      case Kind::Wait:
        w.word("wait").node(child(0));
        break;
      case Kind::Gears:
        w.word("gears").node(child(0));
        break;
      case Kind::Dump:
        w.word(text).node(child(0));
        break;
      default:
        SK_ASSERT(false, "every statement and declaration has its line");
    }
    put(w, indent);
  }

  void options_and_guard(Words& w, NodeId options, NodeId guard) {
    if (!ast_.children(options).empty()) w.space().node(options);
    when(w, guard);
  }

  void if_chain(NodeId id, size_t indent) {
    bool first = true;
    for (;;) {
      Words w(ast_);
      w.word("if").node(ast_.child(id, 0)).space().text("{");
      if (first) {
        put(w, indent);
      } else {
        // The words after `} else ` are laid out as a line of their own and joined.
        std::string rest;
        lay_out(w.take(), indent, rest);
        out_.append(std::string_view(rest).substr(indent));
      }
      first = false;
      block(ast_.child(id, 1), indent);
      const NodeId rest = ast_.child(id, 2);
      if (rest == 0) return;
      out_ += " else ";
      if (ast_.kind(rest) != Kind::If) {
        out_ += '{';
        return block(rest, indent);
      }
      id = rest;
    }
  }

  const Ast& ast_;
  std::string out_;
};

}  // namespace

std::string print(const Ast& ast) { return Printer(ast).run(); }

}  // namespace skdsl::ast
