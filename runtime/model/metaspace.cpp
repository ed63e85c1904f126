#include "runtime/model/metaspace.h"

#include "runtime/base/utf8.h"

namespace skdsl::model {

namespace {

struct SchemeRow {
  std::string_view name;
  PrependScheme scheme;
};
constexpr SchemeRow kSchemes[] = {
    {"always", PrependScheme::Always}, {"first", PrependScheme::First}, {"never", PrependScheme::Never}};

}  // namespace

Expected<MetaspaceSettings> read_metaspace(const Members& members) {
  MetaspaceSettings out;
  auto replacement = members.text("replacement");
  if (!replacement) return tl::unexpected(replacement.error());
  if (replacement->empty() || first_character(*replacement) != *replacement)
    return members.expected("replacement", "one character");
  out.replacement = std::move(*replacement);
  const auto older = members.optional_text("str_rep");
  if (!older) return tl::unexpected(older.error());
  if (*older && **older != out.replacement) return members.expected("str_rep", "the same as `replacement`");

  const auto prefix = members.flag("add_prefix_space", true);
  if (!prefix) return tl::unexpected(prefix.error());
  const auto scheme = members.optional_text("prepend_scheme");
  if (!scheme) return tl::unexpected(scheme.error());
  if (!*scheme) {
    out.scheme = *prefix ? PrependScheme::Always : PrependScheme::Never;
    return out;
  }
  for (const SchemeRow& row : kSchemes) {
    if (row.name != **scheme) continue;
    if (!*prefix && row.scheme != PrependScheme::Never)
      return members.expected("prepend_scheme", "\"never\", because `add_prefix_space` is false");
    out.scheme = row.scheme;
    return out;
  }
  return members.expected("prepend_scheme", "\"always\", \"first\" or \"never\"");
}

}  // namespace skdsl::model
