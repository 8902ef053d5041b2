package io.nodekeeper.controller.heartbeats;

/** The state of a known node between a heartbeat and a verdict. {@link Heartbeats} changes it. */
public enum GraceState {
    /** No deadline: the node is Unknown already, or not known. */
    RESTING,
    /** Its deadline is on the wheel. */
    ARMED,
    /** Its deadline has passed; it is off the wheel until its judgement ends. */
    JUDGED
}
