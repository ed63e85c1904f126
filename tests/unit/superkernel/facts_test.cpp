// The tables under `unit_facts` of the conformance records.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "compiler/superkernel/options.h"
#include "compiler/superkernel/segment.h"
#include "compiler/superkernel/superkernel.h"
#include "runtime/base/file.h"
#include "runtime/base/json.h"

namespace skdsl::superkernel {
namespace {

using plan::KernelType;
using plan::Side;

const Json& fact(const char* name) {
  static const Json all = parse_json(read_file(std::filesystem::path(SKDSL_SOURCE_DIR) /
                                               "tests/conformance/superkernel_cases.json")
                                         .value(),
                                     "facts")
                              .value();
  return *all.find("unit_facts")->find(name);
}
const Json::Array& cases(const char* name) { return fact(name).find("cases")->as_array(); }
KernelType type(const Json& j) { return *plan::find_kernel_type(j.as_string()); }
uint32_t number(const Json& j) { return static_cast<uint32_t>(j.as_int()); }
std::string plain(const Json& j) { return j.is_string() ? j.as_string() : to_json(j); }

void check_options(const Json& c, const tl::expected<ParsedOptions, OptionError>& got) {
  SCOPED_TRACE(to_json(c));
  if (c.find("error") != nullptr) {
    EXPECT_FALSE(got.has_value());
    return;
  }
  ASSERT_TRUE(got.has_value()) << got.error().message;
  size_t given = 0;
  for (size_t i = 0; i < static_cast<size_t>(Option::kCount); ++i) {
    const auto o = static_cast<Option>(i);
    const Json* want = c.find("result")->find(row(o).key);
    ASSERT_EQ(got->options.given(o), want != nullptr) << row(o).key;
    if (want == nullptr) continue;
    EXPECT_EQ(got->options.text(o), plain(*want));
    ++given;
  }
  EXPECT_EQ(given, c.find("result")->is_object() ? c.find("result")->as_object().size() : 0);
}

TEST(SuperKernelFacts, OptionStrings) {
  for (const Json& c : cases("option_parsing_ge")) {
    const Json* convert = c.find("convert_underscore");
    const auto got = parse_options(c.find("input")->as_string(), convert != nullptr && convert->as_bool());
    check_options(c, got);
    if (const Json* warnings = c.find("warnings"); warnings && got)
      EXPECT_EQ(got->warnings.size(), number(*warnings));
  }
}

TEST(SuperKernelFacts, OptionStringsOfSubKernelsUnderCapture) {
  for (const Json& c : cases("option_parsing_aclgraph_sub_op"))
    check_options(c, parse_sub_kernel_options(c.find("input")->as_string()));
}

TEST(SuperKernelFacts, Defaults) {
  const Options none;
  for (const auto& [key, value] : fact("option_defaults_ge").as_object()) {
    const Option o = find_option(key);
    ASSERT_NE(o, Option::kCount) << key;
    const std::string want = value.is_array() || plain(value) == "(unset)" ? "" : plain(value);
    EXPECT_EQ(none.text(o), want) << key;
  }
  EXPECT_EQ(fact("option_defaults_ge").as_object().size(), static_cast<size_t>(Option::kCount));
}

TEST(SuperKernelFacts, TypeAndBlockCount) {
  const Json& table = fact("superkernel_type_and_block_dim");
  for (const Json& c : table.find("executed_cases")->as_array()) {
    SCOPED_TRACE(to_json(c));
    std::vector<std::pair<KernelType, uint32_t>> kernels;
    for (const Json& k : c.find("sub_kernels")->as_array())
      kernels.emplace_back(type(*k.find("type")), number(*k.find("block_dim")));
    const Shape got = shape_of(kernels);
    EXPECT_EQ(got.type, type(*c.find("superkernel_type")));
    EXPECT_EQ(got.block_dim, number(*c.find("block_dim")));
  }
}

TEST(SuperKernelFacts, DebugCoreNumbers) {
  const Json& f = fact("debug_core_num");
  const Platform wide{1000, 1000};
  const auto n = [](const Json& row, size_t i) { return number(row.as_array()[i]); };
  for (const Json& r : f.find("ratio_ok")->as_array())
    EXPECT_TRUE(with_debug_cores({KernelType::MixAic10, 0}, n(r, 0), n(r, 1), wide)) << to_json(r);
  for (const Json& r : f.find("ratio_error")->as_array()) {
    const auto got = with_debug_cores({KernelType::MixAic10, 0}, n(r, 0), n(r, 1), wide);
    ASSERT_FALSE(got) << to_json(r);
    EXPECT_TRUE(got.error().wrong_ratio) << got.error().message;
  }
  for (const Json& r : f.find("platform_error")->as_array())
    EXPECT_FALSE(with_debug_cores({KernelType::MixAic10, 0}, n(r, 0), n(r, 1), {n(r, 2), n(r, 3)}))
        << to_json(r);
  for (const Json& r : f.find("needed_ok_aic_aiv_type_dim")->as_array())
    EXPECT_TRUE(with_debug_cores({type(r.as_array()[2]), n(r, 3)}, n(r, 0), n(r, 1), wide)) << to_json(r);
  for (const Json& r : f.find("needed_error")->as_array())
    EXPECT_FALSE(with_debug_cores({type(r.as_array()[2]), n(r, 3)}, n(r, 0), n(r, 1), wide)) << to_json(r);
}

TEST(SuperKernelFacts, FeedSyncAll) {
  for (const Json& c : cases("feed_sync_all_needed")) {
    if (c.find("sk") == nullptr) continue;
    const auto& sk = c.find("sk")->as_array();
    const auto& sub = c.find("sub")->as_array();
    EXPECT_EQ(needs_feed({type(sk[0]), number(sk[1])}, type(sub[0]), number(sub[1]),
                         c.find("uses_sync_all")->as_bool()),
              c.find("needed")->as_bool())
        << to_json(c);
  }
  EXPECT_FALSE(needs_feed({KernelType::MixAic12, 20}, KernelType::Aic, 1, false));
  for (const Json& c : cases("feed_sync_all_workspace_bytes"))
    EXPECT_EQ(
        feed_workspace_bytes({KernelType::MixAic10, number(*c.find("cores"))}, number(*c.find("kernels"))),
        number(*c.find("bytes")))
        << to_json(c);
}

TEST(SuperKernelFacts, EarlyStart) {
  const Json& pairs = *fact("early_start_pair_code").find("table");
  for (const Json& r : fact("wait_prev_end_actions").find("table")->as_array()) {
    const std::string pair = r.find("pair")->as_string();
    for (const Side s : plan::kSides) {
      const plan::SkWaitActions a = plan::wait_actions(number(*pairs.find(pair)), s);
      Json got(Json::Array{});
      const bool cube = s == Side::Aic;
      if (a.wait_all) got.push(cube ? "wait:all_aic" : "wait:all_aiv");
      if (a.signal) got.push(cube ? "signal:c2v" : "signal:v2c");
      if (a.await) got.push(cube ? "await:v2c" : "await:c2v");
      EXPECT_EQ(got, *r.find(plan::name(s))) << pair << " " << plan::name(s);
    }
  }
}

TEST(SuperKernelFacts, ScopeAttributes) {
  EXPECT_EQ(fused_name("scope_0", "first", "last"), "sk_scope_0_start_first_end_last");
  EXPECT_EQ(fused_name("a b", "layers.0.x", "y"), "sk_a_b_start_layers_0_x_end_y");
}

TEST(SuperKernelFacts, EdgeLabelsAndReduction) {
  constexpr std::string_view kLabels[] = {"c2c", "c2v", "v2c", "v2v"};
  const auto kind = [](std::string_view s) {
    return s == "aic" ? KernelType::Aic : s == "aiv" ? KernelType::Aiv : KernelType::MixAic12;
  };
  for (const auto& [key, value] : fact("edge_labels").find("table")->as_object()) {
    const size_t arrow = key.find("->");
    Json got(Json::Array{});
    for (const Edge e : edge_labels(kind(key.substr(0, arrow)), kind(key.substr(arrow + 2))))
      got.push(kLabels[static_cast<size_t>(e)]);
    EXPECT_EQ(got, value) << key;
  }
  const auto flags = [](const Json& list) {
    std::vector<Flag> out;
    for (const Json& f : list.as_array())
      out.push_back({static_cast<uint32_t>(f.as_array()[0].as_string()[1] - '0'),
                     static_cast<uint32_t>(f.as_array()[1].as_string()[1] - '0'),
                     f.as_array()[2].as_string() == "c2v"});
    return out;
  };
  const Json& example = fact("edge_optimisation_example");
  EXPECT_EQ(reduce_flags(flags(*example.find("before"))), flags(*example.find("after")));
}

TEST(SuperKernelFacts, TwoStreamTrigger) {
  for (const Json& c : fact("two_stream_trigger").as_array()) {
    SCOPED_TRACE(to_json(c));
    std::vector<SubKernel> kernels(2);
    kernels[0].id = "a", kernels[1].id = "b";
    for (size_t i = 0; i < 2; ++i) kernels[i].stream = number(c.find("streams")->as_array()[i]);
    if (c.find("linked")->as_bool()) kernels[0].send_events = kernels[1].recv_events = {7};
    Options options;
    ASSERT_TRUE(add_option(options, "stream-fusion", std::to_string(c.find("stream_fusion")->as_int())));
    const auto got = compile_superkernel(kernels, options, {});
    EXPECT_EQ(got.has_value(), c.find("error") == nullptr);
    if (got) EXPECT_EQ(got->kernel.two_stream ? "two_stream" : "serial", c.find("mode")->as_string());
  }
}

TEST(SuperKernelFacts, InnerEvents) {
  for (const Json& c : cases("inner_event_examples")) {
    SCOPED_TRACE(to_json(c));
    plan::SuperKernel k;
    std::vector<SubKernel> kernels(2);
    const auto list = [](const Json* j) {
      std::vector<uint32_t> out;
      for (const Json& e : j->as_array()) out.push_back(number(e));
      return out;
    };
    kernels[0] = {.id = "a",
                  .stream = number(*c.find("k0")->find("stream")),
                  .send_events = list(c.find("k0")->find("send"))};
    kernels[1] = {.id = "b",
                  .stream = number(*c.find("k1")->find("stream")),
                  .recv_events = list(c.find("k1")->find("recv"))};
    const auto got = compile_superkernel(kernels, {}, {});
    ASSERT_EQ(got.has_value(), c.find("error") == nullptr);
    if (!got) continue;
    Json inner(Json::Array{});
    for (const uint32_t e : kernels[0].send_events) {
      const auto out = plan::external_events(got->kernel, 0).notify;
      if (std::none_of(out.begin(), out.end(), [&](const auto& n) { return n.first == e; })) inner.push(e);
    }
    EXPECT_EQ(inner, *c.find("inner"));
  }
}

TEST(SuperKernelFacts, Dcci) {
  for (const Json& c : cases("dcci_disable_run_warning")) {
    std::vector<bool> disabled;
    for (const Json& d : c.find("disabled")->as_array()) disabled.push_back(d.as_int() != 0);
    Json got(Json::Array{});
    for (const auto& run : dcci_disabled_runs(disabled)) {
      Json r(Json::Array{});
      for (const uint32_t k : run) r.push(k);
      got.push(std::move(r));
    }
    EXPECT_EQ(got, *c.find("runs")) << to_json(c);
  }
  for (const Json& c : fact("dcci_dynamic_by_op_type").find("list_parsing")->as_array()) {
    Json got(Json::Array{});
    for (const std::string& s : split_list(c.find("text")->as_string())) got.push(s);
    EXPECT_EQ(got, *c.find("list"));
  }
  for (const Json& c : cases("dcci_dynamic_by_op_type")) {
    SCOPED_TRACE(to_json(c));
    Options options;
    for (const auto& [key, ops] : c.find("options")->as_object()) {
      std::string text;
      for (const Json& op : ops.as_array()) text += op.as_string() + ",";
      const char* option = key == "before"  ? "dcci-before-kernel-start"
                           : key == "after" ? "dcci-after-kernel-end"
                                            : "dcci-disable-on-kernel";
      ASSERT_TRUE(add_option(options, option, text));
    }
    SubKernel k{.id = "a", .op_type = c.find("op_type")->as_string(), .dynamic = true};
    const auto got = compile_superkernel({k}, options, {});
    ASSERT_TRUE(got);
    size_t before = 0, after = 0;
    for (const plan::SkStep& s : got->kernel.of(Side::Aiv)) {
      before += s.kind == plan::SkStep::Kind::DcciAll && s.why == plan::SkStep::Dcci::Before;
      after += s.kind == plan::SkStep::Kind::DcciAll && s.why == plan::SkStep::Dcci::After;
    }
    const bool disable = c.find("disable")->as_bool();
    EXPECT_EQ(before > 0, c.find("before")->as_bool() && !disable);
    EXPECT_EQ(after > 0, c.find("after")->as_bool() && !disable);
  }
}

TEST(SuperKernelFacts, PreloadAndCopies) {
  for (const Json& c : cases("preload_units"))
    EXPECT_EQ(preload_units(number(*c.find("text_bytes"))), number(*c.find("units"))) << to_json(c);
  for (const Json& c : cases("copy_selection"))
    EXPECT_EQ(copy_of_core(number(*c.find("core_id")), number(*c.find("split_mode"))),
              number(*c.find("copy")))
        << to_json(c);
}

}  // namespace
}  // namespace skdsl::superkernel
