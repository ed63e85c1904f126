#include "jit/load/load.h"

#include <cstring>
#include <limits>
#include <map>
#include <unordered_map>

#include "jit/load/debugger.h"
#include "jit/load/elf_object.h"
#include "jit/load/memory.h"
#include "jit/load/perf_map.h"

namespace skdsl::jit {

namespace {

constexpr uint64_t kStubBytes = 8, kSlotBytes = 8;
// A caller checked by -fsanitize=function reads the words before a function, so none stands at the edge of
// its pages.
constexpr uint64_t kBefore = 16;

tl::unexpected<Error> wrong(const std::string& what) {
  return tl::unexpected(Error{ErrorKind::Environment, "the code cannot be linked: " + what, {}});
}

uint64_t aligned(uint64_t n, uint64_t align) { return (n + align - 1) / align * align; }

Segment segment_of(const ElfSection& s) { return s.code ? kCode : s.writable ? kData : kConstants; }

template <class T>
void store(uint64_t place, uint64_t value) {
  const T narrow = static_cast<T>(value);
  std::memcpy(reinterpret_cast<void*>(place), &narrow, sizeof narrow);
}
/// Whether the sign-extended lower half is the number.
bool fits(uint64_t n) {
  return static_cast<uint64_t>(static_cast<int64_t>(static_cast<int32_t>(static_cast<uint32_t>(n)))) == n;
}

class LoadedObjects final : public Linked {
 public:
  Expected<const void*> find(const std::string& symbol) const override {
    const auto it = defined.find(symbol);
    if (it == defined.end()) return wrong("it has no function `" + symbol + "`");
    return reinterpret_cast<const void*>(it->second);
  }
  uint64_t code_bytes() const override {
    uint64_t bytes = 0;
    for (const Function& f : functions) bytes += f.size;
    return bytes;
  }

  Memory memory;
  std::vector<Function> functions;
  std::unordered_map<std::string, uint64_t> defined;  // visible functions
  std::vector<std::unique_ptr<ForDebugger>> known;    // gone before the memory is
};

class Loader {
 public:
  Loader(std::span<const Object> objects, std::span<const exec::NativeSymbol> symbols) : given_(objects) {
    for (const exec::NativeSymbol& s : symbols)
      outside_.emplace(s.name, reinterpret_cast<uint64_t>(s.address));
  }

  Expected<std::unique_ptr<Linked>> run() {
    for (const auto step : {&Loader::read, &Loader::define, &Loader::plan, &Loader::place, &Loader::relocate})
      if (auto ok = (this->*step)(); !ok) return tl::unexpected(ok.error());
    if (auto ok = out_->memory.protect(); !ok) return tl::unexpected(ok.error());
    tell();
    return std::unique_ptr<Linked>(std::move(out_));
  }

 private:
  /// What a relocation points at: a symbol of an object here, or (kOutside, its address).
  using Target = std::pair<size_t, uint64_t>;
  static constexpr size_t kOutside = std::numeric_limits<size_t>::max();

  Expected<void> read() {
    for (const Object& bytes : given_) {
      auto object = read_object(bytes);
      if (!object) return tl::unexpected(object.error());
      addresses_.emplace_back(object->sections.size());
      objects_.push_back(std::move(*object));
    }
    return {};
  }

  Expected<void> define() {
    for (size_t o = 0; o < objects_.size(); ++o)
      for (size_t i = 0; i < objects_[o].symbols.size(); ++i) {
        const ElfSymbol& s = objects_[o].symbols[i];
        if (!s.global || s.section == 0) continue;
        if (!objects_[o].sections[s.section].in_memory)
          return wrong("`" + std::string(s.name) + "` is in no memory");
        if (!here_.emplace(s.name, Target{o, i}).second)
          return wrong("`" + std::string(s.name) + "` is there twice");
      }
    return {};
  }

