// metaspace — what the pre-tokenizer and the decoder of type Metaspace have in common
#pragma once
#include <initializer_list>
#include <string>

#include "runtime/model/component_kinds.h"

namespace skdsl::model {

enum class PrependScheme { Always, First, Never };

struct MetaspaceSettings {
  std::string replacement;  // the one character that stands for a blank
  PrependScheme scheme = PrependScheme::Always;
};

/// `add_prefix_space` and `str_rep` are what older files have.
inline const std::vector<std::string_view> kMetaspaceMembers = {"replacement", "prepend_scheme", "split",
                                                                "add_prefix_space", "str_rep"};

Expected<MetaspaceSettings> read_metaspace(const Members& members);

}  // namespace skdsl::model
