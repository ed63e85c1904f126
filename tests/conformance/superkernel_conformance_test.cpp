// Recorded super-kernel schedules of an independent implementation (superkernel_cases.json), through `explain
// --case`.
//
// A record gives the exact steps. One whose `properties` mark a defect of the original must satisfy the
// property instead; one with `expect_error` must be refused.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "cli/cli.h"
#include "compiler/superkernel/superkernel.h"
#include "runtime/base/file.h"
#include "runtime/base/json.h"

namespace skdsl {
namespace {

namespace fs = std::filesystem;

const fs::path kRecords = fs::path(SKDSL_SOURCE_DIR) / "tests" / "conformance" / "superkernel_cases.json";

// Records that carry a defect which another record of the same shape marks: a barrier over both kinds of
// cores in a super kernel with vector cores only (`dyn_first_aiv`). They are held to that property too.
constexpr std::string_view kUnmarkedDefects[] = {"dcci_dynamic_before", "dcci_dynamic_after",
                                                 "dcci_dynamic_none"};

const Json& records() {
  static const Json all = [] {
    auto text = read_file(kRecords);
    auto json = parse_json(text.value(), kRecords.string());
    return json.value();
  }();
  return all;
}

std::vector<Json> schedules() {
  std::vector<Json> out;
  for (const char* group : {"st_cases", "generated_cases"})
    for (const Json& r : records().find(group)->as_array()) out.push_back(r);
  return out;
}

Json explain(const Json& input) {
  std::istringstream in(to_json(input));
  std::ostringstream out, err;
  cli::Context context{in, out, err};
  EXPECT_EQ(cli::run({"explain", "--case", "-", "--json"}, context), 0) << err.str();
  return parse_json(out.str(), "explain").value_or(Json());
}

bool defective(const Json& property) {
  return (property.is_bool() && !property.as_bool()) || (property.is_array() && !property.as_array().empty());
}

// The first step of a side that differs, with what stands around it.
std::string difference(const Json& want, const Json& got) {
  std::string out;
  for (const char* side : {"aic", "aiv"}) {
    const Json empty(Json::Array{});
    const auto steps = [&](const Json& s) -> const Json::Array& {
      const Json* list = s.find(side);
      return list && list->is_array() ? list->as_array() : empty.as_array();
    };
    const auto &a = steps(want), &b = steps(got);
    for (size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
      const std::string x = i < a.size() ? to_json(a[i]) : "(nothing)",
                        y = i < b.size() ? to_json(b[i]) : "(nothing)";
      if (x == y) continue;
      out += "  " + std::string(side) + " step " + std::to_string(i) + "\n    want " + x + "\n    got  " + y +
             "\n";
      break;
    }
  }
  return out;
}

TEST(SuperKernelConformance, EveryRecord) {
  const std::vector<Json> all = schedules();
  ASSERT_EQ(all.size(), 189u);
  Json list(Json::Array{});
  for (const Json& r : all) {
    Json input;
    input.set("options_string", *r.find("options_string"));
    input.set("sub_kernels", *r.find("sub_kernels"));
    list.push(std::move(input));
  }
  const Json got = explain(list);
  ASSERT_TRUE(got.is_array());
  ASSERT_EQ(got.as_array().size(), all.size());
  size_t exact = 0, mended = 0, refused = 0;
  for (size_t i = 0; i < all.size(); ++i) {
    const Json& want = all[i];
    const Json& have = got.as_array()[i];
    const std::string name = want.find("name")->as_string();
    SCOPED_TRACE(name);
    if (want.find("expect_error") != nullptr) {
      EXPECT_NE(have.find("error"), nullptr) << "must be refused: " << to_json(*want.find("expect_error"));
      ++refused;
      continue;
    }
    ASSERT_EQ(have.find("error"), nullptr) << to_json(have);
    const Json& properties = *want.find("properties");
    bool defect = std::find(std::begin(kUnmarkedDefects), std::end(kUnmarkedDefects), name) !=
                  std::end(kUnmarkedDefects);
    for (const auto& [key, value] : properties.as_object()) {
      defect |= defective(value);
      const Json& mine = *have.find("properties")->find(key);
      if (defective(value))
        EXPECT_FALSE(defective(mine)) << key << " is still " << to_json(mine);
      else
        EXPECT_EQ(mine, value) << key;
    }
    for (const auto& [key, value] : have.find("properties")->as_object())
      EXPECT_FALSE(defective(value)) << key;
    if (defect) {
      ++mended;
      continue;
    }
    ++exact;
    EXPECT_EQ(*have.find("superkernel"), *want.find("superkernel"))
        << to_json(*want.find("superkernel")) << "\n"
        << to_json(*have.find("superkernel"));
    EXPECT_EQ(difference(*want.find("schedule"), *have.find("schedule")), "");
    if (const Json* mode = want.find("mode")) EXPECT_EQ(*have.find("mode"), *mode);
    if (const Json* warnings = want.find("warnings_logged");
        warnings && warnings->is_int() && warnings->as_int() > 0)
      EXPECT_NE(have.find("warnings"), nullptr);
  }
  EXPECT_EQ(exact, 150u);
  EXPECT_EQ(mended, 14u);
  EXPECT_EQ(refused, 25u);
}

TEST(SuperKernelConformance, MalformedRecordsAreNamed) {
  const auto message = [](const std::string& text) {
    std::istringstream in(text);
    std::ostringstream out, err;
    cli::Context context{in, out, err};
    EXPECT_EQ(cli::run({"explain", "--case", "-", "--json"}, context), 1) << out.str();
    return err.str();
  };
  EXPECT_NE(message("[1]").find("record 0: a record is an integer"), std::string::npos);
  EXPECT_NE(message("{}").find("`sub_kernels` is missing"), std::string::npos);
  EXPECT_NE(message(R"({"sub_kernels":[{"type":"AIX"}]})").find("`type` is `AIX`"), std::string::npos);
  EXPECT_NE(message(R"({"sub_kernels":[{"type":"AIC","block_dim":-1}]})").find("`block_dim`"),
            std::string::npos);
  EXPECT_NE(message(R"({"sub_kernels":[{"type":"AIC","block_dim":0}]})").find("at least 1 block"),
            std::string::npos);
  EXPECT_NE(message(R"({"sub_kernels":[{"type":"AIC","send_events":7}]})").find("a list of event numbers"),
            std::string::npos);
}

}  // namespace
}  // namespace skdsl
