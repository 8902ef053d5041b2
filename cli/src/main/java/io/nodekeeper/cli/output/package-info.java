/** What a command writes: standard output with its errors, and log lines in klog's format. */
@NullMarked
package io.nodekeeper.cli.output;

import org.jspecify.annotations.NullMarked;
