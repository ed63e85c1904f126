// elf_writer — small relocatable objects for x86-64, written by hand for tests of the loader
#pragma once
#include <elf.h>

#include <cstring>
#include <string>
#include <vector>

namespace skdsl::test {

struct WrittenRelocation {
  uint64_t at;
  std::string symbol;
  uint32_t type;
  int64_t addend;
};
struct WrittenSection {
  std::string name;
  std::string bytes;
  uint64_t flags = SHF_ALLOC | SHF_EXECINSTR;
  std::vector<WrittenRelocation> relocations;
  uint32_t type = SHT_PROGBITS;
  uint64_t align = 16;
};
struct WrittenSymbol {
  std::string name;
  size_t section;  // in the list; SIZE_MAX: defined elsewhere
  uint64_t value = 0, size = 0;
  uint8_t type = STT_FUNC;
};

inline std::string write_elf(const std::vector<WrittenSection>& sections,
                             const std::vector<WrittenSymbol>& symbols) {
  std::string names(1, '\0'), symbol_names(1, '\0');
  const auto add = [](std::string& table, const std::string& text) {
    const size_t at = table.size();
    table += text + '\0';
    return static_cast<uint32_t>(at);
  };
  const auto raw = [](const auto& record) {
    return std::string(reinterpret_cast<const char*>(&record), sizeof record);
  };
  std::string out(sizeof(Elf64_Ehdr), '\0');
  std::vector<Elf64_Shdr> headers(1);
  const auto section = [&](const std::string& name, uint32_t type, uint64_t flags, const std::string& bytes,
                           uint64_t align) -> Elf64_Shdr& {
    out.resize((out.size() + 15) / 16 * 16);
    Elf64_Shdr h{};
    h.sh_name = add(names, name), h.sh_type = type, h.sh_flags = flags, h.sh_addralign = align,
    h.sh_offset = out.size(), h.sh_size = bytes.size();
    out += bytes;
    headers.push_back(h);
    return headers.back();
  };
  for (const WrittenSection& s : sections) section(s.name, s.type, s.flags, s.bytes, s.align);
  std::string table = raw(Elf64_Sym{});
  for (const WrittenSymbol& s : symbols) {
    Elf64_Sym y{};
    y.st_name = add(symbol_names, s.name), y.st_info = ELF64_ST_INFO(STB_GLOBAL, s.type),
    y.st_value = s.value, y.st_size = s.size;
    y.st_shndx = s.section == SIZE_MAX ? 0 : static_cast<uint16_t>(s.section + 1);
    table += raw(y);
  }
  const size_t symbol_table = headers.size();
  Elf64_Shdr& symtab = section(".symtab", SHT_SYMTAB, 0, table, 8);
  symtab.sh_entsize = sizeof(Elf64_Sym), symtab.sh_link = static_cast<uint32_t>(symbol_table + 1),
  symtab.sh_info = 1;
  section(".strtab", SHT_STRTAB, 0, symbol_names, 1);
  for (size_t i = 0; i < sections.size(); ++i) {
    std::string list;
    for (const WrittenRelocation& r : sections[i].relocations) {
      size_t symbol = 0;
      while (symbols.at(symbol).name != r.symbol) ++symbol;
      list += raw(Elf64_Rela{r.at, ELF64_R_INFO(symbol + 1, r.type), r.addend});
    }
    if (list.empty()) continue;
    Elf64_Shdr& h = section(".rela" + sections[i].name, SHT_RELA, SHF_INFO_LINK, list, 8);
    h.sh_entsize = sizeof(Elf64_Rela), h.sh_link = static_cast<uint32_t>(symbol_table),
    h.sh_info = static_cast<uint32_t>(i + 1);
  }
  const uint32_t name = add(names, ".shstrtab");
  const size_t at = headers.size();
  Elf64_Shdr& last = section("", SHT_STRTAB, 0, names, 1);
  last.sh_name = name;
  out.resize((out.size() + 7) / 8 * 8);
  Elf64_Ehdr h{};
  std::memcpy(h.e_ident, ELFMAG, SELFMAG);
  h.e_ident[EI_CLASS] = ELFCLASS64, h.e_ident[EI_DATA] = ELFDATA2LSB, h.e_ident[EI_VERSION] = EV_CURRENT;
  h.e_type = ET_REL, h.e_machine = EM_X86_64, h.e_version = EV_CURRENT, h.e_shoff = out.size(),
  h.e_ehsize = sizeof h;
  h.e_shentsize = sizeof(Elf64_Shdr), h.e_shnum = static_cast<uint16_t>(headers.size()),
  h.e_shstrndx = static_cast<uint16_t>(at);
  std::memcpy(out.data(), &h, sizeof h);
  for (const Elf64_Shdr& s : headers) out += raw(s);
  return out;
}

}  // namespace skdsl::test
