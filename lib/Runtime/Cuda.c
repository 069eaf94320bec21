// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loads the kernels of a module into the current context of the CUDA driver, once, and launches them on the stream of
// the caller. Nothing is allocated on the GPU and nothing waits, so a call may be captured into a CUDA graph once the
// kernels have been loaded.

#include "Cuda.h"

int snprintf(char *text, size_t size, const char *format, ...);
void *malloc(size_t size);
void *dlopen(const char *file, int flags);
void *dlsym(void *library, const char *name);

/// dlopen's RTLD_NOW.
#define LOAD_NOW 2

/// Numbers of the driver's header.
enum {
  CUDA_SUCCESS = 0,
  ATTRIBUTE_MAX_DYNAMIC_SHARED = 8,
  ATTRIBUTE_MAJOR = 75,
  ATTRIBUTE_MINOR = 76
};

/// Shared memory that a kernel gets without asking for more.
#define DEFAULT_SHARED_BYTES (48 * 1024)

typedef int Result;

/// The functions that are used of the driver.
typedef struct {
  Result (*init)(unsigned flags);
  Result (*get_context)(void **context);
  Result (*set_context)(void *context);
  Result (*retain_context)(void **context, int device);
  Result (*get_device)(int *device);
  Result (*get_attribute)(int *value, int attribute, int device);
  Result (*load)(void **module, const void *image);
  Result (*get_function)(void **function, void *module, const char *name);
  Result (*set_attribute)(void *function, int attribute, int value);
  Result (*launch)(void *function, unsigned grid_x, unsigned grid_y,
                   unsigned grid_z, unsigned block_x, unsigned block_y,
                   unsigned block_z, unsigned shared, void *stream,
                   void **parameters, void **extra);
  Result (*get_error)(Result result, const char **text);
} Driver;

/// A kernel, and how much shared memory it was allowed.
typedef struct {
  void *handle;
  int64_t shared;
} Kernel;

/// The kernels of a module in one context.
typedef struct Loaded {
  struct Loaded *next;
  void *context;
  Kernel kernels[];
} Loaded;

static Driver driver;
/// 0 before the driver was opened, 1 after, -1 where there is none.
static int driver_state;
static int64_t driver_lock;
static void *(*driver_lookup)(const char *name);

static void lock(int64_t *word) {
  while (__atomic_exchange_n(word, 1, __ATOMIC_ACQUIRE))
    ;
}

static void unlock(int64_t *word) {
  __atomic_store_n(word, 0, __ATOMIC_RELEASE);
}

void attn_cuda_set_driver(void *(*lookup)(const char *name)) {
  driver_lookup = lookup;
  driver_state = 0;
}

static void *find(void *library, const char *name) {
  return driver_lookup ? driver_lookup(name) : dlsym(library, name);
}

static int open_driver_locked(void) {
  void *library = 0;
  if (!driver_lookup) {
    library = dlopen("libcuda.so.1", LOAD_NOW);
    if (!library)
      return -1;
  }
  struct {
    void *place;
    const char *name;
  } names[] = {
      {&driver.init, "cuInit"},
      {&driver.get_context, "cuCtxGetCurrent"},
      {&driver.set_context, "cuCtxSetCurrent"},
      {&driver.retain_context, "cuDevicePrimaryCtxRetain"},
      {&driver.get_device, "cuCtxGetDevice"},
      {&driver.get_attribute, "cuDeviceGetAttribute"},
      {&driver.load, "cuModuleLoadData"},
      {&driver.get_function, "cuModuleGetFunction"},
      {&driver.set_attribute, "cuFuncSetAttribute"},
      {&driver.launch, "cuLaunchKernel"},
      {&driver.get_error, "cuGetErrorString"},
  };
  for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
    void *address = find(library, names[i].name);
    if (!address)
      return -1;
    *(void **)names[i].place = address;
  }
  return driver.init(0) == CUDA_SUCCESS ? 1 : -1;
}

