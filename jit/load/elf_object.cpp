#include "jit/load/elf_object.h"

#include <bit>
#include <cstring>
#include <optional>

namespace skdsl::jit {

namespace {

constexpr uint64_t kMostZeros = uint64_t{1} << 28;  // of one section
constexpr uint64_t kMostAlign = 4096;               // a page, as memory comes
constexpr uint32_t kLinkerOptions = 0x6fff4c01;     // SHT_LLVM_LINKER_OPTIONS

tl::unexpected<Error> wrong(const std::string& what) {
  return tl::unexpected(Error{ErrorKind::Environment, "the object is not valid: " + what, {}});
}

/// A record at any place of the bytes.
template <class T>
T at(std::string_view bytes, uint64_t offset) {
  T out;
  std::memcpy(&out, bytes.data() + offset, sizeof out);
  return out;
}

bool inside(uint64_t offset, uint64_t size, uint64_t total) {
  return offset <= total && size <= total - offset;
}

/// A text of a table of texts.
std::optional<std::string_view> text(std::string_view table, uint64_t offset) {
  if (offset >= table.size()) return {};
  const size_t end = table.find('\0', offset);
  if (end == std::string_view::npos) return {};
  return table.substr(offset, end - offset);
}

class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}

  Expected<ElfObject> read() {
    for (const auto step : {&Reader::header, &Reader::sections, &Reader::symbols, &Reader::relocations})
      if (auto ok = (this->*step)(); !ok) return tl::unexpected(ok.error());
    return std::move(out_);
  }

 private:
  Expected<void> header() {
    if (bytes_.size() < sizeof(Elf64_Ehdr)) return wrong("it is cut short");
    const auto h = at<Elf64_Ehdr>(bytes_, 0);
    if (std::memcmp(h.e_ident, ELFMAG, SELFMAG) != 0 || h.e_ident[EI_CLASS] != ELFCLASS64 ||
        h.e_ident[EI_DATA] != ELFDATA2LSB || h.e_ident[EI_VERSION] != EV_CURRENT || h.e_version != EV_CURRENT)
      return wrong("it is not an ELF file of 64 bits");
    if (h.e_type != ET_REL || h.e_machine != EM_X86_64)
      return wrong("it is not a relocatable object for x86-64");
    if (h.e_ehsize != sizeof(Elf64_Ehdr) || h.e_phnum != 0 || h.e_flags != 0)
      return wrong("its header is another");
    if (h.e_shentsize != sizeof(Elf64_Shdr) || h.e_shnum == 0 ||
        !inside(h.e_shoff, uint64_t{h.e_shnum} * sizeof(Elf64_Shdr), bytes_.size()))
      return wrong("its section table lies outside");
    for (uint32_t i = 0; i < h.e_shnum; ++i)
      headers_.push_back(at<Elf64_Shdr>(bytes_, h.e_shoff + uint64_t{i} * sizeof(Elf64_Shdr)));
    names_ = h.e_shstrndx;
    return {};
  }

  std::string_view content(const Elf64_Shdr& h) const { return bytes_.substr(h.sh_offset, h.sh_size); }
  bool texts(uint32_t section) const {
    return section > 0 && section < headers_.size() && headers_[section].sh_type == SHT_STRTAB;
  }

  Expected<void> sections() {
    for (const Elf64_Shdr& h : headers_)
      if (h.sh_type != SHT_NOBITS && h.sh_type != SHT_NULL && !inside(h.sh_offset, h.sh_size, bytes_.size()))
        return wrong("a section lies outside");
    if (!texts(names_)) return wrong("its sections have no names");
    if (headers_[0].sh_type != SHT_NULL) return wrong("its first section is not empty");
    for (size_t i = 0; i < headers_.size(); ++i) {
      const Elf64_Shdr& h = headers_[i];
      ElfSection s;
      if (i > 0) {
        const auto name = text(content(headers_[names_]), h.sh_name);
        if (!name) return wrong("the name of a section lies outside");
        s.name = *name;
      }
      s.in_memory = (h.sh_flags & SHF_ALLOC) != 0;
      s.code = s.in_memory && (h.sh_flags & SHF_EXECINSTR) != 0;
      s.writable = (h.sh_flags & SHF_WRITE) != 0;
      out_.debug |= s.name.starts_with(".debug_");
      switch (h.sh_type) {
        case SHT_PROGBITS:
        case SHT_X86_64_UNWIND:
          s.bytes = content(h);
          break;
        case SHT_NOBITS:
          if (h.sh_size > kMostZeros) return wrong("a section of zeros is too large");
          s.zeros = h.sh_size;
          break;
        case SHT_NULL:
        case SHT_STRTAB:
        case SHT_SYMTAB:
        case SHT_RELA:
        case kLinkerOptions:
          if (s.in_memory) return wrong("a section in memory is of type " + std::to_string(h.sh_type));
          break;
        default:
          return wrong("a section is of type " + std::to_string(h.sh_type));
      }
      if (s.in_memory) {
        constexpr uint64_t kKnown = SHF_ALLOC | SHF_EXECINSTR | SHF_WRITE | SHF_MERGE | SHF_STRINGS;
        if ((h.sh_flags & ~kKnown) != 0)
          return wrong("section `" + std::string(s.name) + "` has other flags");
        if (s.code && (s.writable || s.zeros > 0))
          return wrong("section `" + std::string(s.name) + "` is code that can be written");
        s.align = h.sh_addralign == 0 ? 1 : h.sh_addralign;
        if (!std::has_single_bit(s.align) || s.align > kMostAlign)
          return wrong("section `" + std::string(s.name) + "` has an alignment of " +
                       std::to_string(s.align));
      }
      out_.sections.push_back(std::move(s));
    }
    return {};
  }

