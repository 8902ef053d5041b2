/** Bounds how many Events are written, and how large they are together, as Kubernetes' admission plugin EventRateLimit does. */
@NullMarked
package io.nodekeeper.apiserver.eventratelimit;

import org.jspecify.annotations.NullMarked;
