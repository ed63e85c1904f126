// elaborator — the state that the parts of elaboration share
#pragma once
#include <deque>
#include <functional>
#include <map>
#include <set>
#include <unordered_map>

#include "compiler/ops/infer.h"
#include "compiler/sema/elaborate.h"
#include "compiler/sema/line.h"
#include "compiler/sema/value.h"

namespace skdsl::sema {

/// A function of the program under construction.
struct Builder {
  plan::Function* fn = nullptr;
  plan::RegionId region = 0;
  plan::Phase phase = plan::Phase::None;  // which phase is being built
  plan::ContextId context = plan::kNone;
  std::vector<Span> origins;                                                // of values, by id
  std::map<std::pair<plan::RegionId, std::string>, plan::ValueId> weights;  // loaded ones
  bool const_only = false;                                                  // a const's expression
  std::string const_name;
  std::vector<std::pair<std::string, Span>> open_scopes;  // scope_begin without its scope_end
  int dynamic_depth = 0;                                  // inside regions of tensor-valued control flow
};

/// A body that is being walked: names, and where `return` goes.
struct Frame {
  uint32_t module = 0;
  Builder* builder = nullptr;  // null: static expressions only
  Instance* self = nullptr;
  std::map<std::string, Value, std::less<>> locals;
  std::string_view phase_word;  // "prefill" in the body of a prefill declaration …
  bool returned = false;
  int dynamic_depth = 0;  // of the builder when the body began
  Value result = Value::none();
  std::set<std::string> one_branch;  // names that only one branch of a tensor-valued `if` defined
  bool is_script = false;
};

struct CallArg {
  std::string name;
  Value value;
  Span span;
  Span name_span;
};

/// Functions of numbers that are no operators of the table, or that share a name with one.
inline constexpr std::string_view kFunctions[] = {"sqrt", "min",   "max",      "floordiv", "ceildiv", "len",
                                                  "int",  "float", "exp",      "log",      "Step",    "str",
                                                  "dict", "get",   "contains", "keys"};

/// Whether a source text can call an operator by its name.
bool is_callable(const OpInfo& op);

/// Appends one element to a literal: `number` for floats (as f32), `integer` for the others.
void append_element(plan::ConstantData& data, double number, int64_t integer);
/// Whether an integer literal fits the dtype.
bool fits(plan::DType dtype, int64_t integer);

/// The mode whose decode may read host lists and has gears.
inline constexpr std::string_view kCaptureMode = "npugraph_ex";

/// The fields of a Step value in their order: tensors, then host lists.
struct StepField {
  std::string_view name;
  bool per_row;  // first size T, else B
  bool list;
};
inline constexpr StepField kStepFields[] = {
#define SK_STEP_FIELD(name, dtype, dims, text) {#name, std::string_view(dims).starts_with("T"), false},
#define SK_STEP_LIST(name, of) {#name, false, true},
#include "runtime/plan/step_fields.def"
#undef SK_STEP_FIELD
#undef SK_STEP_LIST
};

class Elaborator {
 public:
  Elaborator(const Modules& modules, const Options& options, diag::Engine& diags);
  std::optional<Elaborated> run();
  /// The file's script is a line of a session; what it leaves goes to `out`.
  std::optional<Elaborated> run_line(const Line& line, ElaboratedLine& out);
  std::optional<Elaborated> run_decode();

 private:
  // ---- config.cpp
  void resolve_config();
  Value config_value(std::string_view key, Span use);
  Value convert_setting(const config::Setting& setting, ast::NodeId type, const std::string& key);
  void check_settings();
  void check_requirements();
  Value builtin_value(std::string_view name) const;

  // ---- expr.cpp: expressions
  Value eval(Frame& f, ast::NodeId node);
  Value eval_name(Frame& f, ast::NodeId node);
  std::optional<Value> lookup(Frame& f, std::string_view name, Span use);
  void report_unknown_name(Frame& f, std::string_view name, Span span);
  Value eval_string(Frame& f, ast::NodeId node);
  Value eval_member(Frame& f, ast::NodeId node);
  Value eval_index(Frame& f, ast::NodeId node);
  Value index_tensor(Frame& f, Value base, ast::NodeId node);
  Value eval_binary(Frame& f, ast::NodeId node);
  Value eval_short_circuit(Frame& f, ast::NodeId node);
  Value eval_unary(Frame& f, ast::NodeId node);
  Value eval_comprehension(Frame& f, ast::NodeId node);
  Value eval_if(Frame& f, ast::NodeId node);

