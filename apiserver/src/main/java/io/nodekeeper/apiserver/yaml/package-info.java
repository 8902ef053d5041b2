/** Reads YAML that clients send, within bounds. */
@NullMarked
package io.nodekeeper.apiserver.yaml;

import org.jspecify.annotations.NullMarked;
