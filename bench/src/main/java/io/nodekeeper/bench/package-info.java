/** What the hot paths cost, measured with JMH. */
@NullMarked
package io.nodekeeper.bench;

import org.jspecify.annotations.NullMarked;
