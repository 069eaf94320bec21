// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The main function of an executable that attnc makes: reads one .npy file for each input, runs the function, and
// prints its results or writes them:
//
//   ./attend q.npy k.npy v.npy -o output.npy
//
// No header of libc is included: see Entry.h.

#include "Main.h"

int printf(const char *format, ...);
int dprintf(int file, const char *format, ...);
void *malloc(size_t size);
void *calloc(size_t count, size_t size);
void *memcpy(void *to, const void *from, size_t size);
int memcmp(const void *a, const void *b, size_t size);
int strcmp(const char *a, const char *b);
char *strstr(const char *text, const char *part);
size_t strlen(const char *text);
long strtol(const char *text, char **end, int base);
int snprintf(char *text, size_t size, const char *format, ...);
void *fopen(const char *path, const char *mode);
size_t fread(void *to, size_t size, size_t count, void *file);
size_t fwrite(const void *from, size_t size, size_t count, void *file);
int fseek(void *file, long offset, int origin);
long ftell(void *file);
int fclose(void *file);

enum { kStandardError = 2, kMaxRank = 32, kMaxPrinted = 1000 };

static const char *next_name(const char *name) {
  return name + strlen(name) + 1;
}

static int64_t count_elements(const DLTensor *tensor) {
  int64_t count = 1;
  for (int64_t d = 0; d < tensor->ndim; ++d)
    count *= tensor->shape[d];
  return count;
}

static int fail(const char *path, const char *reason) {
  dprintf(kStandardError, "'%s' %s\n", path, reason);
  return 1;
}

/// Return the bytes of a file and how many, or null.
static char *read_file(const char *path, long *size) {
  void *file = fopen(path, "rb");
  if (!file)
    return NULL;
  char *bytes = NULL;
  if (fseek(file, 0, 2) == 0 && (*size = ftell(file)) >= 0 &&
      fseek(file, 0, 0) == 0) {
    bytes = malloc((size_t)*size + 1);
    if (bytes && fread(bytes, 1, (size_t)*size, file) != (size_t)*size)
      bytes = NULL;
  }
  fclose(file);
  if (bytes)
    bytes[*size] = 0;
  return bytes;
}

/// Read the element type after `'descr': '`.
static int read_type(const char *header, DLDataType *type) {
  const char *at = strstr(header, "'descr': '");
  if (!at)
    return 1;
  at += strlen("'descr': '");
  type->lanes = 1;
  if (at[0] == '>')
    return 1;
  switch (at[1]) {
  case 'f':
    type->code = 2;
    break;
  case 'i':
    type->code = 0;
    break;
  case 'u':
    type->code = 1;
    break;
  case 'b':
    type->code = 6;
    break;
  case 'V':
    // numpy has no name for bf16: two bytes of anything.
    type->code = 4;
    break;
  default:
    return 1;
  }
  type->bits = (uint8_t)(8 * strtol(at + 2, NULL, 10));
  return type->bits == 0;
}

/// Read the extents after `'shape': (`.
static int read_shape(const char *header, DLTensor *tensor) {
  const char *at = strstr(header, "'shape': (");
  if (!at)
    return 1;
  at += strlen("'shape': (");
  tensor->ndim = 0;
  tensor->shape = calloc(kMaxRank, sizeof(int64_t));
  while (*at && *at != ')' && tensor->ndim < kMaxRank) {
    char *end;
    long extent = strtol(at, &end, 10);
    if (end == at || extent < 0)
      return 1;
    tensor->shape[tensor->ndim++] = extent;
    at = end;
    while (*at == ',' || *at == ' ')
      ++at;
  }
  return *at != ')';
}

/// Make the strides of a tensor whose first index changes fastest.
static void use_fortran_order(DLTensor *tensor) {
  int64_t stride = 1;
  tensor->strides = calloc(kMaxRank, sizeof(int64_t));
  for (int64_t d = 0; d < tensor->ndim; ++d) {
    tensor->strides[d] = stride;
    stride *= tensor->shape[d];
  }
}

