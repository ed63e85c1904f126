// random_sk — random .sk programs from a seed, correct in syntax and otherwise without sense
//
// Every construct of the grammar occurs, with random spacing, line breaks, blank lines and numbered comments
// ("// note 17"). The same seed gives the same text on every platform.
#pragma once
#include <cstdint>
#include <random>
#include <string>

namespace skdsl::test {

class RandomSk {
 public:
  explicit RandomSk(uint64_t seed) : engine_(seed) {}

  /// A file of about `items` top-level declarations and statements.
  std::string program(int items);
  /// One expression without line breaks outside brackets.
  std::string expression(int depth);
  /// How many comments the text so far holds: "// note 0" … "// note n-1".
  int comments() const { return comments_; }

 private:
  bool chance(int percent) { return below(100) < percent; }
  int below(int n) { return static_cast<int>(engine_() % static_cast<uint64_t>(n)); }
  template <size_t N>
  std::string pick(const char* const (&options)[N]) {
    return options[below(static_cast<int>(N))];
  }

  std::string name();        // anywhere
  std::string plain_name();  // also where a statement begins
  std::string number();
  std::string string_literal(int depth);
  std::string gap();          // blanks, often none
  std::string bracket_gap();  // between the words inside brackets: may be a line break with a comment
  std::string list(int depth, int most, bool named);
  std::string term(int depth);
  std::string power(int depth);
  std::string product(int depth);
  std::string sum(int depth);
  std::string comparison(int depth);
  std::string logic(int depth);
  std::string index_item(int depth);
  std::string type(int depth);
  std::string params(int depth);
  std::string result(int depth);
  std::string guard(int depth, bool before_super_kernel);
  std::string options(const char* const* names, int count);
  std::string path();

  std::string comment();
  std::string line_end();
  std::string separator(bool one_line);
  template <class Make>
  std::string block(const char* open, const char* close, int depth, Make make);
  std::string statement(int depth);
  std::string statements(int depth) {
    return block("{", "}", depth, [this](int d) { return statement(d); });
  }
  std::string member(int depth);
  std::string config_item(int depth);
  std::string item();

  std::mt19937_64 engine_;
  int comments_ = 0;
  bool one_line_ = false;  // no line may end at the moment
};

}  // namespace skdsl::test
