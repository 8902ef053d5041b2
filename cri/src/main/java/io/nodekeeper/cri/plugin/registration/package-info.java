/** The messages and stubs of the registration of plugins, generated from plugin_registration.proto. */
@NullMarked
package io.nodekeeper.cri.plugin.registration;

import org.jspecify.annotations.NullMarked;
