// The TextMate grammar under editors/ is made from the tables: a new keyword or operator is in it, or this
// fails.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <regex>
#include <sstream>

#include "runtime/base/json.h"
#include "stdlib/op_info.h"

namespace skdsl {
namespace {

const std::string kRoot = SKDSL_SOURCE_DIR;

std::string read(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

/// The words of the lexer: rules of one literal in lower case.
std::vector<std::string> keywords() {
  std::vector<std::string> out;
  std::istringstream in(read(kRoot + "/grammar/SkLexer.g4"));
  const std::regex rule("^[A-Z_]+: '([a-z_]+)';$");
  std::smatch m;
  for (std::string line; std::getline(in, line);)
    if (std::regex_match(line, m, rule)) out.push_back(m[1]);
  return out;
}

std::string any_of(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& w : words) out += (out.empty() ? "" : "|") + w;
  return "\\b(?:" + out + ")\\b";
}

Json match(const std::string& name, const std::string& regex) {
  return Json::Object{{"name", name + ".skdsl"}, {"match", regex}};
}

Json grammar() {
  // Words by what a reader looks for; a keyword that is in no list here is a plain one.
  const std::vector<std::string> declarations{
      "import", "config", "fn",      "layer",           "model",  "draft",        "weight", "const",
      "state",  "extern", "op",      "replace",         "by",     "prefill",      "decode", "forward",
      "event",  "let",    "require", "default_weights", "unused", "uninitialized"};
  const std::vector<std::string> control{"if",    "then",   "else", "for", "in",
                                         "while", "return", "when", "from"};
  const std::vector<std::string> schedule{"superkernel", "none",     "scope_begin", "scope_end", "stream",
                                          "cores",       "prefetch", "after",       "max",       "record",
                                          "wait",        "gears",    "dump",        "tap"};
  const std::vector<std::string> words{"and", "or", "not"}, constants{"true", "false"};
  std::vector<std::string> others;
  const auto has = [](const std::vector<std::string>& list, const std::string& w) {
    return std::find(list.begin(), list.end(), w) != list.end();
  };
  for (const std::string& k : keywords())
    if (!has(declarations, k) && !has(control, k) && !has(schedule, k) && !has(words, k) &&
        !has(constants, k))
      others.push_back(k);
  for (const auto* list : {&declarations, &control, &schedule, &words, &constants})
    for (const std::string& w : *list) EXPECT_TRUE(has(keywords(), w)) << w << " is no keyword";

  std::vector<std::string> ops;
  for (const OpInfo& op : kOps)
    if (op.category != "structure") ops.emplace_back(op.name);
  Json::Array patterns{
      match("comment.line.double-slash", "//.*$"), match("meta.preprocessor.pragma", "#!.*$"),
      Json::Object{
          {"name", "string.quoted.double.skdsl"},
          {"begin", "\""},
          {"end", "\"|$"},
          {"patterns",
           Json::Array{match("constant.character.escape", "\\\\.|\\{\\{|\\}\\}"),
                       Json::Object{{"name", "meta.interpolation.skdsl"},
                                    {"begin", "\\{"},
                                    {"end", "\\}|(?=\"|$)"},
                                    {"patterns", Json::Array{Json::Object{{"include", "#code"}}}}}}}},
      Json::Object{{"include", "#code"}}};
  Json::Array code{
      match(
          "constant.numeric",
          "\\b(?:0x[0-9a-fA-F_]+|[0-9][0-9_]*(?:\\.[0-9][0-9_]*)?(?:[eE][+-]?[0-9]+)?(?:KiB|MiB|GiB|B)?)\\b"),
      match("constant.language", any_of(constants)),
      match("storage.type.declaration", any_of(declarations)),
      match("keyword.control", any_of(control)),
      match("keyword.other.schedule", any_of(schedule)),
      match("keyword.operator.word", any_of(words)),
      match("storage.type.element", any_of({"act", "f32", "bf16", "f16", "i8", "i32", "i64", "bool", "int",
                                            "float", "str", "dtype", "dict", "list", "Step"})),
      match("support.function.operator", "\\b(?:" + any_of(ops).substr(5) + "(?=\\s*\\()"),
      match("entity.name.type", "\\b[A-Z][A-Za-z0-9]*(?=\\s*\\()"),
      match("keyword.operator", "->|\\.\\.|\\*\\*|==|!=|<=|>=|[-+*/%<>=]")};
  if (!others.empty()) code.push_back(match("keyword.other", any_of(others)));
  return Json::Object{
      {"$schema", "https://raw.githubusercontent.com/martinring/tmlanguage/master/tmlanguage.json"},
      {"name", "skdsl"},
      {"scopeName", "source.skdsl"},
      {"fileTypes", Json::Array{"sk"}},
      {"patterns", std::move(patterns)},
      {"repository", Json::Object{{"code", Json::Object{{"patterns", std::move(code)}}}}}};
}

TEST(TextMate, GrammarIsMadeFromTheTables) {
  const std::string path = kRoot + "/editors/vscode/syntaxes/skdsl.tmLanguage.json";
  const std::string text = to_json(grammar(), 2) + "\n";
  const char* const update = std::getenv("SKDSL_UPDATE_GOLDEN");
  if (update != nullptr && std::string_view(update) == "1") std::ofstream(path, std::ios::binary) << text;
  EXPECT_EQ(read(path), text) << "SKDSL_UPDATE_GOLDEN=1 writes it";
}

// The expressions compile, and find what they should.
TEST(TextMate, ExpressionsMatch) {
  const Json j = grammar();
  size_t n = 0;
  const auto all = [&](const Json& list) {
    for (const Json& p : list.as_array())
      if (const Json* m = p.find("match")) {
        EXPECT_NO_THROW(std::regex(m->as_string(), std::regex::ECMAScript)) << m->as_string();
        ++n;
      }
  };
  all(*j.find("patterns"));
  const Json& code = *j.find("repository")->find("code")->find("patterns");
  all(code);
  EXPECT_GT(n, 9U);
  const auto finds = [&](const char* name, const std::string& text) {
    for (const Json& p : code.as_array())
      if (p.find("name")->as_string() == std::string(name) + ".skdsl")
        return std::regex_search(text, std::regex(p.find("match")->as_string()));
    return false;
  };
  EXPECT_TRUE(finds("keyword.other.schedule", "superkernel \"a\" < x = y >"));
  EXPECT_TRUE(finds("support.function.operator", "y = rms_norm(x, w)"));
  EXPECT_FALSE(finds("support.function.operator", "y = my_rms_norm_2 (x, w)"));
  EXPECT_TRUE(finds("constant.numeric", "max 18MiB"));
  EXPECT_TRUE(finds("entity.name.type", "norm = RmsNorm(64)"));
  EXPECT_FALSE(finds("keyword.control", "iffy = forms"));
}

}  // namespace
}  // namespace skdsl
