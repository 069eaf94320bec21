// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks the tensors that a caller hands to a compiled function, and says what is wrong with them.

#include "Cuda.h"

int snprintf(char *text, size_t size, const char *format, ...);

/// One tensor's part of a signature.
typedef struct {
  int64_t code, bits, rank;
  const int64_t *extents;
} Expected;

/// The bytes that a tensor may touch, and none where it is empty.
typedef struct {
  uintptr_t first, end;
} Range;

static const char *next_name(const char *name) {
  while (*name)
    ++name;
  return name + 1;
}

static const char *skip_names(const char *name, int64_t count) {
  while (count-- > 0)
    name = next_name(name);
  return name;
}

static const int64_t *read_expected(const int64_t *at, Expected *expected) {
  expected->code = at[0];
  expected->bits = at[1];
  expected->rank = at[2];
  expected->extents = at + 3;
  return at + 3 + expected->rank;
}

static int64_t stride_of(const DLTensor *tensor, int64_t dim) {
  if (tensor->strides)
    return tensor->strides[dim];
  int64_t stride = 1;
  for (int64_t d = tensor->ndim - 1; d > dim; --d)
    stride *= tensor->shape[d];
  return stride;
}

static int is_empty(const DLTensor *tensor) {
  for (int64_t d = 0; d < tensor->ndim; ++d)
    if (tensor->shape[d] == 0)
      return 1;
  return 0;
}

static char *data_of(const DLTensor *tensor) {
  return (char *)tensor->data + tensor->byte_offset;
}

static Range range_of(const DLTensor *tensor) {
  Range range = {0, 0};
  if (is_empty(tensor))
    return range;
  int64_t low = 0, high = 0;
  for (int64_t d = 0; d < tensor->ndim; ++d) {
    int64_t reach = (tensor->shape[d] - 1) * stride_of(tensor, d);
    if (reach < 0)
      low += reach;
    else
      high += reach;
  }
  int64_t bytes = tensor->dtype.bits / 8;
  uintptr_t base = (uintptr_t)data_of(tensor);
  range.first = base + (uintptr_t)(low * bytes);
  range.end = base + (uintptr_t)((high + 1) * bytes);
  return range;
}

static const char *type_name(int64_t code) {
  switch (code) {
  case 0:
    return "i";
  case 1:
    return "u";
  case 2:
    return "f";
  case 4:
    return "bf";
  case 6:
    return "bool";
  case 10:
    return "f8E4M3FN of bits ";
  case 12:
    return "f8E5M2 of bits ";
  default:
    return "type of another kind ";
  }
}

/// Return true if elements of the tensor may be read as the expected type: a
/// boolean is a byte that is zero or not, and a float of a byte may come as one.
static int has_type(const DLTensor *tensor, const Expected *expected) {
  DLDataType type = tensor->dtype;
  if (type.lanes != 1 || type.bits != expected->bits)
    return 0;
  if (type.code == expected->code)
    return 1;
  if (expected->code == 10 || expected->code == 12)
    return type.code == 1;
  return expected->code == 0 && expected->bits == 8 &&
         (type.code == 1 || type.code == 6);
}

/// Check what NAME_shape may rely on: the tensor is there, of the right rank.
static int check_rank(const char *function, const char *name,
                      const DLTensor *tensor, const Expected *expected,
                      char *message, size_t size) {
  if (!tensor) {
    snprintf(message, size, "'%s' expects %s, got a null pointer", function,
             name);
    return ATTN_ERROR_NULL;
  }
  if (tensor->ndim != expected->rank) {
    snprintf(message, size, "'%s' expects %s of rank %lld, got rank %lld",
             function, name, (long long)expected->rank,
             (long long)tensor->ndim);
    return ATTN_ERROR_RANK;
  }
  if (expected->rank > 0 && !tensor->shape) {
    snprintf(message, size, "'%s' expects %s with a shape, got a null pointer",
             function, name);
    return ATTN_ERROR_NULL;
  }
  return ATTN_OK;
}

/// Say that one extent is not what it must be.
static int report_extent(const char *function, const char *name, int64_t wanted,
                         int64_t dim, int64_t got, char *message, size_t size) {
  snprintf(message, size, "'%s' expects %s of %lld in dimension %lld, got %lld",
           function, name, (long long)wanted, (long long)dim, (long long)got);
  return ATTN_ERROR_SHAPE;
}

/// Check the type and the extents that are known.
static int check_type(const char *function, const char *name,
                      const DLTensor *tensor, const Expected *expected,
                      char *message, size_t size) {
  if (!has_type(tensor, expected)) {
    snprintf(message, size,
             "'%s' expects %s of element type %s%lld, got %s%d (%d lanes)",
             function, name, type_name(expected->code),
             (long long)expected->bits, type_name(tensor->dtype.code),
             tensor->dtype.bits, tensor->dtype.lanes);
    return ATTN_ERROR_TYPE;
  }
  for (int64_t d = 0; d < expected->rank; ++d) {
    int64_t wanted = expected->extents[d], got = tensor->shape[d];
    if (got >= 0 && (wanted < 0 || wanted == got))
      continue;
    if (wanted >= 0)
      return report_extent(function, name, wanted, d, got, message, size);
    snprintf(message, size,
             "'%s' expects %s of at least 0 in dimension %lld, got %lld",
             function, name, (long long)d, (long long)got);
    return ATTN_ERROR_SHAPE;
  }
  return ATTN_OK;
}

