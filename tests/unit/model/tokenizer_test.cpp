#include "runtime/model/tokenizer.h"

#include <chrono>

#include "runtime/model/regex.h"
#include "runtime/model/stream_decoder.h"
#include "support.h"

namespace skdsl::model {
namespace fs = std::filesystem;
namespace {

using Ids = std::vector<int32_t>;

/// A WordLevel tokenizer whose pieces come back as text: unknown pieces are listed by the test's vocabulary.
std::string tokenizer_json(const std::string& pre_tokenizer, const std::vector<std::string>& vocab,
                           const std::string& more = "") {
  Json words{Json::Object{}};
  for (size_t i = 0; i < vocab.size(); ++i) words.set(vocab[i], i);
  return R"({"normalizer":null,"pre_tokenizer":)" + pre_tokenizer + R"(,"decoder":{"type":"Fuse"},)" + more +
         R"("model":{"type":"WordLevel","unk_token":"?","vocab":)" + to_json(words) + "}}";
}

/// The pieces of a text, in order, for vocabularies that know each piece.
std::vector<std::string> pieces(const Tokenizer& tokenizer, const std::string& text) {
  std::vector<std::string> out;
  const auto ids = tokenizer.encode(text);
  if (!ids) return {test::error_text(ids)};
  for (const int32_t id : *ids) out.push_back(*tokenizer.token_of(id));
  return out;
}

TEST(Tokenizer, EncodesTheAdder) {
  const auto tokenizer = Tokenizer::open(test::adder());
  ASSERT_OK(tokenizer);
  EXPECT_EQ(tokenizer->encode("27+58=").value(), (Ids{1, 5, 10, 13, 8, 11, 14}));
  EXPECT_EQ(tokenizer->encode("27+58=", false).value(), (Ids{5, 10, 13, 8, 11, 14}));
  EXPECT_EQ(tokenizer->encode("").value(), (Ids{1}));
  EXPECT_EQ(tokenizer->encode("1é\n").value(), (Ids{1, 4, 15, 2}));  // one unknown for two bytes
  EXPECT_EQ(tokenizer->encode("<pad>1<s>").value(), (Ids{1, 0, 4, 1}));
  EXPECT_EQ(tokenizer->vocab_size(), 16);
  EXPECT_EQ(tokenizer->id_of("\n"), 2);
  EXPECT_EQ(tokenizer->id_of("x"), std::nullopt);
  EXPECT_TRUE(tokenizer->is_special(0));
  EXPECT_FALSE(tokenizer->is_special(2));
}

TEST(Tokenizer, AgreesWithTheAddersGoldens) {
  const auto tokenizer = Tokenizer::open(test::adder());
  ASSERT_OK(tokenizer);
  const auto golden = parse_json(read_file(test::adder() / "golden.json").value(), "golden.json");
  ASSERT_OK(golden);
  size_t checked = 0;
  for (const Json& request : golden->find("requests")->as_array()) {
    Ids ids;
    for (const Json& id : request.find("prompt_ids")->as_array())
      ids.push_back(static_cast<int32_t>(id.as_int()));
    EXPECT_EQ(tokenizer->encode(tokenizer->decode(ids, true)).value(), ids);
    ++checked;
  }
  EXPECT_GT(checked, 0u);
}

TEST(Tokenizer, EverySumOfTheAdderGoesThereAndBack) {
  const auto tokenizer = Tokenizer::open(test::adder());
  ASSERT_OK(tokenizer);
  const auto sums = parse_json(read_file(test::adder() / "sums.json").value(), "sums.json");
  ASSERT_OK(sums);
  size_t checked = 0;
  for (const Json& item : sums->find("items")->as_array()) {
    const std::string text = item.find("prompt")->as_string() + item.find("answer")->as_string() + "\n";
    const auto ids = tokenizer->encode(text);
    ASSERT_OK(ids);
    EXPECT_EQ(ids->size(), text.size() + 1);
    EXPECT_EQ(tokenizer->decode(*ids, true), text);
    EXPECT_EQ(tokenizer->decode(*ids, false), "<s>" + text);
    ++checked;
  }
  EXPECT_EQ(checked, 500u);
}

TEST(Tokenizer, RefusesTextThatIsNotUtf8) {
  const auto tokenizer = Tokenizer::open(test::adder());
  ASSERT_OK(tokenizer);
  EXPECT_ERROR(tokenizer->encode("12\xff"), "not UTF-8: byte 2 is 0xff");
  EXPECT_ERROR(tokenizer->encode("\xe2\x82"), "byte 0");
}

TEST(Tokenizer, IdsThatAreNoTokensGiveNothing) {
  const auto tokenizer = Tokenizer::open(test::adder());
  ASSERT_OK(tokenizer);
  EXPECT_EQ(tokenizer->decode(Ids{4, 99, -1, 5}, true), "12");
}

TEST(Tokenizer, SplitBehavioursAreThoseOfTheLibrary) {
  // The example in the documentation of the tokenizers library.
  const std::string text = "the-final--countdown";
  const std::vector<std::pair<std::string, std::vector<std::string>>> cases = {
      {"Removed", {"the", "final", "countdown"}},
      {"Isolated", {"the", "-", "final", "-", "-", "countdown"}},
      {"MergedWithPrevious", {"the-", "final-", "-", "countdown"}},
      {"MergedWithNext", {"the", "-final", "-", "-countdown"}},
      {"Contiguous", {"the", "-", "final", "--", "countdown"}},
  };
  const std::vector<std::string> vocab = {"the",    "final",  "countdown",  "-",  "the-",
                                          "final-", "-final", "-countdown", "--", "?"};
  for (const auto& [behavior, expected] : cases)
    for (const char* pattern : {R"({"String":"-"})", R"({"Regex":"-"})"}) {
      const auto tokenizer =
          Tokenizer::from_json(tokenizer_json(R"({"type":"Split","pattern":)" + std::string(pattern) +
                                                  R"(,"behavior":")" + behavior + R"(","invert":false})",
                                              vocab),
                               "t.json");
      ASSERT_OK(tokenizer);
      EXPECT_EQ(pieces(*tokenizer, text), expected) << behavior << pattern;
    }
}

TEST(Tokenizer, SplitInvertedSwapsMatchesAndRest) {
  const auto tokenizer = Tokenizer::from_json(
      tokenizer_json(R"({"type":"Split","pattern":{"Regex":"[0-9]+"},"behavior":"Removed","invert":true})",
                     {"12", "345", "?"}),
      "t.json");
  ASSERT_OK(tokenizer);
  EXPECT_EQ(pieces(*tokenizer, "a12b345c"), (std::vector<std::string>{"12", "345"}));
}

TEST(Tokenizer, PatternsOfStringsAreLiteral) {
  const auto tokenizer = Tokenizer::from_json(
      tokenizer_json(R"({"type":"Split","pattern":{"String":".*"},"behavior":"Removed","invert":false})",
                     {"a", "b", "?"}),
      "t.json");
  ASSERT_OK(tokenizer);
  EXPECT_EQ(pieces(*tokenizer, "a.*b"), (std::vector<std::string>{"a", "b"}));
}

TEST(Tokenizer, WhitespaceSeparatesWordsFromTheRest) {
  const auto tokenizer = Tokenizer::from_json(
      tokenizer_json(R"({"type":"Whitespace"})", {"Hello", "naïve_1", "!?", "世界", ",", "?"}), "t.json");
  ASSERT_OK(tokenizer);
  EXPECT_EQ(pieces(*tokenizer, "  Hello, naïve_1\u00a0世界!? \n"),
            (std::vector<std::string>{"Hello", ",", "naïve_1", "世界", "!?"}));
}

TEST(Tokenizer, SequencesRefineStepByStep) {
  const auto tokenizer = Tokenizer::from_json(
      tokenizer_json(R"({"type":"Sequence","pretokenizers":[{"type":"Whitespace"},)"
                     R"({"type":"Split","pattern":{"Regex":"\\d"},"behavior":"Isolated","invert":false}]})",
                     {"ab", "1", "2", "c", "?"}),
      "t.json");
  ASSERT_OK(tokenizer);
  EXPECT_EQ(pieces(*tokenizer, "ab12 c"), (std::vector<std::string>{"ab", "1", "2", "c"}));
}

TEST(Tokenizer, AddedTokensAreCutOutFirst) {
  const std::string isolated =
      R"({"type":"Split","pattern":{"Regex":"[\\s\\S]"},"behavior":"Isolated","invert":false})";
  const std::string added = R"("added_tokens":[
      {"id":10,"content":"<s>","special":true,"normalized":false},
      {"id":11,"content":"<s>x","special":false,"normalized":false},
      {"id":12,"content":"ab","special":false,"normalized":true},
      {"id":13,"content":"W","single_word":true,"normalized":false},
      {"id":14,"content":"[M]","lstrip":true,"rstrip":true,"special":true,"normalized":false}],)";
  const auto tokenizer =
      Tokenizer::from_json(tokenizer_json(isolated, {"a", "b", "x", " ", "?", "."}, added), "t");
  ASSERT_OK(tokenizer);
  const auto ids = [&](const char* text) { return tokenizer->encode(text).value(); };
  EXPECT_EQ(ids("a<s>b"), (Ids{0, 10, 1}));
  EXPECT_EQ(ids("<s>x"), (Ids{11}));  // the longest wins
  EXPECT_EQ(ids("xab<s>ab"), (Ids{2, 12, 10, 12}));
  EXPECT_EQ(ids("W"), (Ids{13}));
  EXPECT_EQ(ids("aW.W"), (Ids{0, 4, 5, 13}));         // `aW` is one word
  EXPECT_EQ(ids("a  [M] \u00a0b"), (Ids{0, 14, 1}));  // takes the white space beside it
  EXPECT_EQ(tokenizer->vocab_size(), 15);
  EXPECT_EQ(tokenizer->decode(Ids{0, 10, 12, 14, 1}, true), "aabb");
  EXPECT_EQ(tokenizer->decode(Ids{0, 10, 12, 14, 1}, false), "a<s>ab[M]b");
}

