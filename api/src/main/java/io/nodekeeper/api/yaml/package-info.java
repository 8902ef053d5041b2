/** Reads YAML as JSON, with limits, and writes YAML. */
@NullMarked
package io.nodekeeper.api.yaml;

import org.jspecify.annotations.NullMarked;