/// What is looked at of the tensors, and where their data must be.
enum Look { LOOK_AT_SHAPES, LOOK_AT_EXTENTS, LOOK_ON_CPU, LOOK_ON_GPU };

/// Check that the data can be reached.
static int check_data(const char *function, const char *name,
                      const DLTensor *tensor, enum Look look, char *message,
                      size_t size) {
  // 1 is the CPU, 2 a GPU; 3 is memory of the CPU that a GPU reads too, and 13
  // belongs to both.
  int type = (int)tensor->device.device_type;
  if (look == LOOK_ON_CPU ? type != 1 && type != 3
                          : type != 2 && type != 3 && type != 13) {
    snprintf(message, size, "'%s' expects %s on the %s, got device type %d",
             function, name, look == LOOK_ON_CPU ? "CPU" : "GPU", type);
    return ATTN_ERROR_DEVICE;
  }
  if (is_empty(tensor))
    return ATTN_OK;
  if (!tensor->data) {
    snprintf(message, size, "'%s' expects %s with data, got a null pointer",
             function, name);
    return ATTN_ERROR_NULL;
  }
  uintptr_t bytes = tensor->dtype.bits / 8;
  if ((uintptr_t)data_of(tensor) % bytes != 0) {
    snprintf(message, size,
             "'%s' expects %s at a multiple of %d bytes, got an address that "
             "is not",
             function, name, (int)bytes);
    return ATTN_ERROR_STRIDES;
  }
  return ATTN_OK;
}

/// Check that no two elements of an output share memory and that its innermost
/// dimension is contiguous.
static int check_output(const char *function, const char *name,
                        const DLTensor *tensor, char *message, size_t size) {
  if (is_empty(tensor))
    return ATTN_OK;
  int64_t last = tensor->ndim - 1;
  if (last >= 0 && tensor->shape[last] > 1 && stride_of(tensor, last) != 1) {
    snprintf(message, size,
             "'%s' expects %s of innermost stride 1, got stride %lld", function,
             name, (long long)stride_of(tensor, last));
    return ATTN_ERROR_STRIDES;
  }
  for (int64_t d = 0; d < tensor->ndim; ++d) {
    if (tensor->shape[d] <= 1)
      continue;
    int64_t stride = stride_of(tensor, d), reach = 0;
    int64_t step = stride < 0 ? -stride : stride;
    for (int64_t e = 0; e < tensor->ndim; ++e) {
      int64_t other = stride_of(tensor, e);
      other = other < 0 ? -other : other;
      if (e != d && tensor->shape[e] > 1 &&
          (other < step || (other == step && e > d)))
        reach += (tensor->shape[e] - 1) * other;
    }
    if (step > reach)
      continue;
    snprintf(message, size,
             "'%s' expects %s whose elements do not overlap, got stride %lld "
             "in dimension %lld",
             function, name, (long long)stride, (long long)d);
    return ATTN_ERROR_STRIDES;
  }
  return ATTN_OK;
}

/// Return true if both tensors are the same elements in the same memory.
static int is_same(const DLTensor *a, const DLTensor *b) {
  if (data_of(a) != data_of(b) || a->ndim != b->ndim)
    return 0;
  for (int64_t d = 0; d < a->ndim; ++d)
    if (a->shape[d] != b->shape[d] ||
        (a->shape[d] > 1 && stride_of(a, d) != stride_of(b, d)))
      return 0;
  return 1;
}

/// Check that output number `output` shares no byte with any other tensor
/// before it, unless it is all of tensor number `in_place`.
static int check_alias(const char *names, DLTensor *const *tensors,
                       int64_t output, int64_t in_place, char *message,
                       size_t size) {
  Range range = range_of(tensors[output]);
  const char *name = next_name(names), *own = skip_names(name, output);
  for (int64_t i = 0; i < output; ++i, name = next_name(name)) {
    Range other = range_of(tensors[i]);
    if (range.first >= other.end || other.first >= range.end)
      continue;
    if (i == in_place && is_same(tensors[i], tensors[output]))
      continue;
    snprintf(message, size,
             "'%s' expects %s to share no memory with %s, got an overlap",
             names, own, name);
    return ATTN_ERROR_ALIAS;
  }
  return ATTN_OK;
}

