/** Helpers for the tests of several packages: the server in virtual time, and protobuf messages of clients. */
@NullMarked
package io.nodekeeper.apiserver.testing;

import org.jspecify.annotations.NullMarked;