/// Return true if there is a driver and a GPU.
static int open_driver(void) {
  if (__atomic_load_n(&driver_state, __ATOMIC_ACQUIRE) == 0) {
    lock(&driver_lock);
    if (driver_state == 0)
      __atomic_store_n(&driver_state, open_driver_locked(), __ATOMIC_RELEASE);
    unlock(&driver_lock);
  }
  return driver_state == 1;
}

/// Write what went wrong; the status is `status`.
static int fail(AttnCudaCall *call, int status, const char *what,
                Result result) {
  const char *text = 0;
  if (driver.get_error(result, &text) != CUDA_SUCCESS || !text)
    text = "unknown error";
  snprintf(call->message, call->size, "'%s' expects %s, got CUDA error %d: %s",
           call->names, what, result, text);
  call->status = status;
  return status;
}

/// Find the device of the current context; without one, make that of device `device`
/// current.
static int enter_context(AttnCudaCall *call, int device, void **context,
                         int *current) {
  Result result = driver.get_context(context);
  if (result == CUDA_SUCCESS && !*context) {
    result = driver.retain_context(context, device);
    if (result == CUDA_SUCCESS)
      result = driver.set_context(*context);
  }
  if (result == CUDA_SUCCESS)
    result = driver.get_device(current);
  if (result != CUDA_SUCCESS)
    return fail(call, ATTN_ERROR_GPU, "a CUDA context", result);
  return ATTN_OK;
}

/// Return the image that runs on a GPU of architecture `architecture`: machine code
/// for it, else the newest of its generation, else PTX; null where there is none.
static const AttnCudaImage *choose_image(const AttnCudaCode *code,
                                         int64_t architecture) {
  const AttnCudaImage *best = 0;
  for (int64_t i = 0; i < code->image_count; ++i) {
    const AttnCudaImage *image = &code->images[i];
    int64_t own = image->architecture;
    int fits = image->kind == ATTN_CUDA_EXACT_CUBIN ? own == architecture
               : image->kind == ATTN_CUDA_CUBIN
                   ? own / 10 == architecture / 10 && own <= architecture
                   : own <= architecture;
    if (!fits)
      continue;
    if (!best ||
        (best->kind == ATTN_CUDA_PTX) > (image->kind == ATTN_CUDA_PTX) ||
        ((best->kind == ATTN_CUDA_PTX) == (image->kind == ATTN_CUDA_PTX) &&
         (best->architecture < own ||
          (best->architecture == own && image->kind == ATTN_CUDA_EXACT_CUBIN))))
      best = image;
  }
  return best;
}

/// Load the kernels into `context`.
static Loaded *load(AttnCudaCall *call, const AttnCudaCode *code, void *context,
                    int device) {
  int major = 0, minor = 0;
  driver.get_attribute(&major, ATTRIBUTE_MAJOR, device);
  driver.get_attribute(&minor, ATTRIBUTE_MINOR, device);
  const AttnCudaImage *image = choose_image(code, 10 * major + minor);
  if (!image) {
    snprintf(call->message, call->size,
             "'%s' expects a GPU that it was compiled for, got one of "
             "architecture sm_%d%d",
             call->names, major, minor);
    call->status = ATTN_ERROR_GPU;
    return 0;
  }
  Loaded *loaded =
      malloc(sizeof *loaded + (size_t)code->kernel_count * sizeof(Kernel));
  if (!loaded) {
    call->status = attn_rt_status(call->names, ATTN_ERROR_MEMORY, call->message,
                                  call->size);
    return 0;
  }
  void *module;
  Result result = driver.load(&module, image->data);
  const char *name = code->kernels;
  for (int64_t i = 0; i < code->kernel_count && result == CUDA_SUCCESS; ++i) {
    result = driver.get_function(&loaded->kernels[i].handle, module, name);
    loaded->kernels[i].shared = DEFAULT_SHARED_BYTES;
    while (*name++)
      ;
  }
  if (result != CUDA_SUCCESS) {
    fail(call, ATTN_ERROR_GPU, "its kernels to be loaded", result);
    return 0;
  }
  loaded->context = context;
  return loaded;
}

