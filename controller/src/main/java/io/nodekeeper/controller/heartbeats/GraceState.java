package io.nodekeeper.controller.heartbeats;

/** Where a known node stands between a sign of life and a verdict: in exactly one of these. {@link Heartbeats} changes it. */
public enum GraceState {
    /** No deadline: the node is Unknown already, or not known. */
    RESTING,
    /** Its deadline is on the wheel. */
    ARMED,
    /** Its deadline has passed; it is off the wheel until its judgement ends. */
    JUDGED
}
