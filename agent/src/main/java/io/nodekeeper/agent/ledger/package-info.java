/** The book of all calls to the container runtime. */
@NullMarked
package io.nodekeeper.agent.ledger;

import org.jspecify.annotations.NullMarked;
