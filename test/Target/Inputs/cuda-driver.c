// A driver that only counts and prints what lib/Runtime/Cuda.c asks of it.

#include "Cuda.h"

#include <stdio.h>
#include <string.h>

static int architecture = 80, loads, unloads, fails, launch_result;
static int current_device, retained = -1;
static void *current = (void *)0x100;
static unsigned long long context_id = 1;
static const AttnCudaImage images[] = {
    {80, ATTN_CUDA_CUBIN, "cubin 80"},
    {89, ATTN_CUDA_CUBIN, "cubin 89"},
    {90, ATTN_CUDA_EXACT_CUBIN, "exact cubin 90"},
    {80, ATTN_CUDA_PTX, "PTX 80"},
    {89, ATTN_CUDA_PTX, "PTX 89"}};
static const char *loaded;

static int init(unsigned flags) { return (int)flags; }
static int get_context(void **context) {
  *context = current;
  return 0;
}
static int get_context_id(void *context, unsigned long long *id) {
  *id = context == (void *)0x100 ? context_id : 0;
  return context != (void *)0x100;
}
static int set_context(void *context) {
  current = context;
  return 0;
}
static int retain_context(void **context, int device) {
  retained = current_device = device;
  *context = (void *)0x300;
  return 0;
}
static int get_device(int *device) {
  *device = current_device;
  return 0;
}
static int get_attribute(int *value, int attribute, int device) {
  (void)device;
  *value = attribute == 75 ? architecture / 10 : architecture % 10;
  return 0;
}
static int load(void **module, const void *image) {
  ++loads;
  loaded = image;
  *module = &loads;
  return 0;
}
static int unload(void *module) {
  unloads += module == &loads;
  return 0;
}
static int get_function(void **function, void *module, const char *name) {
  (void)module;
  if (fails && !strcmp(name, "second"))
    return 500;
  *function = (void *)name;
  return 0;
}
static int set_attribute(void *function, int attribute, int value) {
  if (attribute == 8)
    printf("allow %s %d\n", (const char *)function, value);
  return 0;
}
static int launch(void *function, unsigned grid_x, unsigned grid_y,
                  unsigned grid_z, unsigned block_x, unsigned block_y,
                  unsigned block_z, unsigned shared, void *stream,
                  void **parameters, void **extra) {
  if (launch_result)
    return launch_result;
  if (block_y != 1 || block_z != 1 || stream != (void *)0x200 || extra)
    printf("wrong ");
  printf("launch of %s: %u x %u x %u, %u threads, %u bytes, %lld\n",
         (const char *)function, grid_x, grid_y, grid_z, block_x, shared,
         (long long)*(int64_t *)parameters[0]);
  return 0;
}
static int get_error(int result, const char **text) {
  *text = result == 500 ? "named symbol not found" : "launch failed";
  return 0;
}

static void *lookup(const char *name) {
  static const struct {
    const char *name;
    void *function;
  } functions[] = {{"cuInit", (void *)init},
                   {"cuCtxGetCurrent", (void *)get_context},
                   {"cuCtxSetCurrent", (void *)set_context},
                   {"cuCtxGetId", (void *)get_context_id},
                   {"cuDevicePrimaryCtxRetain", (void *)retain_context},
                   {"cuCtxGetDevice", (void *)get_device},
                   {"cuDeviceGetAttribute", (void *)get_attribute},
                   {"cuModuleLoadData", (void *)load},
                   {"cuModuleUnload", (void *)unload},
                   {"cuModuleGetFunction", (void *)get_function},
                   {"cuFuncSetAttribute", (void *)set_attribute},
                   {"cuLaunchKernel", (void *)launch},
                   {"cuGetErrorString", (void *)get_error}};
  for (size_t i = 0; i < sizeof functions / sizeof *functions; ++i)
    if (!strcmp(functions[i].name, name))
      return functions[i].function;
  return 0;
}

static void *no_lookup(const char *name) {
  (void)name;
  return 0;
}

static char message[256];
static DLTensor tensors[2];
static DLTensor *pointers[] = {&tensors[0], &tensors[1]};

static int begin(AttnCudaCall *call, AttnCudaCode *code, const void *workspace,
                 int64_t bytes) {
  static const int64_t signature[] = {1, 1};
  message[0] = 0;
  return attn_rt_cuda_begin(call, code, signature, "f\0argument 'x'\0result 0",
                            pointers, workspace, bytes, (void *)0x200, message,
                            sizeof message);
}

