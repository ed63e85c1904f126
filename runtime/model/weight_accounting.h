// weight_accounting — what a program's declarations need, compared with the tensors that are there
//
// Nothing is read before everything fits; what does not comes in one error, a note for each tensor.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "runtime/base/error.h"
#include "runtime/model/checkpoint.h"
#include "runtime/plan/program.h"
#include "runtime/tensor/tensor.h"

namespace skdsl::model {

/// What a loader must know about a source tensor before it reads it.
struct Found {
  sk_dtype dtype = SK_NONE;
  std::string dtype_name;
  std::vector<int64_t> shape;
  std::string file;  // for messages
};

/// Where source tensors come from.
class Sources {
 public:
  virtual ~Sources() = default;
  virtual std::optional<Found> find(const std::string& name) const = 0;
  /// The tensor as stored; a view where possible.
  virtual Expected<Tensor> tensor(const std::string& name) const = 0;
  /// Whether `tensor` allocates.
  virtual bool allocates(const std::string& name) const = 0;
};

/// Whether one tensor is all there is: the weight may be a view of it.
inline bool is_alone(const plan::WeightDecl& decl) {
  return decl.sources.size() == 1 && decl.sources[0].size() == 1;
}

/// A declaration whose sources have been found and fit.
struct Recipe {
  const plan::WeightDecl* decl = nullptr;
  std::vector<int64_t> shape;
  sk_dtype dtype = SK_NONE;  // of the result
  bool view = false;         // the mapped bytes as they are
  std::string key;           // equal keys share their bytes
};

/// Compares declarations with what is there; collects everything that is wrong.
class Accounting {
 public:
  /// `checkpoint` (may be null) is where neighbours of missing names are looked for.
  Accounting(const plan::Program& program, const Sources& sources, const Checkpoint* checkpoint)
      : program_(program), sources_(sources), checkpoint_(checkpoint) {}

  void add(const plan::WeightDecl& decl);
  /// Everything that is missing or does not fit, as one error; `where` names the checkpoint.
  Expected<void> verdict(const std::string& where) const;
  /// How to make the weights that fit, in the order they were added.
  const std::vector<Recipe>& recipes() const { return recipes_; }
  /// The names of all sources.
  const std::unordered_set<std::string>& used() const { return used_; }

 private:
  using Parts = std::vector<std::pair<std::string, Found>>;
  bool check_row(const plan::WeightDecl& decl, const std::vector<std::string>& row,
                 const std::vector<int64_t>& wanted, sk_dtype& stored);
  bool check_dtype(const plan::WeightDecl& decl, const std::string& name, const Found& found,
                   sk_dtype& stored);
  bool check_shapes(const plan::WeightDecl& decl, const Parts& parts, const std::vector<int64_t>& wanted);
  void misfit(const plan::WeightDecl& decl, const std::string& name, const Found& found,
              const std::string& what);
  std::string neighbour(const std::string& name) const;

  const plan::Program& program_;
  const Sources& sources_;
  const Checkpoint* checkpoint_;
  std::vector<Recipe> recipes_;
  std::unordered_set<std::string> used_;
  std::map<std::string, const plan::WeightDecl*> missing_;
  std::vector<std::string> misfits_;
};

/// Looks through the tensors in `used` for NaN and infinite values; one error names them with their files.
Expected<void> check_values(const Checkpoint& checkpoint, const std::unordered_set<std::string>& used);

/// Tensors that nobody reads and nobody calls unused; a line for each name, or for each kind of name across
/// layers.
std::vector<std::string> unread_tensors(const plan::Program& program, const Checkpoint& checkpoint,
                                        const std::unordered_set<std::string>& used);

}  // namespace skdsl::model
