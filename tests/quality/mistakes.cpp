#include "tests/quality/mistakes.h"

#include <algorithm>
#include <cctype>
#include <map>

#include "tests/quality/scan.h"

namespace skdsl::quality {
namespace {

struct Text {
  std::string_view text;
  std::vector<Word> words;
  std::vector<int> match;
  Random& random;

  std::string_view at(size_t i) const {
    return i < words.size() ? text.substr(words[i].begin, words[i].end - words[i].begin) : std::string_view();
  }
  bool is(size_t i, Word::Kind kind) const { return i < words.size() && words[i].kind == kind; }
  size_t draw(size_t n) const { return std::uniform_int_distribution<size_t>(0, n - 1)(random); }
  template <class List>
  auto pick(const List& list) const -> decltype(list[0]) {
    return list[draw(std::size(list))];
  }
  bool opens(size_t i) const { return match[i] > static_cast<int>(i); }
};

/// `by` in place of words [first, last).
Mistake replaced(const Text& t, size_t first, size_t last, const std::string& by) {
  Mistake m;
  const uint32_t begin = t.words[first].begin, end = t.words[last - 1].end;
  m.text = std::string(t.text.substr(0, begin)) + by + std::string(t.text.substr(end));
  m.places = {{begin, begin + static_cast<uint32_t>(by.size())}};
  m.what = "`" + std::string(t.text.substr(begin, end - begin)) + "` -> `" + by + "`";
  return m;
}

/// Words [first, last) are gone; the neighbours show the gap.
Mistake deleted(const Text& t, size_t first, size_t last) {
  Mistake m;
  const uint32_t begin = t.words[first].begin, end = t.words[last - 1].end, size = end - begin;
  m.text = std::string(t.text.substr(0, begin)) + std::string(t.text.substr(end));
  if (first > 0) m.places.push_back({t.words[first - 1].begin, begin});
  const uint32_t next =
      last < t.words.size() ? t.words[last].end - size : static_cast<uint32_t>(m.text.size());
  m.places.push_back({begin, next});
  m.what = "`" + std::string(t.text.substr(begin, size)) + "` is left out";
  return m;
}

/// One letter dropped, doubled, exchanged with its neighbour or replaced.
std::string misspelled(const Text& t, std::string_view word) {
  std::string out(word);
  const size_t i = t.draw(word.size());
  switch (t.draw(4)) {
    case 0:
      if (out.size() > 1) out.erase(i, 1);
      break;
    case 1:
      out.insert(i, 1, out[i]);
      break;
    case 2:
      if (i + 1 < out.size()) std::swap(out[i], out[i + 1]);
      break;
    default:
      out[i] = static_cast<char>('a' + t.draw(26));
  }
  if (std::isdigit(static_cast<unsigned char>(out[0])) != 0) return std::string(word);
  return out;
}

/// Words that occur in the text as names.
std::optional<Mistake> identifier_typo(const Text& t) {
  // Of one letter a slip makes another word, not a misspelled one.
  constexpr size_t kShortest = 2;
  std::vector<size_t> places;
  for (size_t i = 0; i < t.words.size(); ++i)
    if (t.is(i, Word::Kind::Name) && !is_keyword(t.text, t.words, i) && t.at(i).size() >= kShortest)
      places.push_back(i);
  if (places.empty()) return {};
  const size_t i = t.pick(places);
  const std::string by = misspelled(t, t.at(i));
  if (by == t.at(i)) return {};
  Mistake m = replaced(t, i, i + 1, by);
  const std::string_view next = t.at(i + 1), before = i > 0 ? t.at(i - 1) : std::string_view();
  const bool declares = before == "layer" || before == "fn" || before == "model" || before == "weight" ||
                        before == "const" || before == "state" || before == "for" || before == "let" ||
                        before == "event" || before == "draft";
  // `name = …` and `name: type`; a misspelled argument name has its declaration elsewhere and is wrong
  // itself.
  const bool assigned = next == "=" && (t.words[i].first_on_line || before == ",") && before != "(";
  m.two_sided = declares || next == ":" || assigned;
  return m;
}

std::optional<Mistake> swapped_arguments(const Text& t) {
  struct Argument {
    size_t first, last;
  };
  std::vector<std::vector<Argument>> calls;
  for (size_t i = 1; i < t.words.size(); ++i) {
    if (t.at(i) != "(" || !t.opens(i) || !t.is(i - 1, Word::Kind::Name) || is_keyword(t.text, t.words, i - 1))
      continue;
    if (i > 1 && (t.at(i - 2) == "fn" || t.at(i - 2) == "layer" || t.at(i - 2) == "op")) continue;
    std::vector<Argument> arguments;
    const auto close = static_cast<size_t>(t.match[i]);
    size_t from = i + 1;
    bool named = false;
    for (size_t k = i + 1; k <= close; ++k) {
      if (k == close || t.at(k) == ",") {
        if (k > from && !named) arguments.push_back({from, k});
        from = k + 1;
        named = false;
      } else if (t.opens(k)) {
        k = static_cast<size_t>(t.match[k]);
      } else if (t.at(k) == "=") {
        named = true;
      }
    }
    if (arguments.size() >= 2) calls.push_back(std::move(arguments));
  }
  if (calls.empty()) return {};
  const auto& call = t.pick(calls);
  const size_t a = t.draw(call.size() - 1), b = a + 1;
  const uint32_t b0 = t.words[call[a].first].begin, e0 = t.words[call[a].last - 1].end,
                 b1 = t.words[call[b].first].begin, e1 = t.words[call[b].last - 1].end;
  const std::string first(t.text.substr(b0, e0 - b0)), second(t.text.substr(b1, e1 - b1));
  if (first == second) return {};
  Mistake m;
  m.text = std::string(t.text.substr(0, b0)) + second + std::string(t.text.substr(e0, b1 - e0)) + first +
           std::string(t.text.substr(e1));
  const uint32_t middle = b0 + static_cast<uint32_t>(second.size());
  m.places = {{b0, middle}, {middle + (b1 - e0), e1}};
  m.two_sided = true;
  m.what = "`" + first + "` and `" + second + "` are swapped";
  return m;
}

bool is_operator(std::string_view w) {
  static constexpr std::string_view kOperators[] = {
      "+", "-", "*", "/", "%", "**", "==", "!=", "<=", ">=", "and", "or", "<", ">"};
  return std::find(std::begin(kOperators), std::end(kOperators), w) != std::end(kOperators);
}

/// The operand on one side of an operator.
std::optional<Mistake> missing_operand(const Text& t) {
  std::vector<size_t> places;
  for (size_t i = 1; i + 1 < t.words.size(); ++i) {
    if (!is_operator(t.at(i)) || t.match[i] >= 0) continue;
    const bool left = t.is(i - 1, Word::Kind::Name) || t.is(i - 1, Word::Kind::Number) ||
                      t.is(i - 1, Word::Kind::String) || t.at(i - 1) == ")" || t.at(i - 1) == "]";
    if (left && !is_keyword(t.text, t.words, i - 1)) places.push_back(i);
  }
  if (places.empty()) return {};
  const size_t op = t.pick(places);
  size_t first = op + 1, last = op + 2;
  const bool right = t.draw(2) == 0;
  if (right) {
    // A prefix, a word or brackets, and what is hung on to it.
    while ((t.at(first) == "-" || t.at(first) == "not") && last < t.words.size()) ++last;
    const size_t atom = last - 1;
    if (t.opens(atom)) last = static_cast<size_t>(t.match[atom]) + 1;
    while (last < t.words.size() && (t.at(last) == "." || t.at(last) == "(" || t.at(last) == "[")) {
      if (t.words[last].first_on_line) break;
      last = t.at(last) == "." ? last + 2 : static_cast<size_t>(t.match[last]) + 1;
      if (last == 0) return {};
    }
  } else {
    last = op;
    first = op - 1;
    for (;;) {
      if (t.match[first] >= 0 && t.match[first] < static_cast<int>(first)) {
        first = static_cast<size_t>(t.match[first]);
        if (first > 0 && t.is(first - 1, Word::Kind::Name) && !is_keyword(t.text, t.words, first - 1) &&
            t.words[first - 1].end == t.words[first].begin) {
          --first;
          continue;
        }
        if (first > 0 && (t.at(first - 1) == "]" || t.at(first - 1) == ")") &&
            t.words[first - 1].end == t.words[first].begin) {
          --first;
          continue;
        }
      }
      if (first > 1 && t.at(first - 1) == ".") {
        first -= 2;
        continue;
      }
      break;
    }
  }
  if (last > t.words.size() || first >= last) return {};
  return deleted(t, first, last);
}

/// A size of a declared type: another one, one too few or one too many.
std::optional<Mistake> wrong_shape(const Text& t) {
  struct Size {
    size_t first, last;
    size_t open;
  };
  std::vector<Size> sizes;
  std::vector<std::string> names;
  for (size_t i = 1; i < t.words.size(); ++i) {
    if (t.at(i) != "[" || !t.opens(i)) continue;
    // `: [`, `: act[`, `-> act[`, `(act[`, `, act[` of a tuple of results.
    static constexpr std::string_view kDTypes[] = {"act", "f32", "bf16", "f16", "i8",
                                                   "i32", "i64", "bool", "out"};
    const bool dtype = std::find(std::begin(kDTypes), std::end(kDTypes), t.at(i - 1)) != std::end(kDTypes);
    const bool bare = t.at(i - 1) == ":" && i > 2 &&
                      (t.at(i - 3) == "weight" || t.at(i - 3) == "const" || t.at(i - 3) == ",");
    if (!dtype && !bare) continue;
    const auto close = static_cast<size_t>(t.match[i]);
    size_t from = i + 1;
    for (size_t k = i + 1; k <= close; ++k) {
      if (k == close || t.at(k) == ",") {
        if (k > from) {
          sizes.push_back({from, k, i});
          names.emplace_back(t.text.substr(t.words[from].begin, t.words[k - 1].end - t.words[from].begin));
        }
        from = k + 1;
      } else if (t.opens(k)) {
        k = static_cast<size_t>(t.match[k]);
      }
    }
  }
  if (sizes.empty()) return {};
  const Size s = t.pick(sizes);
  const std::string old(
      t.text.substr(t.words[s.first].begin, t.words[s.last - 1].end - t.words[s.first].begin));
  const bool alone = t.at(s.first - 1) == "[" && t.at(s.last) == "]";
  Mistake m;
  switch (t.draw(4)) {
    case 0:
    case 1: {
      std::string by = t.pick(names);
      if (t.draw(3) == 0)
        by = t.is(s.first, Word::Kind::Number) && s.last == s.first + 1 ? old + "1" : "2 * " + old;
      if (by == old) return {};
      m = replaced(t, s.first, s.last, by);
      break;
    }
    case 2:
      if (alone) return {};
      // With its comma.
      m = t.at(s.first - 1) == "," ? deleted(t, s.first - 1, s.last) : deleted(t, s.first, s.last + 1);
      break;
    default:
      m = replaced(t, s.first, s.last, old + ", " + t.pick(names));
  }
  m.two_sided = true;
  return m;
}

std::optional<Mistake> deleted_bracket(const Text& t) {
  std::vector<size_t> places;
  for (size_t i = 0; i < t.words.size(); ++i)
    if (t.match[i] >= 0) places.push_back(i);
  if (places.empty()) return {};
  const size_t i = t.pick(places);
  Mistake m = deleted(t, i, i + 1);
  const Word& partner = t.words[static_cast<size_t>(t.match[i])];
  const uint32_t back = partner.begin > t.words[i].begin ? 1 : 0;
  m.places.push_back({partner.begin - back, partner.end - back});
  m.two_sided = true;
  return m;
}

/// What people write who come from elsewhere.
const std::map<std::string_view, std::vector<std::string>> kElsewhere = {
    {"fn", {"def", "func", "function"}},
    {"layer", {"class", "module"}},
    {"model", {"class", "network"}},
    {"return", {"ret", "yield"}},
    {"let", {"var", "val"}},
    {"weight", {"param", "parameter"}},
    {"const", {"constant", "final"}},
    {"for", {"foreach"}},
    {"else", {"otherwise"}},
    {"then", {"do"}},
    {"while", {"until", "loop"}},
    {"import", {"include", "use"}},
    {"from", {"of", "at"}},
    {"when", {"if", "where"}},
    {"and", {"&&"}},
    {"or", {"||"}},
    {"not", {"!"}},
    {"true", {"True", "yes"}},
    {"false", {"False", "no"}},
    {"forward", {"call"}},
    {"state", {"buffer", "var"}},
    {"config", {"params", "settings"}},
    {"require", {"assert"}},
    {"superkernel", {"kernel", "super_kernel"}},
    {"prefetch", {"preload"}},
    {"wait", {"await"}},
};

std::optional<Mistake> wrong_keyword(const Text& t) {
  std::vector<size_t> places;
  for (size_t i = 0; i < t.words.size(); ++i)
    if (is_keyword(t.text, t.words, i)) places.push_back(i);
  if (places.empty()) return {};
  const size_t i = t.pick(places);
  std::string by;
  const size_t how = t.draw(4);
  const auto row = kElsewhere.find(t.at(i));
  if (how == 0 && row != kElsewhere.end())
    by = t.pick(row->second);
  else if (how == 1)
    by = t.at(t.pick(places));
  else
    by = misspelled(t, t.at(i));
  if (by == t.at(i)) return {};
  return replaced(t, i, i + 1, by);
}

/// The value of a named argument of a call, or of an option of a super kernel, stream or core limit.
std::optional<Mistake> wrong_option_value(const Text& t) {
  std::vector<size_t> places;
  std::vector<int> depth;
  for (size_t i = 2; i + 1 < t.words.size(); ++i) {
    if (t.at(i - 1) != "=" || !(t.at(i + 1) == "," || t.at(i + 1) == ")") || t.opens(i)) continue;
    // Inside brackets that stand behind a name, not in the head of a layer or function.
    size_t open = i;
    while (open > 0 && !(t.opens(open) && t.match[open] > static_cast<int>(i))) --open;
    if (open == 0 || t.at(open) != "(") continue;
    if (t.at(i - 3) == ":" ||
        (t.is(i - 2, Word::Kind::Name) && t.at(i - 3) != "," && t.at(i - 3) != "(" && t.at(i - 3) != "-"))
      continue;
    places.push_back(i);
  }
  if (places.empty()) return {};
  const size_t i = t.pick(places);
  const std::string old(t.at(i));
  std::string by;
  switch (t.words[i].kind) {
    case Word::Kind::String:
      if (old.size() > 2 && t.draw(3) > 0)
        by = "\"" + misspelled(t, std::string_view(old).substr(1, old.size() - 2)) + "\"";
      else
        by = t.draw(2) == 0 ? "\"fast\"" : "3";
      break;
    case Word::Kind::Number: {
      static const std::vector<std::string> kValues = {"99", "-7", "\"on\"", "1.5", "true"};
      by = t.pick(kValues);
      break;
    }
    default: {
      static const std::vector<std::string> kFlags = {"2", "\"yes\"", "1.5"};
      static const std::vector<std::string> kValues = {"\"on\"", "-3", "true", "0.5"};
      by = old == "true" || old == "false" ? t.pick(kFlags) : t.pick(kValues);
    }
  }
  if (by == old) return {};
  return replaced(t, i, i + 1, by);
}

struct Row {
  std::string_view name;
  std::optional<Mistake> (*make)(const Text&);
};
constexpr Row kRows[] = {
    {"identifier typo", identifier_typo},       {"swapped arguments", swapped_arguments},
    {"missing operand", missing_operand},       {"wrong shape", wrong_shape},
    {"deleted bracket", deleted_bracket},       {"wrong keyword", wrong_keyword},
    {"wrong option value", wrong_option_value},
};

}  // namespace

std::string_view name(Kind kind) { return kRows[static_cast<size_t>(kind)].name; }

std::optional<Mistake> make_mistake(Kind kind, std::string_view text, Random& random) {
  std::vector<Word> words = scan(text);
  std::vector<int> match = pairs(text, words);
  const Text t{text, std::move(words), std::move(match), random};
  auto m = kRows[static_cast<size_t>(kind)].make(t);
  if (m) m->kind = kind;
  return m;
}

}  // namespace skdsl::quality
