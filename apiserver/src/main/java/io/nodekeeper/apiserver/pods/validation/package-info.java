/** Validation of pods, with the rules and messages of kube-apiserver 1.32. Pure functions that collect field errors. */
@NullMarked
package io.nodekeeper.apiserver.pods.validation;

import org.jspecify.annotations.NullMarked;