  Expected<void> symbols() {
    for (size_t i = 0; i < headers_.size(); ++i) {
      if (headers_[i].sh_type != SHT_SYMTAB) continue;
      if (symbol_table_ != 0) return wrong("it has two tables of symbols");
      symbol_table_ = i;
    }
    if (symbol_table_ == 0) return wrong("it has no symbols");
    const Elf64_Shdr& h = headers_[symbol_table_];
    if (h.sh_entsize != sizeof(Elf64_Sym) || h.sh_size % sizeof(Elf64_Sym) != 0)
      return wrong("its table of symbols has another layout");
    if (!texts(h.sh_link)) return wrong("its symbols have no names");
    for (uint64_t offset = 0; offset < h.sh_size; offset += sizeof(Elf64_Sym)) {
      const auto given = at<Elf64_Sym>(content(h), offset);
      const uint32_t type = ELF64_ST_TYPE(given.st_info), binding = ELF64_ST_BIND(given.st_info);
      if (type != STT_NOTYPE && type != STT_OBJECT && type != STT_FUNC && type != STT_SECTION &&
          type != STT_FILE)
        return wrong("a symbol is of type " + std::to_string(type));
      if (binding != STB_LOCAL && binding != STB_GLOBAL && binding != STB_WEAK)
        return wrong("a symbol has binding " + std::to_string(binding));
      const auto name = text(content(headers_[h.sh_link]), given.st_name);
      if (!name) return wrong("the name of a symbol lies outside");
      ElfSymbol s{.name = *name,
                  .value = given.st_value,
                  .size = given.st_size,
                  .section = given.st_shndx,
                  .function = type == STT_FUNC,
                  .global = binding != STB_LOCAL};
      if (type == STT_FILE && given.st_shndx == SHN_ABS) s.section = 0;
      if (s.section >= out_.sections.size())
        return wrong("symbol `" + std::string(s.name) + "` is in no section");
      if (s.section == 0)
        s.value = s.size = 0;
      else if (!inside(s.value, s.size, out_.sections[s.section].size()) &&
               out_.sections[s.section].in_memory)
        return wrong("symbol `" + std::string(s.name) + "` lies outside of its section");
      out_.symbols.push_back(s);
    }
    return {};
  }

  Expected<void> relocations() {
    for (const Elf64_Shdr& h : headers_) {
      if (h.sh_type != SHT_RELA) continue;
      if (h.sh_info == 0 || h.sh_info >= out_.sections.size()) return wrong("relocations are of no section");
      ElfSection& target = out_.sections[h.sh_info];
      if (!target.in_memory) continue;  // debug information: gdb relocates it
      if (h.sh_link != symbol_table_ || h.sh_entsize != sizeof(Elf64_Rela) ||
          h.sh_size % sizeof(Elf64_Rela) != 0)
        return wrong("relocations of section `" + std::string(target.name) + "` have another layout");
      for (uint64_t offset = 0; offset < h.sh_size; offset += sizeof(Elf64_Rela)) {
        const auto r = at<Elf64_Rela>(content(h), offset);
        if (ELF64_R_SYM(r.r_info) == 0 || ELF64_R_SYM(r.r_info) >= out_.symbols.size())
          return wrong("a relocation has no symbol");
        // Those of 4 bytes do not reach further than those of 8; which it is, the linker knows.
        if (!inside(r.r_offset, 4, target.bytes.size()))
          return wrong("a relocation lies outside of section `" + std::string(target.name) + "`");
        target.relocations.push_back(r);
      }
    }
    return {};
  }

  std::string_view bytes_;
  std::vector<Elf64_Shdr> headers_;
  uint32_t names_ = 0;
  size_t symbol_table_ = 0;
  ElfObject out_;
};

}  // namespace

Expected<ElfObject> read_object(std::string_view bytes) { return Reader(bytes).read(); }

Object with_addresses(std::string_view bytes, std::span<const uint64_t> addresses) {
  Object out(bytes);
  const auto h = at<Elf64_Ehdr>(bytes, 0);
  for (size_t i = 0; i < addresses.size(); ++i)
    if (addresses[i] != 0)
      std::memcpy(out.data() + h.e_shoff + i * sizeof(Elf64_Shdr) + offsetof(Elf64_Shdr, sh_addr),
                  &addresses[i], sizeof addresses[i]);
  return out;
}

}  // namespace skdsl::jit
