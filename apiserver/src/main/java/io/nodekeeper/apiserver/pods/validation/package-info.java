/** Validation of pods: facts of Kubernetes. Pure functions that collect errors by field. */
@NullMarked
package io.nodekeeper.apiserver.pods.validation;

import org.jspecify.annotations.NullMarked;
