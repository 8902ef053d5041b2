/** The evidence of {@code doctor --bundle}: what is collected, how it is redacted, and the archive. */
@NullMarked
package io.nodekeeper.cli.doctor.bundle;

import org.jspecify.annotations.NullMarked;
