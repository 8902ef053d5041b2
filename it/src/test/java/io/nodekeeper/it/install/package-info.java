/** What users install: the image, the units, the Debian package and the manifests. */
@NullMarked
package io.nodekeeper.it.install;

import org.jspecify.annotations.NullMarked;
