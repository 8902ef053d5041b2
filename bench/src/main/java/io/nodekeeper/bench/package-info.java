/** JMH benchmarks of the hot paths. */
@NullMarked
package io.nodekeeper.bench;

import org.jspecify.annotations.NullMarked;
