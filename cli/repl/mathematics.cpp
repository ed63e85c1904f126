#include "cli/repl/mathematics.h"

#include <map>
#include <string>
#include <vector>

namespace skdsl::cli::repl {

using namespace plan;

namespace {

uint64_t mix(uint64_t h, uint64_t x) {
  h ^= x + 0x9e3779b97f4a7c15u + (h << 6) + (h >> 2);
  h *= 0xff51afd7ed558ccdu;
  return h ^ (h >> 33);
}

uint64_t of_text(std::string_view s) {
  uint64_t h = 0xcbf29ce484222325u;
  for (const char c : s) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return h;
}

/// Orders work or only names it.
bool is_schedule(Opcode code) {
  switch (code) {
    case Opcode::ScopeBegin:
    case Opcode::ScopeEnd:
    case Opcode::Prefetch:
    case Opcode::RecordEvent:
    case Opcode::WaitEvent:
    case Opcode::Gears:
    case Opcode::Tap:
      return true;
    default:
      return false;
  }
}

class Hasher {
 public:
  Hasher(const Program& program, const Function& f) : program_(program), f_(f), values_(f.values.size(), 0) {}

  uint64_t run() {
    const auto& args = f_.regions[f_.body].args;
    for (size_t i = 0; i < args.size(); ++i) values_[args[i]] = mix(1, i);
    uint64_t h = region(f_.body);
    for (const auto& [storage, version] : written_) h = mix(mix(h, storage), version);
    return h;
  }

 private:
  /// What a value holds now: its own hash, and what was written over it.
  uint64_t now(ValueId v) const {
    if (v == kNone) return 7;
    const auto it = written_.find(values_[v]);
    return it == written_.end() ? values_[v] : mix(values_[v], it->second);
  }

  uint64_t attr(const Attr& a) const {
    const auto dim = [&](const Dim& d) { return of_text(program_.text(d)); };
    if (const auto* d = std::get_if<Dim>(&a)) return dim(*d);
    if (const auto* x = std::get_if<double>(&a)) return of_text(std::to_string(*x));
    if (const auto* b = std::get_if<bool>(&a)) return *b ? 3 : 5;
    if (const auto* s = std::get_if<std::string>(&a)) return of_text(*s);
    if (const auto* t = std::get_if<DType>(&a)) return mix(11, static_cast<uint64_t>(*t));
    uint64_t h = 13;
    if (const auto* l = std::get_if<std::vector<Dim>>(&a))
      for (const Dim& d : *l) h = mix(h, dim(d));
    return h;
  }

  uint64_t region(RegionId id) {
    uint64_t last = 0;
    for (const OpId o : f_.regions[id].ops) last = op(f_.ops[o]);
    return last;
  }

  uint64_t op(const Op& o) {
    if (is_schedule(o.code)) return 0;
    uint64_t h = mix(17, static_cast<uint64_t>(o.code));
    if (o.code == Opcode::Constant && !o.attrs.empty()) {
      // Literals are numbered in the order of the program; their bytes count.
      if (const auto* d = std::get_if<Dim>(&o.attrs[0]);
          d && d->is_constant() && d->constant() >= 0 &&
          static_cast<size_t>(d->constant()) < program_.constants.size()) {
        const ConstantData& c = program_.constants[static_cast<size_t>(d->constant())];
        h = mix(h, of_text({reinterpret_cast<const char*>(c.bytes.data()), c.bytes.size()}));
        for (const int64_t n : c.shape) h = mix(h, static_cast<uint64_t>(n));
        return finish(o, mix(h, static_cast<uint64_t>(c.dtype)));
      }
    }
    for (const Attr& a : o.attrs) h = mix(h, attr(a));
    for (const ValueId v : o.operands) h = mix(h, now(v));
    for (const RegionId r : o.regions) {
      const auto& args = f_.regions[r].args;
      for (size_t i = 0; i < args.size(); ++i) values_[args[i]] = mix(mix(h, 19), i);
      h = mix(h, region(r));
    }
    return finish(o, h);
  }

  uint64_t finish(const Op& o, uint64_t h) {
    if (o.code == Opcode::StateAssign && !o.attrs.empty()) written_[mix(23, attr(o.attrs[0]))] = h;
    for (size_t i = 0; i < o.results.size(); ++i) values_[o.results[i]] = mix(h, i);
    if ((info(o.code).traits & kInPlace) != 0 && !o.operands.empty() && o.operands[0] != kNone)
      written_[values_[o.operands[0]]] = h;
    return h;
  }

  const Program& program_;
  const Function& f_;
  std::vector<uint64_t> values_;
  std::map<uint64_t, uint64_t> written_;  // storage -> what was written last
};

}  // namespace

uint64_t mathematics(const Program& program, const Function& function) {
  return Hasher(program, function).run();
}

}  // namespace skdsl::cli::repl
