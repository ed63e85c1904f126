// Every operator has a row, a kernel (or an executor's own case), a test and a page entry; what is missing
// names itself.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "runtime/base/file.h"
#include "stdlib/kernels/registry.h"
#include "stdlib/op_info.h"
#include "tests/support/cli_run.h"

namespace skdsl::testing {
namespace {

namespace fs = std::filesystem;

std::string all_test_text() {
  std::string out;
  for (const auto& entry : fs::recursive_directory_iterator(source_path("tests"))) {
    const std::string e = entry.path().extension().string();
    if (!entry.is_regular_file() || (e != ".cpp" && e != ".h" && e != ".sk" && e != ".json") ||
        entry.path().string().find("/models/golden/") != std::string::npos)
      continue;
    if (entry.path().filename() == "completeness_test.cpp") continue;
    if (auto text = read_file(entry.path())) out += *text;
  }
  return out;
}

/// `name` as a word, or behind the kernels' prefix.
bool has_word(const std::string& text, std::string_view name) {
  const auto letter = [&](size_t k) {
    return k < text.size() && (std::isalnum(static_cast<unsigned char>(text[k])) || text[k] == '_');
  };
  for (size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + 1)) {
    const bool prefixed = at >= 10 && text.compare(at - 10, 10, "sk_kernel_") == 0;
    if ((prefixed || at == 0 || !letter(at - 1)) && !letter(at + name.size())) return true;
  }
  return false;
}

TEST(Completeness, EveryRowSaysWhatItIs) {
  for (const OpInfo& op : kOps) {
    EXPECT_FALSE(op.name.empty());
    EXPECT_FALSE(op.summary.empty()) << op.name;
    EXPECT_FALSE(op.category.empty()) << op.name;
    EXPECT_EQ(find_op(op.name) == Opcode::kCount, false) << op.name;
    for (const Param& p : op.params) {
      EXPECT_FALSE(p.name.empty()) << op.name;
      if (p.is_attr && p.attr == AttrType::Choice)
        EXPECT_FALSE(p.choices.empty()) << op.name << "." << p.name;
    }
  }
}

TEST(Completeness, EveryOperatorHasItsKernel) {
  std::string sources;
  for (const auto& entry : fs::directory_iterator(source_path("stdlib/kernels")))
    if (entry.path().extension() == ".cpp" && entry.path().filename() != "registry.cpp")
      sources += *read_file(entry.path());
  for (size_t i = 0; i < static_cast<size_t>(Opcode::kCount); ++i) {
    const auto code = static_cast<Opcode>(i);
    const OpInfo& op = info(code);
    if (!op.has_kernel()) {
      EXPECT_EQ(kernels::find_kernel(code), nullptr) << op.name;
      continue;
    }
    const kernels::KernelEntry* kernel = kernels::find_kernel(code);
    ASSERT_NE(kernel, nullptr) << op.name;
    EXPECT_NE(kernel->run, nullptr) << op.name;
    EXPECT_EQ(kernel->phases, op.phases) << op.name;
    EXPECT_EQ(kernel->workspace != nullptr, op.workspace) << op.name;
    EXPECT_TRUE(has_word(sources, op.name)) << "no file of stdlib/kernels names " << op.name;
  }
}

TEST(Completeness, EveryOperatorIsInATest) {
  const std::string tests = all_test_text();
  for (size_t i = 0; i < static_cast<size_t>(Opcode::kCount); ++i) {
    const OpInfo& op = kOps[i];
    EXPECT_TRUE(has_word(tests, op.name)) << "operator `" << op.name << "` is in no test";
  }
}

TEST(Completeness, EveryOperatorIsDocumented) {
  auto page = read_file(source_path("docs/ops.md"));
  ASSERT_TRUE(page.has_value());
  for (const OpInfo& op : kOps) EXPECT_NE(page->find(std::string(op.name)), std::string::npos) << op.name;
  const CommandResult r = run_command({"ops", "--markdown"});
  EXPECT_EQ(r.out, *page) << "docs/ops.md is out of date: skdsl ops --markdown > docs/ops.md";
}

}  // namespace
}  // namespace skdsl::testing
