/** Credentials of image registries: where they come from, and which ones are for an image. */
@NullMarked
package io.nodekeeper.agent.pods.registry;

import org.jspecify.annotations.NullMarked;
