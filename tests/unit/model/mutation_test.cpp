// Seeded mutations of good files: reading them never crashes, and an error names the file.
#include <cstdlib>
#include <numeric>
#include <random>

#include "runtime/base/utf8.h"
#include "runtime/model/checkpoint.h"
#include "runtime/model/hf_config.h"
#include "runtime/model/tokenizer.h"
#include "support.h"

namespace skdsl::model {
namespace fs = std::filesystem;
namespace {

using test::TempDir;

/// 1,000 mutations of each file; more when soaking.
int rounds() { return std::getenv("SKDSL_SOAK") ? 50'000 : 1'000; }

uint64_t seed() {
  const char* text = std::getenv("SKDSL_SEED");
  return text ? std::strtoull(text, nullptr, 10) : 20240917;
}

/// Changes one to four places within the first `reach` bytes: flips, insertions, deletions, copies, cuts, and
/// numbers that are wrong in interesting ways.
std::string mutated(std::string bytes, size_t reach, std::mt19937_64& random) {
  static constexpr std::string_view kInteresting[] = {"-1",
                                                      "0",
                                                      "9223372036854775807",
                                                      "18446744073709551615",
                                                      "1e999",
                                                      "null",
                                                      "{}",
                                                      "[]",
                                                      "\"",
                                                      "F64",
                                                      "\\",
                                                      "\xff",
                                                      "[[[[",
                                                      ",",
                                                      "}"};
  const auto below = [&](size_t n) { return n == 0 ? 0 : static_cast<size_t>(random() % n); };
  for (size_t n = 1 + below(4); n > 0; --n) {
    const size_t at = below(std::min(reach, bytes.size()));
    switch (below(6)) {
      case 0:
        if (!bytes.empty()) bytes[at] = static_cast<char>(random());
        break;
      case 1:
        if (!bytes.empty()) bytes[at] = static_cast<char>(bytes[at] ^ (1 << below(8)));
        break;
      case 2:
        bytes.insert(at, kInteresting[below(std::size(kInteresting))]);
        break;
      case 3:
        bytes.erase(at, 1 + below(20));
        break;
      case 4:
        bytes.insert(at, bytes.substr(below(std::min(reach, bytes.size())), 1 + below(60)));
        break;
      case 5:
        if (below(8) == 0) bytes.resize(below(bytes.size() + 1));
        break;
    }
  }
  return bytes;
}

struct Counts {
  int good = 0;
  int refused = 0;
};

/// Mutates `bytes`, reads them with `read` (which gives the error, or nothing) and checks the error.
template <class Read>
void run(const char* what, const std::string& bytes, size_t reach, const std::string& name, Read&& read) {
  std::printf("%s: seed %llu, %d mutations\n", what, static_cast<unsigned long long>(seed()), rounds());
  std::mt19937_64 random(seed());
  Counts counts;
  for (int i = 0; i < rounds(); ++i) {
    const std::string bad = mutated(bytes, reach, random);
    const std::optional<Error> error = read(bad);
    if (!error) {
      ++counts.good;
      continue;
    }
    ++counts.refused;
    ASSERT_FALSE(error->message.empty());
    ASSERT_NE(test::text_of(*error).find(name), std::string::npos)
        << "mutation " << i << ": " << test::text_of(*error);
  }
  std::printf("%s: %d still good, %d refused\n", what, counts.good, counts.refused);
  EXPECT_GT(counts.refused, rounds() / 10);
}

TEST(Mutation, Safetensors) {
  const TempDir dir;
  const std::string bytes = read_file(test::adder() / "model.safetensors").value();
  run("safetensors", bytes, 8 + 8576, "bad.safetensors", [&](const std::string& bad) -> std::optional<Error> {
    const auto checkpoint = Checkpoint::open(dir.write("bad.safetensors", bad));
    if (!checkpoint) return checkpoint.error();
    // What was accepted must be readable to its last byte.
    unsigned sum = 0;
    for (const TensorInfo& info : checkpoint->tensors()) {
      const auto tensor = checkpoint->tensor(info.name);
      if (!tensor) return tensor.error();
      for (int64_t b = 0; b < tensor->bytes(); b += 61) sum += tensor->data<uint8_t>()[b];
      if (tensor->bytes() > 0) sum += tensor->data<uint8_t>()[tensor->bytes() - 1];
    }
    volatile unsigned sink = sum;
    (void)sink;
    return {};
  });
}

TEST(Mutation, Index) {
  const TempDir dir;
  for (const char* shard : {"model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"}) {
    fs::copy(test::golden("deepseek_v3") / shard, dir.path() / shard);
  }
  const std::string name = "model.safetensors.index.json";
  const std::string bytes = read_file(test::golden("deepseek_v3") / name).value();
  run("index", bytes, bytes.size(), dir.path().string(), [&](const std::string& bad) -> std::optional<Error> {
    dir.write(name, bad);
    const auto checkpoint = Checkpoint::open(dir.path());
    return checkpoint ? std::nullopt : std::optional(checkpoint.error());
  });
}

/// Encodes and decodes with a tokenizer that was accepted; what comes out is UTF-8.
std::optional<Error> use(const Expected<Tokenizer>& tokenizer) {
  if (!tokenizer) return tokenizer.error();
  for (const char* text : {"27+58=\n <s>é", " The river's 世界 <tool>\u3000<|end|> 12345  x", ""}) {
    const auto ids = tokenizer->encode(text);
    if (!ids) return ids.error();
    EXPECT_FALSE(invalid_utf8(tokenizer->decode(*ids, false)));
  }
  std::vector<int32_t> all(300);
  std::iota(all.begin(), all.end(), -1);
  EXPECT_FALSE(invalid_utf8(tokenizer->decode(all, true)));
  return {};
}

TEST(Mutation, Tokenizer) {
  const std::string name = "dir/tokenizer.json";
  const fs::path folder = test::source_dir() / "tests/tokenizers";
  std::vector<fs::path> files{test::adder() / "tokenizer.json"};
  for (const char* form : {"gpt2", "llama3", "qwen3", "deepseek", "llama2", "metaspace", "word_level"})
    files.push_back(folder / (std::string(form) + ".json"));
  for (const fs::path& file : files) {
    const std::string bytes = read_file(file).value();
    // Half of the changes hit what stands before the vocabulary.
    const size_t settings = std::min(bytes.find("\"vocab\""), bytes.size());
    for (const size_t reach : {settings, bytes.size()})
      run(file.filename().c_str(), bytes, reach, name,
          [&](const std::string& bad) { return use(Tokenizer::from_json(bad, name)); });
  }
}

TEST(Mutation, SentencePieceModel) {
  const std::string name = "dir/tokenizer.model";
  for (const char* file : {"sp_bpe.model", "sp_unigram.model"}) {
    const std::string bytes = read_file(test::source_dir() / "tests/tokenizers" / file).value();
    // The settings and the rules of the normalizer stand at the end.
    const std::string turned(bytes.rbegin(), bytes.rend());
    run(file, bytes, bytes.size(), name,
        [&](const std::string& bad) { return use(Tokenizer::from_sentencepiece(bad, name)); });
    run(file, turned, turned.size() / 2, name, [&](const std::string& bad) {
      return use(Tokenizer::from_sentencepiece(std::string(bad.rbegin(), bad.rend()), name));
    });
  }
}

TEST(Mutation, Config) {
  const TempDir dir;
  const std::string bytes = read_file(test::adder() / "config.json").value();
  run("config", bytes, bytes.size(), "config.json", [&](const std::string& bad) -> std::optional<Error> {
    dir.write("config.json", bad);
    const auto config = read_hf_config(dir.path());
    if (!config) return config.error();
    // What was read can be written and read again.
    const auto again = parse_json(to_json(*config), "again");
    EXPECT_OK(again);
    if (again) {
      EXPECT_EQ(*again, *config);
    }
    return {};
  });
}

}  // namespace
}  // namespace skdsl::model
