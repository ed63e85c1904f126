// The loader of cached objects: every relocation it knows, what it refuses, damaged objects, and the rights
// of its memory.
#include "jit/load/load.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <fstream>
#include <random>
#include <sstream>

#include "jit/cache/keys.h"
#include "jit/host/host.h"
#include "jit/host/library.h"
#include "jit/host/processor.h"
#include "jit/load/debugger.h"
#include "jit/load/elf_object.h"
#include "jit/load/runtime_symbols.h"
#include "tests/jit/elf_writer.h"
#include "tests/models/logits.h"

namespace skdsl::test {
namespace {

namespace fs = std::filesystem;
using jit::Object;
using testing::run_command;
using testing::source_path;
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

/// A cache of its own, filled once by a run of the example with kernels compiled for their shapes.
class Filled : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new TemporaryFolder;
    ::setenv("XDG_CACHE_HOME", (*folder_ / "cache").c_str(), 1);
    const auto r = run();
    EXPECT_EQ(r.out, "85\n") << r.err;
    for (const auto& e : cache().entries()) {
      std::string trouble;
      objects_.push_back(*cache().get(e.key, trouble));
      keys_.push_back(e.key);
      EXPECT_EQ(trouble, "");
    }
    EXPECT_GT(objects_.size(), 5u);
  }
  static void TearDownTestSuite() { delete folder_; }

  static testing::CommandResult run() {
    return run_command({"run", source_path("examples/longcat.sk"), "--mode", "ge_graph", "--prompt",
                        "27+58=", "--static-kernels"});
  }
  static jit::ObjectCache cache() { return jit::ObjectCache::standard(); }
  static bool is_step(size_t i) { return keys_[i].at(0).second == "step"; }

  static inline TemporaryFolder* folder_ = nullptr;
  static inline std::vector<Object> objects_;
  static inline std::vector<jit::CacheKey> keys_;
};

TEST_F(Filled, BothLinkersFindTheSameFunctions) {
  auto engine = jit::engine();
  ASSERT_TRUE(engine);
  auto loaded = load(objects_, jit::runtime_symbols());
  ASSERT_TRUE(loaded) << loaded.error().message;
  auto linked = (*engine)->link(objects_, jit::runtime_symbols());
  ASSERT_TRUE(linked);
  ASSERT_TRUE((*linked)->find("LongCatFlash.decode"));
  ASSERT_TRUE((*loaded)->find("LongCatFlash.decode"));
  // ORC links what is asked for, the loader everything.
  size_t functions = 0;
  for (const Object& object : objects_)
    for (const jit::ElfSymbol& f : jit::read_object(object)->symbols) {
      if (!f.function || !f.global) continue;
      const std::string name(f.name);
      const auto here = (*loaded)->find(name), there = (*linked)->find(name);
      ASSERT_TRUE(here && there) << name;
      EXPECT_NE(*here, *there);
      ++functions;
    }
  EXPECT_GT(functions, objects_.size());
  // ORC forgets the names of local functions.
  EXPECT_GE((*loaded)->code_bytes(), (*linked)->code_bytes());
  EXPECT_GT((*loaded)->code_bytes(), 1000u);
  // Memory that is writable and executable there is none.
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) EXPECT_EQ(line.find(" rwx"), std::string::npos) << line;
}

TEST_F(Filled, DamagedObjectsAreAnErrorOrLinkAndNothingElse) {
  const bool soak = std::getenv("SKDSL_SOAK") != nullptr;
  std::mt19937 random(11);
  std::printf("damaged objects: seed 11\n");
  const auto symbols = jit::runtime_symbols();
  size_t refused = 0, tried = 0;
  const auto attempt = [&](size_t i, Object bad) {
    std::vector<Object> objects = objects_;
    objects[i] = std::move(bad);
    refused += !jit::load(objects, symbols);
    ++tried;
  };
  for (size_t i = 0; i < objects_.size(); ++i) {
    const Object& good = objects_[i];
    const bool step = is_step(i);
    for (size_t n = 0; n < (soak ? 4000 : step ? 400 : 15); ++n) {
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
      attempt(i, good.substr(0, random() % good.size()));
    }
  }
  EXPECT_GT(refused, tried / 3);
}

TEST_F(Filled, PerfAndGdbKnowTheFunctions) {
  const std::string map = "/tmp/perf-" + std::to_string(::getpid()) + ".map";
  ::unlink(map.c_str());
  ::setenv("SKDSL_PERF_MAP", "1", 1);
  auto loaded = load(objects_, jit::runtime_symbols());
  ::unsetenv("SKDSL_PERF_MAP");
  ASSERT_TRUE(loaded);
  const auto entry = reinterpret_cast<uintptr_t>(*(*loaded)->find("LongCatFlash.decode"));
  std::ifstream in(map);
  std::ostringstream text;
  text << in.rdbuf();
  ::unlink(map.c_str());
  std::ostringstream line;
  line << std::hex << entry << ' ';
  EXPECT_NE(text.str().find(line.str()), std::string::npos) << text.str();
  EXPECT_NE(text.str().find(" sk_kernel_rms_norm."), std::string::npos);
  // What gdb reads: the newest object first, its sections where they are.
  const auto first = jit::newest_for_debugger();
  ASSERT_GT(first.size(), sizeof(Elf64_Ehdr));
  Elf64_Ehdr h;
  std::memcpy(&h, first.data(), sizeof h);
  bool inside = false;
  for (size_t i = 0; i < h.e_shnum; ++i) {
    Elf64_Shdr s;
    std::memcpy(&s, first.data() + h.e_shoff + i * sizeof s, sizeof s);
    EXPECT_EQ(s.sh_addr != 0, (s.sh_flags & SHF_ALLOC) != 0);
    inside |= (s.sh_flags & SHF_EXECINSTR) && entry >= s.sh_addr && entry < s.sh_addr + s.sh_size;
  }
  EXPECT_TRUE(inside);
  loaded->reset();
  EXPECT_TRUE(jit::newest_for_debugger() != first);
}

