/** Rate limits for writes of Events: their number, as Kubernetes' plugin EventRateLimit, and their bytes per user. */
@NullMarked
package io.nodekeeper.apiserver.eventratelimit;

import org.jspecify.annotations.NullMarked;
