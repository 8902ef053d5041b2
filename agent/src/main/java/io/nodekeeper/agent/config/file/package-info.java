/** The text of a {@code KubeletConfiguration}: files and lines, merging, and which fields are supported. */
@NullMarked
package io.nodekeeper.agent.config.file;

import org.jspecify.annotations.NullMarked;
