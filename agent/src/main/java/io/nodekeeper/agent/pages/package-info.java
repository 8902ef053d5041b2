/** The agent's HTTP pages: health, metrics, and the state of the container runtime. */
@NullMarked
package io.nodekeeper.agent.pages;

import org.jspecify.annotations.NullMarked;
