/** Reads clients' YAML, with limits, and writes YAML. */
@NullMarked
package io.nodekeeper.apiserver.yaml;

import org.jspecify.annotations.NullMarked;
