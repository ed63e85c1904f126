// suggest — which name was meant
//
// A name in two spellings has its slip at the definition or at a use. Where the definition's spelling occurs
// nowhere else, it is the definition that stands alone, and one edit there serves all uses; otherwise the
// uses are edited.
#include <algorithm>

#include "compiler/sema/elaborator.h"

namespace skdsl::sema {

using ast::Kind;
using ast::NodeId;

namespace {

bool defines(Kind kind) {
  switch (kind) {
    case Kind::Param:
    case Kind::Binding:
    case Kind::ConfigEntry:
    case Kind::ConfigGroup:
    case Kind::Fn:
    case Kind::Layer:
    case Kind::Model:
    case Kind::Draft:
    case Kind::Extern:
    case Kind::Weight:
    case Kind::ConstName:
    case Kind::State:
    case Kind::Instance:
    case Kind::For:
    case Kind::ForClause:
    case Kind::Comprehension:
    case Kind::Event:
      return true;
    default:
      return false;
  }
}

/// Where a file has a name.
struct Sightings {
  std::vector<Span> definitions, uses;
};

Sightings sight(const ast::Ast& a, std::string_view name) {
  Sightings out;
  std::set<NodeId> targets;
  const auto target = [&](NodeId n) {
    if (a.kind(n) != Kind::Name) return;
    targets.insert(n);
    if (a.text(n) == name) out.definitions.push_back(a.span(n));
  };
  for (NodeId n = 1; n < a.size(); ++n) {
    if (a.kind(n) != Kind::Assign) continue;
    const NodeId left = a.child(n, 0);
    target(left);
    if (a.kind(left) == Kind::Tuple)
      for (const NodeId c : a.children(left)) target(c);
  }
  for (NodeId n = 1; n < a.size(); ++n) {
    if (a.text(n) != name) continue;
    if (defines(a.kind(n)))
      out.definitions.push_back(a.name_span(n));
    else if (a.kind(n) == Kind::Name ? !targets.contains(n)
                                     : a.kind(n) == Kind::Member || a.kind(n) == Kind::Arg ||
                                           a.kind(n) == Kind::TypeTensor || a.kind(n) == Kind::TypeName)
      out.uses.push_back(a.kind(n) == Kind::Name || a[n].name_span ? a.name_span(n) : Span{});
  }
  return out;
}

}  // namespace

uint32_t Elaborator::module_of(const ast::Ast& a) const {
  for (uint32_t i = 0; i < modules_.size(); ++i)
    if (&modules_[i].ast == &a) return i;
  return 0;
}

bool Elaborator::known_unknown(uint32_t module, std::string_view name) const {
  return told_names_.contains({module, std::string(name)});
}

void Elaborator::suggest(diag::Engine::Builder& r, uint32_t module, Span at, std::string_view written,
                         const std::string& near) {
  if (near.empty() || diags_.quiet()) return;
  const ast::Ast& a = modules_[module].ast;
  const Sightings of_near = sight(a, near);
  const Sightings of_written = sight(a, written);
  const bool several = of_written.uses.size() > 1 || !at || at.file != modules_[module].file;
  if (of_near.definitions.size() == 1 && of_near.uses.empty() && several) {
    const Span definition = of_near.definitions[0];
    r.help(fmt::format(
        "did you mean `{}`? Nothing uses that name, so the definition may be what is misspelled", near));
    r.note(definition, fmt::format("`{}` is defined here", near));
    r.fix(definition, std::string(written));
    told_names_.emplace(module, std::string(written));
    return;
  }
  r.help(fmt::format("did you mean `{}`?", near));
  if (!of_near.definitions.empty()) r.note(of_near.definitions[0], fmt::format("`{}` is defined here", near));
  if (!at) return;
  // A name that the file defines nowhere is unknown wherever it stands.
  const bool everywhere =
      of_written.definitions.empty() &&
      std::find(of_written.uses.begin(), of_written.uses.end(), at) != of_written.uses.end();
  if (!everywhere) {
    r.fix(at, near);
    return;
  }
  for (const Span& use : of_written.uses)
    if (use) r.fix(use, near);
  told_names_.emplace(module, std::string(written));
}

void Elaborator::suggest_key(diag::Engine::Builder& r, uint32_t module, NodeId param) {
  const ast::Ast& a = modules_[module].ast;
  const std::string name(a.text(param));
  r.note(a.name_span(param), "declared here");
  if (diags_.quiet()) return;
  const std::string near = diag::nearest(name, config_order_);
  if (near.empty()) return;
  // The parameter and the key are spelled differently; the one that is used by its own spelling is right.
  const auto key = config_.find(near);
  const Span key_span = modules_.main().ast.name_span(key->second.node);
  r.help(fmt::format("the configuration has `{}`", near));
  r.note(key_span, fmt::format("`{}` is defined here", near));
  if (sight(a, name).uses.empty())
    r.fix(a.name_span(param), near);
  else
    r.fix(key_span, name);
}

}  // namespace skdsl::sema
