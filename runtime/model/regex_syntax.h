// regex_syntax — a pattern written for Oniguruma, as tokenizer.json has it, in the words of PCRE2
#pragma once
#include <string>
#include <string_view>

#include "runtime/base/error.h"

namespace skdsl::model {

/// The same pattern for PCRE2. Where both engines read a text differently and it cannot be rewritten, the
/// pattern is refused; `where` names its place.
Expected<std::string> pcre2_pattern(std::string_view pattern, const std::string& where);

}  // namespace skdsl::model
