/** The statistics of node, pods and containers in a kubelet's form; each signal is read by itself. */
@NullMarked
package io.nodekeeper.agent.stats;

import org.jspecify.annotations.NullMarked;
