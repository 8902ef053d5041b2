/** Controllers inside the server: they create what every cluster has, expire events and finish deleted namespaces. */
@NullMarked
package io.nodekeeper.apiserver.controllers;

import org.jspecify.annotations.NullMarked;
