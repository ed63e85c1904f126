// The order against reachability by brute force, on random graphs with and without cycles; and what programs
// make of it.
#include "runtime/plan/happens_before.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <random>

namespace skdsl::plan {
namespace {

using Node = HappensBefore::Node;

/// The same graph as an adjacency matrix, closed step by step.
class Brute {
 public:
  void add(std::vector<uint32_t> streams) {
    const size_t n = reach_.size();
    for (auto& row : reach_) row.push_back(false);
    reach_.emplace_back(n + 1, false);
    for (const uint32_t s : streams) {
      if (s >= last_.size()) last_.resize(s + 1, -1);
      if (last_[s] >= 0) edge(static_cast<size_t>(last_[s]), n);
      last_[s] = static_cast<int>(n);
    }
  }
  void edge(size_t a, size_t b) { reach_[a][b] = true; }
  void close() {
    for (size_t k = 0; k < reach_.size(); ++k)
      for (size_t i = 0; i < reach_.size(); ++i)
        for (size_t j = 0; reach_[i][k] && j < reach_.size(); ++j)
          reach_[i][j] = reach_[i][j] || reach_[k][j];
  }
  bool before(size_t a, size_t b) const { return reach_[a][b]; }
  size_t size() const { return reach_.size(); }
  bool has_cycle() const {
    for (size_t i = 0; i < reach_.size(); ++i)
      if (reach_[i][i]) return true;
    return false;
  }

