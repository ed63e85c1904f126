// groups — which rows belong to which group of a group_list
#pragma once
#include "stdlib/kernels/kernel.h"

namespace skdsl::kernels {

/// f(group, begin, end) for each group with rows, in order; the group one past the last has the rows that are
/// left. `group_list` [G] holds running ends, or counts. An entry outside the rows is a fault, said by block
/// 0; its rows belong to nobody.
template <class F>
inline void for_groups(const sk_call& call, const sk_tensor& group_list, bool counts, int64_t rows,
                       uint32_t block, F&& f) {
  int64_t begin = 0;
  const int64_t groups = group_list.dim[0];
  for (int64_t g = 0; g <= groups; ++g) {
    int64_t end = rows;
    if (g < groups) {
      const int64_t entry = index_at(group_list, g * group_list.stride[0]);
      end = counts && entry >= 0 && entry <= rows ? begin + entry : entry;
      if (end < begin || end > rows) {
        if (block == 0) report_index(call, entry, rows + 1, g);
        end = begin;
      }
    }
    if (begin < end) f(g, begin, end);
    begin = end;
  }
}

}  // namespace skdsl::kernels
