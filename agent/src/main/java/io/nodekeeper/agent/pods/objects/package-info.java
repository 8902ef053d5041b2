/** What pods refer to in the API: ConfigMaps, Secrets and tokens, read with a bound on their age. */
@NullMarked
package io.nodekeeper.agent.pods.objects;

import org.jspecify.annotations.NullMarked;
