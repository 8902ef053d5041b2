/** The node's API, as a kubelet has it: what its requests ask for, what they require, and the answers. */
@NullMarked
package io.nodekeeper.agent.nodeapi;

import org.jspecify.annotations.NullMarked;
