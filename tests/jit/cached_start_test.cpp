// Starts from the cache: both linkers over the code of a model, what gdb and perf learn, no LLVM in the
// process, other builds, and objects that are not as they should be.
#include <elf.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <sstream>

#include "jit/host/host.h"
#include "jit/host/library.h"
#include "jit/load/debugger.h"
#include "jit/load/elf_object.h"
#include "jit/load/load.h"
#include "jit/load/runtime_symbols.h"
#include "tests/models/logits.h"

namespace skdsl::test {
namespace {

namespace fs = std::filesystem;
using jit::Object;
using testing::run_command;
using testing::source_path;
using testing::TemporaryFolder;

/// A cache of its own, filled once by a run of the example with kernels compiled for their shapes.
class Filled : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new TemporaryFolder;
    ::setenv("XDG_CACHE_HOME", (*folder_ / "cache").c_str(), 1);
    const auto r = run();
    EXPECT_EQ(r.out, "85\n") << r.err;
    for (const auto& e : cache().entries()) {
      if (!is_object(e.key)) continue;
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
  /// Programs and graphs are kept there too.
  static bool is_object(const jit::CacheKey& key) {
    return key.at(0).second == "step" || key.at(0).second == "kernel";
  }
  static bool is_step(size_t i) { return keys_[i].at(0).second == "step"; }

  static inline TemporaryFolder* folder_ = nullptr;
  static inline std::vector<Object> objects_;
  static inline std::vector<jit::CacheKey> keys_;
};

TEST_F(Filled, BothLinkersFindTheSameFunctions) {
  auto engine = jit::engine();
  ASSERT_TRUE(engine);
  auto loaded = jit::load(objects_, jit::runtime_symbols());
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

TEST_F(Filled, PerfAndGdbKnowTheFunctions) {
  const std::string map = "/tmp/perf-" + std::to_string(::getpid()) + ".map";
  ::unlink(map.c_str());
  ::setenv("SKDSL_PERF_MAP", "1", 1);
  auto loaded = jit::load(objects_, jit::runtime_symbols());
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
  auto entries = cache.entries();
  std::erase_if(entries, [](const auto& e) { return e.key.at(0).second != "step"; });
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

}  // namespace
}  // namespace skdsl::test
