/** Whether pods can have a network now: a sandbox that is set up and taken down again, over and over. */
@NullMarked
package io.nodekeeper.agent.network;

import org.jspecify.annotations.NullMarked;