/// Read a .npy file.
static int read_npy(const char *path, DLTensor *tensor) {
  long size = 0;
  char *bytes = read_file(path, &size);
  if (!bytes)
    return fail(path, "cannot be read");
  if (size < 12 || memcmp(bytes, "\x93NUMPY", 6) != 0)
    return fail(path, "is not a .npy file");
  const unsigned char *head = (const unsigned char *)bytes;
  long start = head[6] == 1 ? 10 : 12;
  long length = head[8] + 256 * (long)head[9];
  if (start == 12)
    length += 65536 * (long)head[10] + 16777216 * (long)head[11];
  if (length > size - start)
    return fail(path, "ends inside its header");
  char *header = calloc((size_t)length + 1, 1);
  memcpy(header, bytes + start, (size_t)length);
  tensor->device.device_type = 1;
  if (read_type(header, &tensor->dtype))
    return fail(path, "holds elements of a type that is not known");
  if (read_shape(header, tensor))
    return fail(path, "has no shape in its header");
  if (strstr(header, "'fortran_order': True"))
    use_fortran_order(tensor);
  if (count_elements(tensor) * (tensor->dtype.bits / 8) > size - start - length)
    return fail(path, "ends inside its elements");
  // A copy of its own, so that the elements are aligned.
  tensor->data = malloc((size_t)(size - start - length) + 1);
  memcpy(tensor->data, bytes + start + length, (size_t)(size - start - length));
  return 0;
}

/// Write a contiguous tensor as a .npy file.
static int write_npy(const char *path, const DLTensor *tensor) {
  static const char kinds[] = {'i', 'u', 'f', '?', 'V', '?', 'b'};
  char header[1024];
  int bytes = tensor->dtype.bits / 8;
  // Floats of a byte, which numpy has no name for, are bytes.
  char kind = tensor->dtype.code > 6 ? 'u' : kinds[tensor->dtype.code];
  int at = snprintf(header, sizeof header,
                    "{'descr': '%c%c%d', 'fortran_order': False, 'shape': (",
                    bytes == 1 ? '|' : '<', kind, bytes);
  for (int64_t d = 0; d < tensor->ndim; ++d)
    at += snprintf(header + at, sizeof header - (size_t)at, "%lld, ",
                   (long long)tensor->shape[d]);
  at += snprintf(header + at, sizeof header - (size_t)at, "), }");
  // numpy wants the elements at a multiple of 64 bytes.
  while ((10 + at + 1) % 64 != 0)
    header[at++] = ' ';
  header[at++] = '\n';
  char magic[10] = "\x93NUMPY\x01";
  magic[7] = 0;
  magic[8] = (char)(at % 256);
  magic[9] = (char)(at / 256);
  void *file = fopen(path, "wb");
  if (!file)
    return fail(path, "cannot be written");
  size_t size = (size_t)(count_elements(tensor) * bytes);
  int good = fwrite(magic, 1, 10, file) == 10 &&
             fwrite(header, 1, (size_t)at, file) == (size_t)at &&
             fwrite(tensor->data, 1, size, file) == size;
  if (fclose(file) != 0 || !good)
    return fail(path, "cannot be written");
  return 0;
}

/// Return the number that the bits of a half stand for.
static double from_half(uint16_t bits) {
  int exponent = (bits >> 10) & 31;
  double value = bits & 1023;
  if (exponent == 31)
    value = value ? __builtin_nan("") : __builtin_inf();
  else {
    if (exponent)
      value += 1024;
    for (int e = exponent ? exponent : 1; e < 25; ++e)
      value /= 2;
    for (int e = 25; e < exponent; ++e)
      value *= 2;
  }
  return bits >> 15 ? -value : value;
}

static double read_number(const DLTensor *tensor, int64_t index) {
  const char *at =
      (const char *)tensor->data + index * (tensor->dtype.bits / 8);
  uint64_t bits = 0;
  memcpy(&bits, at, tensor->dtype.bits / 8);
  uint32_t word = (uint32_t)(tensor->dtype.code == 4 ? bits << 16 : bits);
  float single;
  double value;
  switch (tensor->dtype.code) {
  case 2:
    if (tensor->dtype.bits == 16)
      return from_half((uint16_t)bits);
    if (tensor->dtype.bits == 64) {
      memcpy(&value, &bits, sizeof value);
      return value;
    }
    memcpy(&single, &word, sizeof single);
    return single;
  case 4:
    memcpy(&single, &word, sizeof single);
    return single;
  case 0: {
    int unused = 64 - tensor->dtype.bits;
    return (double)((int64_t)(bits << unused) >> unused);
  }
  default:
    return (double)bits;
  }
}

