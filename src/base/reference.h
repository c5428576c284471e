/* Objects that count their owners in `refct`. */
#pragma once

/* the same object, a new reference */
#define VpReference(object) ((object)->refct++, (object))
