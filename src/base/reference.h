/* Reference counts, of objects with a member refct. */
#pragma once

/* the same object, a new reference */
#define VpReference(object) ((object)->refct++, (object))
