/** The node agent: registers its node, reports the node's health and renews its lease. */
@NullMarked
package io.nodekeeper.agent;

import org.jspecify.annotations.NullMarked;
