#include "compiler/sema/module.h"

#include <algorithm>
#include <filesystem>

#include "compiler/parse/parse.h"
#include "stdlib/sources.h"

namespace skdsl::sema {

using ast::Kind;

namespace {
bool dtype_named(std::string_view name) {
  return std::any_of(std::begin(kDTypeNames), std::end(kDTypeNames),
                     [&](const DTypeName& n) { return n.skdsl == name; });
}
}  // namespace

bool Modules::load_main(const std::string& path) {
  auto file = diags_->sources().read(path);
  if (!file) {
    auto report = diags_->report({}, diag::Id::FileUnreadable, file.error().message);
    for (const std::string& note : file.error().notes) report.note(note);
    return false;
  }
  load_file(*file);
  return true;
}

void Modules::load_file(uint32_t file) {
  std::vector<std::string> stack{diags_->sources().name(file)};
  load(file, stack);
}

bool Modules::load_text(const std::string& name, std::string text) {
  std::vector<std::string> stack{name};
  load(diags_->sources().add(name, std::move(text)), stack);
  return true;
}

uint32_t Modules::load(uint32_t file, std::vector<std::string>& stack) {
  const auto index = static_cast<uint32_t>(modules_.size());
  loaded_[stack.back()] = index;
  modules_.emplace_back();
  {
    Module& m = modules_.back();
    m.file = file;
    m.path = stack.back();
    m.ast = parse::parse(file, *diags_);
  }
  Module& m = modules_[index];  // deque: stays valid while imports are added
  std::vector<ast::NodeId> import_nodes;
  for (const ast::NodeId node : m.ast.children(m.ast.root)) {
    switch (m.ast.kind(node)) {
      case Kind::Import:
        import_nodes.push_back(node);
        break;
      case Kind::Config:
        if (m.config)
          diags_->report(m.ast.span(node), diag::Id::DuplicateName, "config")
              .note(m.ast.span(m.config), "the first one is here");
        m.config = node;
        break;
      case Kind::Model:
        if (!m.model) m.model = node;
        [[fallthrough]];
      case Kind::Fn:
      case Kind::Layer:
      case Kind::Draft:
      case Kind::Extern: {
        if (m.ast.text(node) == "act" || dtype_named(m.ast.text(node)))
          diags_->report(m.ast.name_span(node), diag::Id::ReservedName, m.ast.text(node), "it is a dtype");
        const auto [it, inserted] = m.decls.emplace(std::string(m.ast.text(node)), node);
        if (!inserted)
          diags_->report(m.ast.name_span(node), diag::Id::DuplicateName, m.ast.text(node))
              .note(m.ast.name_span(it->second), "the first one is here");
        break;
      }
      case Kind::Replace:
        break;  // recorded only
      default:
        m.script.push_back(node);
        break;
    }
  }
  for (const ast::NodeId node : import_nodes) import(index, node, stack);
  return index;
}

void Modules::import(uint32_t module, ast::NodeId node, std::vector<std::string>& stack) {
  Module& m = modules_[module];
  const std::string wanted(m.ast.text(node));
  namespace fs = std::filesystem;
  const fs::path beside = fs::path(m.path).parent_path() / wanted;
  std::error_code ignored;
  const bool on_disk = fs::is_regular_file(beside, ignored);
  const std::string key = on_disk ? beside.lexically_normal().string() : wanted;
  if (std::find(stack.begin(), stack.end(), key) != stack.end()) {
    diags_->report(m.ast.span(node), diag::Id::ImportCycle, wanted);
    return;
  }
  if (const auto it = loaded_.find(key); it != loaded_.end()) {
    m.imports.push_back(it->second);
    return;
  }
  uint32_t file = 0;
  if (on_disk) {
    auto read = diags_->sources().read(key);
    if (!read) {
      diags_->report(m.ast.span(node), diag::Id::FileUnreadable, read.error().message);
      return;
    }
    file = *read;
  } else {
    for (const ShippedSource& s : shipped_sources())
      if (s.name == wanted) file = diags_->sources().add(std::string(s.name), std::string(s.text));
    if (!file) {
      auto report = diags_->report(m.ast.span(node), diag::Id::ImportNotFound, wanted);
      std::vector<std::string> shipped;
      for (const ShippedSource& s : shipped_sources()) shipped.emplace_back(s.name);
      if (const std::string near = diag::nearest(wanted, shipped); !near.empty())
        report.did_you_mean(m.ast.name_span(node), near, fmt::format("\"{}\"", near));
      report.note(fmt::format("looked for {} and in the standard library", beside.string()));
      return;
    }
  }
  stack.push_back(key);
  const uint32_t loaded = load(file, stack);
  stack.pop_back();
  modules_[module].imports.push_back(loaded);
}

NodeRef Modules::find(uint32_t module, std::string_view name) const {
  const Module& m = modules_[module];
  if (const auto it = m.decls.find(name); it != m.decls.end()) return {module, it->second};
  for (const uint32_t i : m.imports)
    if (const auto it = modules_[i].decls.find(name); it != modules_[i].decls.end()) return {i, it->second};
  return {};
}

std::vector<std::string> Modules::names(uint32_t module) const {
  std::vector<std::string> out;
  const auto add = [&](const Module& m) {
    for (const auto& [name, node] : m.decls) out.push_back(name);
  };
  add(modules_[module]);
  for (const uint32_t i : modules_[module].imports) add(modules_[i]);
  return out;
}

std::string Modules::shipped_home_of(std::string_view name) const {
  for (const ShippedSource& s : shipped_sources())
    for (const std::string_view keyword : {"layer ", "fn "})
      if (s.text.find("\n" + std::string(keyword) + std::string(name) + "(") != std::string_view::npos)
        return std::string(s.name);
  return "";
}

}  // namespace skdsl::sema
