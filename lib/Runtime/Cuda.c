// Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loads the kernels of a module into the current context of the CUDA driver, once, and launches them on the stream of
// the caller. Nothing is allocated on the GPU and nothing waits, so a call may be captured into a CUDA graph once the
// kernels have been loaded.

#include "Cuda.h"

int snprintf(char *text, size_t size, const char *format, ...);
void *malloc(size_t size);
void free(void *memory);
int sched_yield(void);
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
  Result (*unload)(void *module);
  Result (*get_function)(void **function, void *module, const char *name);
  Result (*set_attribute)(void *function, int attribute, int value);
  Result (*launch)(void *function, unsigned grid_x, unsigned grid_y,
                   unsigned grid_z, unsigned block_x, unsigned block_y,
                   unsigned block_z, unsigned shared, void *stream,
                   void **parameters, void **extra);
  Result (*get_error)(Result result, const char **text);
  /// Null where the driver is older than CUDA 12.
  Result (*get_context_id)(void *context, unsigned long long *id);
} Driver;

/// A kernel, and how much shared memory it was allowed.
typedef struct {
  void *handle;
  int64_t shared;
} Kernel;

/// The kernels of a module in one context. Its id tells it from a later one at the
/// same address; where the driver has none it is 0.
typedef struct Loaded {
  struct Loaded *next;
  void *context;
  unsigned long long id;
  Kernel kernels[];
} Loaded;

static Driver driver;
/// 0 before the driver was opened, 1 after, -1 where there is none.
static int driver_state;
static int64_t driver_lock;
static void *(*driver_lookup)(const char *name);

/// Who holds it may wait for the driver to compile PTX.
static void lock(int64_t *word) {
  while (__atomic_exchange_n(word, 1, __ATOMIC_ACQUIRE))
    sched_yield();
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
      {&driver.unload, "cuModuleUnload"},
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
  *(void **)&driver.get_context_id = find(library, "cuCtxGetId");
  return driver.init(0) == CUDA_SUCCESS ? 1 : -1;
}

/// Return true if there is a driver and a GPU.
static int open_driver(void) {
  int state = __atomic_load_n(&driver_state, __ATOMIC_ACQUIRE);
  if (state == 0) {
    lock(&driver_lock);
    state = driver_state;
    if (state == 0) {
      state = open_driver_locked();
      __atomic_store_n(&driver_state, state, __ATOMIC_RELEASE);
    }
    unlock(&driver_lock);
  }
  return state == 1;
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
  void *module = 0;
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
    if (module)
      driver.unload(module);
    free(loaded);
    return 0;
  }
  loaded->context = context;
  return loaded;
}

/// Return the kernels of `code` in `context`, null where they cannot be loaded.
static void *find_kernels(AttnCudaCall *call, AttnCudaCode *code, void *context,
                          int device) {
  unsigned long long id = 0;
  if (driver.get_context_id &&
      driver.get_context_id(context, &id) != CUDA_SUCCESS)
    id = 0;
  lock(&code->lock);
  Loaded *loaded = code->loaded;
  // What was loaded into a context that is gone went with it. Its place in the list
  // stays: another thread may still launch, and hear an error from the driver.
  while (loaded && (loaded->context != context || loaded->id != id))
    loaded = loaded->next;
  if (!loaded && (loaded = load(call, code, context, device))) {
    loaded->id = id;
    loaded->next = code->loaded;
    code->loaded = loaded;
  }
  unlock(&code->lock);
  return loaded ? loaded->kernels : 0;
}

/// DLPack's number for memory of one GPU.
#define GPU_MEMORY 2

/// Return the number of the GPU that has the first of the tensors, 0 where none has.
static int find_device(DLTensor *const *tensors, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    if (tensors[i]->device.device_type == GPU_MEMORY)
      return tensors[i]->device.device_id;
  return 0;
}

/// Check that tensors which one GPU has are those of `device`.
static int check_device(const AttnCudaCall *call, DLTensor *const *tensors,
                        int64_t count, int device) {
  const char *name = call->names;
  for (int64_t i = 0; i < count; ++i) {
    while (*name++)
      ;
    const DLDevice *own = &tensors[i]->device;
    if (own->device_type != GPU_MEMORY || own->device_id == device)
      continue;
    snprintf(call->message, call->size,
             "'%s' expects %s on GPU %d, that of the current context, got GPU "
             "%d",
             call->names, name, device, (int)own->device_id);
    return ATTN_ERROR_DEVICE;
  }
  return ATTN_OK;
}

/// PlaceWorkspace places allocations at its multiples.
#define WORKSPACE_ALIGNMENT 256

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
  if (bytes > 0 && (uintptr_t)workspace % WORKSPACE_ALIGNMENT) {
    snprintf(message, size,
             "'%s' expects a workspace aligned to %d bytes, got %p", names,
             WORKSPACE_ALIGNMENT, workspace);
    return ATTN_ERROR_STRIDES;
  }
  if (!open_driver()) {
    snprintf(message, size,
             "'%s' expects a GPU and its driver, but libcuda.so.1 is not there "
             "or finds none",
             names);
    return ATTN_ERROR_GPU;
  }
  void *context = 0;
  int device = 0;
  int64_t count = signature[0] + signature[1];
  if (enter_context(call, find_device(tensors, count), &context, &device))
    return (int)call->status;
  int status = check_device(call, tensors, count, device);
  if (status)
    return status;
  call->kernels = find_kernels(call, code, context, device);
  return (int)call->status;
}

/// Parameters of a kernel at most: its descriptors take 4096 bytes.
#define MOST_PARAMETERS 512

/// Blocks of a launch at most, by dimension.
#define MOST_BLOCKS_X 0x7fffffff
#define MOST_BLOCKS_YZ 65535

void attn_rt_cuda_launch(AttnCudaCall *call, int64_t kernel, int64_t grid_x,
                         int64_t grid_y, int64_t grid_z, int64_t block_x,
                         int64_t block_y, int64_t block_z, int64_t shared,
                         int64_t *words, int64_t count) {
  if (call->status || grid_x <= 0 || grid_y <= 0 || grid_z <= 0)
    return;
  void *parameters[MOST_PARAMETERS];
  if (count > MOST_PARAMETERS || grid_x > MOST_BLOCKS_X ||
      grid_y > MOST_BLOCKS_YZ || grid_z > MOST_BLOCKS_YZ) {
    snprintf(call->message, call->size,
             "'%s' expects at most %d x %d x %d blocks of at most %d "
             "parameters, got %lld x %lld x %lld of %lld",
             call->names, MOST_BLOCKS_X, MOST_BLOCKS_YZ, MOST_BLOCKS_YZ,
             MOST_PARAMETERS, (long long)grid_x, (long long)grid_y,
             (long long)grid_z, (long long)count);
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