/// Print a tensor, one innermost row a line.
static void print_tensor(const char *name, const DLTensor *tensor) {
  int64_t count = count_elements(tensor);
  int64_t row = tensor->ndim ? tensor->shape[tensor->ndim - 1] : 1;
  printf("%s [", name);
  for (int64_t d = 0; d < tensor->ndim; ++d)
    printf(d ? ", %lld" : "%lld", (long long)tensor->shape[d]);
  printf("]\n");
  for (int64_t i = 0; i < count && i < kMaxPrinted; ++i)
    printf((i + 1) % row == 0 ? "%.7g\n" : "%.7g ", read_number(tensor, i));
  if (count > kMaxPrinted)
    printf("... (%lld more; -o FILE.npy writes all)\n",
           (long long)(count - kMaxPrinted));
}

/// Make the outputs that the signature describes, without data.
static void describe_outputs(const AttnProgram *program, DLTensor *tensors) {
  const int64_t *at = program->signature + 2;
  int64_t inputs = program->signature[0];
  for (int64_t i = 0; i < inputs + program->signature[1]; ++i) {
    if (i >= inputs) {
      DLTensor *tensor = &tensors[i];
      tensor->device.device_type = 1;
      tensor->dtype.code = (uint8_t)at[0];
      tensor->dtype.bits = (uint8_t)at[1];
      tensor->dtype.lanes = 1;
      tensor->ndim = (int32_t)at[2];
      tensor->shape = calloc(kMaxRank, sizeof(int64_t));
    }
    at += 3 + at[2];
  }
}

static int usage(const AttnProgram *program) {
  const char *name = program->names;
  dprintf(kStandardError, "usage: %s", name);
  for (int64_t i = 0; i < program->signature[0]; ++i) {
    name = next_name(name);
    dprintf(kStandardError, " FILE.npy");
  }
  dprintf(kStandardError, " [-o FILE.npy]...\n");
  name = next_name(program->names);
  for (int64_t i = 0; i < program->signature[0]; ++i, name = next_name(name))
    dprintf(kStandardError, "  file %lld: %s\n", (long long)i + 1, name);
  return 2;
}

/// Compute, then print the results or write those that a file is named for.
static int run(const AttnProgram *program, DLTensor *tensors,
               DLTensor *const *pointers, char *const *files, int64_t written) {
  char message[512] = "";
  int64_t inputs = program->signature[0], outputs = program->signature[1];
  describe_outputs(program, tensors);
  int status = program->shape(pointers, message, sizeof message);
  for (int64_t i = inputs; i < inputs + outputs && !status; ++i) {
    size_t bytes =
        (size_t)(count_elements(&tensors[i]) * (tensors[i].dtype.bits / 8));
    tensors[i].data = malloc(bytes + 1);
  }
  if (!status)
    status = program->apply(pointers, message, sizeof message);
  if (status) {
    dprintf(kStandardError, "%s\n", message);
    return 1;
  }
  const char *name = next_name(program->names);
  for (int64_t i = 0; i < inputs; ++i)
    name = next_name(name);
  for (int64_t i = 0; i < outputs; ++i, name = next_name(name)) {
    if (i < written) {
      if (write_npy(files[i], &tensors[inputs + i]))
        return 1;
    } else if (written == 0) {
      print_tensor(name, &tensors[inputs + i]);
    }
  }
  return 0;
}

int attn_rt_main(int argc, char **argv, const int64_t *signature,
                 const char *names, AttnFunction *shape, AttnFunction *apply) {
  AttnProgram program = {signature, names, shape, apply};
  int64_t inputs = signature[0], outputs = signature[1], read = 0, written = 0;
  DLTensor *tensors = calloc((size_t)(inputs + outputs) + 1, sizeof(DLTensor));
  DLTensor **pointers =
      calloc((size_t)(inputs + outputs) + 1, sizeof *pointers);
  char **files = calloc((size_t)outputs + 1, sizeof *files);
  for (int64_t i = 0; i < inputs + outputs; ++i)
    pointers[i] = &tensors[i];
  for (int i = 1; i < argc; ++i) {
    if (strcmp(argv[i], "-o") == 0) {
      if (i + 1 == argc || written == outputs)
        return usage(&program);
      files[written++] = argv[++i];
      continue;
    }
    if (argv[i][0] == '-' || read == inputs)
      return usage(&program);
    if (read_npy(argv[i], &tensors[read++]))
      return 1;
  }
  if (read < inputs)
    return usage(&program);
  return run(&program, tensors, pointers, files, written);
}
