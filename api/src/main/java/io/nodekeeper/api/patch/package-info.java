/** The three patch formats of the Kubernetes API: JSON Patch, JSON Merge Patch and Strategic Merge Patch. */
@NullMarked
package io.nodekeeper.api.patch;

import org.jspecify.annotations.NullMarked;
