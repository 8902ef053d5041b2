/** Guard mode: its flags, its HTTPS endpoint, its certificates, and the command for its webhook configuration. */
@NullMarked
package io.nodekeeper.cli.guard;

import org.jspecify.annotations.NullMarked;
