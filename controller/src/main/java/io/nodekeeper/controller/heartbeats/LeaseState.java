package io.nodekeeper.controller.heartbeats;

import io.nodekeeper.client.scan.LeaseLine;

/**
 * The lease of one node. {@link Heartbeats} changes it.
 *
 * <p>Invariant: a lease that does not exist has no time and version 0. The time of the last renewal stays when the
 * lease is deleted: if the lease is restored with the same time, that is not a heartbeat.
 */
final class LeaseState {
    private boolean exists;
    private long renewMicros = LeaseLine.NO_TIME;
    private long heardMicros = LeaseLine.NO_TIME;
    private long version;

    /** Whether it exists. */
    boolean exists() {
        return exists;
    }

    /** Its {@code renewTime} in microseconds since 1970, or {@link LeaseLine#NO_TIME}. */
    long renewMicros() {
        return renewMicros;
    }

    /** Its version, see {@link Versions#number}; 0 if it does not exist. */
    long version() {
        return version;
    }

    /**
     * Whether this state of the lease, which the node holds, shows that its agent renewed it: {@code renewTime} differs
     * from that of the last state, in either direction, and from that of the last renewal. Other fields do not count,
     * because any client may change labels and annotations. An older state than the last one does not count, because it
     * comes from a server that lags.
     */
    boolean isRenewal(long newVersion, long newMicros) {
        boolean older = exists && !Versions.isNewer(newVersion, version);
        return !older
                && newMicros != LeaseLine.NO_TIME
                && newMicros != heardMicros
                && !(exists && newMicros == renewMicros);
    }

    /** Whether the time is later than before: a renewal for the reference. */
    boolean isLater(long newMicros) {
        return !exists || newMicros > renewMicros;
    }

    /** Whether the lease existed and now has another time. */
    boolean isRenewed(long newMicros) {
        return exists && newMicros != renewMicros && newMicros != LeaseLine.NO_TIME;
    }

    /** Whether a state of that version may be newer than the one that was seen. */
    boolean isNews(long newVersion) {
        return !exists || Versions.isNewer(newVersion, version);
    }

    /** This state was seen; {@code heard} is whether it is a heartbeat. */
    void saw(long newVersion, long newMicros, boolean heard) {
        exists = true;
        version = newVersion;
        renewMicros = newMicros;
        heardMicros = heard ? newMicros : heardMicros;
    }

    /** It was deleted. */
    void removed() {
        exists = false;
        renewMicros = LeaseLine.NO_TIME;
        version = 0;
    }

    /** A copy. */
    LeaseState copy() {
        LeaseState copy = new LeaseState();
        copy.exists = exists;
        copy.renewMicros = renewMicros;
        copy.heardMicros = heardMicros;
        copy.version = version;
        return copy;
    }
}
