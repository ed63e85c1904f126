#include "compiler/superkernel/case.h"

#include <fmt/format.h>

#include <algorithm>

namespace skdsl::superkernel {

using plan::KernelType;
using plan::Side;
using plan::SkStep;
using plan::StepField;

namespace {

constexpr int64_t kMaxNumber = 1'000'000'000;

class Reader {
 public:
  Reader(const Json& record, std::string where) : record_(record), where_(std::move(where)) {}

  Expected<std::vector<SubKernel>> kernels() {
    const Json* list = record_.find("sub_kernels");
    if (list == nullptr || !list->is_array()) return bad("`sub_kernels`", list, "a list of kernels");
    std::vector<SubKernel> out;
    for (const Json& item : list->as_array()) {
      if (!item.is_object()) return bad(fmt::format("`sub_kernels[{}]`", out.size()), &item, "an object");
      SubKernel k;
      at_ = fmt::format("`sub_kernels[{}]`: ", out.size());
      k.id = text(item, "id", fmt::format("k{}", out.size()));
      k.op_type = text(item, "op_type", "");
      const std::string type = text(item, "type", "");
      const auto known = plan::find_kernel_type(type);
      if (!known && !wrong_)
        wrong_ = Error{
            ErrorKind::Input,
            fmt::format(
                "{}{}`type` is `{}`, expected AIV, AIC, MIX_AIV_1_0, MIX_AIC_1_0, MIX_AIC_1_1 or MIX_AIC_1_2",
                where(), at_, type),
            {}};
      k.type = known.value_or(KernelType::Aiv);
      k.stream = number(item, "stream", 0);
      k.block_dim = item.find("block_dim") != nullptr ? number(item, "block_dim", 1)
                                                      : number(item, "block_dim_in_json", 1);
      k.params = number(item, "params", 0);
      k.code_bytes = number(item, "code_bytes", 0);
      const std::string task = text(item, "task", "normal");
      if (task != "normal" && task != "dynamic" && !wrong_)
        wrong_ = Error{ErrorKind::Input,
                       fmt::format("{}{}`task` is `{}`, expected normal or dynamic", where(), at_, task),
                       {}};
      k.dynamic = task == "dynamic";
      k.sync_all = flag(item, "uses_sync_all");
      k.early_start_set = flag(item, "early_start_set");
      k.early_start_wait = flag(item, "early_start_wait");
      k.dcci_before = flag(item, "dcci_before");
      k.dcci_after = flag(item, "dcci_after");
      k.dcci_disable = flag(item, "dcci_disable");
      k.copies = number(item, "split_in_json", 0);
      k.send_events = numbers(item, "send_events");
      k.recv_events = numbers(item, "recv_events");
      k.task = static_cast<uint32_t>(out.size());
      if (k.block_dim == 0 && !wrong_)
        wrong_ = Error{ErrorKind::Input, fmt::format("{}{}a kernel has at least 1 block", where(), at_), {}};
      if (wrong_) return tl::unexpected(*wrong_);
      out.push_back(std::move(k));
    }
    return out;
  }

  Expected<std::string> options() {
    const Json* o = record_.find("options_string");
    if (o == nullptr || o->is_null()) return std::string();
    if (!o->is_string()) return bad("`options_string`", o, "a string");
    return o->as_string();
  }

 private:
  std::string where() const { return where_ + ": "; }
  tl::unexpected<Error> bad(const std::string& what, const Json* seen, std::string_view expected) const {
    return fail(fmt::format("{}{} is {}, expected {}", where(), what,
                            seen == nullptr ? "missing" : seen->kind(), expected));
  }
  void note(std::string_view key, const Json& seen, std::string_view expected) {
    if (!wrong_)
      wrong_ = Error{ErrorKind::Input,
                     fmt::format("{}{}`{}` is {}, expected {}", where(), at_, key, seen.kind(), expected),
                     {}};
  }
  std::string text(const Json& o, std::string_view key, std::string otherwise) {
    const Json* v = o.find(key);
    if (v == nullptr || v->is_null()) return otherwise;
    if (v->is_string()) return v->as_string();
    note(key, *v, "a string");
    return otherwise;
  }
  bool flag(const Json& o, std::string_view key) {
    const Json* v = o.find(key);
    if (v == nullptr || v->is_null()) return false;
    if (v->is_bool()) return v->as_bool();
    note(key, *v, "a boolean");
    return false;
  }
  uint32_t as_number(const Json& v, std::string_view key) {
    if (v.is_int() && v.as_int() >= 0 && v.as_int() <= kMaxNumber) return static_cast<uint32_t>(v.as_int());
    note(key, v, fmt::format("an integer from 0 to {}", kMaxNumber));
    return 0;
  }
  uint32_t number(const Json& o, std::string_view key, uint32_t otherwise) {
    const Json* v = o.find(key);
    return v == nullptr || v->is_null() ? otherwise : as_number(*v, key);
  }
  std::vector<uint32_t> numbers(const Json& o, std::string_view key) {
    std::vector<uint32_t> out;
    const Json* v = o.find(key);
    if (v == nullptr || v->is_null()) return out;
    if (!v->is_array()) {
      note(key, *v, "a list of event numbers");
      return out;
    }
    for (const Json& item : v->as_array()) out.push_back(as_number(item, key));
    return out;
  }

