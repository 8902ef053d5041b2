package io.nodekeeper.it;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** The ways in which a controller is made blind. */
enum Blindness {
    /** The stalled lease watch that had Kubernetes declare 100 of 100 nodes NotReady. */
    WATCH("lease watch stalled, connection open", "watch", Storage.ANY) {
        @Override
        List<Step> steps() {
            return List.of(
                    new Step(0, cluster -> cluster.network(Relay.Fault.LEASE_WATCH_STALLED)),
                    new Step(70, cluster -> cluster.network(Relay.Fault.NONE)));
        }
    },
    /** SIGSTOP. */
    SERVER("API server frozen", "API server", Storage.ANY) {
        @Override
        List<Step> steps() {
            return List.of(new Step(0, BlindCluster::freezeServer), new Step(60, BlindCluster::thawServer));
        }
    },
    /** Longer than the grace without the longest time since a renewal: 40 s − 10 s. */
    DISK("the store's disk stalled", "store", Storage.OWN_DISK) {
        @Override
        List<Step> steps() {
            return List.of(new Step(0, BlindCluster::freezeDisk), new Step(45, BlindCluster::thawDisk));
        }
    },
    /** SIGSTOP, for longer than any garbage collection takes. */
    CONTROLLER("controller frozen", "controller", Storage.ANY) {
        @Override
        List<Step> steps() {
            return List.of(new Step(0, BlindCluster::freezeController), new Step(60, BlindCluster::thawController));
        }
    },
    /** A cut that the client notices. */
    REFUSED("network cut, connections reset and refused", "API server", Storage.ANY) {
        @Override
        List<Step> steps() {
            return List.of(
                    new Step(0, cluster -> cluster.network(Relay.Fault.REFUSED)),
                    new Step(60, cluster -> cluster.network(Relay.Fault.NONE)));
        }
    },
    /** A cut that the client does not notice. */
    DROPPED("network cut, packets dropped", "API server", Storage.ANY) {
        @Override
        List<Step> steps() {
            return List.of(
                    new Step(0, cluster -> cluster.network(Relay.Fault.DROPPED)),
                    new Step(60, cluster -> cluster.network(Relay.Fault.NONE)));
        }
    },
    /** The other two members continue. */
    ETCD_MEMBER("one of three etcd members frozen", "", Storage.ETCD) {
        @Override
        List<Step> steps() {
            return List.of(new Step(0, cluster -> cluster.freezeEtcd(1)), new Step(60, cluster -> cluster.thawEtcd(1)));
        }
    },
    /** As long as the stalled disk. */
    ETCD("all three etcd members frozen", "store", Storage.ETCD) {
        @Override
        List<Step> steps() {
            return List.of(new Step(0, cluster -> cluster.freezeEtcd(3)), new Step(45, cluster -> cluster.thawEtcd(3)));
        }
    },
    /** All of the above but etcd's, each for its own time; the cut hides the stalled watch until it ends. */
    ALL("all at once", "", Storage.OWN_DISK) {
        @Override
        List<Step> steps() {
            return List.of(
                    new Step(0, BlindCluster::freezeDisk),
                    new Step(0, BlindCluster::freezeServer),
                    new Step(0, BlindCluster::freezeController),
                    new Step(0, cluster -> cluster.network(Relay.Fault.REFUSED)),
                    new Step(45, BlindCluster::thawDisk),
                    new Step(60, BlindCluster::thawServer),
                    new Step(60, BlindCluster::thawController),
                    new Step(60, cluster -> cluster.network(Relay.Fault.LEASE_WATCH_STALLED)),
                    new Step(70, cluster -> cluster.network(Relay.Fault.NONE)));
        }
    };

    /** The API server's store. */
    enum Storage {
        /** The default. */
        ANY,
        /** RocksDB on a separate disk, which can be frozen. */
        OWN_DISK,
        /** Three members of etcd. */
        ETCD
    }

    /** An action and its time, seconds from the beginning. */
    record Step(int at, Action action) {}

    /** An action on a cluster. */
    interface Action {
        /** Does it. */
        void on(BlindCluster cluster) throws Exception;
    }

    private final String text;
    private final String hop;
    private final Storage storage;

    Blindness(String text, String hop, Storage storage) {
        this.text = text;
        this.hop = hop;
        this.storage = storage;
    }

    /** The steps in order; with the last one the controller sees again. */
    abstract List<Step> steps();

    /** A description. */
    String text() {
        return text;
    }

    /** The hop that a controller has to name; empty if there are several, or none. */
    String hop() {
        return hop;
    }

    /** The store that it needs. */
    Storage storage() {
        return storage;
    }

    /** Seconds from the first step to the last. */
    int seconds() {
        return steps().getLast().at();
    }

    /**
     * Performs all steps at their times.
     *
     * @param crash whether the mortal nodes die in the middle
     * @return the moment at which sight was given back, as System.nanoTime
     */
    long happen(BlindCluster cluster, boolean crash) throws Exception {
        List<Step> all = new ArrayList<>(steps());
        if (crash) {
            all.add(new Step(seconds() / 2, BlindCluster::crash));
            all.sort(Comparator.comparingInt(Step::at));
        }
        long begin = System.nanoTime();
        for (Step step : all) {
            long due = begin + Duration.ofSeconds(step.at()).toNanos();
            Thread.sleep(Duration.ofNanos(Math.max(0, due - System.nanoTime())));
            step.action().on(cluster);
        }
        return System.nanoTime();
    }
}
