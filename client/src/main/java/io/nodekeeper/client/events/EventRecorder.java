package io.nodekeeper.client.events;

/** Records Events of core/v1 about objects. Never blocks and never throws. */
public interface EventRecorder {

    /** An ordinary event. */
    String NORMAL = "Normal";
    /** An event that needs attention. */
    String WARNING = "Warning";

    /** Records that something happened to {@code about}. */
    void record(ObjectRef about, String type, String reason, String message);
}
