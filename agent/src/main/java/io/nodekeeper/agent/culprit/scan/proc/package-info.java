/** Reads the files of /proc, within the bounds of one scan. */
@NullMarked
package io.nodekeeper.agent.culprit.scan.proc;

import org.jspecify.annotations.NullMarked;