 private:
  std::vector<std::vector<bool>> reach_;
  std::vector<int> last_;
};

int rounds() {
  const char* const soak = std::getenv("SKDSL_SOAK");
  return soak != nullptr && std::string_view(soak) == "1" ? 20000 : 600;
}

void random_graph(uint64_t seed, bool cycles, HappensBefore& order, Brute& brute) {
  std::mt19937_64 random(seed);
  const auto below = [&](uint32_t n) { return static_cast<uint32_t>(random() % n); };
  const uint32_t streams = 1 + below(6), nodes = 1 + below(40);
  for (uint32_t i = 0; i < nodes; ++i) {
    std::vector<uint32_t> on{below(streams)};
    while (below(5) == 0) {
      const uint32_t s = below(streams);
      if (std::find(on.begin(), on.end(), s) == on.end()) on.push_back(s);
    }
    order.add(on);
    brute.add(on);
  }
  for (uint32_t i = below(nodes + 1); i > 0; --i) {
    Node a = below(nodes), b = below(nodes);
    if (a == b) continue;
    if (a > b && !cycles) std::swap(a, b);
    order.order(a, b);
    brute.edge(a, b);
  }
  order.close();
  brute.close();
}

TEST(HappensBefore, AgreesWithReachabilityOnRandomGraphs) {
  for (int seed = 0; seed < rounds(); ++seed) {
    HappensBefore order;
    Brute brute;
    random_graph(static_cast<uint64_t>(seed), false, order, brute);
    ASSERT_TRUE(order.cycle().empty()) << "seed " << seed;
    for (Node a = 0; a < order.size(); ++a)
      for (Node b = 0; b < order.size(); ++b) {
        ASSERT_EQ(order.before(a, b), brute.before(a, b)) << "seed " << seed << ": " << a << " before " << b;
        ASSERT_EQ(order.concurrent(a, b), a != b && !brute.before(a, b) && !brute.before(b, a))
            << "seed " << seed;
      }
  }
}

TEST(HappensBefore, FindsCyclesExactlyWhereThereAreSome) {
  int with = 0;
  for (int seed = 0; seed < rounds(); ++seed) {
    HappensBefore order;
    Brute brute;
    random_graph(static_cast<uint64_t>(seed) + 1'000'000, true, order, brute);
    ASSERT_EQ(!order.cycle().empty(), brute.has_cycle()) << "seed " << seed;
    const auto& cycle = order.cycle();
    with += !cycle.empty();
    for (size_t i = 0; i < cycle.size(); ++i)
      ASSERT_TRUE(brute.before(cycle[i], cycle[(i + 1) % cycle.size()])) << "seed " << seed;
    // Nothing is claimed that no path says.
    for (Node a = 0; a < order.size(); ++a)
      for (Node b = 0; b < order.size(); ++b)
        if (order.before(a, b))
          ASSERT_TRUE(brute.before(a, b)) << "seed " << seed << ": " << a << " before " << b;
  }
  EXPECT_GT(with, 50) << "the random graphs must have cycles";
}

TEST(HappensBefore, LongStreamsShareTheirClocks) {
  HappensBefore order;
  for (uint32_t i = 0; i < 200'000; ++i) order.add(i % 500);
  order.order(0, 199'999);
  order.close();
  EXPECT_TRUE(order.before(0, 500));
  EXPECT_TRUE(order.concurrent(0, 1));
  EXPECT_TRUE(order.before(0, 199'999));
  EXPECT_TRUE(order.concurrent(500, 199'999));
}

// Streams of a program: "a" on main, then an event, then "b" on the side; "c" on main beside it.
struct Example {
  Program program;
  Function f;
  OpId a = 0, record = 0, wait = 0, b = 0, c = 0, ret = 0;
};

Example example(bool wait_first) {
  Example e;
  e.f.name = "f";
  e.f.phase = Phase::Decode;
  e.f.body = e.f.add_region();
  const Type t = Type::tensor(DType::F32, {Dim(4)});
  const ValueId x = e.f.add_value(t, "x");
  e.f.regions[e.f.body].args.push_back(x);
  e.f.param_names.push_back("x");
  Context side;
  side.kind = Context::Kind::Stream;
  side.name = "side";
  e.program.contexts.push_back(side);
  const auto op = [&](Opcode code, std::vector<ValueId> in, ContextId context, std::vector<Attr> attrs = {}) {
    Op o;
    o.code = code;
    o.operands = std::move(in);
    o.context = context;
    o.attrs = std::move(attrs);
    const bool result = code == Opcode::Neg;
    return e.f.add_op(e.f.body, std::move(o), result ? std::vector<Type>{t} : std::vector<Type>{});
  };
  const auto wait = [&] { e.wait = op(Opcode::WaitEvent, {}, 0, {std::string("e")}); };
  const auto record = [&] { e.record = op(Opcode::RecordEvent, {}, kNone, {std::string("e")}); };
  e.a = op(Opcode::Neg, {x}, kNone);
  if (wait_first)
    wait();
  else
    record(), wait();
  e.b = op(Opcode::Neg, {e.f.ops[e.a].results[0]}, 0);
  if (wait_first) record();
  e.c = op(Opcode::Neg, {x}, kNone);
  e.ret = op(Opcode::Return, {e.f.ops[e.c].results[0]}, kNone);
  return e;
}

TEST(OpOrder, EventsOrderStreams) {
  const Example e = example(false);
  const OpOrder order(e.program, e.f, order_rules("eager"));
  EXPECT_TRUE(order.before(e.a, e.b));
  EXPECT_TRUE(order.concurrent(e.b, e.c));
  EXPECT_TRUE(order.concurrent(e.b, e.ret));
  EXPECT_EQ(order.streams(), (std::vector<std::string>{"main", "side"}));
  ASSERT_EQ(order.waits().size(), 1U);
  EXPECT_EQ(order.waits()[0].record, e.record);
  EXPECT_FALSE(order.waits()[0].early);
  EXPECT_EQ(order.producer(e.f.ops[e.b].operands[0]), e.a);
  EXPECT_EQ(order.readers(e.a), std::vector<OpId>{e.b});
}

TEST(OpOrder, TheClosureEndsSideStreamsBeforeTheResult) {
  const Example e = example(false);
  const OpOrder order(e.program, e.f, order_rules("npugraph_ex"));
  EXPECT_TRUE(order.before(e.b, e.ret));
  EXPECT_TRUE(order.concurrent(e.b, e.c));
}

TEST(OpOrder, DataOrdersStreamsInGe) {
  Example e = example(false);
  std::erase_if(e.f.regions[e.f.body].ops, [&](OpId id) { return id == e.record || id == e.wait; });
  const OpOrder eager(e.program, e.f, order_rules("eager"));
  EXPECT_TRUE(eager.concurrent(e.a, e.b));
  const OpOrder ge(e.program, e.f, order_rules("ge_graph"));
  EXPECT_TRUE(ge.before(e.a, e.b));
  EXPECT_TRUE(ge.concurrent(e.b, e.c));
}

TEST(OpOrder, AWaitBeforeItsRecordIsEarly) {
  const Example e = example(true);
  const OpOrder order(e.program, e.f, order_rules("eager"));
  ASSERT_EQ(order.waits().size(), 1U);
  EXPECT_TRUE(order.waits()[0].early);
  EXPECT_EQ(order.waits()[0].record, e.record);
  EXPECT_TRUE(order.cycle().empty());
}

}  // namespace
}  // namespace skdsl::plan
