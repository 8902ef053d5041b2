package io.nodekeeper.client.events;

/** Tells people what happens to objects, through Events of core/v1. Never blocks and never fails its caller. */
public interface EventRecorder {

    /** An ordinary event. */
    String NORMAL = "Normal";
    /** An event that somebody should look at. */
    String WARNING = "Warning";

    /** Records that something happened to {@code about}. */
    void record(ObjectRef about, String type, String reason, String message);
}
