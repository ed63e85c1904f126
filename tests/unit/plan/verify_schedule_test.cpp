// Each rule of the schedule verifier, provoked once.
#include <gtest/gtest.h>

#include <functional>

#include "runtime/plan/plan.h"

namespace skdsl::plan {
namespace {

constexpr std::string_view kGood = R"(program
symbol T
constant 0 : f32[] = [2]
weight "w" : f32[4, 4]
state "kv" : f32[2, 2, 4]
func "f" decode (x = %0 : f32[T, 4], slots = %1 : i32[T], n = %2 : int(T)) -> (f32[T, 4]) {
  return %0
}
schedule "f" {T = 2} {
  arena 192
  stream "main"
  stream "1"
  event "e"
  event "back"
  buffer 0:x : f32[2, 4] input 0
  buffer 1:slots : i32[2] input 1
  buffer 2 : f32[4, 4] weight "w"
  buffer 3 : f32[2, 2, 4] state "kv"
  buffer 4:h : f32[2, 4] arena 0
  buffer 5 : f32[8] arena 0
  buffer 6 : f32[8] arena 64
  buffer 7 : f32[8] arena 0
  buffer 8 : f32[2, 4] arena 128
  buffer 9 : f32[] constant 0
  inputs [0, 1, _]
  outputs [8]
  task 0 linear [0, 2, _] -> [4] {dtype = <f32>} core aic blocks 1 stream 0
  task 1 reshape [4] -> [5] {shape = [8]} core aiv blocks 1 stream 0 view
  task 2 exp [5] -> [6] core aiv blocks 1 stream 1
  task 3 neg [6] -> [7] core aiv blocks 1 stream 0
  task 4 scatter_update [3, 1, 0] -> [] core aiv blocks 1 stream 0
  task 5 concat [7] -> [8] {axis = 0} core aiv blocks 1 stream 0
  task 6 tap [8] -> [] {name = "y"} core none blocks 1 stream 0
  task 7 prefetch [8] -> [] {target = "w", after_path = "", max_bytes = -1} core none blocks 1 stream 0
  call 0 stream 0
  call 1 stream 0
  record 0 stream 0
  wait 0 stream 1
  call 2 stream 1
  record 1 stream 1
  wait 1 stream 0
  call 3 stream 0
  call 4 stream 0
  call 5 stream 0
  note 6 stream 0
  prefetch 7 stream 0
}
)";

class VerifySchedule : public ::testing::Test {
 protected:
  void SetUp() override {
    auto p = parse_plan(kGood);
    ASSERT_TRUE(p.has_value()) << p.error().message;
    good_ = std::move(*p);
    const auto wrong = verify(good_);
    ASSERT_TRUE(wrong.empty()) << wrong[0];
  }

  void refuses(const std::string& part, const std::function<void(Schedule&)>& change) {
    Plan p = good_;
    change(p.schedules[0]);
    const auto wrong = verify(p);
    ASSERT_FALSE(wrong.empty()) << "accepted, expected: " << part;
    bool found = false;
    for (const std::string& m : wrong) found |= m.find(part) != std::string::npos;
    EXPECT_TRUE(found) << "expected: " << part << "\nfirst: " << wrong[0];
    print(p);
  }
  static void drop(Schedule& s, Step::Kind kind, uint32_t event) {
    std::erase_if(s.steps, [&](const Step& x) { return x.kind == kind && x.event == event; });
  }

