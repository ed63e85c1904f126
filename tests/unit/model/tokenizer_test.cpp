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
      {R"({"pre_tokenizer":{"type":"Sequence","pretokenizers":[{"type":"CharDelimiterSplit"}]},)" + model +
           "}",
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
      {R"({"post_procesor":null,)" + model + "}", "`post_procesor` (here null) is not supported"},
      {R"({"model":{"type":"WordLevel","unk_token":"?","vocab":{},"cache":3}})",
       "model WordLevel: `cache` (here 3) is not supported; supported: vocab, unk_token"},
      {R"({"normalizer":{"type":"NFC","form":1},)" + model + "}",
       "`form` (here 1) is not supported; supported: no members"},
      {R"({"added_tokens":[{"id":7,"content":"x","priority":1}],)" + model + "}",
       "`priority` (here 1) of `x` is not supported"},
      {R"({"model":{"type":"BPE","vocab":{"a":0},"merges":[],"dropout":0.1}})",
       "`dropout` is 0.1; only null or 0"},
      {R"({"model":{"type":"BPE","vocab":{"a":0},"merges":["a b"]}})", "merge 0 needs the token `b`"},
      {R"({"model":{"type":"BPE","vocab":{"a":0},"merges":["a"]}})", "merge 0 is \"a\""},
      {R"({"model":{"type":"BPE","vocab":{"a":0}}})", "`merges` is missing; expected a list"},
      {R"({"model":{"type":"BPE","vocab":{"a":0},"merges":[],"byte_fallback":1}})",
       "`byte_fallback` is 1; expected true or false"},
      {R"({"pre_tokenizer":{"type":"Metaspace","replacement":"ab"},)" + model + "}",
       "`replacement` is \"ab\"; expected one character"},
      {R"({"pre_tokenizer":{"type":"Metaspace","replacement":"_","prepend_scheme":"last"},)" + model + "}",
       "`prepend_scheme` is \"last\""},
      {R"({"pre_tokenizer":{"type":"Metaspace","replacement":"_","prepend_scheme":"first","add_prefix_space":false},)" +
           model + "}",
       "because `add_prefix_space` is false"},
      {R"({"decoder":{"type":"Replace","pattern":{"Regex":"a"},"content":""},)" + model + "}",
       "other patterns are not supported in decoders"},
      {R"({"decoder":{"type":"Strip","content":" ","start":-1},)" + model + "}",
       "`start` is -1; expected an integer from 0"},
      {R"({"decoder":{"type":"Sequence","decoders":[null]},)" + model + "}", "a member is null"},
      {R"({"pre_tokenizer":{"type":"Split","pattern":{"Regex":"[a[bc]]"},"behavior":"Isolated"},)" + model +
           "}",
       "a class inside a class at its byte 2"},
      {R"({"pre_tokenizer":{"type":"Split","pattern":{"Regex":"[\\w&&a]"},"behavior":"Isolated"},)" + model +
           "}",
       "`&&`"},
      {R"({"pre_tokenizer":{"type":"Split","pattern":{"Regex":"a{1,3}+"},"behavior":"Isolated"},)" + model +
           "}",
       "`+` behind an interval"},
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

/// A BPE tokenizer with more members.
Expected<Tokenizer> bpe(const std::string& vocab, const std::string& merges, const std::string& more) {
  return Tokenizer::from_json(
      R"({"model":{"type":"BPE","vocab":{)" + vocab + R"(},"merges":[)" + merges + "]" + more + "}}",
      "t.json");
}

TEST(Bpe, MergesTheLowestRankFirstAndTheLeftmostAmongEquals) {
  const auto t =
      bpe(R"("a":0,"b":1,"aa":2,"ab":3,"aab":4,"aaab":5)", R"("a b","a a","a ab",["aa","ab"])", "");
  ASSERT_OK(t);
  EXPECT_EQ(t->encode("ab").value(), (Ids{3}));
  EXPECT_EQ(t->encode("aab").value(), (Ids{4}));
  EXPECT_EQ(t->encode("aaaa").value(), (Ids{2, 2}));
  EXPECT_EQ(t->encode("aaa").value(), (Ids{2, 0}));
  EXPECT_EQ(t->encode("aaab").value(), (Ids{5}));  // aa and ab come before a and ab
}

TEST(Bpe, UnknownCharactersFuseOrNot) {
  const std::string vocab = R"("?":0,"a":1)";
  EXPECT_EQ(bpe(vocab, "", R"(,"unk_token":"?")")->encode("xyaé").value(), (Ids{0, 0, 1, 0}));
  EXPECT_EQ(bpe(vocab, "", R"(,"unk_token":"?","fuse_unk":true)")->encode("xyaé").value(), (Ids{0, 1, 0}));
  EXPECT_ERROR(bpe(vocab, "", "")->encode("ax"),
               "`x` is not in the vocabulary, and there is no unknown token");
}

TEST(Bpe, BytesStandForCharactersWhenAllOfThemAreTokens) {
  const auto t = bpe(R"("?":0,"a":1,"<0xC3>":2,"<0xA9>":3)", "", R"(,"unk_token":"?","byte_fallback":true)");
  EXPECT_EQ(t->encode("aéè").value(), (Ids{1, 2, 3, 0}));  // è is C3 A8
}

TEST(Bpe, WholeTokensCanSkipTheMerges) {
  const std::string vocab = R"("a":0,"b":1,"ab":2)";
  EXPECT_EQ(bpe(vocab, "", "")->encode("ab").value(), (Ids{0, 1}));
  EXPECT_EQ(bpe(vocab, "", R"(,"ignore_merges":true)")->encode("ab").value(), (Ids{2}));
}

TEST(Bpe, PrefixAndSuffixMarkThePlaceInAWord) {
  const auto t = bpe(R"("a":0,"#b":1,"#c</w>":2,"ab":3,"a</w>":4)", R"("a #b")",
                     R"(,"continuing_subword_prefix":"#","end_of_word_suffix":"</w>")");
  EXPECT_EQ(t->encode("abc").value(), (Ids{3, 2}));
  EXPECT_EQ(t->encode("a").value(), (Ids{4}));
}

TEST(Normalizer, FormsComeFromUnicode) {
  const auto ids = [](const std::string& form, const std::string& text) {
    const auto t = Tokenizer::from_json(
        R"({"normalizer":)" + form +
            R"(,"model":{"type":"WordLevel","unk_token":"?","vocab":{"é":0,"e\u0301":1,"fi":2,"ﬁ":3,"i\u0307":4,"?":5,"e":6,"σ":7}}})",
        "t.json");
    return t->encode(text).value()[0];
  };
  EXPECT_EQ(ids(R"({"type":"NFC"})", "e\u0301"), 0);
  EXPECT_EQ(ids(R"({"type":"NFD"})", "é"), 1);
  EXPECT_EQ(ids(R"({"type":"NFC"})", "ﬁ"), 3);
  EXPECT_EQ(ids(R"({"type":"NFKC"})", "ﬁ"), 2);
  EXPECT_EQ(ids(R"({"type":"Lowercase"})", "İ"), 4);
  EXPECT_EQ(ids(R"({"type":"Lowercase"})", "Σ"), 7);
  EXPECT_EQ(ids(R"({"type":"Sequence","normalizers":[{"type":"NFKD"},{"type":"StripAccents"}]})", "é"), 6);
}

TEST(TokenizerModel, ConfigBesideIt) {
  const std::string model = read_file(test::source_dir() / "tests/tokenizers/sp_bpe.model").value();
  const auto with = [&](const std::string& config) {
    return Tokenizer::from_sentencepiece(model, "dir/tokenizer.model", config, "dir/tokenizer_config.json");
  };
  const Ids plain = with("{}")->encode("The river", false).value();
  Ids begin = plain, both;
  begin.insert(begin.begin(), 1);
  both = begin;
  both.push_back(2);
  EXPECT_EQ(with("")->encode("The river").value(), begin);
  EXPECT_EQ(with("{}")->encode("The river").value(), begin);
  EXPECT_EQ(with(R"({"add_bos_token":false})")->encode("The river").value(), plain);
  EXPECT_EQ(with(R"({"add_eos_token":true,"chat_template":"x"})")->encode("The river").value(), both);
  EXPECT_OK(with(R"({"added_tokens_decoder":{"0":{"content":"<unk>"},"1":{"content":"<s>"}}})"));
  EXPECT_ERROR(with(R"({"added_tokens_decoder":{"32000":{"content":"<pad>"}}})"),
               "`<pad>` (id 32000) is not in `dir/tokenizer.model`");
  EXPECT_ERROR(with(R"({"add_bos_token":1})"), "`add_bos_token` is 1; expected true or false");
  EXPECT_ERROR(with(R"({"add_prefix_space":false})"), "expected true, as tokenizer.model has it");
  EXPECT_ERROR(with("[]"), "dir/tokenizer_config.json");
  EXPECT_TRUE(with("")->is_special(1));
  EXPECT_FALSE(with("")->is_special(3));
  EXPECT_EQ(with("")->vocab_size(), 900);
}

TEST(TokenizerModel, DamagedFilesAreRefused) {
  const std::string model = read_file(test::source_dir() / "tests/tokenizers/sp_unigram.model").value();
  const auto open = [](const std::string& bytes) {
    return Tokenizer::from_sentencepiece(bytes, "dir/tokenizer.model");
  };
  EXPECT_OK(open(model));
  EXPECT_ERROR(open(""), "it has no pieces");
  EXPECT_ERROR(open("not a model"), "dir/tokenizer.model");
  EXPECT_ERROR(open(model.substr(0, model.size() - 7)), "damaged or cut");
  const auto piece = [](const std::string& text, const std::string& more) {
    const std::string inner = std::string("\x0a") + static_cast<char>(text.size()) + text + more;
    return std::string("\x0a") + static_cast<char>(inner.size()) + inner;
  };
  const std::string unknown = piece("<unk>", "\x18\x02");
  EXPECT_OK(open(unknown + piece("a", "")));
  EXPECT_ERROR(open(piece("a", "")), "the SentencePiece library does not take this model");
  EXPECT_ERROR(open(unknown + piece("a", "") + piece("a", "")), "piece 2 (`a`) stands twice");
  EXPECT_ERROR(open(unknown + piece("", "")), "piece 1 is empty");
  EXPECT_ERROR(open(unknown + piece("\xff", "")), "not UTF-8");
  EXPECT_ERROR(open(unknown + piece("a", "\x18\x09")), "piece 1 has the type 9; there are 1 to 6");
  EXPECT_ERROR(open(unknown + piece("a", "\x18\x06")), "does not look like `<0x41>`");
  EXPECT_ERROR(open(unknown + piece("a", std::string("\x15\x00\x00\xc0\x7f", 5))),
               "a score that is not finite");
  // The rules of a normalizer whose trie is cut.
  EXPECT_ERROR(open(unknown + std::string("\x1a\x0a\x12\x08\x04\x00\x00\x00\x01\x00\x00\x00", 12)),
               "precompiled_charsmap is damaged");
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
  EXPECT_EQ(all("^.", "ab\ncd"), (List{"a", "c"}));                               // lines, as in Oniguruma
  EXPECT_EQ(all(R"(\w+)", "a\u0301_9-\u0301b"), (List{"a\u0301_9", "\u0301b"}));  // marks are in words
  EXPECT_EQ(all(R"([^\s]+)", "a\u0085b\u180ec"), (List{"a", "b\u180ec"}));        // U+180E is no white space
  EXPECT_EQ(all(R"(\bna\u0308\b)", "na\u0308 na\u0308a"), (List{"na\u0308"}));
  EXPECT_EQ(all(R"(\h+)", "xAf0g"), (List{"Af0"}));
  EXPECT_EQ(all("(?m:a.)", "a\nab"), (List{"a\n", "ab"}));  // m: a dot is any character
  EXPECT_EQ(all(R"([]x]+|[^\d\[\u00e9])", "]x7[y\u00e9"), (List{"]x", "y"}));
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
