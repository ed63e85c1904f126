// facts — the tables under `unit_facts` of the conformance records
#pragma once
#include <filesystem>

#include "runtime/base/file.h"
#include "runtime/base/json.h"

namespace skdsl::superkernel::facts {

inline const Json& fact(const char* name) {
  static const Json all = parse_json(read_file(std::filesystem::path(SKDSL_SOURCE_DIR) /
                                               "tests/conformance/superkernel_cases.json")
                                         .value(),
                                     "facts")
                              .value();
  return *all.find("unit_facts")->find(name);
}
inline const Json::Array& cases(const char* name) { return fact(name).find("cases")->as_array(); }

}  // namespace skdsl::superkernel::facts
