#include "jit/host/library.h"

#include <elf.h>
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace skdsl::jit {

namespace fs = std::filesystem;

namespace {

constexpr uint64_t kMostNotes = uint64_t{64} << 10;

bool read_at(int fd, uint64_t offset, void* to, size_t bytes) {
  for (size_t done = 0; done < bytes;) {
    const ssize_t n =
        ::pread(fd, static_cast<char*>(to) + done, bytes - done, static_cast<off_t>(offset + done));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    done += static_cast<size_t>(n);
  }
  return true;
}

std::string id_among(const std::string& notes) {
  for (uint64_t at = 0; at + sizeof(Elf64_Nhdr) <= notes.size();) {
    Elf64_Nhdr note;
    std::memcpy(&note, notes.data() + at, sizeof note);
    const uint64_t name = at + sizeof note, id = name + (uint64_t{note.n_namesz} + 3) / 4 * 4,
                   end = id + note.n_descsz;
    if (end > notes.size()) break;
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
        std::memcmp(notes.data() + name, "GNU", 4) == 0) {
      std::string out;
      for (const char c : notes.substr(id, note.n_descsz)) {
        const auto byte = static_cast<unsigned char>(c);
        out += "0123456789abcdef"[byte >> 4];
        out += "0123456789abcdef"[byte & 15];
      }
      return out;
    }
    at = id + (uint64_t{note.n_descsz} + 3) / 4 * 4;
  }
  return "";
}

std::string id_in(int fd) {
  Elf64_Ehdr h;
  if (!read_at(fd, 0, &h, sizeof h) || std::memcmp(h.e_ident, ELFMAG, SELFMAG) != 0 ||
      h.e_ident[EI_CLASS] != ELFCLASS64 || h.e_phentsize != sizeof(Elf64_Phdr))
    return "";
  for (uint64_t i = 0; i < h.e_phnum; ++i) {
    Elf64_Phdr p;
    if (!read_at(fd, h.e_phoff + i * sizeof p, &p, sizeof p)) return "";
    if (p.p_type != PT_NOTE || p.p_filesz > kMostNotes) continue;
    std::string notes(p.p_filesz, '\0');
    if (!read_at(fd, p.p_offset, notes.data(), notes.size())) return "";
    if (std::string id = id_among(notes); !id.empty()) return id;
  }
  return "";
}

}  // namespace

std::vector<fs::path> library_places() {
  std::vector<fs::path> out;
  std::error_code none;
  const fs::path self = fs::read_symlink("/proc/self/exe", none).parent_path();
  if (!none) {
    out.push_back(self / "libskdsl_jit.so");
    out.push_back(self.parent_path() / "lib" / "libskdsl_jit.so");
  }
  out.emplace_back(SKDSL_JIT_PATH);
  return out;
}

Expected<std::string> build_id_of(const fs::path& library) {
  const int fd = ::open(library.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return fail_environment("cannot read " + library.string() + ": " + std::strerror(errno));
  std::string id = id_in(fd);
  ::close(fd);
  if (id.empty()) return fail_environment(library.string() + " has no build id");
  return id;
}

}  // namespace skdsl::jit
