#include "runtime/model/weight_accounting.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "runtime/base/nearest.h"
#include "runtime/model/finite.h"
#include "runtime/model/weight_decl.h"

namespace skdsl::model {

namespace {

bool converts(sk_dtype from, sk_dtype to) { return from == to || (is_float(from) && is_float(to)); }

/// Whether a name matches a pattern in which `*` stands for any characters and `?` for one.
bool matches_glob(std::string_view pattern, std::string_view name) {
  size_t p = 0, n = 0;
  size_t star = pattern.npos, retry = 0;
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      retry = n;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == name[n])) {
      ++p;
      ++n;
    } else if (star != pattern.npos) {
      p = star + 1;  // the star takes one more
      n = ++retry;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

/// "model.layers.12.x" -> "model.layers.{n}.x": numbers between dots fold.
std::string folded(const std::string& name) {
  std::string out;
  for (size_t i = 0; i < name.size();) {
    size_t end = name.find('.', i);
    if (end == name.npos) end = name.size();
    const std::string part = name.substr(i, end - i);
    const bool number = !part.empty() && std::all_of(part.begin(), part.end(),
                                                     [](unsigned char c) { return std::isdigit(c) != 0; });
    out += number ? "{n}" : part;
    if (end < name.size()) out += '.';
    i = end + 1;
  }
  return out;
}

}  // namespace

void Accounting::add(const plan::WeightDecl& decl) {
  Recipe recipe;
  recipe.decl = &decl;
  recipe.shape = declared_shape(decl);
  for (const auto& row : decl.sources) used_.insert(row.begin(), row.end());
  const auto rows = row_shape(decl);
  const bool sourceless =
      (decl.sources.empty() && !decl.stacked) ||
      std::any_of(decl.sources.begin(), decl.sources.end(), [](const auto& r) { return r.empty(); });
  if (!rows || sourceless) {
    misfits_.push_back(fmt::format("does not fit: {} is {}, but has sources for {} rows",
                                   describe(program_, decl), shape_text(recipe.shape),
                                   sourceless ? 0 : decl.sources.size()));
    return;
  }
  bool good = true;
  sk_dtype stored = SK_NONE;
  for (const auto& row : decl.sources) good = check_row(decl, row, *rows, stored) && good;
  if (!good) return;
  const sk_dtype typed = plan::abi_dtype(decl.type.dtype);
  recipe.dtype = typed != SK_NONE    ? typed
                 : stored != SK_NONE ? stored
                                     : SK_F32;  // a stack of nothing has no dtype
  recipe.view = is_alone(decl) && stored == recipe.dtype && !sources_.allocates(decl.sources[0][0]);
  recipe.key = fmt::format("{} {}", static_cast<int>(recipe.dtype), stacks(decl));
  for (const auto& row : decl.sources) recipe.key += fmt::format("\n{}", fmt::join(row, "\t"));
  recipes_.push_back(std::move(recipe));
}

Expected<void> Accounting::verdict(const std::string& where) const {
  const size_t missing = missing_.size();
  if (missing == 0 && misfits_.empty()) return {};
  std::string summary;
  if (missing > 0) summary = fmt::format("{} tensor{} missing", missing, missing == 1 ? "" : "s");
  if (!misfits_.empty()) {
    summary += fmt::format("{}{} of the wrong shape or type", missing > 0 ? ", " : "", misfits_.size());
  }
  Error error{ErrorKind::Input, fmt::format("`{}` does not fit the model: {}", where, summary), {}};
  size_t suggestions = 8;  // looking for neighbours takes time; the first few show what is wrong
  for (const auto& [name, decl] : missing_) {
    std::string note = fmt::format("missing: `{}`, for {}", name, describe(program_, *decl));
    if (suggestions > 0) {
      --suggestions;
      if (const std::string near = neighbour(name); !near.empty())
        note += fmt::format("; did you mean `{}`?", near);
    }
    error.notes.push_back(std::move(note));
  }
  error.notes.insert(error.notes.end(), misfits_.begin(), misfits_.end());
  error.notes.push_back("help: do weights, config.json and model file belong together?");
  return tl::unexpected(std::move(error));
}

bool Accounting::check_row(const plan::WeightDecl& decl, const std::vector<std::string>& row,
                           const std::vector<int64_t>& wanted, sk_dtype& stored) {
  Parts parts;
  bool good = true;
  for (const std::string& name : row) {
    auto found = sources_.find(name);
    if (!found) {
      missing_.emplace(name, &decl);
      good = false;
      continue;
    }
    good = check_dtype(decl, name, *found, stored) && good;
    parts.emplace_back(name, std::move(*found));
  }
  if (parts.size() != row.size()) return false;
  return check_shapes(decl, parts, wanted) && good;
}

bool Accounting::check_dtype(const plan::WeightDecl& decl, const std::string& name, const Found& found,
                             sk_dtype& stored) {
  const sk_dtype typed = plan::abi_dtype(decl.type.dtype);
  if (found.dtype == SK_NONE) {
    misfit(decl, name, found, "of a type that is not supported");
  } else if (typed == SK_NONE && !is_float(found.dtype)) {
    misfit(decl, name, found, "expected a float type, because the declaration names no other");
  } else if (typed != SK_NONE && !converts(found.dtype, typed)) {
    misfit(decl, name, found, fmt::format("expected {}", dtype_name(typed)));
  } else if (typed == SK_NONE && stored != SK_NONE && stored != found.dtype) {
    misfit(decl, name, found,
           fmt::format("but tensors that are joined must have one dtype, and others have {}",
                       dtype_name(stored)));
  } else {
    if (stored == SK_NONE) stored = found.dtype;
    return true;
  }
  return false;
}

bool Accounting::check_shapes(const plan::WeightDecl& decl, const Parts& parts,
                              const std::vector<int64_t>& wanted) {
  if (parts.size() == 1) {
    if (parts[0].second.shape == wanted) return true;
    misfit(decl, parts[0].first, parts[0].second, fmt::format("expected {}", shape_text(wanted)));
    return false;
  }
  // Joined on axis 0: sizes there may differ, their sum counts.
  bool good = true;
  int64_t sum = 0;
  for (const auto& [name, found] : parts) {
    const bool fits = !wanted.empty() && found.shape.size() == wanted.size() &&
                      std::equal(found.shape.begin() + 1, found.shape.end(), wanted.begin() + 1);
    if (!fits) {
      std::string expected = "[…";
      for (size_t i = 1; i < wanted.size(); ++i) expected += fmt::format(", {}", wanted[i]);
      misfit(decl, name, found, fmt::format("expected {}]", expected));
      good = false;
    } else if (__builtin_add_overflow(sum, found.shape[0], &sum)) {
      sum = -1;
    }
  }
  if (good && sum != wanted[0]) {
    std::string pieces;
    for (const auto& [name, found] : parts) {
      pieces += fmt::format("{}`{}` {}", pieces.empty() ? "" : ", ", name, shape_text(found.shape));
    }
    misfits_.push_back(
        fmt::format("does not fit: {} in `{}`: joined on axis 0 they give {} rows, expected {}, for {}",
                    pieces, parts[0].second.file, sum, shape_text(wanted), describe(program_, decl)));
    good = false;
  }
  return good;
}

void Accounting::misfit(const plan::WeightDecl& decl, const std::string& name, const Found& found,
                        const std::string& what) {
  misfits_.push_back(fmt::format("does not fit: `{}` in `{}` is {}{}, {}, for {}", name, found.file,
                                 found.dtype_name, shape_text(found.shape), what, describe(program_, decl)));
}

/// The unread tensor whose name is nearest.
std::string Accounting::neighbour(const std::string& name) const {
  if (!checkpoint_) return {};
  size_t limit = slip_limit(name);
  std::string best;
  for (const TensorInfo& t : checkpoint_->tensors()) {
    if (used_.contains(t.name)) continue;
    const size_t distance = edit_distance(name, t.name, limit);
    if (distance > limit || (distance == limit && !best.empty())) continue;
    best = t.name;
    limit = distance;
  }
  return best;
}

Expected<void> check_values(const Checkpoint& checkpoint, const std::unordered_set<std::string>& used) {
  constexpr size_t kShown = 8;
  Error error{ErrorKind::Input, {}, {}};
  size_t bad = 0;
  for (const TensorInfo& t : checkpoint.tensors()) {
    if (!used.contains(t.name)) continue;
    const auto found = non_finite(t.dtype, checkpoint.bytes(t));
    if (!found || ++bad > kShown) continue;
    error.notes.push_back(
        fmt::format("`{}` in `{}` has {}", t.name, checkpoint.file_of(t).string(), describe(*found)));
  }
  if (bad == 0) return {};
  error.message = fmt::format("`{}` has {} tensor{} with NaN or infinite values", checkpoint.path().string(),
                              bad, bad == 1 ? "" : "s");
  if (bad > kShown) error.notes.push_back(fmt::format("and {} more tensors", bad - kShown));
  error.notes.push_back(
      "help: results would become NaN without a trace of why; download or convert the checkpoint again");
  return tl::unexpected(std::move(error));
}

std::vector<std::string> unread_tensors(const plan::Program& program, const Checkpoint& checkpoint,
                                        const std::unordered_set<std::string>& used) {
  struct Group {
    const TensorInfo* first;
    size_t count;
  };
  std::map<std::string, Group> groups;
  for (const TensorInfo& t : checkpoint.tensors()) {
    const bool known = used.contains(t.name) ||
                       std::any_of(program.unused_sources.begin(), program.unused_sources.end(),
                                   [&](const std::string& glob) { return matches_glob(glob, t.name); });
    if (known) continue;
    const auto [at, fresh] = groups.emplace(folded(t.name), Group{&t, 1});
    if (!fresh) ++at->second.count;
  }
  std::vector<std::string> lines;
  for (const auto& [pattern, group] : groups) {
    const std::string file = checkpoint.file_of(*group.first).string();
    lines.push_back(group.count == 1
                        ? fmt::format("`{}` in `{}` is not read by the model", group.first->name, file)
                        : fmt::format("{} tensors `{}` (`{}` in `{}`, …) are not read by the model",
                                      group.count, pattern, group.first->name, file));
  }
  return lines;
}

}  // namespace skdsl::model
