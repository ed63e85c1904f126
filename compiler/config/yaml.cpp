#include "compiler/config/yaml.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <sstream>

namespace skdsl::config {

namespace {

constexpr size_t kMaxNodes = 100'000;  // aliases multiply

/// Ends reading from inside of the library; it never leaves this file.
struct Stopped {};

class Builder : public YAML::EventHandler {
 public:
  Builder(uint32_t file, diag::Engine& diags) : file_(file), diags_(diags) {}

  YamlNode root;
  bool failed = false;

  void OnDocumentStart(const YAML::Mark& /*mark*/) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    YamlNode n;
    n.span = at(mark, 1);
    add(std::move(n), anchor);
  }
  void OnAlias(const YAML::Mark& /*mark*/, YAML::anchor_t anchor) override { add(anchors_[anchor], 0); }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    YamlNode n;
    n.kind = YamlNode::Kind::Scalar;
    n.text = value;
    n.quoted = tag == "!";
    n.span = at(mark, value.size() + (n.quoted ? 2 : 0));
    add(std::move(n), anchor);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& /*tag*/, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value /*style*/) override {
    open(YamlNode::Kind::Sequence, mark, anchor);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& /*tag*/, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value /*style*/) override {
    open(YamlNode::Kind::Map, mark, anchor);
  }
  void OnMapEnd() override { close(); }

  Span at(const YAML::Mark& mark, size_t length) const {
    if (file_ == 0) return {};
    const auto line = static_cast<uint32_t>(std::max(mark.line, 0) + 1);
    const std::string_view text = diags_.sources().line(file_, line);
    const size_t column = std::min<size_t>(static_cast<size_t>(std::max(mark.column, 0)), text.size());
    return diags_.sources().span(
        {file_, line, static_cast<uint32_t>(column + 1),
         static_cast<uint32_t>(std::clamp<size_t>(length, 1, std::max<size_t>(text.size() - column, 1)))});
  }

 private:
  struct Open {
    YamlNode node;
    YAML::anchor_t anchor = 0;
    std::optional<YamlNode> key;  // of a map whose value comes next
  };

  void open(YamlNode::Kind kind, const YAML::Mark& mark, YAML::anchor_t anchor) {
    Open o;
    o.node.kind = kind;
    o.node.span = at(mark, 1);
    o.anchor = anchor;
    stack_.push_back(std::move(o));
  }

  void close() {
    Open done = std::move(stack_.back());
    stack_.pop_back();
    add(std::move(done.node), done.anchor);
  }

  static size_t count(const YamlNode& n) {
    size_t out = 1;
    for (const YamlNode& i : n.items) out += count(i);
    for (const auto& [key, value] : n.entries) out += 1 + count(value);
    return out;
  }

  void refuse(Span span, diag::Id id, const std::string& message, const std::string& help) {
    diags_.report(span, id, message).help(help);
    failed = true;
  }

  void add(YamlNode n, YAML::anchor_t anchor) {
    nodes_ += n.kind == YamlNode::Kind::Scalar ? 1 : count(n);
    if (nodes_ > kMaxNodes) {
      refuse(n.span, diag::Id::YamlSyntax, fmt::format("the file has more than {} values", kMaxNodes),
             "a run config is a few dozen lines; are there aliases of aliases?");
      throw Stopped{};
    }
    if (anchor != 0) anchors_[anchor] = n;
    if (stack_.empty()) {
      root = std::move(n);
      return;
    }
    Open& top = stack_.back();
    if (top.node.kind == YamlNode::Kind::Sequence) {
      top.node.items.push_back(std::move(n));
      return;
    }
    if (!top.key) {
      if (n.kind != YamlNode::Kind::Scalar)
        refuse(n.span, diag::Id::YamlSyntax, "a key is a word", "write `key: value`");
      top.key = std::move(n);
      return;
    }
    YamlNode key = std::move(*top.key);
    top.key.reset();
    if (key.text == "<<" && !key.quoted && n.kind == YamlNode::Kind::Map) {
      for (auto& [k, v] : n.entries)
        if (!top.node.find(k.text)) top.node.entries.push_back({std::move(k), std::move(v)});
      return;
    }
    for (const auto& [first, value] : top.node.entries) {
      if (first.text != key.text) continue;
      failed = true;
      diags_.report(key.span, diag::Id::YamlDuplicate, key.text)
          .note(first.span, "the first one is here")
          .help("keep one of them; YAML readers keep the last in silence");
    }
    top.node.entries.push_back({std::move(key), std::move(n)});
  }

  uint32_t file_;
  diag::Engine& diags_;
  std::vector<Open> stack_;
  std::map<YAML::anchor_t, YamlNode> anchors_;
  size_t nodes_ = 0;
};

std::string first_lower(std::string text) {
  if (!text.empty() && text[0] >= 'A' && text[0] <= 'Z') text[0] = static_cast<char>(text[0] - 'A' + 'a');
  return text;
}

/// A tab among the blanks that begin a line: YAML counts blanks only.
bool has_tab(uint32_t file, diag::Engine& diags) {
  const std::string_view text = diags.sources().text(file);
  bool found = false;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const size_t first = text.find_first_not_of(" \t", at);
    const size_t tab = text.find('\t', at);
    if (first < end && tab < first && text[first] != '#' && text[first] != '\r') {
      diags
          .report({file, static_cast<uint32_t>(tab), static_cast<uint32_t>(tab + 1)}, diag::Id::YamlSyntax,
                  "this line is indented with a tab")
          .help("indent with blanks; YAML does not count tabs");
      found = true;
    }
    at = end + 1;
  }
  return found;
}