  Plan good_;
};

TEST_F(VerifySchedule, Tables) {
  refuses("no such function", [](Schedule& s) { s.function = "g"; });
  refuses("not sorted", [](Schedule& s) { s.bindings = {{"T", 2}, {"B", 2}}; });
  refuses("not `main`", [](Schedule& s) { s.streams[0] = "first"; });
  refuses("not `main`", [](Schedule& s) { s.streams.clear(); });
  refuses("a stream stands twice", [](Schedule& s) { s.streams.push_back("1"); });
  refuses("a constant has 3 bytes", [](Schedule& s) { s.constants.push_back({DType::F32, {}, {1, 2, 3}}); });
}

TEST_F(VerifySchedule, Buffers) {
  refuses("ends behind the arena", [](Schedule& s) { s.arena_bytes = 128; });
  refuses("ends behind the arena", [](Schedule& s) { s.buffers[8].offset = ~uint64_t{63}; });
  refuses("not a multiple of 64", [](Schedule& s) { s.buffers[8].offset = 130; });
  refuses("negative or huge shape", [](Schedule& s) { s.buffers[8].shape = {-1}; });
  refuses("negative or huge shape",
          [](Schedule& s) { s.buffers[8].shape = {int64_t{1} << 40, int64_t{1} << 40}; });
  refuses("has no dtype", [](Schedule& s) { s.buffers[4].dtype = DType::Stored; });
  refuses("is input 7 of 3", [](Schedule& s) { s.buffers[0].index = 7; });
  refuses("does not have the bytes of input 0",
          [](Schedule& s) { s.buffers[0].shape = {2, 5}, s.inputs[0] = 1; });
  refuses("does not have the bytes of input 2", [](Schedule& s) { s.buffers[1].index = 2; });
  refuses("does not match constant 5", [](Schedule& s) { s.buffers[9].index = 5; });
  refuses("which is not a weight or const", [](Schedule& s) { s.buffers[2].path = "v"; });
  refuses("does not match the declaration of `w`", [](Schedule& s) { s.buffers[2].shape = {4, 5}; });
  refuses("does not match the declaration of `kv`", [](Schedule& s) { s.buffers[3].dtype = DType::BF16; });
  refuses("is not input 0", [](Schedule& s) { s.inputs[0] = 1; });
  refuses("output buffer 3 is not in the arena", [](Schedule& s) { s.outputs[0] = 3; });
  refuses("an output is buffer 99", [](Schedule& s) { s.outputs[0] = 99; });
}

TEST_F(VerifySchedule, Tasks) {
  refuses("(`linear`) has 2 operands", [](Schedule& s) { s.tasks[0].in.pop_back(); });
  refuses("(`linear`) has no operand 0", [](Schedule& s) { s.tasks[0].in[0] = kNone; });
  refuses("writes buffer 99", [](Schedule& s) { s.tasks[0].out[0] = 99; });
  refuses("has 0 results", [](Schedule& s) { s.tasks[0].out.clear(); });
  refuses("has 0 attributes", [](Schedule& s) { s.tasks[0].attrs.clear(); });
  refuses("attribute `dtype` of task 0 is malformed", [](Schedule& s) { s.tasks[0].attrs[0].i = 99; });
  refuses("attribute `dtype` of task 0 is malformed", [](Schedule& s) { s.tasks[0].attrs[0].text = "f32"; });
  refuses("is on stream 9", [](Schedule& s) { s.tasks[0].stream = 9; });
  refuses("has context 3", [](Schedule& s) { s.tasks[0].context = 3; });
  refuses("(`linear`) is no view", [](Schedule& s) { s.tasks[0].view = true; });
  refuses("is a view of other bytes", [](Schedule& s) { s.buffers[5].offset = 128; });
  refuses("unknown operator", [](Schedule& s) { s.tasks[0].code = Opcode::kCount; });
}

TEST_F(VerifySchedule, Steps) {
  refuses("runs task 99", [](Schedule& s) { s.steps[0].task = 99; });
  refuses("names event 9", [](Schedule& s) { s.steps[2].event = 9; });
  refuses("on another stream", [](Schedule& s) { s.steps[0].stream = 1; });
  refuses("is on stream 5", [](Schedule& s) { s.steps[0].stream = 5; });
  refuses("task 0 runs twice", [](Schedule& s) { s.steps.push_back(s.steps[0]); });
  refuses("task 7 is never run", [](Schedule& s) { s.steps.pop_back(); });
  refuses("cannot be a note of `linear`", [](Schedule& s) { s.steps[0].kind = Step::Kind::Note; });
  refuses("cannot be a call of `tap`", [](Schedule& s) { s.steps[10].kind = Step::Kind::Call; });
  refuses("waits for event `e`, which no earlier step records",
          [](Schedule& s) { drop(s, Step::Kind::Record, 0); });
}

TEST_F(VerifySchedule, MemoryAndOrder) {
  refuses("reads buffer 4, whose bytes nobody wrote", [](Schedule& s) { std::swap(s.steps[0], s.steps[1]); });
  // `neg` may write over the bytes that `linear` used only because nobody reads those any more.
  refuses("somebody wrote over", [](Schedule& s) { s.tasks[5].in[0] = 4; });
  refuses("output buffer 8 does not hold its value", [](Schedule& s) {
    s.buffers[8].offset = 64;
    s.tasks[5].in[0] = 7;
    s.steps.push_back(s.steps[7]);
    s.tasks.push_back(s.tasks[3]);
    s.buffers.push_back(s.buffers[6]);
    s.tasks.back().in[0] = 7;
    s.tasks.back().out[0] = 10;
    s.steps.back().task = 8;
  });
  refuses("reads buffer 5, which another stream writes without an event between them",
          [](Schedule& s) { drop(s, Step::Kind::Wait, 0); });
  refuses("which another stream uses without an event between them", [](Schedule& s) {
    drop(s, Step::Kind::Wait, 1);
    s.tasks[3].in[0] = 9;
  });
  refuses("writes a buffer that is not a state", [](Schedule& s) { s.tasks[4].in[0] = 8; });
  refuses("writes buffer 0, which is not in the arena", [](Schedule& s) { s.tasks[0].out[0] = 0; });
  // An elementwise task may write over its operand at the same place, any other may not.
  refuses("(`concat`) writes over its operand 0", [](Schedule& s) { s.buffers[8].offset = 0; });
}

TEST_F(VerifySchedule, StatesAcrossStreams) {
  refuses("which another stream reads without an event between them", [](Schedule& s) {
    // The tap of the state runs on stream 1 and nothing orders it before the write.
    s.tasks[6].in[0] = 3;
    s.tasks[6].stream = 1;
    Step note = s.steps[10];
    note.stream = 1;
    s.steps.erase(s.steps.begin() + 10);
    s.steps.insert(s.steps.begin() + 8, note);
  });
}

TEST_F(VerifySchedule, InPlaceIsAllowedForElementwise) {
  Plan p = good_;
  p.schedules[0].buffers[7].offset = 64;
  EXPECT_TRUE(verify(p).empty()) << verify(p)[0];
}

}  // namespace
}  // namespace skdsl::plan
