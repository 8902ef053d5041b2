package io.nodekeeper.agent.stats;

import io.nodekeeper.agent.facts.Filesystem;
import java.util.Optional;

/**
 * What is known about a volume of a pod. Immutable.
 *
 * @param name of the volume in the pod
 * @param claim the name of the PersistentVolumeClaim behind it
 * @param filesystem that it is on
 * @param used what it uses of that
 */
record VolumeUse(String name, Optional<String> claim, Filesystem filesystem, DiskUse used) {}