/// Write the words of a memref that describe the tensor; return where the next
/// one's go.
static int64_t *unpack(const DLTensor *tensor, int64_t *words) {
  words[0] = words[1] = (int64_t)(uintptr_t)data_of(tensor);
  words[2] = 0;
  words += 3;
  for (int64_t d = 0; d < tensor->ndim; ++d) {
    words[d] = tensor->shape[d];
    words[tensor->ndim + d] = stride_of(tensor, d);
  }
  return words + 2 * tensor->ndim;
}

/// Return where the parts of `count` tensors of a signature, from `at` on, end.
static const int64_t *skip_tensors(const int64_t *at, int64_t count) {
  Expected expected;
  while (count-- > 0)
    at = read_expected(at, &expected);
  return at;
}

/// Check every tensor and write its words. Where only shapes or extents are asked
/// for, data is not looked at; where only shapes are, of the outputs the rank is.
static int open_tensors(const int64_t *signature, const char *names,
                        DLTensor *const *tensors, int64_t *words,
                        enum Look look, char *message, size_t size) {
  int64_t inputs = signature[0], count = inputs + signature[1];
  const int64_t *at = signature + 2, *in_place = skip_tensors(at, count);
  const char *name = next_name(names);
  int status = ATTN_OK;
  for (int64_t i = 0; i < count && !status; ++i, name = next_name(name)) {
    Expected expected;
    at = read_expected(at, &expected);
    const DLTensor *tensor = tensors[i];
    int is_output = i >= inputs;
    status = check_rank(names, name, tensor, &expected, message, size);
    if (is_output && look == LOOK_AT_SHAPES)
      continue;
    if (!status)
      status = check_type(names, name, tensor, &expected, message, size);
    if (!status && look >= LOOK_ON_CPU)
      status = check_data(names, name, tensor, look, message, size);
    if (!status && is_output && look >= LOOK_ON_CPU)
      status = check_output(names, name, tensor, message, size);
    if (!status && is_output && look >= LOOK_ON_CPU)
      status =
          check_alias(names, tensors, i, in_place[i - inputs], message, size);
    if (!status)
      words = unpack(tensor, words);
  }
  return status;
}

int attn_rt_open(const int64_t *signature, const char *names,
                 DLTensor *const *tensors, int64_t *words, char *message,
                 size_t size) {
  return open_tensors(signature, names, tensors, words, LOOK_ON_CPU, message,
                      size);
}

int attn_rt_open_shapes(const int64_t *signature, const char *names,
                        DLTensor *const *tensors, int64_t *words, char *message,
                        size_t size) {
  return open_tensors(signature, names, tensors, words, LOOK_AT_SHAPES, message,
                      size);
}

int attn_rt_open_cuda(const int64_t *signature, const char *names,
                      DLTensor *const *tensors, int64_t *words, char *message,
                      size_t size) {
  return open_tensors(signature, names, tensors, words, LOOK_ON_GPU, message,
                      size);
}

int attn_rt_open_extents(const int64_t *signature, const char *names,
                         DLTensor *const *tensors, int64_t *words,
                         char *message, size_t size) {
  return open_tensors(signature, names, tensors, words, LOOK_AT_EXTENTS,
                      message, size);
}

int attn_rt_compare_shapes(const int64_t *signature, const char *names,
                           DLTensor *const *tensors, const int64_t *extents,
                           char *message, size_t size) {
  const char *name = skip_names(names, 1 + signature[0]);
  const int64_t *at = skip_tensors(signature + 2, signature[0]);
  for (int64_t i = 0; i < signature[1]; ++i, name = next_name(name)) {
    Expected expected;
    at = read_expected(at, &expected);
    const int64_t *shape = tensors[signature[0] + i]->shape;
    for (int64_t d = 0; d < expected.rank; ++d, ++extents) {
      if (shape[d] == *extents)
        continue;
      return report_extent(names, name, *extents, d, shape[d], message, size);
    }
  }
  return ATTN_OK;
}

int attn_rt_store_shapes(const int64_t *signature, DLTensor *const *tensors,
                         const int64_t *extents) {
  const int64_t *at = skip_tensors(signature + 2, signature[0]);
  for (int64_t i = 0; i < signature[1]; ++i) {
    Expected expected;
    at = read_expected(at, &expected);
    for (int64_t d = 0; d < expected.rank; ++d)
      tensors[signature[0] + i]->shape[d] = *extents++;
  }
  return ATTN_OK;
}

int attn_rt_report(const char *table, const int64_t *kinds, int64_t number,
                   int64_t got, int64_t wanted, char *message, size_t size) {
  snprintf(message, size, skip_names(table, number - 1), (long long)got,
           (long long)wanted);
  return (int)kinds[number - 1];
}

int attn_rt_status(const char *names, int32_t status, char *message,
                   size_t size) {
  if (status == ATTN_ERROR_MEMORY)
    snprintf(message, size, "'%s' expects memory for its scratch, got none",
             names);
  else if (status == ATTN_ERROR_STRIDES)
    snprintf(message, size, "'%s' expects packed weights of stride 1", names);
  else
    snprintf(message, size, "'%s' failed with status %d", names, (int)status);
  return status;
}
