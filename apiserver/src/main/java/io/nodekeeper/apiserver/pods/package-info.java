/** Defaults of pods and pod templates, and the admission plugins that change new pods, as in kube-apiserver 1.32. */
@NullMarked
package io.nodekeeper.apiserver.pods;

import org.jspecify.annotations.NullMarked;
