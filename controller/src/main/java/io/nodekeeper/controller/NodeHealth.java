package io.nodekeeper.controller;

import io.nodekeeper.time.DeadlineWheel;

/**
 * What is remembered of one node between its heartbeats: a few short strings and numbers, never the Node itself, as there may
 * be many thousands. It may exist for a lease alone, whose node is not known yet. Confined to the loop.
 *
 * <p>Each part is a class of its own, and one class changes it: {@link Heartbeats} lease, status, last signal, deadline and
 * rhythm; {@link EarlyWarning} the doubt; {@link HeartbeatLags} the lag. Whatever else is known of a node is kept by the
 * class that needs it, in a map by this object.
 */
final class NodeHealth {
    private final String name;
    private final DeadlineWheel.Deadline<NodeHealth> deadline = new DeadlineWheel.Deadline<>(this);
    private String uid = "";
    private String version = "";
    private GraceState grace = GraceState.RESTING;

    final LeaseState lease;
    final ReadyState status = new ReadyState();
    final LastSignal last = new LastSignal();
    /** How regularly the node sends signs of life. */
    final Suspicion.State rhythm = new Suspicion.State();

    final Doubt doubt = new Doubt(this);
    private final LagState lag = new LagState();

    /** A name without a node. */
    NodeHealth(String name) {
        this(name, new LeaseState());
    }

    /** The same with a lease. */
    NodeHealth(String name, LeaseState lease) {
        this.name = name;
        this.lease = lease;
    }

    /** The name of node and lease. */
    String name() {
        return name;
    }

    /** The node that all this belongs to; empty while only its lease is known. A recreated node has another one. */
    String uid() {
        return uid;
    }

    /** The newest version of the node that was seen. */
    String version() {
        return version;
    }

    /** Whether the node object exists. */
    boolean known() {
        return !uid.isEmpty();
    }

    /** The status of its Ready condition; empty as long as its agent never reported. */
    String ready() {
        return status.ready();
    }

    /** Whether its agent ever posted a status. */
    boolean reported() {
        return !status.ready().isEmpty();
    }

    /** Whether its lease exists. */
    boolean hasLease() {
        return lease.exists();
    }

    /** Whether its deadline has passed and it is under judgement. */
    boolean isJudged() {
        return grace == GraceState.JUDGED;
    }

    /** Where it stands between a sign of life and a verdict. */
    GraceState grace() {
        return grace;
    }

    /** When its grace ends, monotonic nanoseconds; {@link DeadlineWheel#NEVER} unless it is {@link GraceState#ARMED}. */
    long deadlineAt() {
        return deadline.at();
    }

    /** {@code renewTime} of its lease in microseconds since 1970, or {@code LeaseLine.NO_TIME}. */
    long renewMicros() {
        return lease.renewMicros();
    }

    /** The version of its lease, see {@link Versions#number}; 0 if there is none. */
    long leaseVersion() {
        return lease.version();
    }

    /** The heartbeat of its Ready condition; empty if there is none. */
    String readyHeartbeat() {
        return status.heartbeat();
    }

    /** Where its last sign of life was seen. */
    Signal signal() {
        return last.kind();
    }

    /** When the last sign of life was seen, on the nodes' clock, which stands still while the controller is blind. */
    long heardAt() {
        return last.heardAt();
    }

    /** The same by the controller's monotonic clock, nanoseconds. */
    long arrivedAt() {
        return last.arrivedAt();
    }

    /** What had been taken out of the nodes' clock until then, nanoseconds. */
    long lostBefore() {
        return last.lostBefore();
    }

    /** The time between the last two signs of life on the nodes' clock, nanoseconds. */
    long gap() {
        return last.gap();
    }

    /** Whether this controller declared it Unknown after its last sign of life. */
    boolean silenced() {
        return last.silenced();
    }

    /** Whether it is later than usual. */
    boolean isSuspect() {
        return doubt.isSuspect();
    }

    /** How late its renewals are, and how wrong its clock. */
    LagState lag() {
        return lag;
    }

    DeadlineWheel.Deadline<NodeHealth> deadline() {
        return deadline;
    }

    void identify(String nodeUid, String nodeVersion) {
        uid = nodeUid;
        version = nodeVersion;
    }

    void version(String newest) {
        version = newest;
    }

    void grace(GraceState state) {
        grace = state;
    }

    @Override
    public String toString() {
        return name;
    }
}