TEST(Tokenizer, WithoutADecoderTokensAreWords) {
  const auto tokenizer = Tokenizer::from_json(
      R"({"pre_tokenizer":{"type":"Whitespace"},"model":{"type":"WordLevel","unk_token":"?","vocab":{"a":0,"b":1,"?":2}}})",
      "t");
  ASSERT_OK(tokenizer);
  EXPECT_EQ(tokenizer->decode(Ids{0, 1, 0}, true), "a b a");
}

TEST(Tokenizer, NamesWhatItDoesNotSupport) {
  const std::string model = R"("model":{"type":"WordLevel","unk_token":"?","vocab":{"a":0,"?":1}})";
  const std::vector<std::pair<std::string, const char*>> cases = {
      {R"({"model":{"type":"WordPiece","vocab":{}}})",
       "model of type `WordPiece` is not supported; supported: BPE, WordLevel"},
      {R"({"model":{"type":"Unigram"}})", "model of type `Unigram`"},
      {R"({"model":null})", "as `model`"},
      {"{}", "as `model`"},
      {R"({"model":{}})", "model has no `type`"},
      {R"({"normalizer":{"type":"Precompiled"},)" + model + "}",
       "normalizer of type `Precompiled` is not supported; supported: NFC, NFD"},
      {R"({"pre_tokenizer":{"type":"UnicodeScripts"},)" + model + "}",
       "pre_tokenizer of type `UnicodeScripts` is not supported; supported: ByteLevel, Digits, Metaspace"},
      {R"({"pre_tokenizer":{"type":"Sequence","pretokenizers":[{"type":"CharDelimiterSplit"}]},)" + model + "}",
       "`CharDelimiterSplit`"},
      {R"({"pre_tokenizer":{"type":"Sequence","pretokenizers":3},)" + model + "}", "`pretokenizers`"},
      {R"({"post_processor":{"type":"BertProcessing"},)" + model + "}",
       "post_processor of type `BertProcessing`"},
      {R"({"decoder":{"type":"WordPiece"},)" + model + "}", "decoder of type `WordPiece`"},
      {R"({"model":{"type":"WordLevel","unk_token":"?","vocab":{"a":-1}}})", "the id of `a` is -1"},
      {R"({"model":{"type":"WordLevel","unk_token":"?","vocab":{"a":2147483647}}})", "the id of `a`"},
      {R"({"model":{"type":"WordLevel","unk_token":"?","vocab":{"a":1,"b":1}}})", "have the same id 1"},
      {R"({"model":{"type":"WordLevel","unk_token":"?","vocab":[]}})", "as `vocab`"},
      {R"({"model":{"type":"WordLevel","vocab":{}}})", "`unk_token` is missing; expected a string"},
      {R"({"added_tokens":[{"id":0,"content":"b"}],)" + model + "}", "added token `b` has id 0"},
      {R"({"added_tokens":[{"id":7,"content":"a"}],)" + model + "}", "added token `a` has id 7"},
      {R"({"added_tokens":[{"id":7,"content":"x"},{"id":7,"content":"y"}],)" + model + "}",
       "`y` (id 7) stands twice"},
      {R"({"added_tokens":[{"id":7,"content":""}],)" + model + "}", "not empty as `content`"},
      {R"({"added_tokens":[{"id":7,"content":"x","special":1}],)" + model + "}",
       "`special` of `x` is an integer"},
      {R"({"added_tokens":{},)" + model + "}", "added_tokens is an object"},
      {R"({"pre_tokenizer":{"type":"Split","pattern":{"Regex":"("},"behavior":"Isolated"},)" + model + "}",
       "no regular expression"},
      {R"({"pre_tokenizer":{"type":"Split","pattern":{"Regex":"a"},"behavior":"Sideways"},)" + model + "}",
       "behavior \"Sideways\" is not one of Removed, Isolated"},
      {R"({"pre_tokenizer":{"type":"Split","pattern":{},"behavior":"Isolated"},)" + model + "}",
       "as `pattern`"},
      {R"({"pre_tokenizer":{"type":"Split","pattern":{"Regex":"a"},"behavior":"Isolated","invert":"no"},)" +
           model + "}",
       "`invert` is \"no\"; expected true or false"},
      {R"({"post_processor":{"type":"TemplateProcessing","single":[{"SpecialToken":{"id":"<s>"}}]},)" +
           model + "}",
       "as `ids` of `<s>`"},
      {R"({"post_processor":{"type":"TemplateProcessing","single":[{"Sequence":{"id":"B"}}]},)" + model + "}",
       "only `A`"},
      {R"({"post_processor":{"type":"TemplateProcessing","single":[{"SpecialToken":{"id":"x"}}],)"
       R"("special_tokens":{"x":{"ids":[9]}}},)" +
           model + "}",
       "adds id 9, which is no token"},
      {"[]", "expected an object, found a list"},
      {"{", "dir/tokenizer.json:1:1"},
  };
  for (const auto& [text, part] : cases) {
    SCOPED_TRACE(text);
    const auto result = Tokenizer::from_json(text, "dir/tokenizer.json");
    EXPECT_ERROR(result, part);
    EXPECT_ERROR(result, "dir/tokenizer.json");
  }
  const test::TempDir dir;
  EXPECT_FALSE(Tokenizer::present(dir.path()));
  EXPECT_ERROR(Tokenizer::open(dir.path()), "tokenizer.json`: no such file");
}

TEST(Tokenizer, AMissingUnknownTokenIsAnErrorWhenNeeded) {
  const auto tokenizer =
      Tokenizer::from_json(R"({"model":{"type":"WordLevel","unk_token":"<unk>","vocab":{"a":0}}})", "t.json");
  ASSERT_OK(tokenizer);
  EXPECT_EQ(tokenizer->encode("a").value(), (Ids{0}));
  EXPECT_ERROR(tokenizer->encode("b"),
               "`b` is not in the vocabulary, and neither is the unknown token `<unk>`");
}

TEST(Tokenizer, APatternThatExplodesIsAnErrorNotAHang) {
  const auto tokenizer = Tokenizer::from_json(
      tokenizer_json(
          R"~({"type":"Split","pattern":{"Regex":"(x+x+)+(?:y|z)"},"behavior":"Isolated","invert":false})~",
          {"?"}),
      "t.json");
  ASSERT_OK(tokenizer);
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_ERROR(tokenizer->encode(std::string(2000, 'x')), "t.json");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
}

TEST(StreamDecoder, NeverEmitsHalfACharacter) {
  const auto tokenizer = Tokenizer::open(test::adder());
  ASSERT_OK(tokenizer);
  StreamDecoder stream(*tokenizer, true);
  EXPECT_EQ(stream.push(1), "");  // special
  EXPECT_EQ(stream.push(11), "8");
  EXPECT_EQ(stream.push(2), "\n");
  EXPECT_EQ(stream.finish(), "");
  StreamDecoder all(*tokenizer, false);
  EXPECT_EQ(all.push(1), "<s>");
}

TEST(Regex, FindsMatchesInUnicodeText) {
  const auto all = [](std::string_view pattern, std::string_view text) {
    std::vector<std::string> out;
    const auto regex = Regex::compile(pattern, Regex::Syntax::Regex, "p");
    if (!regex) return std::vector<std::string>{test::error_text(regex)};
    const auto found = regex->find_all(text);
    if (!found) return std::vector<std::string>{test::error_text(found)};
    for (const auto& [begin, end] : *found) out.emplace_back(text.substr(begin, end - begin));
    return out;
  };
  using List = std::vector<std::string>;
  EXPECT_EQ(all(R"(\p{L}+|\p{N}{1,3})", "añb 12345"), (List{"añb", "123", "45"}));
  EXPECT_EQ(all(R"(\s+(?!\S)|\s+)", "a  b "), (List{" ", " ", " "}));
  EXPECT_EQ(all(R"((?i:'s|'t))", "It'S"), (List{"'S"}));
  EXPECT_EQ(all("^.", "ab\ncd"), (List{"a", "c"}));  // lines, as in Oniguruma
  EXPECT_EQ(all("x*", "axb"), (List{"", "x", ""}));  // empty matches, none directly behind another
  EXPECT_EQ(all("", "é"), (List{"", ""}));           // whole characters
  EXPECT_TRUE(is_white_space("\u3000"));
  EXPECT_FALSE(is_white_space("x"));
  EXPECT_TRUE(is_word_character("世"));
  EXPECT_TRUE(is_word_character("_"));
  EXPECT_FALSE(is_word_character("-"));
  EXPECT_ERROR(Regex::compile(R"(\C)", Regex::Syntax::Regex, "p"), "p: ");
}

}  // namespace
}  // namespace skdsl::model
