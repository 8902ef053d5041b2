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
 * @param local whether it is a part of the node's disk, of which its pod's limits and requests are
 */
record VolumeUse(String name, Optional<String> claim, Filesystem filesystem, DiskUse used, boolean local) {}
