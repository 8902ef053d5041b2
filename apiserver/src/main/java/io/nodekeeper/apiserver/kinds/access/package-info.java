/** The rules of the kinds that say who may do what: roles, bindings and service accounts. Pure functions of objects. */
@NullMarked
package io.nodekeeper.apiserver.kinds.access;

import org.jspecify.annotations.NullMarked;