  // ---- arith.cpp: numbers known now and host numbers
  Value binary(Frame& f, std::string_view op, Value a, Value b, Span span, Span a_span, Span b_span);
  Value static_binary(std::string_view op, const Value& a, const Value& b, Span span);
  Value host_binary(Frame& f, std::string_view op, const Value& a, const Value& b, Span span);
  Value builtin_function(Frame& f, std::string_view name, std::vector<CallArg> args, Span span);

  // ---- dict.cpp: values by name, as nested objects of config.json
  static Value dict_of(const Json& object);
  static Value dict_entry(const Json& value);
  static const Value* dict_find(const Value& dict, std::string_view key);
  static void dict_set(Value& dict, std::string_view key, Value v);
  Value dict_member(const Value& dict, std::string_view key, Span span);
  Value dict_function(Frame& f, std::string_view name, std::vector<CallArg> args, Span span);

  // ---- convert.cpp: what a place expects
  std::optional<int64_t> constant_int(const Value& v, Span span, std::string_view what);
  std::optional<plan::Dim> as_dim(const Value& v, Span span, std::string_view what);
  std::optional<double> as_number(const Value& v, Span span, std::string_view what);
  std::optional<bool> static_bool(const Value& v, Span span, std::string_view what);
  std::optional<std::string> static_string(const Value& v, Span span, std::string_view what);
  plan::ValueId to_ir(Frame& f, const Value& v, Span span);  // any IR value; kNone after a report
  plan::ValueId to_tensor(Frame& f, const Value& v, Span span, plan::DType like = plan::DType::None);
  std::string describe(const Frame* f, const Value& v) const;
  std::string text_of(const Value& v) const;  // in strings
  const plan::Type& type_of(const Frame& f, plan::ValueId id) const { return f.builder->fn->values[id].type; }
  bool is_tensor(const Frame& f, const Value& v) const;

  // ---- types.cpp: declared types
  bool is_symbol_name(std::string_view name) const;
  bool unify(Frame& f, ast::NodeId type, Value& v, Span span,
             const std::function<void(const std::string& expected)>& mismatch);
  std::optional<plan::DType> dtype_named(Frame& f, ast::NodeId type);
  std::optional<plan::Type> declared_tensor(Frame& f, ast::NodeId type, bool bind_symbols,
                                            plan::DType untyped);
  std::string type_text(Frame& f, ast::NodeId type);

  // ---- call.cpp
  Value eval_call(Frame& f, ast::NodeId node);
  Value dispatch(Frame& f, ast::NodeId node, const Value& callee, std::vector<CallArg> args);
  std::vector<CallArg> eval_args(Frame& f, ast::NodeId call);
  Value call_op(Frame& f, Opcode op, std::vector<CallArg> args, Span span);
  std::optional<plan::Attr> to_attr(Frame& f, const OpInfo& op, const Param& p, const Value& v, Span span);
  Value call_function(Frame& f, NodeRef decl, Instance* self, std::vector<CallArg> args, Span span);
  Value call_instance(Frame& f, Instance* callee, ast::NodeId phase_node, std::vector<CallArg> args,
                      Span span);
  ast::NodeId resolve_phase(Frame& f, Instance* callee, Span span);
  std::optional<std::vector<std::optional<CallArg>>> match_params(const ast::Ast& a, ast::NodeId params,
                                                                  std::vector<CallArg> args, Span span,
                                                                  const std::string& what);
  bool bind_param(Frame& callee, ast::NodeId param, const std::optional<CallArg>& arg, Span span,
                  const std::string& what, bool from_config);
  bool check_result(Frame& callee, ast::NodeId result_type, ast::NodeId decl, const std::string& what);
  Value make_step(Frame& f, std::vector<CallArg> args, Span span);
  Value call_print(Frame& f, std::vector<CallArg> args, Span span);

  // ---- emit.cpp
  plan::OpId emit(Frame& f, Opcode code, std::vector<plan::ValueId> operands, std::vector<plan::Attr> attrs,
                  const std::vector<plan::Type>& results, Span span);
  Value emit_inferred(Frame& f, Opcode code, std::vector<plan::ValueId> operands,
                      std::vector<plan::Attr> attrs, Span span, std::vector<Span> operand_spans,
                      std::vector<Span> attr_spans);
  void emit_checks(Frame& f, const std::vector<ops::DeferredCheck>& checks, Span span);
  plan::Type with_fresh_symbols(plan::Type t);
  plan::ValueId constant(Frame& f, plan::ConstantData data, Span span);
  plan::ValueId scalar_constant(Frame& f, plan::DType dtype, double value, int64_t integer, Span span);
  plan::ValueId load_weight(Frame& f, const std::string& path, Span span);
  Loc loc(Span span) const;

