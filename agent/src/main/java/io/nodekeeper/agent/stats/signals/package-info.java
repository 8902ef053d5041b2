/** Signals: values that are measured now and then, each with its time, and how it is told that one is late. */
@NullMarked
package io.nodekeeper.agent.stats.signals;

import org.jspecify.annotations.NullMarked;
