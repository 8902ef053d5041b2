/** The heartbeats and the deadlines of all nodes. */
@NullMarked
package io.nodekeeper.controller.heartbeats;

import org.jspecify.annotations.NullMarked;