  // ---- instance.cpp: layers
  Instance* instantiate(Frame& f, NodeRef layer, std::vector<CallArg> args, const std::string& path,
                        const std::string& prefix, Span span);
  void build_members(Instance* instance);
  void declare_weight(Instance* self, ast::NodeId node);
  void declare_const(Instance* self, ast::NodeId node);
  void declare_state(Instance* self, ast::NodeId node);
  void declare_instance(Instance* self, ast::NodeId node);
  Value construct(Frame& f, Instance* self, ast::NodeId expr, ast::NodeId from, const std::string& name);
  std::string joined_prefix(Frame& f, Instance* self, ast::NodeId from);
  bool assigns_state(const ast::Ast& a, ast::NodeId node, std::string_view state) const;
  void add_member(Instance* self, ast::NodeId node, std::string_view name, Value v);

  // ---- stmt.cpp: statements
  void exec(Frame& f, ast::NodeId node);
  void exec_block(Frame& f, ast::NodeId block);
  void exec_assign(Frame& f, ast::NodeId node);
  void assign(Frame& f, ast::NodeId target, Value v, Span span);
  void exec_if(Frame& f, ast::NodeId node);
  void exec_dynamic_if(Frame& f, ast::NodeId node, plan::ValueId cond);
  void exec_for(Frame& f, ast::NodeId node);
  void exec_while(Frame& f, ast::NodeId node);
  void exec_dynamic_loop(Frame& f, ast::NodeId node, ast::NodeId body,
                         const std::function<plan::ValueId(Frame&)>& condition,
                         const std::function<void(Frame&)>& advance, std::vector<std::string> extra);
  std::vector<Value> range_values(Frame& f, ast::NodeId node, bool* dynamic, plan::Dim* begin,
                                  plan::Dim* end);
  void assigned_names(const ast::Ast& a, ast::NodeId node, std::set<std::string>& out) const;
  void exec_return(Frame& f, ast::NodeId node);

  // ---- schedule.cpp: super kernels, streams, cores, events, prefetch
  void exec_scoped(Frame& f, ast::NodeId node);
  void exec_prefetch(Frame& f, ast::NodeId node);
  void exec_event(Frame& f, ast::NodeId node);
  std::string place_path(Frame& f, ast::NodeId node, bool trigger, bool* is_out);
  bool inert(const Frame& f) const;

  // ---- phases.cpp
  void build_model(ast::NodeId model);
  void build_root_phase(Instance* model, ast::NodeId phase, std::string_view word);
  void build_script();
  void begin_line(Frame& f, std::vector<ast::NodeId>& statements);
  void end_line(Frame& f);
  void check_function(ast::NodeId fn);
  plan::Function& new_function(const std::string& name, plan::Phase phase, Span span);
  Value step_param(Builder& b, const std::string& name,
                   const std::function<plan::Dim(std::string_view)>& size);
  Value root_param(Frame& f, ast::NodeId param);
  std::vector<plan::ValueId> flatten_result(Frame& f, const Value& v, Span span);
  void finish_function(Frame& f, Span span);
  std::string unique_name(const std::string& base);
  size_t phase_step_fields(plan::Phase phase) const;
  ast::NodeId phase_node(const Instance& instance, std::string_view word) const;

