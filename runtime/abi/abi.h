// abi — the C structs that kernels, executors and generated code share
//
// A kernel is SPMD over blocks: the executor calls it once per (phase, block); between two phases stands a
// barrier. Shapes were checked before the launch. Work is cut into tiles that depend on shapes only and
// `blocks` merely deals the tiles out, so every number of blocks gives the same bits.
#pragma once
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { SK_MAX_RANK = 8 };

/// Element types. The values are stable: plans and caches store them.
typedef enum sk_dtype {
  SK_NONE = 0,  // an absent optional operand
  SK_F32 = 1,
  SK_BF16 = 2,
  SK_F16 = 3,
  SK_I8 = 4,
  SK_I32 = 5,
  SK_I64 = 6,
  SK_BOOL = 7,  // one byte, 0 or 1
} sk_dtype;

/// How the bytes of a tensor lie in memory; 0 is plain strided.
typedef enum sk_layout { SK_STRIDED = 0 } sk_layout;

/// A view; `stride` counts elements. An absent optional operand has dtype SK_NONE and null data.
typedef struct sk_tensor {
  void* data;
  int64_t dim[SK_MAX_RANK];
  int64_t stride[SK_MAX_RANK];
  uint32_t rank;
  uint32_t dtype;   // sk_dtype
  uint32_t layout;  // sk_layout
  uint32_t reserved;
} sk_tensor;

/// One attribute; which member counts follows from the operator's row in ops.def. Booleans, choices and
/// dtypes are integers: 0/1, the index among the choices, an sk_dtype.
typedef union sk_attr {
  int64_t i;
  double f;
  struct {
    const int64_t* data;
    int64_t size;
  } list;
} sk_attr;

/// What can go wrong with data once shapes are right.
typedef enum sk_fault_code {
  SK_FAULT_NONE = 0,
  SK_FAULT_INDEX = 1,  // an index outside its range; that row was skipped (output zero)
} sk_fault_code;

/// The launch's fault record; the first fault wins (compare and swap on `code`).
typedef struct sk_fault {
  uint32_t code;   // sk_fault_code
  uint32_t ready;  // set after the fields below
  int64_t value;   // the offending value
  int64_t limit;   // it had to be below this
  int64_t row;     // where
} sk_fault;

typedef struct sk_call {
  const sk_tensor* in;   // operands in table order, absent ones included
  const sk_tensor* out;  // results in table order
  const sk_attr* attr;   // attributes in table order
  uint32_t n_in, n_out;
  uint32_t n_attr, reserved;
  uint8_t* workspace;  // `workspace_stride` bytes for each block, 64-byte aligned
  uint64_t workspace_stride;
  sk_fault* fault;
} sk_call;

typedef void (*sk_kernel_fn)(const sk_call* call, uint32_t phase, uint32_t block, uint32_t blocks);
/// Bytes of workspace that one block of this launch needs.
typedef uint64_t (*sk_workspace_fn)(const sk_call* call);

#ifdef __cplusplus
}
#endif
