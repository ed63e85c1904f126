// The loader of cached objects: every relocation it knows, what it refuses, damaged objects, and the rights
// of its memory.
#include "jit/load/load.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstring>
#include <fstream>
#include <random>

#include "jit/cache/keys.h"
#include "jit/cache/symbols.h"
#include "jit/host/host.h"
#include "jit/host/library.h"
#include "jit/host/processor.h"
#include "jit/load/runtime_symbols.h"
#include "tests/jit/elf_writer.h"
#include "tests/support/temporary_folder.h"

namespace skdsl::test {
namespace {

namespace fs = std::filesystem;
using jit::Object;
using testing::TemporaryFolder;

constexpr uint64_t kReadOnly = SHF_ALLOC, kWritable = SHF_ALLOC | SHF_WRITE;

std::string code(std::initializer_list<int> bytes) {
  std::string out;
  for (const int b : bytes) out += static_cast<char>(b);
  return out;
}
// sub $8,%rsp; call …; add $8,%rsp; ret — the place of the call's operand is 5.
std::string calling() { return code({0x48, 0x83, 0xec, 8, 0xe8, 0, 0, 0, 0, 0x48, 0x83, 0xc4, 8, 0xc3}); }

Expected<std::unique_ptr<jit::Linked>> load(const std::vector<Object>& objects,
                                            std::vector<exec::NativeSymbol> symbols = {}) {
  return jit::load(objects, symbols);
}
std::string error_of(const std::vector<Object>& objects, std::vector<exec::NativeSymbol> symbols = {}) {
  auto linked = load(objects, std::move(symbols));
  return linked ? "none" : linked.error().message;
}
template <class F>
F* function(const jit::Linked& linked, const std::string& name) {
  const auto found = linked.find(name);
  EXPECT_TRUE(found) << found.error().message;
  return reinterpret_cast<F*>(const_cast<void*>(*found));
}
std::string rights_of(const void* address) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    unsigned long begin = 0, end = 0;
    char rights[8] = {};
    if (std::sscanf(line.c_str(), "%lx-%lx %7s", &begin, &end, rights) == 3 &&
        reinterpret_cast<uintptr_t>(address) >= begin && reinterpret_cast<uintptr_t>(address) < end)
      return rights;
  }
  return "";
}

int times_seven(int n) { return 7 * n; }
const exec::NativeSymbol kTimesSeven{"times_seven", reinterpret_cast<const void*>(&times_seven)};