  Expected<Target> target(size_t o, const Elf64_Rela& r) const {
    const size_t i = ELF64_R_SYM(r.r_info);
    const ElfSymbol& s = objects_[o].symbols[i];
    if (s.section != 0) {
      if (!objects_[o].sections[s.section].in_memory) return wrong("a relocation points out of memory");
      return Target{o, i};
    }
    if (const auto it = here_.find(s.name); it != here_.end()) return it->second;
    if (const auto it = outside_.find(s.name); it != outside_.end()) return Target{kOutside, it->second};
    return wrong("`" + std::string(s.name) + "` is not known");
  }
  uint64_t address(const Target& t) const {
    if (t.first == kOutside) return t.second;
    const ElfSymbol& s = objects_[t.first].symbols[t.second];
    return addresses_[t.first][s.section] + s.value;
  }

  /// Offsets of sections in their segments, and which targets need a slot with their address or a stub that
  /// jumps there.
  Expected<void> plan() {
    for (size_t o = 0; o < objects_.size(); ++o)
      for (size_t i = 0; i < objects_[o].sections.size(); ++i) {
        const ElfSection& s = objects_[o].sections[i];
        if (!s.in_memory) continue;
        uint64_t& end = sizes_[segment_of(s)];
        addresses_[o][i] = aligned(end, s.align);
        end = addresses_[o][i] + s.size();
        for (const Elf64_Rela& r : s.relocations) {
          const auto t = target(o, r);
          if (!t) return tl::unexpected(t.error());
          switch (ELF64_R_TYPE(r.r_info)) {
            case R_X86_64_PLT32:
              if (t->first != kOutside) break;
              stubs_.emplace(*t, stubs_.size());
              [[fallthrough]];
            case R_X86_64_GOTPCREL:
            case R_X86_64_GOTPCRELX:
            case R_X86_64_REX_GOTPCRELX:
              slots_.emplace(*t, slots_.size());
              break;
            default:
              break;
          }
        }
      }
    stubs_at_ = aligned(sizes_[kCode], kStubBytes);
    sizes_[kCode] = stubs_at_ + stubs_.size() * kStubBytes;
    slots_at_ = aligned(sizes_[kConstants], kSlotBytes);
    sizes_[kConstants] = slots_at_ + slots_.size() * kSlotBytes;
    return {};
  }

  Expected<void> place() {
    uint64_t lowest = 0;
    for (const auto& [t, n] : stubs_)
      if (lowest == 0 || t.second < lowest) lowest = t.second;
    auto memory = Memory::reserve(sizes_, lowest);
    if (!memory) return tl::unexpected(memory.error());
    out_->memory = std::move(*memory);
    for (size_t o = 0; o < objects_.size(); ++o)
      for (size_t i = 0; i < objects_[o].sections.size(); ++i) {
        const ElfSection& s = objects_[o].sections[i];
        if (!s.in_memory) continue;
        addresses_[o][i] += out_->memory.address(segment_of(s));
        if (!s.bytes.empty())
          std::memcpy(reinterpret_cast<void*>(addresses_[o][i]), s.bytes.data(), s.bytes.size());
      }
    for (const auto& [t, n] : slots_) store<uint64_t>(slot(t), address(t));
    for (const auto& [t, n] : stubs_) {
      const uint64_t at = stub(t);
      store<uint16_t>(at, 0x25ff);  // jmp *slot(%rip)
      store<uint32_t>(at + 2, slot(t) - (at + 6));
      store<uint16_t>(at + 6, 0xcccc);
    }
    return {};
  }
  uint64_t slot(const Target& t) const {
    return out_->memory.address(kConstants) + slots_at_ + slots_.at(t) * kSlotBytes;
  }
  uint64_t stub(const Target& t) const {
    return out_->memory.address(kCode) + stubs_at_ + stubs_.at(t) * kStubBytes;
  }

