// file — whole files in, whole files out
//
// A file that we write appears under its name complete or not at all.
#pragma once
#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "runtime/base/error.h"

namespace skdsl {

/// The bytes of a regular file or pipe; folders and devices are refused.
Expected<std::string> read_file(const std::filesystem::path& path);

/// A regular file mapped read-only. Copies share the mapping, which lives as long as any of its owners.
class MappedFile {
 public:
  static Expected<MappedFile> open(const std::filesystem::path& path);

  std::span<const std::byte> bytes() const { return bytes_; }
  size_t size() const { return bytes_.size(); }
  /// Keeps the mapping alive; for Tensor::borrow.
  const std::shared_ptr<void>& owner() const { return owner_; }

 private:
  std::span<const std::byte> bytes_;
  std::shared_ptr<void> owner_;
};

/// A file being written: nameless where the file system allows it, else under a temporary name beside its
/// goal; `commit` syncs and renames it. Destroyed before that, nothing is left. A goal that is a pipe or a
/// device is written directly; a symbolic link is followed.
class AtomicFile {
 public:
  static Expected<AtomicFile> create(const std::filesystem::path& path);
  AtomicFile(AtomicFile&& other) noexcept;
  AtomicFile& operator=(AtomicFile&&) = delete;
  ~AtomicFile();

  Expected<void> write(std::string_view bytes);
  /// Moves the complete file to its name. Nothing may be written afterwards.
  Expected<void> commit();

 private:
  explicit AtomicFile(std::filesystem::path asked) : asked_(std::move(asked)) {}
  tl::unexpected<Error> trouble(std::string_view what, int error_number) const;

  std::filesystem::path asked_;      // as the user named it, for messages
  std::filesystem::path goal_;       // links resolved
  std::filesystem::path temporary_;  // empty: nameless, or written directly
  int fd_ = -1;
  bool direct_ = false;
};

/// Writes a whole file through AtomicFile.
Expected<void> write_file_atomically(const std::filesystem::path& path, std::string_view bytes);

}  // namespace skdsl
