// world — weights, states and inputs for random programs, and what a run of one leaves behind
#pragma once
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "compiler/passes/pass.h"
#include "compiler/schedule/schedule.h"
#include "runtime/exec/captures.h"
#include "runtime/exec/graph.h"
#include "runtime/exec/interpreter.h"
#include "tests/support/random_program.h"

namespace skdsl::testing {

using exec::RuntimeValue;
using plan::Program;

inline Tensor tensor(sk_dtype dtype, std::vector<int64_t> shape, Random& random, int64_t low, int64_t high) {
  Tensor t = Tensor::zeros(dtype, shape);
  for (int64_t i = 0; i < t.elements(); ++i) {
    const auto n = low + static_cast<int64_t>(random.below(static_cast<size_t>(high - low)));
    if (dtype == SK_F32) t.data<float>()[i] = static_cast<float>(n) / 64.0f;
    if (dtype == SK_BF16) t.data<bf16>()[i] = from_f32<bf16>(static_cast<float>(n) / 64.0f);
    if (dtype == SK_I32) t.data<int32_t>()[i] = static_cast<int32_t>(n);
  }
  return t;
}

// What a run leaves behind, as bytes.
struct Outcome {
  std::vector<std::vector<uint8_t>> results;
  std::vector<uint8_t> state;
  std::string printed;
  std::string error;
  bool operator==(const Outcome&) const = default;
};

inline std::vector<uint8_t> bytes_of(const Tensor& t) {
  const auto* p = static_cast<const uint8_t*>(t.view.data);
  std::vector<uint8_t> out{static_cast<uint8_t>(t.dtype()), static_cast<uint8_t>(t.view.rank)};
  if (t.bytes() > 0) out.insert(out.end(), p, p + t.bytes());
  return out;
}

class World {
 public:
  World(const Program& program, uint64_t seed, int64_t rows, uint32_t workers = 2)
      : random_(seed), workers_(workers) {
    bindings_.weights["w8"] = tensor(SK_F32, {8, 8}, random_, -64, 64);
    bindings_.weights["w4"] = tensor(SK_BF16, {4, 8}, random_, -64, 64);
    bindings_.weights["gamma"] = tensor(SK_BF16, {8}, random_, 1, 64);
    bindings_.states["kv"] = tensor(SK_F32, {4, 4, 8}, random_, -64, 64);
    bindings_.states["count"] = tensor(SK_I32, {4, 4}, random_, 0, 9);
    args_ = {tensor(SK_F32, {rows, 8}, random_, -128, 128), tensor(SK_I32, {rows}, random_, 0, 8),
             tensor(SK_I32, {rows}, random_, -1, 16), int64_t{3}};
    exec::Interpreter interpreter(program, bindings_, workers_);
    auto table = interpreter.run(*program.find("table"), {});
    if (table) bindings_.weights["table"] = std::get<Tensor>((*table)[0]);
  }

  /// The last row's id is out of range from now on.
  void spoil() {
    Tensor& ids = std::get<Tensor>(args_[1]);
    ids.data<int32_t>()[ids.elements() - 1] = 70;
  }

  Outcome interpret(const Program& program) {
    Outcome out;
    exec::InterpreterOptions options;
    options.print = [&](std::string_view text) { out.printed += text; };
    exec::Interpreter interpreter(program, bindings_, workers_, options);
    return finish(interpreter.run(*program.find("M.decode"), args_), std::move(out));
  }

  Outcome replay(const Program& program, const plan::Schedule& schedule,
                 exec::GraphOptions options = {.poison = true}, exec::GraphExecutor* executor = nullptr) {
    auto graph = exec::Graph::build(program, schedule, bindings_, workers_, std::move(options));
    if (!graph) return {.error = graph.error().message};
    if (executor) *executor = (*graph)->executor();
    return finish((*graph)->run(args_), {});
  }

  /// Three decode calls of npugraph_ex from the same states: the capturing one and two replays; their
  /// counters too.
  std::vector<Outcome> capture(const Program& program, plan::RecordingHook hook, exec::CaptureOptions options,
                               exec::CaptureCounters* counters) {
    exec::Interpreter interpreter(program, bindings_, workers_);
    exec::Captures captures(program, bindings_, workers_, interpreter, std::move(hook), options,
                            {.poison = true});
    std::map<std::string, std::vector<uint8_t>> start;
    for (const auto& [path, t] : bindings_.states)
      start[path] = {t.data<uint8_t>(), t.data<uint8_t>() + t.bytes()};
    std::vector<Outcome> out;
    for (int call = 0; call < 3; ++call) {
      for (const auto& [path, bytes] : start)
        std::copy(bytes.begin(), bytes.end(), bindings_.states[path].data<uint8_t>());
      out.push_back(finish(captures.call(*program.find("M.decode"), args_), {}));
    }
    *counters = captures.counters();
    return out;
  }

 private:
  Outcome finish(Expected<std::vector<RuntimeValue>> results, Outcome out) {
    if (!results) {
      out.error = results.error().message;
    } else {
      for (const RuntimeValue& v : *results) out.results.push_back(bytes_of(std::get<Tensor>(v)));
    }
    out.state = bytes_of(bindings_.states["kv"]);
    return out;
  }

  Random random_;
  exec::Workers workers_;
  exec::Bindings bindings_;
  std::vector<RuntimeValue> args_;
};

}  // namespace skdsl::testing