  Expected<void> relocate() {
    for (size_t o = 0; o < objects_.size(); ++o)
      for (size_t i = 0; i < objects_[o].sections.size(); ++i)
        for (const Elf64_Rela& r : objects_[o].sections[i].relocations)
          if (auto ok = apply(o, i, r); !ok) return ok;
    return {};
  }

  Expected<void> apply(size_t o, size_t section, const Elf64_Rela& r) {
    const auto t = target(o, r);
    if (!t) return tl::unexpected(t.error());
    const uint64_t place = addresses_[o][section] + r.r_offset, addend = static_cast<uint64_t>(r.r_addend);
    const auto four = [&](uint64_t value, bool ok) -> Expected<void> {
      if (!ok)
        return wrong("a relocation of type " + std::to_string(ELF64_R_TYPE(r.r_info)) + " does not reach `" +
                     name(o, r) + "`");
      store<uint32_t>(place, value);
      return {};
    };
    switch (ELF64_R_TYPE(r.r_info)) {
      case R_X86_64_64:
      case R_X86_64_PC64:
        if (objects_[o].sections[section].bytes.size() - r.r_offset < 8)
          return wrong("a relocation lies outside of its section");
        store<uint64_t>(place, address(*t) + addend - (ELF64_R_TYPE(r.r_info) == R_X86_64_PC64 ? place : 0));
        return {};
      case R_X86_64_32:
        return four(address(*t) + addend, address(*t) + addend <= UINT32_MAX);
      case R_X86_64_32S:
        return four(address(*t) + addend, fits(address(*t) + addend));
      case R_X86_64_PC32:
        return four(address(*t) + addend - place, fits(address(*t) + addend - place));
      case R_X86_64_PLT32: {
        uint64_t value = address(*t) + addend - place;
        if (!fits(value) && t->first == kOutside) value = stub(*t) + addend - place;
        return four(value, fits(value));
      }
      case R_X86_64_GOTPCREL:
      case R_X86_64_GOTPCRELX:
      case R_X86_64_REX_GOTPCRELX:
        return four(slot(*t) + addend - place, fits(slot(*t) + addend - place));
      default:
        return wrong("relocation type " + std::to_string(ELF64_R_TYPE(r.r_info)) + " is not known");
    }
  }
  std::string name(size_t o, const Elf64_Rela& r) const {
    return std::string(objects_[o].symbols[ELF64_R_SYM(r.r_info)].name);
  }

  void tell() {
    for (size_t o = 0; o < objects_.size(); ++o) {
      for (const ElfSymbol& s : objects_[o].symbols) {
        if (s.section == 0 || s.name.empty() || !objects_[o].sections[s.section].code) continue;
        const uint64_t at = addresses_[o][s.section] + s.value;
        if (s.function) out_->functions.push_back({std::string(s.name), at, s.size});
        if (s.global) out_->defined.emplace(s.name, at);
      }
      if (objects_[o].debug)
        out_->known.push_back(std::make_unique<ForDebugger>(with_addresses(given_[o], addresses_[o])));
    }
    write_perf_map(out_->functions);
  }

  std::span<const Object> given_;
  std::unordered_map<std::string_view, uint64_t> outside_;
  std::vector<ElfObject> objects_;
  std::vector<std::vector<uint64_t>>
      addresses_;  // by object and section: offset in the segment, then the address
  std::unordered_map<std::string_view, Target> here_;
  std::map<Target, size_t> slots_, stubs_;
  uint64_t sizes_[kSegments] = {kBefore};
  uint64_t stubs_at_ = 0, slots_at_ = 0;
  std::unique_ptr<LoadedObjects> out_ = std::make_unique<LoadedObjects>();
};

}  // namespace

Expected<std::unique_ptr<Linked>> load(std::span<const Object> objects,
                                       std::span<const exec::NativeSymbol> symbols) {
  if (!kLoads) return wrong("this processor is not x86-64");
  return Loader(objects, symbols).run();
}

}  // namespace skdsl::jit