/// Code so far from everything that no call of 32 bits reaches it.
class FarFunction {
 public:
  FarFunction() {
    const std::string body = code({0xb8, 42, 0, 0, 0, 0xc3});  // mov $42,%eax; ret
    page_ = ::mmap(reinterpret_cast<void*>(uintptr_t{0x6000} << 32), 4096, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    std::memcpy(page_, body.data(), body.size());
    ::mprotect(page_, 4096, PROT_READ | PROT_EXEC);
  }
  ~FarFunction() { ::munmap(page_, 4096); }
  exec::NativeSymbol symbol() const { return {"far", page_}; }

 private:
  void* page_;
};

TEST(Relocations, CallsReachAnyDistance) {
  const FarFunction far;
  for (const bool is_far : {true, false}) {
    const std::string callee = is_far ? "far" : "times_seven";
    const std::vector<Object> objects{
        write_elf({{".text", calling(), SHF_ALLOC | SHF_EXECINSTR, {{5, callee, R_X86_64_PLT32, -4}}}},
                  {{"f", 0, 0, 14}, {callee, SIZE_MAX, 0, 0, STT_NOTYPE}})};
    auto linked = load(objects, {far.symbol(), kTimesSeven});
    ASSERT_TRUE(linked) << linked.error().message;
    EXPECT_EQ(function<int(int)>(**linked, "f")(6), 42);
    EXPECT_EQ((*linked)->code_bytes(), 14u);
    EXPECT_EQ(rights_of(*(*linked)->find("f")), "r-xp");
  }
  // One object calls the other, and both callees at once: code cannot be near to both.
  std::string text;
  std::vector<WrittenRelocation> relocations;
  for (const char* callee : {"far", "times_seven", "g", "far", "g"}) {
    relocations.push_back({text.size() + 5, callee, R_X86_64_PLT32, -4});
    text += calling().substr(0, 13);
    text += code({0x89, 0xc7});  // mov %eax,%edi
  }
  text += code({0xc3});
  const Object caller =
      write_elf({{".text", text, SHF_ALLOC | SHF_EXECINSTR, relocations}},
                {{"f", 0, 0, text.size()}, {"far", SIZE_MAX}, {"times_seven", SIZE_MAX}, {"g", SIZE_MAX}});
  const Object callee =
      write_elf({{".text", code({0x8d, 0x47, 1, 0xc3})}}, {{"g", 0, 0, 4}});  // lea 1(%rdi),%eax; ret
  auto linked = load({caller, callee}, {far.symbol(), kTimesSeven});
  ASSERT_TRUE(linked) << linked.error().message;
  EXPECT_EQ(function<int(int)>(**linked, "f")(1), 43);
}

TEST(Relocations, DataIsFoundEveryWay) {
  // f: mov table(%rip),%rax; add pointer(%rip) …: three loads, each by another way to the same constant.
  const std::string constants = code({5, 0, 0, 0, 0, 0, 0, 0});
  std::string text =
      code({0x8b, 0x05, 0,    0, 0, 0,                 // mov constant(%rip),%eax
            0x48, 0x8b, 0x0d, 0, 0, 0, 0, 0x03, 0x01,  // mov constant@GOTPCREL(%rip),%rcx; add (%rcx),%eax
            0x48, 0x8b, 0x0d, 0, 0, 0, 0, 0x03, 0x01,  // mov pointer(%rip),%rcx; add (%rcx),%eax
            0x48, 0x8d, 0x0d, 0, 0, 0, 0, 0x48, 0x03,
            0x09, 0x03, 0x01,           // lea distance(%rip),%rcx; add (%rcx),%rcx; add (%rcx),%eax
            0x03, 0x05, 0,    0, 0, 0,  // add zeros(%rip),%eax
            0xff, 0x05, 0,    0, 0, 0,  // incl zeros(%rip)
            0xc3});
  const Object object = write_elf({{".text",
                                    text,
                                    SHF_ALLOC | SHF_EXECINSTR,
                                    {{2, "constant", R_X86_64_PC32, -4},
                                     {9, "constant", R_X86_64_REX_GOTPCRELX, -4},
                                     {18, "pointer", R_X86_64_PC32, -4},
                                     {27, "distance", R_X86_64_PC32, -4},
                                     {38, "counter", R_X86_64_PC32, -4},
                                     {44, "counter", R_X86_64_PC32, -4}}},
                                   {".rodata", constants, kReadOnly},
                                   {".data.rel.ro",
                                    std::string(16, '\0'),
                                    kReadOnly,
                                    {{0, "constant", R_X86_64_64, 0}, {8, "constant", R_X86_64_PC64, 0}}},
                                   {".data", std::string(4, '\0'), kWritable}},
                                  {{"f", 0, 0, text.size()},
                                   {"constant", 1, 0, 4, STT_OBJECT},
                                   {"pointer", 2, 0, 8, STT_OBJECT},
                                   {"distance", 2, 8, 8, STT_OBJECT},
                                   {"counter", 3, 0, 4, STT_OBJECT}});
  auto linked = load({object});
  ASSERT_TRUE(linked) << linked.error().message;
  auto* f = function<int()>(**linked, "f");
  EXPECT_EQ(f(), 20);
  EXPECT_EQ(f(), 21);
  EXPECT_EQ(f(), 22);
}

TEST(Relocations, WhatDoesNotReachOrIsNotKnownIsRefused) {
  const FarFunction far;
  const auto with = [](uint32_t type, int64_t addend = -4) {
    return std::vector<Object>{
        write_elf({{".text", calling(), SHF_ALLOC | SHF_EXECINSTR, {{5, "far", type, addend}}}},
                  {{"f", 0, 0, 14}, {"far", SIZE_MAX}})};
  };
  EXPECT_EQ(error_of(with(R_X86_64_PLT32), {far.symbol()}), "none");
  EXPECT_NE(error_of(with(R_X86_64_PC32), {far.symbol(), kTimesSeven}).find("does not reach `far`"),
            std::string::npos);
  EXPECT_NE(error_of(with(R_X86_64_32, 0), {far.symbol()}).find("does not reach `far`"), std::string::npos);
  EXPECT_NE(error_of(with(R_X86_64_32S, 0), {far.symbol()}).find("does not reach `far`"), std::string::npos);
  EXPECT_NE(error_of(with(R_X86_64_PLT32)).find("`far` is not known"), std::string::npos);
  for (const uint32_t type : {uint32_t{R_X86_64_NONE}, uint32_t{R_X86_64_COPY}, uint32_t{R_X86_64_TPOFF32},
                              uint32_t{R_X86_64_GOT64}, uint32_t{R_X86_64_IRELATIVE}, 77u, 0xffffffffu})
    EXPECT_NE(error_of(with(type), {far.symbol()})
                  .find("relocation type " + std::to_string(type) + " is not known"),
              std::string::npos)
        << type;
  // Numbers of 32 bits are what they say.
  for (const uint32_t type : {R_X86_64_32, R_X86_64_32S}) {
    const Object small =
        write_elf({{".text", code({0xb8, 0, 0, 0, 0, 0xc3}), SHF_ALLOC | SHF_EXECINSTR, {{1, "n", type, 5}}}},
                  {{"f", 0, 0, 6}, {"n", SIZE_MAX}});
    auto linked = load({small}, {{"n", reinterpret_cast<const void*>(0x12345600)}});
    ASSERT_TRUE(linked);
    EXPECT_EQ(function<int()>(**linked, "f")(), 0x12345605);
  }
}

TEST(Objects, WhatCodeGenerationDoesNotMakeIsRefused) {
  const std::string ret = code({0xc3});
  const auto sections = [&](uint64_t flags, uint32_t type = SHT_PROGBITS, uint64_t align = 16) {
    return std::vector<Object>{
        write_elf({{".text", ret}, {".more", ret, flags, {}, type, align}}, {{"f", 0, 0, 1}})};
  };
  EXPECT_EQ(error_of(sections(kReadOnly)), "none");
  EXPECT_NE(error_of(sections(SHF_ALLOC | SHF_EXECINSTR | SHF_WRITE)).find("code that can be written"),
            std::string::npos);
  EXPECT_NE(error_of(sections(SHF_ALLOC | SHF_TLS)).find("other flags"), std::string::npos);
  EXPECT_NE(error_of(sections(SHF_ALLOC | SHF_COMPRESSED)).find("other flags"), std::string::npos);
  EXPECT_NE(error_of(sections(SHF_ALLOC, SHT_INIT_ARRAY)).find("of type 14"), std::string::npos);
  EXPECT_NE(error_of(sections(SHF_ALLOC, SHT_PROGBITS, 3)).find("alignment"), std::string::npos);
  EXPECT_NE(error_of(sections(SHF_ALLOC, SHT_PROGBITS, uint64_t{1} << 40)).find("alignment"),
            std::string::npos);
  EXPECT_NE(error_of({write_elf({{".text", ret}}, {{"f", 0, 0, 1, STT_TLS}})}).find("symbol is of type 6"),
            std::string::npos);
  EXPECT_NE(
      error_of({write_elf({{".text", ret}}, {{"f", 0, 0, 1, STT_GNU_IFUNC}})}).find("symbol is of type 10"),
      std::string::npos);
  EXPECT_NE(error_of({write_elf({{".text", ret}}, {{"f", 0, 1, 1}})}).find("lies outside"),
            std::string::npos);
  EXPECT_NE(error_of({write_elf({{".text", ret}}, {{"f", 0, UINT64_MAX, 2}})}).find("lies outside"),
            std::string::npos);
  EXPECT_NE(error_of({write_elf({{".text", ret}}, {{"f", 7, 0, 1}})}).find("no section"), std::string::npos);
  const Object one = write_elf({{".text", ret}}, {{"f", 0, 0, 1}});
  EXPECT_NE(error_of({one, one}).find("`f` is there twice"), std::string::npos);
  EXPECT_NE(error_of({""}).find("cut short"), std::string::npos);
  EXPECT_NE(error_of({std::string(1000, 'x')}).find("not an ELF file"), std::string::npos);
  auto linked = load({one});
  ASSERT_TRUE(linked);
  EXPECT_FALSE((*linked)->find("g"));
  Object other = one;
  other[18] = 183;  // e_machine
  EXPECT_NE(error_of({other}).find("x86-64"), std::string::npos);
}

/// What code generation makes of a step of two kernels, and of these kernels for their shapes.
std::vector<Object> generated() {
  auto engine = jit::engine();
  EXPECT_TRUE(engine);
  exec::NativeTensor t{.dim = {4, 16}, .stride = {16, 1}, .dtype = SK_F32};
  exec::NativeKernel add{.code = Opcode::Add, .may_fault = true, .in = {t, t}, .out = {t}},
      silu{.code = Opcode::Silu, .in = {t}, .out = {t}};
  exec::NativeStep step{.name = "M.decode", .options = {.static_kernels = true}, .files = {"m.sk"}};
  step.functions.push_back(
      {.name = "s",
       .kernels = {add, silu},
       .ops = {{.kernel = 0}, {.kind = exec::NativeOp::Kind::Meet, .meeting = 1}, {.kernel = 1}},
       .meetings = 1});
  step.launches = {{0}, {0}};
  std::vector<Object> out{*(*engine)->compile(step)};
  for (const exec::NativeKernel& k : step.functions[0].kernels)
    out.push_back(*(*engine)->compile_kernel(k, jit::kernel_symbol(k, true)));
  return out;
}

TEST(Damaged, ObjectsAreAnErrorOrLinkAndNothingElse) {
  const bool soak = std::getenv("SKDSL_SOAK") != nullptr;
  std::mt19937 random(11);
  std::printf("damaged objects: seed 11\n");
  const std::vector<Object> objects = generated();
  const auto symbols = jit::runtime_symbols();
  auto whole = jit::load(objects, symbols);
  ASSERT_TRUE(whole) << whole.error().message;
  ASSERT_TRUE((*whole)->find("M.decode"));
  size_t refused = 0, tried = 0;
  const auto attempt = [&](size_t i, Object bad) {
    std::vector<Object> all = objects;
    all[i] = std::move(bad);
    refused += !jit::load(all, symbols);
    ++tried;
  };
  for (size_t i = 0; i < objects.size(); ++i) {
    const Object& good = objects[i];
    for (size_t n = 0; n < good.size(); n += soak ? 1 : 37) attempt(i, good.substr(0, n));
    for (size_t n = 0; n < (soak ? 30000 : 3000); ++n) {
      Object bad = good;
      const size_t flips = 1 + random() % 3;
      for (size_t f = 0; f < flips; ++f) bad[random() % bad.size()] ^= static_cast<char>(1 << random() % 8);
      attempt(i, bad);
      // Headers are where lengths and places stand.
      bad = good;
      uint64_t table = 0;
      std::memcpy(&table, good.data() + offsetof(Elf64_Ehdr, e_shoff), sizeof table);
      const size_t at =
          random() % 4 == 0 ? random() % sizeof(Elf64_Ehdr) : table + random() % (good.size() - table);
      bad[at] = static_cast<char>(random());
      attempt(i, bad);
    }
  }
  EXPECT_GT(refused, tried / 3);
  EXPECT_LT(refused, tried);
}

TEST(Keys, HaveTheProcessorAndTheBuild) {
  const auto build = jit::build_key();
  ASSERT_TRUE(build) << build.error().message;
  EXPECT_EQ(build->target, jit::processor());
  EXPECT_GT(build->target.size(), 30u);
  EXPECT_TRUE(build->llvm.starts_with("19.1.")) << build->llvm;
  auto engine = jit::engine();
  ASSERT_TRUE(engine);
  EXPECT_EQ((*engine)->build_id(), build->jit);
  TemporaryFolder folder;
  const jit::ObjectCache cache(folder / "c");
  const exec::NativeStep step{.name = "M.decode"};
  EXPECT_FALSE(cache.holds_build(jit::key_of(*build)));
  ASSERT_EQ(cache.put(jit::key_of(step, *build), "object"), "");
  EXPECT_TRUE(cache.holds_build(jit::key_of(*build)));
  for (std::string jit::BuildKey::* part :
       {&jit::BuildKey::target, &jit::BuildKey::llvm, &jit::BuildKey::skdsl, &jit::BuildKey::jit}) {
    jit::BuildKey other = *build;
    other.*part += "x";
    std::string trouble;
    EXPECT_FALSE(cache.get(jit::key_of(step, other), trouble));
    EXPECT_EQ(trouble, "");
    EXPECT_FALSE(cache.holds_build(jit::key_of(other)));
  }
  EXPECT_FALSE(jit::build_id_of(folder / "none"));
  std::ofstream(folder / "text") << "not a shared object";
  EXPECT_FALSE(jit::build_id_of(folder / "text"));
}

}  // namespace
}  // namespace skdsl::test
