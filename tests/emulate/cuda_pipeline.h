/* Copies to shared memory that are there at once, in place of cuda_pipeline.h. */
#pragma once
#include <string.h>

inline void __pipeline_memcpy_async(void *to, const void *from, size_t bytes, size_t zeros = 0)
{
  memcpy(to, from, bytes - zeros);
  memset((char *)to + (bytes - zeros), 0, zeros);
}
inline void __pipeline_commit()
{
}
inline void __pipeline_wait_prior(size_t)
{
}
