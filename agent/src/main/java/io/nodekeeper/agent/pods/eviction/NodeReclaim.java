package io.nodekeeper.agent.pods.eviction;

import io.nodekeeper.agent.eviction.Shortage;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** Frees what the node has too little of without ending a pod. */
@FunctionalInterface
public interface NodeReclaim {
    /**
     * Removes what no pod needs, such as unused images, and then measures the node.
     *
     * @param shortages what the node is short of, the most urgent first; the first one is of disk
     * @return what it is short of afterwards; fails if that is not known
     */
    CompletableFuture<List<Shortage>> reclaim(List<Shortage> shortages);
}
