/** Queues of asynchronous jobs: by priority with an adaptive concurrency limit, and one job per key. */
@NullMarked
package io.nodekeeper.client.workqueue;

import org.jspecify.annotations.NullMarked;
