/** The defaults and the validation of pods and of pod templates, as kube-apiserver 1.32 has them. */
@NullMarked
package io.nodekeeper.apiserver.pods;

import org.jspecify.annotations.NullMarked;
