// run_edit — text edits of a run config
//
// Both layouts are known: one key a line, and `{key: value, …}`. What stands around the key stays as it is.
#pragma once
#include <string>

#include "compiler/config/run_config.h"

namespace skdsl::config {

/// Takes a key with its value away, with its section when nothing else stands there. No edit when it is all
/// that the file has.
void remove_entry(const source::Sources& sources, Span key, Span value, diag::Engine::Builder& report);

/// Gives a key of a section another name; `key` and `name` are whole, a nested key stands there with its last
/// part.
void rename_key(const source::Sources& sources, Span place, const std::string& key, const std::string& name,
                diag::Engine::Builder& report);

/// The bound of a row that a number is beyond, as text; "" when it is none or within.
std::string nearest_allowed(const RunKey& row, const Json& value);

/// Gives a key (by its path) a value: where the file has it, else in front of another key of its section.
/// No edit where the section is not there, and none for a key of `ge` that is not there.
void set_key(const source::Sources& sources, const RunView& view, std::string_view path,
             const std::string& value, diag::Engine::Builder& report);
/// Takes a key away that the file gives.
void drop_key(const source::Sources& sources, const RunView& view, std::string_view path,
              diag::Engine::Builder& report);

}  // namespace skdsl::config
