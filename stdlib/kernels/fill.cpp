// fill — tensors from nothing: full and arange
#include "stdlib/kernels/kernel.h"

using namespace skdsl::kernels;

SK_KERNEL(full) {
  const sk_tensor& y = call->out[0];
  const double value = call->attr[1].f;
  const Share share = elements_of(element_count(y), block, blocks);
  with_storage(dtype_of(y), [&](auto tag) {
    using S = decltype(tag);
    S element;
    // An f32 in between would lose digits of large integers.
    if constexpr (std::is_integral_v<S>)
      element = static_cast<S>(value);
    else
      element = written<S>(static_cast<float>(value));
    std::fill(static_cast<S*>(y.data) + share.begin, static_cast<S*>(y.data) + share.end, element);
  });
}

SK_KERNEL(arange) {
  const sk_tensor& y = call->out[0];
  const Share share = elements_of(element_count(y), block, blocks);
  for (int64_t i = share.begin; i < share.end; ++i) {
    const int64_t value = call->attr[0].i + i;
    store(at(y, i), dtype_of(y), 1, &value, 1);
  }
}
