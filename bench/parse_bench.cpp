// How long does it take to parse a file? A 300-line one, warm and as the first thing a program does, and a
// generated one of 100,000 lines.
#include <benchmark/benchmark.h>

#include <chrono>
#include <cstdio>
#include <fstream>
#include <sstream>

#include "compiler/parse/parse.h"

namespace {

using namespace skdsl;

std::string read(const std::string& name) {
  std::ifstream in(std::string(SKDSL_SOURCE_DIR) + "/tests/unit/front/sketch/" + name);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

/// The standard layers and two models in the formatter's layout, over and over until `lines` lines are full.
std::string program(size_t lines) {
  std::string once;
  for (const char* name : {"base.sk", "mlp.sk", "moe.sk", "attention.sk", "longcat.sk", "llama.sk"})
    once += read(name);
  source::Sources sources;
  diag::Engine diags(sources);
  once = ast::print(parse::parse(sources.add("sketch", once), diags));
  std::string out;
  for (size_t n = 0; n < lines;) {
    for (size_t at = 0; at < once.size() && n < lines; ++n) {
      const size_t end = once.find('\n', at) + 1;
      out += once.substr(at, end - at);
      at = end;
    }
  }
  return out;
}

void parse_lines(benchmark::State& state) {
  const std::string text = program(static_cast<size_t>(state.range(0)));
  for (auto _ : state) {
    source::Sources sources;
    diag::Engine diags(sources);
    benchmark::DoNotOptimize(parse::parse(sources.add("big.sk", text), diags));
  }
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations()) * static_cast<int64_t>(text.size()));
}
BENCHMARK(parse_lines)->Arg(300)->Arg(100000)->Unit(benchmark::kMillisecond);

}  // namespace

int main(int argc, char** argv) {
  const std::string text = read("longcat.sk") + read("attention.sk") + read("moe.sk") + read("base.sk") +
                           read("mlp.sk") + read("llama.sk");
  source::Sources sources;
  diag::Engine diags(sources);
  const auto begin = std::chrono::steady_clock::now();
  parse::parse(sources.add("first.sk", text), diags);
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
  std::printf("first parse in this process (%zu bytes): %.2f ms\n", text.size(), took.count());
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
