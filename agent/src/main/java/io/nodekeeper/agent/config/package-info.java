/** The agent's configuration: its options, their defaults and checks, the KubeletConfiguration file, and feature gates. */
@NullMarked
package io.nodekeeper.agent.config;

import org.jspecify.annotations.NullMarked;
