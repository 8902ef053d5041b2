package io.nodekeeper.agent.pods;

import io.nodekeeper.agent.pods.model.Pod;
import io.nodekeeper.api.ResourceType;
import io.nodekeeper.client.events.EventRecorder;
import io.nodekeeper.client.events.ObjectRef;

/** Records events about pods. Thread-safe as its recorder is. */
record PodEvents(EventRecorder recorder) {

    void normal(Pod pod, String reason, String message) {
        record(pod, EventRecorder.NORMAL, reason, message);
    }

    void warning(Pod pod, String reason, String message) {
        record(pod, EventRecorder.WARNING, reason, message);
    }

    void record(Pod pod, String type, String reason, String message) {
        recorder.record(ObjectRef.of(ResourceType.PODS, pod), type, reason, message);
    }
}
