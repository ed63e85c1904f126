// value — what an expression means while a program is elaborated
//
// Elaboration runs a .sk file once at compile time: configuration, loops, branches and layers are gone
// afterwards, tensor operations remain as IR. So a value is either known now (Int, Float, Str, Instance …) or
// an IR value that a run computes (Ir).
#pragma once
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "compiler/ast/ast.h"
#include "runtime/plan/program.h"

namespace skdsl::sema {

struct Instance;

/// A node of one of the loaded files.
struct NodeRef {
  uint32_t module = 0;
  ast::NodeId node = 0;
  friend bool operator==(const NodeRef&, const NodeRef&) = default;
  friend auto operator<=>(const NodeRef&, const NodeRef&) = default;
};

struct Value;

/// The elements of a list, a tuple, a dict or a step. Values are copied at every turn, so copies share them
/// until one is changed.
class Items {
 public:
  Items() = default;
  Items(std::vector<Value> values);  // NOLINT: a list of values is items
  const std::vector<Value>& all() const;
  operator const std::vector<Value>&() const { return all(); }  // NOLINT
  /// For changing them; other copies keep what they have.
  std::vector<Value>& edit();
  size_t size() const;
  bool empty() const { return size() == 0; }
  const Value& operator[](size_t i) const;
  std::vector<Value>::const_iterator begin() const;
  std::vector<Value>::const_iterator end() const;

 private:
  std::shared_ptr<std::vector<Value>> values_;
};

struct Value {
  enum class Kind : uint8_t {
    Poison,  // an error was reported; silences what follows
    None,    // no value: an absent weight, a call without result
    Int,     // dim: a constant or symbols (T, or a host integer of a run)
    Float,
    Bool,
    Str,
    DType,
    List,
    Tuple,
    Dict,    // items = key, value, key, value …; keys are Str
    Ir,      // id: a tensor or host scalar of the function being built
    Weight,  // text = path of a weight or const
    State,   // text = path
    Step,    // items = the fields in table order
    Event,   // text = unique name
    Instance,
    Decl,          // a layer, model or function: decl
    Method,        // a phase or fn member: instance and decl
    Group,         // a nested group of the configuration: text
    Op,            // an operator or built-in function: text
    TensorMethod,  // x.item: items[0] = x, text = operator
  };
  Kind kind = Kind::Poison;
  plan::Dim dim;
  double number = 0;
  bool flag = false;
  plan::DType dtype = plan::DType::None;
  plan::ValueId id = plan::kNone;
  std::string text;
  Items items;
  Instance* instance = nullptr;
  NodeRef decl;
  Span origin;  // where it was made

  bool is(Kind k) const { return kind == k; }
  bool poison() const { return kind == Kind::Poison; }

  static Value none() { return make(Kind::None); }
  static Value integer(plan::Dim d) {
    Value v = make(Kind::Int);
    v.dim = std::move(d);
    return v;
  }
  static Value real(double x) {
    Value v = make(Kind::Float);
    v.number = x;
    return v;
  }
  static Value boolean(bool b) {
    Value v = make(Kind::Bool);
    v.flag = b;
    return v;
  }
  static Value string(std::string s) {
    Value v = make(Kind::Str);
    v.text = std::move(s);
    return v;
  }
  static Value of_dtype(plan::DType t) {
    Value v = make(Kind::DType);
    v.dtype = t;
    return v;
  }
  static Value list(std::vector<Value> xs, Kind k = Kind::List) {
    Value v = make(k);
    v.items = std::move(xs);
    return v;
  }
  static Value ir(plan::ValueId id, Span origin = {}) {
    Value v = make(Kind::Ir);
    v.id = id;
    v.origin = origin;
    return v;
  }
  static Value named(Kind k, std::string text) {
    Value v = make(k);
    v.text = std::move(text);
    return v;
  }
  static Value make(Kind k) {
    Value v;
    v.kind = k;
    return v;
  }
};

inline Items::Items(std::vector<Value> values) {
  if (!values.empty()) values_ = std::make_shared<std::vector<Value>>(std::move(values));
}
inline const std::vector<Value>& Items::all() const {
  static const std::vector<Value> kNone;
  return values_ ? *values_ : kNone;
}
inline std::vector<Value>& Items::edit() {
  if (!values_)
    values_ = std::make_shared<std::vector<Value>>();
  else if (values_.use_count() > 1)
    values_ = std::make_shared<std::vector<Value>>(*values_);
  return *values_;
}
inline size_t Items::size() const { return all().size(); }
inline const Value& Items::operator[](size_t i) const { return all()[i]; }
inline std::vector<Value>::const_iterator Items::begin() const { return all().begin(); }
inline std::vector<Value>::const_iterator Items::end() const { return all().end(); }

/// Equal as far as merging branches needs to know.
bool same(const Value& a, const Value& b);

/// A layer or model with its parameters; members are evaluated once, in order.
struct Instance {
  NodeRef decl;
  std::string path;    // of the instance in the program: "layers.0.attn.1"; "" for the model
  std::string prefix;  // of its tensors in a checkpoint: "model.layers.0.self_attn.1"
  Instance* parent = nullptr;
  std::map<std::string, Value, std::less<>> members;
};

inline std::string join_path(const std::string& a, const std::string& b) {
  return a.empty() ? b : b.empty() ? a : a + "." + b;
}

}  // namespace skdsl::sema
