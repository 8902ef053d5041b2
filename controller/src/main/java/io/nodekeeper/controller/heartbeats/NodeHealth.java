package io.nodekeeper.controller.heartbeats;

import io.nodekeeper.controller.lags.HeartbeatLags;
import io.nodekeeper.controller.lags.LagState;
import io.nodekeeper.time.DeadlineWheel;

/**
 * The state of one node between its heartbeats: a few short strings and numbers, never the Node itself, because there
 * may be many thousands. It may exist for a lease whose node is not known yet. Confined to the loop.
 *
 * <p>Each part has one owner, which changes it: {@link Heartbeats} for lease, status, last signal, deadline and rhythm;
 * {@link EarlyWarning} for the suspicion; {@link HeartbeatLags} for the lag. Other classes keep their state of a node
 * in maps with this object as the key.
 */
public final class NodeHealth {
    private final String name;
    private final DeadlineWheel.Deadline<NodeHealth> deadline = new DeadlineWheel.Deadline<>(this);
    private String uid = "";
    private String version = "";
    private GraceState grace = GraceState.RESTING;

    final LeaseState lease;
    final ReadyState status = new ReadyState();
    final LastSignal last = new LastSignal();
    /** How regular the node's heartbeats are. */
    final Suspicion.State rhythm = new Suspicion.State();

    /** When {@link EarlyWarning} checks next whether the node is later than usual. */
    final DeadlineWheel.Deadline<NodeHealth> warningDeadline = new DeadlineWheel.Deadline<>(this);

    private boolean suspect;
    private final LagState lag = new LagState();

    /** A name without a node. */
    public NodeHealth(String name) {
        this(name, new LeaseState());
    }

    /** The same with a lease. */
    NodeHealth(String name, LeaseState lease) {
        this.name = name;
        this.lease = lease;
    }

    /** The name of node and lease. */
    public String name() {
        return name;
    }

    /** The UID of the node; empty while only its lease is known. A recreated node has another object of this class. */
    public String uid() {
        return uid;
    }

    /** The newest version of the node that was seen. */
    public String version() {
        return version;
    }

    /** Whether the node object exists. */
    boolean known() {
        return !uid.isEmpty();
    }

    /** The status of its Ready condition; empty if its agent has not reported yet. */
    public String ready() {
        return status.ready();
    }

    /** Reason and message of its Ready condition, shortened; empty if it is Ready. */
    public String readyCause() {
        return status.cause();
    }

    /** When its Ready condition got a status other than True, as in the API; empty if it is Ready. */
    public String unreadySince() {
        return status.since();
    }

    /** Whether its agent has posted a status. */
    public boolean reported() {
        return !status.ready().isEmpty();
    }

    /** Whether its lease exists. */
    public boolean hasLease() {
        return lease.exists();
    }

    /** Whether its deadline has passed and it is under judgement. */
    public boolean isJudged() {
        return grace == GraceState.JUDGED;
    }

    /** Its state between a heartbeat and a verdict. */
    public GraceState grace() {
        return grace;
    }

    /**
     * When its grace ends, monotonic nanoseconds; {@link DeadlineWheel#NEVER} unless it is {@link GraceState#ARMED}.
     */
    public long deadlineAt() {
        return deadline.at();
    }

    /** {@code renewTime} of its lease in microseconds since 1970, or {@code LeaseLine.NO_TIME}. */
    public long renewMicros() {
        return lease.renewMicros();
    }

    /** The version of its lease, see {@link Versions#number}; 0 if there is none. */
    public long leaseVersion() {
        return lease.version();
    }

    /** The heartbeat of its Ready condition; empty if there is none. */
    public String readyHeartbeat() {
        return status.heartbeat();
    }

    /** The kind of its last heartbeat. */
    public Signal signal() {
        return last.kind();
    }

    /** When the last heartbeat was seen, on the nodes' clock, which stands still while the controller is blind. */
    public long heardAt() {
        return last.heardAt();
    }

    /** The same by the controller's monotonic clock, nanoseconds. */
    public long arrivedAt() {
        return last.arrivedAt();
    }

    /** The total time that was subtracted from the nodes' clock before it, nanoseconds. */
    public long lostBefore() {
        return last.lostBefore();
    }

    /** The time between the last two heartbeats on the nodes' clock, nanoseconds. */
    public long gap() {
        return last.gap();
    }

    /** Whether this controller declared it Unknown after its last heartbeat. */
    public boolean silenced() {
        return last.silenced();
    }

    /** Whether it is later than usual. */
    public boolean isSuspect() {
        return suspect;
    }

    /** How late its renewals are, and how wrong its clock. */
    public LagState lag() {
        return lag;
    }

    DeadlineWheel.Deadline<NodeHealth> deadline() {
        return deadline;
    }

    /** Sets its UID and version. */
    public void identify(String nodeUid, String nodeVersion) {
        uid = nodeUid;
        version = nodeVersion;
    }

    void version(String newest) {
        version = newest;
    }

    /** Sets whether it is later than usual. */
    void suspect(boolean isSuspect) {
        suspect = isSuspect;
    }

    void grace(GraceState state) {
        grace = state;
    }

    @Override
    public String toString() {
        return name;
    }
}