  // ---- explain.cpp: what a call that failed was most likely meant to be
  /// Tries the call with arguments swapped, left out or replaced, and with the layers that take part made
  /// with swapped arguments; what works becomes the fix of the report number `first`. `works` says whether
  /// the call is right with other arguments or another callee.
  using Works = std::function<bool(const std::vector<CallArg>&, Instance* callee)>;
  void explain_call(Frame& f, Span call, const std::vector<CallArg>& args, Instance* callee, size_t first,
                    const Works& works);
  bool explain_values(Frame& f, Span call, const std::vector<CallArg>& args, size_t first,
                      const Works& works);
  bool explain_order(const std::vector<CallArg>& args, size_t first, const Works& works);
  bool explain_layers(Frame& f, const std::vector<CallArg>& args, Instance* callee, size_t first,
                      const Works& works);
  /// Whether something can be done without a report; leaves the budget as it was.
  bool quietly(const std::function<bool()>& what);
  /// The layer whose call made a value, or null.
  Instance* producer(const Frame& f, const Value& v) const;
  void note_made(diag::Engine::Builder& r, const Instance* instance);
  /// Makes the declared type fit the value that is there, in the words of the declaration.
  void suggest_type(diag::Engine::Builder& r, Frame& f, ast::NodeId type,
                    const std::optional<std::vector<std::string>>& sizes, const plan::Type& actual);
  /// The sizes of a type in the words of a declaration; nothing where they have none.
  std::optional<std::vector<std::string>> sizes_for(Frame& f, ast::NodeId type, const plan::Type& actual);
  /// Adds to the report number `first` where the weights and states among the operands are declared.
  void note_declared(const Frame& f, const std::vector<plan::ValueId>& operands, size_t first);
  /// A size of a signature that holds an unknown symbol: only one that stands alone is bound.
  void suggest_alone(Frame& f, ast::NodeId size, size_t first);
  /// Whether a declared type was reported before for the same reason.
  bool told_misfit(const Frame& f, ast::NodeId type, const std::optional<std::vector<std::string>>& sizes);

  // ---- suggest.cpp: which name was meant
  /// Adds "did you mean `near`?" with its edit to a report about `written`, and where `near` is defined; when
  /// only the definition can be wrong, the edit is there.
  void suggest(diag::Engine::Builder& r, uint32_t module, Span at, std::string_view written,
               const std::string& near);
  /// The same for a parameter that neither a call nor the configuration gives.
  void suggest_key(diag::Engine::Builder& r, uint32_t module, ast::NodeId param);
  /// Whether an unknown name has been reported with an edit for all its uses.
  bool known_unknown(uint32_t module, std::string_view name) const;
  uint32_t module_of(const ast::Ast& a) const;

  // ---- shared
  const ast::Ast& ast(const Frame& f) const { return modules_[f.module].ast; }
  Span span(const Frame& f, ast::NodeId node) const { return ast(f).span(node); }
  template <class... Args>
  diag::Engine::Builder report(Span s, diag::Id id, const Args&... args) {
    return diags_.report(s, id, args...);
  }
  bool budget(Span span);  // false (after one report) when elaboration has done too much

  const Modules& modules_;
  const Options& options_;
  diag::Engine& diags_;
  Elaborated out_;
  plan::Program& program_ = out_.program;
  plan::DType act_ = plan::DType::BF16;

  std::deque<Instance> instances_;
  std::unordered_map<std::string, plan::Type> weight_types_;  // weights and consts
  std::unordered_map<std::string, plan::Type> state_types_;
  const Line* line_ = nullptr;  // of a session
  ElaboratedLine* line_out_ = nullptr;
  bool decode_only_ = false;
  std::set<std::string> rebound_states_;
  std::set<plan::SymbolId> unbacked_;

  struct ConfigKey {
    ast::NodeId node = 0;  // ConfigEntry
    Value value;
    bool resolved = false, resolving = false;
    config::Layer layer = config::Layer::Default;
    std::string origin;
  };
  bool is_dict(const ConfigKey& key) const;
  void set_members(ConfigKey& k, const std::string& key);
  std::map<std::string, ConfigKey, std::less<>> config_;
  std::vector<std::string> config_order_;
  std::set<std::string, std::less<>> config_groups_;

  std::map<std::string, std::string>
      phase_functions_;  // (path, phase, argument types) -> function, for scripts
  std::map<std::string, int> name_counts_;
  struct Made {
    Span call;
    std::vector<CallArg> args;
  };
  std::map<const Instance*, Made> made_;  // how each instance was made
  std::map<std::string, Instance*, std::less<>> by_path_;
  ast::NodeId misfit_type_ = 0;  // what unify compared when it failed last
  Value misfit_value_;
  std::map<std::string, Span, std::less<>> declared_at_;         // the types of weights, consts and states
  std::set<std::tuple<uint32_t, uint32_t, uint32_t>> told_ops_;  // places of operators that did not fit
  std::set<std::pair<std::pair<uint32_t, ast::NodeId>, std::vector<std::string>>> told_types_;
  int trials_ = 0;  // of explain_call
  int call_depth_ = 0;
  std::set<std::pair<uint32_t, std::string>> told_names_;  // unknown ones, by module
  uint64_t work_ = 0;
  bool work_reported_ = false;
};

}  // namespace skdsl::sema