// An object that the checksum lets through and the loader does not.
TEST(Fallback, CompilesAgainWithAWarning) {
  TemporaryFolder folder;
  ::setenv("XDG_CACHE_HOME", (folder / "cache").c_str(), 1);
  const auto run = [] {
    return run_command(
        {"run", source_path("examples/longcat.sk"), "--mode", "ge_graph", "--prompt", "27+58="});
  };
  ASSERT_EQ(run().out, "85\n");
  const jit::ObjectCache cache = jit::ObjectCache::standard();
  const auto entries = cache.entries();
  ASSERT_EQ(entries.size(), 1u);
  std::string trouble;
  Object bad = *cache.get(entries[0].key, trouble);
  bad[offsetof(Elf64_Ehdr, e_machine)] = 3;
  ASSERT_EQ(cache.put(entries[0].key, bad), "");
  const auto warned = run();
  EXPECT_EQ(warned.out, "85\n");
  EXPECT_NE(warned.err.find("SK3506"), std::string::npos) << warned.err;
  EXPECT_NE(warned.err.find("it is not a relocatable object for x86-64; it is compiled again"),
            std::string::npos)
      << warned.err;
  const auto again = run();
  EXPECT_EQ(again.out, "85\n");
  EXPECT_EQ(again.err.find("SK3506"), std::string::npos) << again.err;
}

// ---- the program

struct Started {
  std::string out;
  std::string libraries;  // what ld.so says of files it opened
};
Started start(const std::string& program, const std::string& cache, const std::string& logs) {
  static int count = 0;
  const std::string log = logs + "/ld-" + std::to_string(count++);
  const std::string command = "XDG_CACHE_HOME='" + cache + "' LD_DEBUG=files LD_DEBUG_OUTPUT='" + log +
                              "' '" + program + "' run '" + source_path("examples/longcat.sk") +
                              "' --mode ge_graph --prompt '27+58=' --json";
  Started s;
  std::FILE* pipe = ::popen(command.c_str(), "r");
  char buffer[4096];
  for (size_t n; (n = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;) s.out.append(buffer, n);
  EXPECT_EQ(::pclose(pipe), 0);
  for (const auto& e : fs::directory_iterator(logs))
    if (e.path().native().starts_with(log + ".")) s.libraries += *read_file(e.path());
  return s;
}
bool from_cache(const Started& s) {
  return testing::parsed(s.out)
      .find("graph")
      ->find("executors")
      ->as_array()
      .at(0)
      .find("from_cache")
      ->as_bool();
}

TEST(Program, AStartFromTheCacheOpensNoLlvm) {
  TemporaryFolder folder;
  fs::create_directory(folder / "logs");
  const Started cold = start(SKDSL_PROGRAM, folder / "cache", folder / "logs"),
                warm = start(SKDSL_PROGRAM, folder / "cache", folder / "logs");
  EXPECT_FALSE(from_cache(cold));
  EXPECT_NE(cold.libraries.find("libskdsl_jit.so"), std::string::npos);
  EXPECT_TRUE(from_cache(warm));
  EXPECT_NE(warm.libraries.find("libc.so"), std::string::npos);
  for (const char* name : {"libskdsl_jit", "libLLVM"})
    EXPECT_EQ(warm.libraries.find(name), std::string::npos) << name;
  EXPECT_EQ(*testing::parsed(cold.out).find("requests"), *testing::parsed(warm.out).find("requests"));
}

TEST(Program, AnotherBuildOfTheJitDoesNotUseTheObjects) {
  TemporaryFolder folder;
  fs::create_directory(folder / "logs");
  ASSERT_FALSE(from_cache(start(SKDSL_PROGRAM, folder / "cache", folder / "logs")));
  // The same program beside a shared object with another build id.
  fs::copy(SKDSL_PROGRAM, folder / "skdsl");
  const fs::path library = jit::library_places().back();
  const auto id = jit::build_id_of(library);
  ASSERT_TRUE(id) << id.error().message;
  ASSERT_EQ(id->size(), 40u);
  std::string raw, bytes = *read_file(library);
  for (size_t i = 0; i < id->size(); i += 2)
    raw += static_cast<char>(std::stoi(id->substr(i, 2), nullptr, 16));
  const size_t at = bytes.find(raw);
  ASSERT_NE(at, std::string::npos);
  bytes[at + 7] ^= 1;
  std::ofstream(folder / "libskdsl_jit.so", std::ios::binary) << bytes;
  EXPECT_NE(*jit::build_id_of(folder / "libskdsl_jit.so"), *id);
  EXPECT_FALSE(from_cache(start(folder / "skdsl", folder / "cache", folder / "logs")));
  EXPECT_TRUE(from_cache(start(folder / "skdsl", folder / "cache", folder / "logs")));
  EXPECT_TRUE(from_cache(start(SKDSL_PROGRAM, folder / "cache", folder / "logs")));
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