int attn_rt_cuda_begin(AttnCudaCall *call, AttnCudaCode *code,
                       const int64_t *signature, const char *names,
                       DLTensor *const *tensors, const void *workspace,
                       int64_t bytes, void *stream, char *message,
                       size_t size) {
  AttnCudaCall begun = {0, stream, names, message, size, ATTN_OK};
  *call = begun;
  if (bytes > 0 && !workspace) {
    snprintf(message, size,
             "'%s' expects a workspace of %lld bytes, got a null pointer",
             names, (long long)bytes);
    return ATTN_ERROR_NULL;
  }
  if (!open_driver()) {
    snprintf(message, size,
             "'%s' expects a GPU and its driver, but libcuda.so.1 is not there "
             "or finds none",
             names);
    return ATTN_ERROR_GPU;
  }
  void *context = 0;
  int device = 0, own = 0;
  int64_t count = signature[0] + signature[1];
  if (count > 0)
    own = tensors[0]->device.device_id;
  if (enter_context(call, own, &context, &device))
    return (int)call->status;
  lock(&code->lock);
  Loaded *loaded = code->loaded;
  while (loaded && loaded->context != context)
    loaded = loaded->next;
  if (!loaded && (loaded = load(call, code, context, device))) {
    loaded->next = code->loaded;
    code->loaded = loaded;
  }
  unlock(&code->lock);
  call->kernels = loaded ? loaded->kernels : 0;
  return (int)call->status;
}

/// Parameters of a kernel at most: its descriptors take 4096 bytes.
#define MOST_PARAMETERS 512

void attn_rt_cuda_launch(AttnCudaCall *call, int64_t kernel, int64_t grid_x,
                         int64_t grid_y, int64_t grid_z, int64_t block_x,
                         int64_t block_y, int64_t block_z, int64_t shared,
                         int64_t *words, int64_t count) {
  if (call->status || grid_x <= 0 || grid_y <= 0 || grid_z <= 0)
    return;
  void *parameters[MOST_PARAMETERS];
  if (count > MOST_PARAMETERS || grid_x > 0x7fffffff || grid_y > 65535 ||
      grid_z > 65535) {
    snprintf(call->message, call->size,
             "'%s' expects fewer blocks than %lld x %lld x %lld", call->names,
             (long long)grid_x, (long long)grid_y, (long long)grid_z);
    call->status = ATTN_ERROR_SHAPE;
    return;
  }
  for (int64_t i = 0; i < count; ++i)
    parameters[i] = &words[i];
  Kernel *own = (Kernel *)call->kernels + kernel;
  Result result = CUDA_SUCCESS;
  // Two threads may both raise it, to the same number.
  if (shared > __atomic_load_n(&own->shared, __ATOMIC_RELAXED)) {
    result = driver.set_attribute(own->handle, ATTRIBUTE_MAX_DYNAMIC_SHARED,
                                  (int)shared);
    if (result == CUDA_SUCCESS)
      __atomic_store_n(&own->shared, shared, __ATOMIC_RELAXED);
  }
  if (result == CUDA_SUCCESS)
    result = driver.launch(own->handle, (unsigned)grid_x, (unsigned)grid_y,
                           (unsigned)grid_z, (unsigned)block_x,
                           (unsigned)block_y, (unsigned)block_z,
                           (unsigned)shared, call->stream, parameters, 0);
  if (result != CUDA_SUCCESS)
    fail(call, ATTN_ERROR_GPU, "a kernel to be launched", result);
}

int attn_rt_cuda_end(const AttnCudaCall *call) { return (int)call->status; }
