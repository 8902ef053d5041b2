/** Decides which nodes are alive, from their heartbeats, and says so in their conditions and taints. */
@NullMarked
package io.nodekeeper.controller;

import org.jspecify.annotations.NullMarked;
