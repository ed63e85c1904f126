// The plan steps of a captured group, option by option.
#include "compiler/superkernel/capture_superkernel.h"

#include <gtest/gtest.h>

#include "compiler/superkernel/capture.h"
#include "runtime/plan/superkernel_text.h"

namespace skdsl::superkernel {
namespace {

using plan::KernelType;
using plan::Side;

CaptureKernel kernel(std::string id, KernelType type, uint32_t dim, uint32_t stream = 0) {
  CaptureKernel c;
  c.kernel.id = std::move(id);
  c.kernel.type = type;
  c.kernel.block_dim = dim;
  c.kernel.stream = stream;
  c.kernel.params = 3;
  c.kernel.code_bytes = 5000;
  return c;
}
/// A cube kernel, a vector kernel behind it, and a mix kernel on another stream that waits for the first.
std::vector<CaptureKernel> three() {
  std::vector<CaptureKernel> out{kernel("mm", KernelType::Aic, 8), kernel("add", KernelType::Aiv, 16),
                                 kernel("attn", KernelType::MixAic12, 6, 1)};
  out[0].kernel.send_events = {4};
  out[2].kernel.recv_events = {4};
  return out;
}

CaptureOptions with(CaptureOption o, uint32_t value) {
  CaptureOptions out;
  out.set(o, value);
  return out;
}

CaptureResult compile(const std::vector<CaptureKernel>& kernels, const CaptureOptions& options = {},
                      const CaptureTarget& target = {}) {
  auto got = compile_capture(kernels, options, target);
  EXPECT_TRUE(got.has_value()) << got.error().message;
  if (!got) return {};
  const plan::SkAnalysis seen = plan::analyse(got->kernel);
  EXPECT_TRUE(seen.ends && seen.flags_balanced && seen.all_mix_matches && seen.every_kernel_called);
  EXPECT_TRUE(seen.unenforced.empty());
  EXPECT_TRUE(seen.waits_not_emitted.empty());
  return *got;
}
std::string text(const CaptureResult& r) {
  std::string out = "\n" + std::string(plan::name(r.kernel.type)) + " " + std::to_string(r.kernel.block_dim) +
                    " " + r.entry + "\n";
  for (const Side s : plan::kSides)
    for (const plan::SkStep& step : r.kernel.of(s))
      out += std::string(plan::name(s)) + ": " + plan::text::of(step) + "\n";
  return out;
}

TEST(CaptureSuperKernel, Defaults) {
  EXPECT_EQ(text(compile(three())), R"(
MIX_AIC_1_2 8 sk_entry_mix12
aic: preload of 0 units 3 group 8 copies 4
aic: call of 0 slot 1 group 8 copies 4
aic: dcci_all after
aic: sync all_aic
aic: signal c2v
aic: preload of 2 units 3 group 6 copies 4
aic: call of 2 slot 8 group 6 copies 4
aic: dcci_all after
aiv: preload of 1 units 3 vector_core 16 copies 4
aiv: await c2v
aiv: call of 1 slot 5 vector_core 16 copies 4
aiv: dcci_all after
aiv: preload of 2 units 3 group 6 copies 4
aiv: sync all_aiv
aiv: call of 2 slot 8 group 6 copies 4
aiv: dcci_all after
)");
}

TEST(CaptureSuperKernel, OneKernel) {
  EXPECT_EQ(text(compile({kernel("add", KernelType::MixAiv10, 40)})), R"(
AIV 40 sk_entry_aiv
aiv: preload of 0 units 3 vector_core 40 copies 4
aiv: call of 0 slot 1 vector_core 40 copies 4
aiv: dcci_all after
)");
}

TEST(CaptureSuperKernel, PreloadCode) {
  EXPECT_EQ(text(compile({kernel("mm", KernelType::Aic, 8), kernel("add", KernelType::Aiv, 16)},
                         with(CaptureOption::PreloadCode, 0))),
            R"(
MIX_AIC_1_2 8 sk_entry_mix12
aic: preload of 0 units 16 group 8 copies 4
aic: call of 0 slot 1 group 8 copies 4
aic: dcci_all after
aic: sync all_aic
aic: signal c2v
aiv: preload of 1 units 8 vector_core 16 copies 4
aiv: await c2v
aiv: call of 1 slot 4 vector_core 16 copies 4
aiv: dcci_all after
)");
  EXPECT_EQ(text(compile({kernel("mm", KernelType::Aic, 8), kernel("add", KernelType::Aiv, 16)},
                         with(CaptureOption::PreloadCode, 2))),
            R"(
MIX_AIC_1_2 8 sk_entry_mix12
aic: call of 0 slot 1 group 8 copies 4
aic: dcci_all after
aic: sync all_aic
aic: signal c2v
aiv: await c2v
aiv: call of 1 slot 4 vector_core 16 copies 4
aiv: dcci_all after
)");
  EXPECT_EQ(capture_preload_units(1, 0, Side::Aic), 0u);
  EXPECT_EQ(capture_preload_units(1, 1, Side::Aic), 1u);
  EXPECT_EQ(capture_preload_units(1, 2049, Side::Aiv), 2u);
  EXPECT_EQ(capture_preload_units(1, UINT32_MAX, Side::Aiv), 8u);
  EXPECT_EQ(capture_preload_units(1, UINT32_MAX, Side::Aic), 16u);
}

TEST(CaptureSuperKernel, SplitMode) {
  CaptureOptions options = with(CaptureOption::SplitMode, 2);
  options.set(CaptureOption::PreloadCode, 2);
  EXPECT_EQ(text(compile({kernel("add", KernelType::Aiv, 16)}, options)), R"(
AIV 16 sk_entry_aiv
aiv: call of 0 slot 1 vector_core 16 copies 2
aiv: dcci_all after
)");
  CaptureKernel bound = kernel("add", KernelType::Aiv, 16);
  bound.kernel.copies = 2;
  EXPECT_TRUE(compile({bound}).warnings.empty());  // each of the two serves two
  bound.kernel.copies = 3;
  EXPECT_EQ(compile({bound}).warnings,
            (std::vector<std::string>{"`add` is bound with 3 copies, split_mode is 4"}));
}

TEST(CaptureSuperKernel, DebugSyncAll) {
  EXPECT_EQ(text(compile(three(), with(CaptureOption::DebugSyncAll, 1))), R"(
MIX_AIC_1_2 8 sk_entry_mix12_debug
aic: preload of 0 units 3 group 8 copies 4
aic: call of 0 slot 1 group 8 copies 4
aic: dcci_all after
aic: sync all_mix
aic: preload of 2 units 3 group 6 copies 4
aic: sync all_mix
aic: call of 2 slot 8 group 6 copies 4
aic: dcci_all after
aic: sync all_mix
aiv: preload of 1 units 3 vector_core 16 copies 4
aiv: sync all_mix
aiv: call of 1 slot 5 vector_core 16 copies 4
aiv: dcci_all after
aiv: preload of 2 units 3 group 6 copies 4
aiv: sync all_mix
aiv: call of 2 slot 8 group 6 copies 4
aiv: dcci_all after
aiv: sync all_mix
)");
}

TEST(CaptureSuperKernel, DebugPerOpMaxCoreNum) {
  EXPECT_EQ(text(compile({kernel("add", KernelType::Aiv, 7)}, with(CaptureOption::DebugPerOpMaxCoreNum, 1))),
            R"(
MIX_AIC_1_2 24 sk_entry_mix12_op_trace
aiv: preload of 0 units 3 vector_core 7 copies 4
aiv: call of 0 slot 1 vector_core 7 copies 4
aiv: dcci_all after
)");
  CaptureKernel meets = kernel("add", KernelType::Aiv, 7);
  meets.kernel.sync_all = true;
  EXPECT_EQ(compile({meets}, with(CaptureOption::DebugPerOpMaxCoreNum, 1)).hangs, (std::vector<uint32_t>{0}));
  EXPECT_TRUE(compile({meets}).hangs.empty());
}

TEST(CaptureSuperKernel, EarlyStart) {
  std::vector<CaptureKernel> kernels = three();
  for (CaptureKernel& c : kernels) c.capabilities = kWaitsEarly | kSetsEarly;
  // The capabilities alone change nothing.
  EXPECT_EQ(text(compile(kernels)), text(compile(three())));
  const CaptureResult both = compile(kernels, with(CaptureOption::EarlyStart, 1));
  EXPECT_EQ(text(both), R"(
MIX_AIC_1_2 8 sk_entry_mix12
aic: preload of 0 units 3 group 8 copies 4
aic: call of 0 slot 1 group 8 copies 4
aic: dcci_all after
aic: set_next_start all_aic idle group 8
aic: preload of 2 units 3 group 6 copies 4
aic: early_start_pair config 1
aic: wait_prev_end config 1 idle group 6
aic: call of 2 slot 8 group 6 copies 4
aic: dcci_all after
aiv: preload of 1 units 3 vector_core 16 copies 4
aiv: await c2v
aiv: call of 1 slot 5 vector_core 16 copies 4
aiv: dcci_all after
aiv: preload of 2 units 3 group 6 copies 4
aiv: set_next_start all_aiv idle vector_core 16
aiv: early_start_pair config 5
aiv: wait_prev_end config 5 idle group 6
aiv: call of 2 slot 8 group 6 copies 4
aiv: dcci_all after
)");
  // The mix kernel awaits both barriers and hands the flag of `mm` on.
  EXPECT_EQ(both.early_start, (std::vector<uint32_t>{kAicToAicSet, kAivToAivSet,
                                                     kAicToAicWait | kAicToAivSet | kAivToAivWait}));
  for (CaptureKernel& c : kernels) c.capabilities = kSetsEarly;
  EXPECT_EQ(text(compile(kernels, with(CaptureOption::EarlyStart, 1))), R"(
MIX_AIC_1_2 8 sk_entry_mix12
aic: preload of 0 units 3 group 8 copies 4
aic: call of 0 slot 1 group 8 copies 4
aic: dcci_all after
aic: set_next_start all_aic idle group 8
aic: early_start_pair config 0
aic: wait_prev_end config 0
aic: signal c2v
aic: preload of 2 units 3 group 6 copies 4
aic: call of 2 slot 8 group 6 copies 4
aic: dcci_all after
aiv: preload of 1 units 3 vector_core 16 copies 4
aiv: await c2v
aiv: call of 1 slot 5 vector_core 16 copies 4
aiv: dcci_all after
aiv: preload of 2 units 3 group 6 copies 4
aiv: set_next_start all_aiv idle vector_core 16
aiv: early_start_pair config 5
aiv: wait_prev_end config 5
aiv: call of 2 slot 8 group 6 copies 4
aiv: dcci_all after
)");
  EXPECT_EQ(text(compile(three(), with(CaptureOption::EarlyStart, 1))), text(compile(three())));
}

TEST(CaptureSuperKernel, EarlyStartTakesOverTheFlagsAroundABarrier) {
  // Two cube kernels and two vector kernels; the first cube kernel feeds the vector side, the first vector
  // kernel the second cube kernel. graph-autofusion, ApplyEarlyStartSyncPass_RewritesAicAndAivSyncInfo.
  std::vector<CaptureKernel> k{kernel("a", KernelType::Aic, 8, 0), kernel("b", KernelType::Aiv, 16, 1),
                               kernel("c", KernelType::Aic, 8, 0), kernel("d", KernelType::Aiv, 16, 1)};
  k[0].kernel.send_events = {1}, k[3].kernel.recv_events = {1};
  k[1].kernel.send_events = {2}, k[2].kernel.recv_events = {2};
  k[0].capabilities = k[1].capabilities = kSetsEarly;
  k[2].capabilities = k[3].capabilities = kWaitsEarly;
  CaptureOptions options = with(CaptureOption::EarlyStart, 1);
  options.set(CaptureOption::PreloadCode, 2);
  const CaptureResult got = compile(k, options);
  EXPECT_EQ(got.early_start,
            (std::vector<uint32_t>{kAicToAicSet, kAivToAivSet, kAicToAicWait | kAicToAivSet | kAivToAicWait,
                                   kAivToAivWait | kAivToAicSet | kAicToAivWait}));
  EXPECT_EQ(text(got), R"(
MIX_AIC_1_2 8 sk_entry_mix12
aic: call of 0 slot 1 group 8 copies 4
aic: dcci_all after
aic: set_next_start all_aic idle group 8
aic: early_start_pair config 10
aic: wait_prev_end config 10 idle group 8
aic: call of 2 slot 9 group 8 copies 4
aic: dcci_all after
aic: sync all_aic
aiv: call of 1 slot 5 vector_core 16 copies 4
aiv: dcci_all after
aiv: set_next_start all_aiv idle vector_core 16
aiv: early_start_pair config 10
aiv: wait_prev_end config 10 idle vector_core 16
aiv: call of 3 slot 13 vector_core 16 copies 4
aiv: dcci_all after
)");
  for (const uint32_t mask : compile(k, options, {.dav_3510 = true}).early_start)
    EXPECT_TRUE(mask & kSplitCoreControl);
}

TEST(CaptureSuperKernel, Dcci) {
  CaptureOptions options;
  options.set(CaptureOption::DcciBefore, std::vector<std::string>{"b.*"});
  options.set(CaptureOption::DcciAfter, std::vector<std::string>{".*a"});
  options.set(CaptureOption::DcciDisable, std::vector<std::string>{".*d.*"});
  struct Case {
    const char* name;
    uint8_t capabilities;
    Dcci want;
  };
  for (const Case& c :
       {Case{"x", 0, {false, true}}, Case{"x", kNoDcci, {false, false}}, Case{"d", 0, {false, true}},
        Case{"d", kNoDcci, {false, false}}, Case{"b", 0, {true, true}}, Case{"b", kNoDcci, {true, false}},
        Case{"bd", 0, {true, false}}, Case{"a", kNoDcci, {false, true}}, Case{"bda", kNoDcci, {true, true}}})
    EXPECT_EQ(capture_dcci(options, c.name, c.capabilities), c.want) << c.name << " " << int{c.capabilities};
  options.set(CaptureOption::PreloadCode, 2);
  EXPECT_EQ(text(compile({kernel("bd", KernelType::Aiv, 16), kernel("x", KernelType::Aiv, 16)}, options)), R"(
AIV 16 sk_entry_aiv
aiv: dcci_all before
aiv: call of 0 slot 1 vector_core 16 copies 4
aiv: sync all_aiv
aiv: call of 1 slot 4 vector_core 16 copies 4
aiv: dcci_all after
)");
}

TEST(CaptureSuperKernel, EventsToTheOutside) {
  CaptureOptions options = with(CaptureOption::PreloadCode, 2);
  CaptureKernel mm = kernel("mm", KernelType::Aic, 8), attn = kernel("attn", KernelType::MixAic11, 8);
  mm.kernel.send_events = mm.notifies = {1};
  attn.kernel.recv_events = attn.waits = {2};
  attn.resets = {2};
  attn.kernel.send_events = attn.notifies = {3};
  EXPECT_EQ(text(compile({mm, attn}, options)), R"(
MIX_AIC_1_1 8 sk_entry_mix11
aic: call of 0 slot 1 group 8 copies 4
aic: dcci_all after
aic: sync all_aic
aic: notify_event event 1 slot 4
aic: signal c2v
aic: await v2c
aic: call of 1 slot 5 group 8 copies 4
aic: dcci_all after
aic: sync all_aic
aic: signal c2v
aiv: await c2v
aiv: wait_event event 2 slot 9
aiv: sync all_aiv
aiv: clear_event_slot slot 10
aiv: signal v2c
aiv: call of 1 slot 5 group 8 copies 4
aiv: dcci_all after
aiv: sync all_aiv
aiv: await c2v
aiv: notify_event event 3 slot 8
)");
  // A barrier in front of a wait tells nobody, since the cores meet behind the wait.
  CaptureKernel next = kernel("mm2", KernelType::Aic, 8);
  next.kernel.recv_events = next.waits = {2};
  EXPECT_EQ(text(compile({kernel("mm", KernelType::Aic, 8), next}, options)), R"(
AIC 8 sk_entry_aic
aic: call of 0 slot 1 group 8 copies 4
aic: dcci_all after
aic: wait_event event 2 slot 7
aic: sync all_aic
aic: call of 1 slot 4 group 8 copies 4
aic: dcci_all after
)");
}

TEST(CaptureSuperKernel, MixKernelsApartOnDav3510) {
  CaptureOptions options = with(CaptureOption::PreloadCode, 2);
  EXPECT_EQ(text(compile(three(), options, {.dav_3510 = true})), R"(
MIX_AIC_1_2 8 sk_entry_mix12
aic: call of 0 slot 1 group 8 copies 4
aic: dcci_all after
aic: sync all_aic
aic: signal c2v
aic: sync all_mix
aic: call of 2 slot 8 group 6 copies 4
aic: dcci_all after
aiv: await c2v
aiv: call of 1 slot 5 vector_core 16 copies 4
aiv: dcci_all after
aiv: sync all_mix
aiv: call of 2 slot 8 group 6 copies 4
aiv: dcci_all after
)");
  options.set(CaptureOption::UbufLockIgnore, std::vector<std::string>{"attn"});
  CaptureOptions plain = with(CaptureOption::PreloadCode, 2);
  EXPECT_EQ(text(compile(three(), options, {.dav_3510 = true})), text(compile(three(), plain)));
}

TEST(CaptureSuperKernel, EntryShapes) {
  const auto shape = [](std::vector<std::pair<KernelType, uint32_t>> kernels) {
    return entry_shape(kernels);
  };
  EXPECT_EQ(shape({{KernelType::Aiv, 9}, {KernelType::MixAiv10, 12}}), (Shape{KernelType::Aiv, 12}));
  EXPECT_EQ(shape({{KernelType::Aic, 9}, {KernelType::MixAic10, 4}}), (Shape{KernelType::Aic, 9}));
  EXPECT_EQ(shape({{KernelType::Aic, 9}, {KernelType::Aiv, 9}}), (Shape{KernelType::MixAic11, 9}));
  EXPECT_EQ(shape({{KernelType::Aic, 3}, {KernelType::Aiv, 9}}), (Shape{KernelType::MixAic12, 5}));
  EXPECT_EQ(shape({{KernelType::MixAic12, 8}, {KernelType::Aic, 16}}),
            (Shape{KernelType::MixAic12, 16}));  // the other engine: 1:1
  EXPECT_EQ(shape({{KernelType::MixAic11, 8}}), (Shape{KernelType::MixAic11, 8}));
  EXPECT_TRUE(covers_all({KernelType::MixAic12, 5}, KernelType::Aiv, 10));
  EXPECT_FALSE(covers_all({KernelType::MixAic12, 5}, KernelType::Aiv, 9));
  EXPECT_TRUE(covers_all({KernelType::MixAic12, 5}, KernelType::MixAic11, 5));
  EXPECT_EQ(entry_symbol(KernelType::Aiv, with(CaptureOption::DebugOpExecTrace, 1)), "sk_entry_aiv_op_trace");
  EXPECT_EQ(entry_symbol(KernelType::MixAic11, with(CaptureOption::DebugSyncAll, 1)), "sk_entry_mix11_debug");
}

TEST(CaptureSuperKernel, Refusals) {
  EXPECT_FALSE(compile_capture({}, {}, {}));
  CaptureKernel dynamic = kernel("mm", KernelType::Aic, 8);
  dynamic.kernel.dynamic = true;
  EXPECT_NE(compile_capture({dynamic}, {}, {}).error().message.find("`mm`"), std::string::npos);
  EXPECT_FALSE(compile_capture({kernel("mm", KernelType::Aic, 0)}, {}, {}));
  EXPECT_EQ(
      compile(three(), with(CaptureOption::StreamFusion, 0)).warnings,
      (std::vector<std::string>{"kernels of 2 streams share a super kernel though stream_fusion is 0"}));
  EXPECT_TRUE(compile(three(), with(CaptureOption::ConstantCodegen, 1)).constant_codegen);
}

TEST(CaptureEntry, PiecesCutsAndOrder) {
  const auto task = [](CaptureTask::Kind kind, uint32_t stream, uint32_t event = 0) {
    CaptureTask t;
    t.kind = kind;
    t.stream = stream;
    t.event = event;
    return t;
  };
  const auto call = [&](const char* id, uint32_t stream, KernelType type = KernelType::Aiv) {
    CaptureTask t = task(CaptureTask::Kind::Kernel, stream);
    t.kernel = kernel(id, type, 8).kernel;
    return t;
  };
  std::vector<CaptureTask> tasks;
  const auto mark = [&](CaptureTask::Kind kind, uint32_t stream) {
    tasks.push_back(task(kind, stream));
    tasks.back().scope = "decode";
  };
  tasks.push_back(call("embed", 0));                       // 0: outside
  mark(CaptureTask::Kind::Begin, 0);                       // 1
  mark(CaptureTask::Kind::Begin, 1);                       // 2
  tasks.push_back(call("norm", 0));                        // 3
  tasks.push_back(task(CaptureTask::Kind::Notify, 0, 5));  // 4
  tasks.push_back(task(CaptureTask::Kind::Wait, 1, 5));    // 5
  tasks.push_back(call("mm", 1, KernelType::Aic));         // 6
  tasks.push_back(call("sort", 0));                        // 7: does not fuse
  tasks.back().unfusable = CaptureReason::UnsupportedOp;
  tasks.push_back(call("add", 0));  // 8
  mark(CaptureTask::Kind::End, 1);  // 9
  mark(CaptureTask::Kind::End, 0);  // 10
  const auto got = capture_superkernels(tasks, {}, {});
  ASSERT_TRUE(got);
  ASSERT_EQ(got->pieces.size(), 2u);
  EXPECT_EQ(got->pieces[0].name, "sk_0_decode_start_norm_end_mm");
  EXPECT_EQ(got->pieces[0].nodes, (std::vector<uint32_t>{1, 2, 3, 4, 5, 6, 9}));
  EXPECT_EQ(got->pieces[0].kernels, (std::vector<uint32_t>{3, 6}));
  EXPECT_EQ(got->pieces[0].why, CaptureBreak::UnfusibleNode);
  EXPECT_EQ(got->pieces[0].trigger, 7);
  EXPECT_EQ(got->pieces[0].result.kernel.kernels[0].send_events, (std::vector<uint32_t>{5}));
  EXPECT_EQ(got->pieces[1].name, "sk_1_decode_start_add_end_add");
  EXPECT_EQ(got->order, (std::vector<int64_t>{0, -1, 7, -2}));
  ASSERT_EQ(got->cuts.size(), 2u);
  EXPECT_EQ(got->cuts[0].reason, CaptureReason::NotInScope);
  EXPECT_EQ(got->cuts[1].node, 7u);
  EXPECT_EQ(got->cuts[1].reason, CaptureReason::UnsupportedOp);
  EXPECT_EQ(got->cuts[1].scope, "decode");
  EXPECT_TRUE(got->warnings.empty());
  // A kernel that cannot be built gives up its piece, not the others.
  tasks[6].kernel.block_dim = 0;
  const auto broken = capture_superkernels(tasks, {}, {});
  ASSERT_TRUE(broken);
  EXPECT_EQ(broken->pieces.size(), 1u);
  EXPECT_EQ(broken->cuts.size(), 4u);
  EXPECT_EQ(broken->warnings.size(), 1u);
  tasks[1].scope = std::string(300, 'x');
  EXPECT_FALSE(capture_superkernels(tasks, {}, {}));
}

TEST(CaptureEntry, AutoOpParallelAlternatesKinds) {
  std::vector<CaptureTask> tasks;
  const auto call = [&](uint32_t stream, KernelType type) {
    tasks.emplace_back().stream = stream;
    tasks.back().kernel = kernel("f", type, 8).kernel;
    tasks.back().kernel.task = static_cast<uint32_t>(tasks.size() - 1);
  };
  for (int i = 0; i < 2; ++i) call(0, KernelType::Aiv);
  for (int i = 0; i < 2; ++i) call(1, KernelType::Aic);
  for (int i = 0; i < 2; ++i) call(2, KernelType::MixAic12);
  const auto order = [&](const CaptureOptions& options) {
    return capture_superkernels(tasks, options, {})->pieces.at(0).kernels;
  };
  EXPECT_EQ(order({}), (std::vector<uint32_t>{0, 1, 2, 3, 4, 5}));
  // Mix; no other stream has a mix kernel, so the smallest elsewhere; then cube after vector and vector after
  // cube.
  EXPECT_EQ(order(with(CaptureOption::AutoOpParallel, 1)), (std::vector<uint32_t>{4, 0, 2, 1, 3, 5}));
}

TEST(CaptureEntry, ASyncAllThatWouldHangIsLeftAlone) {
  CaptureTask t;
  t.kernel = kernel("meet", KernelType::Aiv, 7).kernel;
  t.kernel.sync_all = true;
  EXPECT_EQ(capture_superkernels({t}, {}, {})->pieces.size(), 1u);
  const auto alone = capture_superkernels({t}, with(CaptureOption::DebugPerOpMaxCoreNum, 1), {});
  EXPECT_TRUE(alone->pieces.empty());
  EXPECT_EQ(alone->cuts.at(0).reason, CaptureReason::PartOfScope);
  EXPECT_NE(alone->warnings.at(0).find("`meet` meets 7 blocks"), std::string::npos);
}

TEST(CaptureEntry, EventsThroughOtherStreams) {
  const auto event = [](CaptureTask::Kind kind, uint32_t stream, uint32_t e) {
    CaptureTask t;
    t.kind = kind, t.stream = stream, t.event = e;
    return t;
  };
  const auto call = [](uint32_t stream) {
    CaptureTask t;
    t.stream = stream;
    t.kernel.id = "f";
    return t;
  };
  using Kind = CaptureTask::Kind;
  // 0 → 1 by event 1; stream 1 passes it on to stream 2 before it does any work of its own.
  const std::vector<CaptureTask> tasks{call(0),
                                       event(Kind::Notify, 0, 1),
                                       event(Kind::Wait, 1, 1),
                                       event(Kind::Notify, 1, 2),
                                       event(Kind::Wait, 2, 2),
                                       call(2),
                                       call(1)};
  auto nodes = capture_nodes(tasks, {}, {})->nodes;
  const auto kernels = group_kernels(tasks, nodes, {0, 1, 2, 3, 4, 5, 6});
  ASSERT_EQ(kernels.size(), 3u);
  EXPECT_EQ(kernels[0].kernel.send_events, (std::vector<uint32_t>{2, 1}));
  EXPECT_EQ(kernels[1].kernel.recv_events, (std::vector<uint32_t>{2}));
  EXPECT_EQ(kernels[2].kernel.recv_events, (std::vector<uint32_t>{1}));
  EXPECT_TRUE(kernels[1].waits.empty());
  // Cut before the first kernel, the event comes from outside for both.
  const auto later = group_kernels(tasks, nodes, {2, 3, 4, 5, 6});
  EXPECT_EQ(later[0].waits, (std::vector<uint32_t>{1}));
  EXPECT_EQ(later[1].waits, (std::vector<uint32_t>{1}));
  // Cut behind it, it tells the outside.
  EXPECT_EQ(group_kernels(tasks, nodes, {0, 1})[0].notifies, (std::vector<uint32_t>{1}));
}

}  // namespace
}  // namespace skdsl::superkernel
