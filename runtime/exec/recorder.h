// recorder — takes down what the interpreter does while it runs a function once
//
// Tensors are known by their bytes: the recorder keeps all of them alive until the end, so no two share an
// address. What no task made and no declaration names came from host values: it becomes a constant of the
// recording, and the guards of a capture answer for it.
#pragma once
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "runtime/exec/launch.h"
#include "runtime/exec/value.h"
#include "runtime/plan/hook.h"

namespace skdsl::exec {

/// The operator that was run, for comparing two recordings.
struct TraceEntry {
  Opcode code = Opcode::Constant;
  Loc loc;
  std::string path;
  bool operator==(const TraceEntry&) const = default;
};

class Recorder {
 public:
  /// Records a run of `function`. `args` are the tensors that the run is given, each with bytes of its own.
  /// Host lists whose parameter number is in `refreshed` become inputs; the values of others are constants.
  Recorder(const plan::Program& program, const plan::Function& function,
           const std::vector<RuntimeValue>& args, const std::vector<bool>& refreshed);

  // ---- what the interpreter tells

  void declared(plan::Storage storage, const std::string& path, plan::DType dtype, const Tensor& t);
  void constant(uint32_t index, const Tensor& t);
  /// The tensor that stands for a host list as an operand; `parameter` is the value when it is one of the
  /// function's.
  void list(const plan::Function& function, plan::ValueId value, const Tensor& t);
  void task(const plan::Op& op, const std::vector<Tensor>& operands, const std::vector<Tensor>& results,
            const AbiAttrs& attrs);
  void view(const plan::Op& op, const Tensor& operand, const Tensor& result, const AbiAttrs& attrs);
  /// Schedule constructs: notes, prefetches, events.
  void note(const plan::Op& op, const std::vector<Tensor>& operands, const AbiAttrs& attrs);

  // ---- the outcome

  /// `results` as the run gave them; tensors among them become outputs.
  plan::Recording finish(const std::vector<RuntimeValue>& results, const plan::GraphKey& key);
  const std::vector<TraceEntry>& trace() const { return trace_; }
  /// Is the memory of this tensor nobody's but a task's?
  bool made_by_task(const Tensor& t) const;

 private:
  plan::BufferId add(plan::Buffer buffer, const Tensor& t);
  plan::BufferId buffer_of(const Tensor& t);
  uint32_t stream_of(plan::ContextId context);
  plan::Task make(const plan::Op& op, const AbiAttrs& attrs);
  void push(plan::Task task, plan::Step::Kind kind);

  using Place = std::tuple<const void*, uint32_t, std::vector<int64_t>>;  // bytes, dtype, shape
  static Place place_of(const Tensor& t) { return {t.view.data, t.view.dtype, t.shape()}; }

  const plan::Program& program_;
  const plan::Function& function_;
  std::vector<int64_t> list_index_;  // by parameter: not negative for a refreshed list
  std::vector<std::optional<plan::BufferId>> list_buffer_;
  plan::Recording out_;
  std::vector<TraceEntry> trace_;
  std::vector<Tensor> kept_;
  std::map<Place, plan::BufferId> buffers_;
  std::map<const void*, plan::BufferId> by_bytes_;  // the first buffer there
};

/// An attribute as tasks carry it, from the form kernels take.
plan::TaskAttr task_attr(const Param& param, const plan::Attr& given, const sk_attr& value);

}  // namespace skdsl::exec
