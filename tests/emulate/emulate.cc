/* Threads of a GPU on the CPU: each is a fiber with a stack of its own, which runs until it waits for others. Blocks run one after the
   other, on the same fibers, or, in a cooperative launch, all at once.

   EMULATE_ORDER says in which order blocks run, and threads between two barriers: 0 ascending, 1 descending, n > 1 random with the seed n.
   A kernel without races has the same result in every order. EMULATE_TRACE=1 prints every launch. */
#include "cuda_runtime.h"
#include <csetjmp>
#include <cstdio>
#include <sys/mman.h>
#include <ucontext.h>

uint3 threadIdx, blockIdx;
dim3  blockDim, gridDim;

namespace emulated {
unsigned char *shared;

enum { STACK = 256 << 10, WARP = 32, MOST_THREADS = 1024, MOST_BYTES = 227 << 10 };

struct Barrier {
  size_t   members = 0, waiting = 0;
  unsigned turn = 0; /* how often all were there */
};
struct Warp {
  Barrier  barrier;
  uint64_t word[2][WARP]; /* by turns: who is late still reads one while others write the other */
};
struct Block {
  uint3                      index;
  Barrier                    barrier;
  std::vector<Warp>          warps;
  std::vector<unsigned char> bytes;
};
struct Fiber {
  Block         *block;
  Warp          *warp;
  uint3          index;
  int            lane;
  const Barrier *waits; /* for this barrier's next turn, or NULL */
  unsigned       turn;
  bool           begun, done; /* did it ever run? has the thread ended? */
  jmp_buf        where;
};

static struct {
  const char         *name;
  const Work         *thread;
  std::vector<Block>  blocks;
  std::vector<Fiber>  fibers;
  std::vector<void *> stacks; /* of fibers */
  Barrier             grid;
  Fiber              *now;
  jmp_buf             scheduler;
  std::vector<Work>  *captured;
} run;

static int Setting(const char *name)
{
  const char *value = getenv(name);

  return value ? atoi(value) : 0;
}

static void Fail(const char *why)
{
  fprintf(stderr, "emulated GPU: kernel %s: %s\n", run.name, why);
  abort();
}

static void Open(Barrier *b)
{
  if (b->waiting < b->members) return;
  b->waiting = 0;
  b->turn++;
}
static void Wait(Barrier *b)
{
  Fiber *me = run.now;

  me->waits = b;
  me->turn = b->turn;
  b->waiting++;
  Open(b);
  if (!_setjmp(me->where)) _longjmp(run.scheduler, 1);
}
void SyncBlock()
{
  Wait(&run.now->block->barrier);
}
void SyncWarp()
{
  Wait(&run.now->warp->barrier);
}
void SyncGrid()
{
  Wait(&run.grid);
}
int Lane()
{
  return run.now->lane;
}
const uint64_t *OfLanes(uint64_t mine)
{
  Warp     *warp = run.now->warp;
  uint64_t *word = warp->word[warp->barrier.turn % 2];

  word[run.now->lane] = mine;
  SyncWarp();
  return word;
}

/* thread after thread */
static void Threads()
{
  for (;;) {
    (*run.thread)();
    run.now->done = true;
    for (Barrier *b : {&run.now->block->barrier, &run.now->warp->barrier, &run.grid}) {
      b->members--;
      if (b->waiting) Open(b);
    }
    if (!_setjmp(run.now->where)) _longjmp(run.scheduler, 1);
  }
}

static void *Stack(size_t i)
{
  while (run.stacks.size() <= i) {
    run.stacks.push_back(mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    if (run.stacks.back() == MAP_FAILED) Fail("no memory for the stacks of its threads");
  }
  return run.stacks[i];
}
static void Begin(Fiber *f)
{
  ucontext_t context;

  f->begun = true;
  getcontext(&context);
  context.uc_stack.ss_sp = Stack((size_t)(f - run.fibers.data()));
  context.uc_stack.ss_size = STACK;
  context.uc_link = NULL;
  makecontext(&context, Threads, 0);
  setcontext(&context);
}

static void GoOn(Fiber *f)
{
  run.now = f;
  f->waits = NULL;
  threadIdx = f->index;
  blockIdx = f->block->index;
  shared = (unsigned char *)(((size_t)f->block->bytes.data() + 63) / 64 * 64);
  if (_setjmp(run.scheduler)) return;
  if (f->begun) _longjmp(f->where, 1);
  Begin(f);
}

template <class T>
static void Order(std::vector<T> &list)
{
  static unsigned random = (unsigned)Setting("EMULATE_ORDER");
  static bool     backwards = random == 1;

  if (backwards) std::sort(list.rbegin(), list.rend());
  else if (random) {
    for (size_t i = list.size(); i > 1; i--) {
      random = random * 1664525u + 1013904223u;
      std::swap(list[i - 1], list[(random >> 8) % i]);
    }
  }
}

static void RunFibers(size_t n)
{
  std::vector<Fiber *> list(n);

  for (size_t i = 0; i < n; i++) list[i] = &run.fibers[i];
  while (!list.empty()) {
    bool moved = false;

    Order(list);
    for (Fiber *f : list) {
      if (f->waits && f->waits->turn == f->turn) continue;
      moved = true;
      GoOn(f);
    }
    if (!moved) Fail("its threads wait for ever");
    list.erase(std::remove_if(list.begin(), list.end(), [](const Fiber *f) { return f->done; }), list.end());
  }
}

/* the threads of a block are the fibers from `first` on */
static void MakeBlock(Block *block, size_t first, size_t number, size_t bytes)
{
  const size_t n = blockDim.Size();

  block->index = {(unsigned)(number % gridDim.x), (unsigned)(number / gridDim.x % gridDim.y), (unsigned)(number / gridDim.x / gridDim.y)};
  block->barrier = Barrier{n};
  block->warps.assign((n + WARP - 1) / WARP, Warp());
  block->bytes.assign(bytes + 64, 0xff);
  for (size_t i = 0; i < n; i++) {
    Fiber *f = &run.fibers[first + i];

    f->block = block;
    f->warp = &block->warps[i / WARP];
    f->warp->barrier.members++;
    f->index = {(unsigned)(i % blockDim.x), (unsigned)(i / blockDim.x % blockDim.y), (unsigned)(i / blockDim.x / blockDim.y)};
    f->lane = (int)(i % WARP);
    f->waits = NULL;
    f->done = false;
  }
}

void Run(const char *name, dim3 blocks, dim3 threads, size_t bytes, bool together, const Work &thread)
{
  static const int trace = Setting("EMULATE_TRACE");
  const size_t     n = threads.Size(), count = blocks.Size(), group = together ? count : 1;

  std::vector<size_t> numbers(count);

  run.name = name;
  run.thread = &thread;
  if (trace) fprintf(stderr, "emulated GPU: %s, %zu blocks of %zu threads, %zu bytes\n", name, count, n, bytes);
  if (!count || !n || n > MOST_THREADS || bytes > MOST_BYTES) Fail("no GPU can launch it");
  gridDim = blocks;
  blockDim = threads;
  if (run.fibers.size() < group * n) run.fibers.resize(group * n);
  run.blocks.resize(group);
  for (size_t i = 0; i < count; i++) numbers[i] = i;
  Order(numbers);
  for (size_t first = 0; first < count; first += group) {
    run.grid = Barrier{group * n};
    for (size_t i = 0; i < group; i++) MakeBlock(&run.blocks[i], i * n, numbers[first + i], bytes);
    RunFibers(group * n);
  }
}

void Submit(const Work &work)
{
  if (run.captured) run.captured->push_back(work);
  else work();
}
} // namespace emulated

cudaError_t cudaStreamIsCapturing(cudaStream_t, cudaStreamCaptureStatus *status)
{
  *status = emulated::run.captured ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
  return cudaSuccess;
}
cudaError_t cudaStreamBeginCapture(cudaStream_t, int)
{
  emulated::run.captured = new std::vector<emulated::Work>;
  return cudaSuccess;
}
cudaError_t cudaStreamEndCapture(cudaStream_t, cudaGraph_t *graph)
{
  *graph = emulated::run.captured;
  emulated::run.captured = NULL;
  return cudaSuccess;
}