/// Whether one line with wrong blanks is what is wrong; then that is reported.
bool report_indentation(uint32_t file, const KnownPlace& known, diag::Engine& diags) {
  const source::Sources& sources = diags.sources();
  if (const auto wrong = misindented_line(sources.text(file), known)) {
    const auto line = static_cast<uint32_t>(wrong->first);
    const std::string_view text = sources.line(file, line);
    const size_t blanks = std::min(text.find_first_not_of(' '), text.size());
    diags
        .report(sources.span({file, line, static_cast<uint32_t>(blanks + 1),
                              static_cast<uint32_t>(std::max<size_t>(text.size() - blanks, 1))}),
                diag::Id::YamlSyntax,
                fmt::format("this line is indented by {} {}, its neighbours stand at {}", blanks,
                            blanks == 1 ? "blank" : "blanks", wrong->second))
        .help("the keys of a section stand under each other, deeper than its name");
    return true;
  }
  return false;
}

/// The last bracket that opens and does not close, or npos.
size_t unclosed_bracket(std::string_view text) {
  std::vector<size_t> open;
  char quote = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote != 0) {
      if (c == quote) quote = 0;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '#' && (i == 0 || text[i - 1] == ' ' || text[i - 1] == '\n')) {
      i = std::min(text.find('\n', i), text.size());
    } else if (c == '[' || c == '{') {
      open.push_back(i);
    } else if ((c == ']' || c == '}') && !open.empty()) {
      open.pop_back();
    }
  }
  return open.empty() ? std::string_view::npos : open.back();
}

void report_syntax(uint32_t file, const YAML::Exception& e, const Builder& builder, const KnownPlace& known,
                   diag::Engine& diags) {
  const size_t bracket = unclosed_bracket(diags.sources().text(file));
  if (bracket != std::string_view::npos) {
    const auto at = static_cast<uint32_t>(bracket);
    diags.report({file, at, at + 1}, diag::Id::YamlSyntax, "this bracket is never closed")
        .note(builder.at(e.mark, 1), fmt::format("reading ends here: {}", first_lower(e.msg)))
        .help("close it, or write the keys below each other without brackets");
    return;
  }
  if (report_indentation(file, known, diags)) return;
  diags
      .report(builder.at(e.mark, 1), diag::Id::YamlSyntax,
              fmt::format("not valid YAML: {}", first_lower(e.msg)))
      .help("a run config has sections such as `model_config:`, and below them lines `key: value`");
}

}  // namespace

const YamlNode* YamlNode::find(std::string_view key) const {
  for (const auto& [k, v] : entries)
    if (k.text == key) return &v;
  return nullptr;
}

std::optional<YamlNode> read_yaml(uint32_t file, const KnownPlace& known, diag::Engine& diags) {
  if (has_tab(file, diags)) return {};
  Builder builder(file, diags);
  try {
    std::istringstream in{std::string(diags.sources().text(file))};
    YAML::Parser parser(in);
    parser.HandleNextDocument(builder);
    if (!builder.failed) {
      const YamlNode first = builder.root;
      Builder second(file, diags);
      if (parser.HandleNextDocument(second)) {
        if (report_indentation(file, known, diags)) return {};
        diags.report(second.root.span, diag::Id::YamlSyntax, "a second document begins")
            .help("a run config is one document: leave `---` out");
        return {};
      }
      return first;
    }
  } catch (const Stopped&) {
    return {};
  } catch (const YAML::Exception& e) {
    report_syntax(file, e, builder, known, diags);
  }
  return {};
}

Json to_json_value(const YamlNode& node) {
  switch (node.kind) {
    case YamlNode::Kind::Sequence: {
      Json::Array out;
      for (const YamlNode& item : node.items) out.push_back(to_json_value(item));
      return out;
    }
    case YamlNode::Kind::Map: {
      Json::Object out;
      for (const auto& [key, value] : node.entries) out.emplace_back(key.text, to_json_value(value));
      return out;
    }
    case YamlNode::Kind::Null:
      return nullptr;
    case YamlNode::Kind::Scalar:
      break;
  }
  const std::string& text = node.text;
  if (node.quoted) return text;
  if (text.empty() || text == "~" || text == "null" || text == "Null" || text == "NULL" || text == "None")
    return nullptr;
  if (text == "true" || text == "True" || text == "TRUE") return true;
  if (text == "false" || text == "False" || text == "FALSE") return false;
  int64_t i = 0;
  const auto [int_end, int_error] = std::from_chars(text.data(), text.data() + text.size(), i);
  if (int_error == std::errc() && int_end == text.data() + text.size()) return i;
  double d = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), d);
  if (error == std::errc() && end == text.data() + text.size() && std::isfinite(d)) return d;
  return text;
}

Expected<Json> parse_yaml_value(const std::string& text) {
  source::Sources sources;
  diag::Engine diags(sources);
  Builder builder(0, diags);
  try {
    std::istringstream in{text};
    YAML::Parser parser(in);
    parser.HandleNextDocument(builder);
  } catch (const Stopped&) {
    return fail("the value is too large");
  } catch (const YAML::Exception& e) {
    return fail(e.msg);
  }
  if (builder.failed) return fail(diags.all().front().message);
  return to_json_value(builder.root);
}

}  // namespace skdsl::config