static AttnCudaCode make_code(void) {
  AttnCudaCode code = {5, images, 2, "first\0second\0", 0, 0};
  loads = unloads = 0;
  return code;
}

static void check_images(void) {
  static const int known[] = {80, 86, 89, 90, 100, 75};
  AttnCudaCall call;
  for (size_t i = 0; i < sizeof known / sizeof *known; ++i) {
    AttnCudaCode code = make_code();
    architecture = known[i];
    int status = begin(&call, &code, 0, 0);
    if (status)
      printf("sm_%d: %d %s\n", known[i], status, message);
    else
      printf("sm_%d: load %s\n", known[i], loaded);
  }
  architecture = 80;
}

static void launch_second(AttnCudaCall *call, int64_t grid_x, int64_t grid_y,
                          int64_t grid_z, int64_t shared) {
  int64_t word = 42;
  attn_rt_cuda_launch(call, 1, grid_x, grid_y, grid_z, 128, 1, 1, shared, &word,
                      1);
}

static void check_launches(void) {
  AttnCudaCall call;
  AttnCudaCode code = make_code();
  printf("first: %d", begin(&call, &code, 0, 0));
  printf(", %d loaded\n", loads);
  printf("second: %d", begin(&call, &code, 0, 0));
  printf(", %d loaded\n", loads);
  current = (void *)0x101;
  printf("other context: %d", begin(&call, &code, 0, 0));
  printf(", %d loaded\n", loads);
  current = (void *)0x100;
  printf("back: %d", begin(&call, &code, 0, 0));
  printf(", %d loaded\n", loads);
  context_id = 2;
  printf("new context at its address: %d", begin(&call, &code, 0, 0));
  printf(", %d loaded\n", loads);
  launch_second(&call, 7, 65535, 1, 1024);
  launch_second(&call, 7, 0, 1, 1024);
  launch_second(&call, 1, 1, 1, 65536);
  launch_second(&call, 1, 1, 1, 65536);
  printf("after launches: %d\n", attn_rt_cuda_end(&call));
}

static void check_half_loaded(void) {
  AttnCudaCall call;
  AttnCudaCode code = make_code();
  fails = 1;
  int status = begin(&call, &code, 0, 0);
  printf("lacks second: %d %s\n%d loaded, %d unloaded\n", status, message,
         loads, unloads);
  fails = 0;
  printf("once more: %d", begin(&call, &code, 0, 0));
  printf(", %d loaded\n", loads);
}

static void check_errors(void) {
  AttnCudaCall call;
  AttnCudaCode code = make_code();
  begin(&call, &code, 0, 0);
  launch_second(&call, 1, 65536, 1, 0);
  launch_second(&call, 1, 1, 1, 0);
  printf("%d %s\n", attn_rt_cuda_end(&call), message);
  begin(&call, &code, 0, 0);
  launch_second(&call, 1, 1, 65536, 0);
  printf("%d %s\n", attn_rt_cuda_end(&call), message);
  begin(&call, &code, 0, 0);
  launch_result = 719;
  launch_second(&call, 1, 1, 1, 0);
  launch_result = 0;
  launch_second(&call, 1, 1, 1, 0);
  printf("%d %s\n", attn_rt_cuda_end(&call), message);
}

static void check_places(void) {
  AttnCudaCall call;
  AttnCudaCode code = make_code();
  tensors[0].device.device_id = tensors[1].device.device_id = 1;
  current = 0;
  int status = begin(&call, &code, 0, 0);
  printf("no context: retain %d, set %d, %d\n", retained,
         current == (void *)0x300, status);
  current_device = 0;
  status = begin(&call, &code, 0, 0);
  printf("other GPU: %d %s\n", status, message);
  tensors[0].device.device_id = tensors[1].device.device_id = 0;
  status = begin(&call, &code, 0, 512);
  printf("no workspace: %d %s\n", status, message);
  status =
      begin(&call, &code, message + (16 - (uintptr_t)message % 16) + 8, 512);
  printf("odd workspace: %d %s\n", status, message);
  attn_cuda_set_driver(no_lookup);
  status = begin(&call, &code, 0, 0);
  printf("no driver: %d %s\n", status, message);
}

int main(void) {
  for (int i = 0; i < 2; ++i)
    tensors[i].device.device_type = 2;
  attn_cuda_set_driver(lookup);
  check_images();
  check_launches();
  check_half_loaded();
  check_errors();
  check_places();
  return 0;
}
