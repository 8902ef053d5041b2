/** {@code nodekeeper controller}: its options, its leader election and the wiring of the controller process. */
@NullMarked
package io.nodekeeper.cli.controller;

import org.jspecify.annotations.NullMarked;
