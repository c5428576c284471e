/* A level of cuda_level.h on the device. */
#pragma once
#include "cuda_level.h"

/* the level on the device */
struct Device {
  const VpBackend    *backend = VpBackendFind("cuda");
  Views               views;
  std::vector<void *> kept;
  bool                single = false;

  const void *Put(const void *p, size_t bytes)
  {
    void *to;
    Call(backend->alloc(bytes, "a test", &to));
    Call(backend->upload(p, bytes, to));
    kept.push_back(to);
    return to;
  }
  template <class A>
  const A *Array(const std::vector<A> &a)
  {
    return a.empty() ? NULL : (const A *)Put(a.data(), a.size() * sizeof(A));
  }
  void *Real(const Reals &a)
  {
    if (a.empty()) return NULL;
    if (!single) return (void *)Put(a.data(), a.size() * sizeof(double));
    std::vector<float> f(a.begin(), a.end());
    return (void *)Put(f.data(), f.size() * sizeof(float));
  }
  void *Poisoned(size_t count)
  {
    return Real(Reals(count, NAN));
  }
  Reals Get(const void *p, size_t count)
  {
    Reals a(count);
    if (single) {
      std::vector<float> f(count);
      Call(backend->download(p, count * sizeof(float), f.data()));
      std::copy(f.begin(), f.end(), a.begin());
    } else Call(backend->download(p, count * sizeof(double), a.data()));
    return a;
  }
  void Init(const Level &v, bool in_single, int32_t nown)
  {
    single = in_single;
    views = ViewsOf(v, nown, *this);
    const VpOps *ops = backend->ops(single ? VP_SINGLE : VP_DOUBLE, v.dim, v.k);
    Call(ops->prepare(&views.cells));
    Call(ops->prepare_patches(&views.patches));
    if (!v.P.empty()) Call(ops->prepare_transfer(&views.transfer));
  }
  ~Device()
  {
    for (VpPlans **plans : {&views.cells.plans, &views.patches.plans, &views.transfer.plans}) Call(backend->release_plans(plans));
    for (void *p : kept) Call(backend->release(p));
  }
};