  const Json& record_;
  std::string where_, at_;
  std::optional<Error> wrong_;
};

Json guard_json(const plan::CoreGuard& g, std::string_view compare) {
  Json out;
  out.set("index", g.vector_core ? "vector_core" : "group");
  out.set(compare, g.limit);
  return out;
}

std::string_view direction(bool to_vector) { return to_vector ? "c2v" : "v2c"; }
constexpr std::string_view kKinds[] = {"aic", "aiv", "mix"};
constexpr std::string_view kWhy[] = {"before", "after", "debug"};
constexpr std::string_view kWhat[] = {"superkernel", "sub_kernel", "notify", "wait"};

Json does_json(uint32_t config, Side side) {
  const plan::SkWaitActions a = plan::wait_actions(config, side);
  Json out(Json::Array{});
  if (a.wait_all) out.push(fmt::format("wait:{}", plan::name(plan::scope_of(side))));
  if (a.signal) out.push(fmt::format("signal:{}", direction(side == Side::Aic)));
  if (a.await) out.push(fmt::format("await:{}", direction(side == Side::Aiv)));
  return out;
}

bool event_step(SkStep::Kind k) {
  return k == SkStep::Kind::NotifyEvent || k == SkStep::Kind::WaitEvent ||
         k == SkStep::Kind::ClearEventSlot || k == SkStep::Kind::DynamicRelease;
}

}  // namespace

Json step_json(const SkStep& step, Side side, const std::vector<std::string>& ids) {
  Json out;
  out.set("side", plan::name(side));
  out.set("step", plan::row(step.kind).word);
  for (const StepField f : plan::row(step.kind).fields) switch (f) {
      case StepField::Of:
        out.set("of", ids[step.of]);
        break;
      case StepField::Units:
        out.set("units_2k", step.units);
        break;
      case StepField::Guard:
        out.set("guard", guard_json(step.guard, "lt"));
        break;
      case StepField::Copies:
        out.set("copies", step.copies);
        break;
      case StepField::ParamSlot:
        out.set("param_slot", step.slot);
        break;
      case StepField::Feeds:
        if (!step.feeds) break;
        out.set("then", "publish_feed_end");
        out.set("otherwise", "join_feed_syncs_until_end");
        break;
      case StepField::Scope:
        out.set("scope", plan::name(step.scope));
        break;
      case StepField::Via:
        if (step.via_sync_all)
          out.set("via", "SyncAll<true>");
        else if (step.scope == plan::SyncScope::AllAic && !step.drains_stores)
          out.set("drain", "PIPE_FIX");
        else if (step.scope != plan::SyncScope::AllMix)
          out.set("drain", "PIPE_MTE3");
        break;
      case StepField::Direction:
        out.set("dir", direction(step.to_vector));
        break;
      case StepField::Flag:
        out.set("flag", plan::name(step.scope));
        break;
      case StepField::OnlyIf:
        if (step.idle_only) out.set("only_if", guard_json(*step.idle_only, ">="));
        break;
      case StepField::Config:
        out.set("config", step.config);
        if (step.kind == SkStep::Kind::EarlyStartPair)
          out.set("pair", fmt::format("{}->{}", kKinds[step.config >> 2], kKinds[step.config & 3]));
        else
          out.set("does", does_json(step.config, side));
        break;
      case StepField::Event:
        out.set("event", step.event);
        break;
      case StepField::Enabled:
        out.set("enabled", step.enabled);
        break;
      case StepField::Offset:
        if (step.enabled) out.set("config_byte_offset", step.offset);
        break;
      case StepField::Bytes:
        out.set("bytes", step.bytes);
        out.set("how", "split evenly over cores of this side, 512 B stores");
        break;
      case StepField::LockSlot:
        if (step.kind == SkStep::Kind::DynamicSelect) {
          out.set("tiling_key_slot", step.slot - 2);
          out.set("block_num_slot", step.slot - 1);
        }
        out.set("lock_slot", step.slot);
        if (step.kind == SkStep::Kind::DynamicSelect) out.set("spin", "every core until lock==1");
        break;
      case StepField::Why:
        out.set("why", kWhy[static_cast<size_t>(step.why)]);
        break;
      case StepField::What:
        out.set("what", kWhat[static_cast<size_t>(step.what)]);
        break;
      case StepField::Id:
        out.set("id", step.id);
        break;
      case StepField::Edge:
        out.set("edge", step.begin ? "begin" : "end");
        break;
    }
  if (event_step(step.kind)) out.set("by", "block0");
  return out;
}

Json schedule_json(const plan::SuperKernel& kernel, const std::vector<std::string>& ids) {
  Json out;
  for (const Side s : plan::kSides) {
    if (!plan::runs_on(kernel.type, s)) {
      out.set(plan::name(s), nullptr);
      continue;
    }
    Json steps(Json::Array{});
    for (const SkStep& step : kernel.of(s)) steps.push(step_json(step, s, ids));
    out.set(plan::name(s), std::move(steps));
  }
  return out;
}

Json properties_json(const plan::SuperKernel& kernel, const std::vector<std::string>& ids) {
  const plan::SkAnalysis seen = plan::analyse(kernel);
  const bool both = plan::is_mix(kernel.type);
  // Nothing is claimed where the order depends on a tiling or on an event that goes backwards.
  bool decided = true;
  for (size_t i = 0; i < kernel.kernels.size(); ++i) {
    decided &= !kernel.kernels[i].dynamic;
    for (const uint32_t e : kernel.kernels[i].send_events)
      for (size_t j = 0; j < i; ++j) {
        const auto& recv = kernel.kernels[j].recv_events;
        decided &= std::find(recv.begin(), recv.end(), e) == recv.end();
      }
  }
  Json out;
  out.set("pair_flags_balanced", both ? Json(seen.flags_balanced && seen.ends) : Json());
  out.set("all_mix_barriers_match_on_both_sides", seen.all_mix_matches);
  out.set("every_dependency_enforced", decided ? Json(seen.unenforced.empty()) : Json());
  Json open(Json::Array{});
  for (const plan::SkDependency& d : seen.unenforced)
    open.push(Json(Json::Array{ids[d.before], ids[d.after]}));
  out.set("unenforced_dependencies", std::move(open));
  Json waits(Json::Array{});
  for (const auto& [k, event] : seen.waits_not_emitted) {
    Json w;
    w.set("of", ids[k]);
    w.set("event", event);
    waits.push(std::move(w));
  }
  out.set("external_waits_not_emitted", std::move(waits));
  out.set("every_kernel_called", seen.every_kernel_called);
  out.set("feed_end_published", kernel.feed_workspace_bytes > 0 ? Json(seen.feed_end_published) : Json());
  return out;
}

Expected<Json> run_case(const Json& record, const std::string& where, const Platform& platform) {
  if (record.is_array()) {
    Json out(Json::Array{});
    for (size_t i = 0; i < record.as_array().size(); ++i) {
      auto one = run_case(record.as_array()[i], fmt::format("{}: record {}", where, i), platform);
      if (!one) return one;
      out.push(std::move(*one));
    }
    return out;
  }
  if (!record.is_object())
    return fail(fmt::format("{}: a record is {}, expected an object", where, record.kind()));
  Reader reader(record, where);
  const auto text = reader.options();
  if (!text) return tl::unexpected(text.error());
  const auto kernels = reader.kernels();
  if (!kernels) return tl::unexpected(kernels.error());
  const auto refused = [](const OptionError& e) {
    Json error, out;
    error.set("option", e.option.empty() ? Json() : Json(e.option));
    error.set("message", e.message);
    if (!e.help.empty()) error.set("help", e.help);
    out.set("error", std::move(error));
    return out;
  };
  const auto options = parse_options(*text);
  if (!options) return refused(options.error());
  const auto result = compile_superkernel(*kernels, options->options, platform);
  if (!result) return refused(result.error());
  std::vector<std::string> ids;
  for (const SubKernel& k : *kernels) ids.push_back(k.id);

  const plan::SuperKernel& sk = result->kernel;
  Json shape, entry, out;
  shape.set("type", plan::name(sk.type));
  shape.set("block_dim", sk.block_dim);
  shape.set("task_ratio", plan::task_ratio(sk.type));
  shape.set("feed_workspace_bytes", sk.feed_workspace_bytes);
  entry.set("entry_align", result->entry_align == 0 ? Json() : Json(result->entry_align));
  if (result->workspace_slot >= 0) entry.set("workspace_slot", result->workspace_slot);
  if (result->profiling_slot >= 0) {
    entry.set("profiling_slot", result->profiling_slot);
    entry.set("task_id_slot", result->task_id_slot);
  }
  entry.set("ffts_slot", 0);
  entry.set("op_system_run_cfg_header", result->one_copy);
  shape.set("entry", std::move(entry));
  out.set("superkernel", std::move(shape));
  out.set("schedule", schedule_json(sk, ids));
  out.set("mode", sk.two_stream ? "two_stream" : "serial");
  out.set("properties", properties_json(sk, ids));
  const auto texts = [&](std::string_view key, const std::vector<std::string>& list) {
    Json a(Json::Array{});
    for (const std::string& s : list) a.push(s);
    if (!list.empty()) out.set(key, std::move(a));
  };
  std::vector<std::string> warnings = options->warnings;
  warnings.insert(warnings.end(), result->warnings.begin(), result->warnings.end());
  for (const uint32_t k : result->hangs)
    warnings.push_back(fmt::format(
        "`{}` synchronises {} blocks inside a super kernel of {}; without feed-sync-all=1 it never ends",
        ids[k], sk.kernels[k].block_dim, sk.block_dim));
  texts("warnings", warnings);
  texts("deviations", result->deviations);
  return out;
}

}  // namespace skdsl::superkernel
