// error — trouble with the world: a file, a device, an input tensor
//
// Errors in the user's program are diagnostics (compiler/diag), not Errors. We throw nothing.
#pragma once
#include <string>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

namespace skdsl {

/// The exit code that the command line gives for an error.
enum class ErrorKind { Input = 1, Usage = 2, Environment = 3, Internal = 70 };

struct Error {
  ErrorKind kind = ErrorKind::Input;
  std::string message;             // lower case, no full stop; names the file and what was expected
  std::vector<std::string> notes;  // further facts, one a line; a way out starts with "help: "
};

template <class T>
using Expected = tl::expected<T, Error>;

inline tl::unexpected<Error> fail(std::string message, std::vector<std::string> notes = {}) {
  return tl::unexpected<Error>(Error{ErrorKind::Input, std::move(message), std::move(notes)});
}
inline tl::unexpected<Error> fail_environment(std::string message, std::vector<std::string> notes = {}) {
  return tl::unexpected<Error>(Error{ErrorKind::Environment, std::move(message), std::move(notes)});
}

}  // namespace skdsl
