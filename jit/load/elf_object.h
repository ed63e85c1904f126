// elf_object — a relocatable object of our own code generation, read and checked
//
// Everything that `read_object` lets through lies inside the bytes: sections, symbols, names, the places and
// the symbols of relocations. What code generation does not make (thread-local data, other machines, section
// groups, …) is an error.
#pragma once
#include <elf.h>

#include <span>
#include <string_view>
#include <vector>

#include "jit/load/linked.h"

namespace skdsl::jit {

struct ElfSection {
  std::string_view name;
  std::string_view bytes;  // empty when they are zeros (`zeros` of them)
  uint64_t zeros = 0;
  uint64_t align = 1;
  bool in_memory = false, code = false, writable = false;
  std::vector<Elf64_Rela> relocations;  // of sections in memory

  uint64_t size() const { return bytes.size() + zeros; }
};

struct ElfSymbol {
  std::string_view name;  // "" for a section
  uint64_t value = 0, size = 0;
  uint32_t section = 0;  // 0 when it is not defined here
  bool function = false, global = false;
};

struct ElfObject {
  std::vector<ElfSection> sections;  // by index; 0 is none
  std::vector<ElfSymbol> symbols;
  bool debug = false;  // it has debug information
};

/// Views into `bytes`, which must live as long. Error: what is not as code generation writes it.
Expected<ElfObject> read_object(std::string_view bytes);

/// The object with the addresses of its sections in their headers, for a debugger; `addresses` by section.
Object with_addresses(std::string_view bytes, std::span<const uint64_t> addresses);

}  // namespace skdsl::jit
