// Text that comes in pieces: decoders and stop strings, against the same work done at once.
#include <random>

#include "runtime/base/utf8.h"
#include "runtime/model/completion_text.h"
#include "runtime/model/stop_strings.h"
#include "runtime/model/stream_decoder.h"
#include "support.h"

namespace skdsl::model {
namespace {

using Ids = std::vector<int32_t>;

/// Tokens 0, 1, … with a decoder.
Tokenizer with_decoder(const std::string& decoder, const std::vector<std::string>& tokens) {
  Json vocab{Json::Object{}};
  for (size_t i = 0; i < tokens.size(); ++i) vocab.set(tokens[i], i);
  auto tokenizer = Tokenizer::from_json(R"({"decoder":)" + decoder +
                                            R"(,"model":{"type":"WordLevel","unk_token":"?","vocab":)" +
                                            to_json(vocab) + "}}",
                                        "t.json");
  EXPECT_TRUE(tokenizer.has_value()) << test::error_text(tokenizer);
  return std::move(*tokenizer);
}

std::vector<std::string> pieces(const Tokenizer& tokenizer, const Ids& ids) {
  StreamDecoder stream(tokenizer, true);
  std::vector<std::string> out;
  for (const int32_t id : ids) out.push_back(stream.push(id));
  out.push_back(stream.finish());
  return out;
}
using List = std::vector<std::string>;

TEST(StreamDecoder, ByteLevelHoldsIncompleteCharactersBack) {
  // € is E2 82 AC: â Ĥ ¬
  const auto t = with_decoder(R"({"type":"ByteLevel"})", {"a", "â", "Ĥ", "¬", "ĤĠ", "<end>"});
  EXPECT_EQ(pieces(t, {0, 1, 2, 3, 0}), (List{"a", "", "", "€", "a", ""}));
  EXPECT_EQ(pieces(t, {1, 0}), (List{"",
                                     "\ufffd"
                                     "a",
                                     ""}));  // it cannot become a character any more
  EXPECT_EQ(pieces(t, {1, 4, 0}), (List{"", "\ufffd ", "a", ""}));
  EXPECT_EQ(pieces(t, {0, 1, 2}), (List{"a", "", "", "\ufffd"}));
  EXPECT_EQ(pieces(t, {3, 5}), (List{"\ufffd", "<end>", ""}));
}

TEST(StreamDecoder, ByteFallbackReplacesEachWrongByte) {
  const auto t =
      with_decoder(R"({"type":"ByteFallback"})", {"a", "<0xE2>", "<0x82>", "<0xAC>", "<0x41>", "<0xZZ>"});
  EXPECT_EQ(pieces(t, {1, 2, 3, 4}), (List{"", "", "€", "A", ""}));
  EXPECT_EQ(pieces(t, {1, 2, 0}), (List{"", "",
                                        "\ufffd\ufffd"
                                        "a",
                                        ""}));
  EXPECT_EQ(pieces(t, {2, 1, 2, 3}), (List{"\ufffd", "", "", "€", ""}));
  EXPECT_EQ(pieces(t, {1, 5}), (List{"", "\ufffd<0xZZ>", ""}));
}

TEST(StreamDecoder, StripAndReplaceWorkOnEachToken) {
  const auto strip =
      with_decoder(R"({"type":"Strip","content":"_","start":1,"stop":2})", {"__a__", "_", "b", "_c___"});
  EXPECT_EQ(strip.decode(Ids{0, 1, 2, 3}, true), "_abc_");
  const auto replace =
      with_decoder(R"({"type":"Replace","pattern":{"String":"aa"},"content":"b"})", {"aaa", "a", "caa"});
  EXPECT_EQ(replace.decode(Ids{0, 1, 1, 2}, true), "baaacb");
}

TEST(StreamDecoder, BehindFuseTheyWorkOnTheWholeText) {
  const auto strip = with_decoder(
      R"({"type":"Sequence","decoders":[{"type":"Fuse"},{"type":"Strip","content":" ","start":1,"stop":2}]})",
      {" ", "a", "   "});
  EXPECT_EQ(pieces(strip, {0, 0, 1, 0, 0, 1}), (List{"", "", " a", "", "", "  a", ""}));
  EXPECT_EQ(pieces(strip, {1, 2}), (List{"a", " ", ""}));
  const auto replace = with_decoder(
      R"({"type":"Sequence","decoders":[{"type":"Fuse"},{"type":"Replace","pattern":{"String":"aab"},"content":"-"}]})",
      {"a", "b"});
  EXPECT_EQ(pieces(replace, {0, 0, 0, 1, 0, 1}), (List{"", "", "a", "-", "", "ab", ""}));
}

TEST(StreamDecoder, MetaspaceDropsTheFirstBlank) {
  const auto t =
      with_decoder(R"({"type":"Metaspace","replacement":"▁","prepend_scheme":"always"})", {"▁▁a", "▁b"});
  EXPECT_EQ(t.decode(Ids{0, 1, 0}, true), "a b  a");
  const auto never =
      with_decoder(R"({"type":"Metaspace","replacement":"▁","prepend_scheme":"never"})", {"▁▁a", "▁b"});
  EXPECT_EQ(never.decode(Ids{0, 1}, true), "  a b");
}

TEST(StreamDecoder, ACompletionGoesOnWhereThePromptEnds) {
  const auto t = with_decoder(R"({"type":"Metaspace","replacement":"▁"})", {"▁a", "▁b"});
  const Ids prompt{0};
  CompletionText text(t, prompt, {});
  EXPECT_EQ(text.push(1), " b");
  CompletionText first(t, {}, {});
  EXPECT_EQ(first.push(1), "b");
}

TEST(StreamDecoder, ATooLongChainIsRefused) {
  std::string steps = R"({"type":"Fuse"})";
  for (int i = 0; i < 64; ++i) steps += R"(,{"type":"Fuse"})";
  EXPECT_ERROR(Tokenizer::from_json(R"({"decoder":{"type":"Sequence","decoders":[)" + steps +
                                        R"(]},"model":{"type":"WordLevel","unk_token":"?","vocab":{}}})",
                                    "t.json"),
               "decoder has 65 steps; at most 64");
}

TEST(StopFilter, CutsBeforeTheFirstStopString) {
  StopFilter filter({"end", "STOP"});
  EXPECT_EQ(filter.push("a ST"), "a ");
  EXPECT_EQ(filter.push("AR"), "STAR");
  EXPECT_EQ(filter.push("e"), "");
  EXPECT_EQ(filter.push("n"), "");
  EXPECT_FALSE(filter.stopped());
  EXPECT_EQ(filter.push("d of STOP"), "");
  EXPECT_TRUE(filter.stopped());
  EXPECT_EQ(filter.push("more"), "");
  EXPECT_EQ(filter.finish(), "");
  StopFilter other({"aab"});
  EXPECT_EQ(other.push("aaa"), "a");
  EXPECT_EQ(other.finish(), "aa");
}

TEST(StopFilter, PiecesMakeNoDifference) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 3000; ++round) {
    const auto word = [&](size_t most) {
      std::string out;
      for (size_t n = 1 + random() % most; n > 0; --n) out += "aab\u00e9"[random() % 3];
      return out;
    };
    const std::string text = word(20);
    std::vector<std::string> stops{word(4), word(6)};
    size_t cut = text.size();
    bool found = false;
    for (const std::string& stop : stops)
      if (const size_t at = text.find(stop); at != std::string::npos) {
        cut = std::min(cut, at);
        found = true;
      }
    StopFilter filter(stops);
    std::string out;
    size_t at = 0;
    // As in a generation, nothing follows the piece that completes a stop string. A later piece can complete
    // one that begins earlier only when both end there, so the cut is the same.
    while (at < text.size() && !filter.stopped()) {
      const size_t n = 1 + random() % 3;
      out += filter.push(std::string_view(text).substr(at, n));
      at += n;
    }
    const bool stopped = filter.stopped();
    out += filter.finish();
    ASSERT_EQ(stopped, found) << text;
    for (const std::string& stop : stops) ASSERT_EQ(out.find(stop), std::string::npos);
    ASSERT_TRUE(text.starts_with(out));
    if (!found) ASSERT_EQ(out, text);
    ASSERT_GE(out.size(), cut) << "nothing before the first stop string is lost";
  }
}

}  // namespace
}  // namespace skdsl::model
