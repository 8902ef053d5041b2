package io.nodekeeper.agent.culprit.diagnosis;

import io.nodekeeper.agent.culprit.scan.PodIdentity;
import io.nodekeeper.cri.Container;
import io.nodekeeper.cri.PodSandbox;
import io.nodekeeper.cri.RuntimeCall;
import java.util.List;
import java.util.Optional;

/** The pod, sandbox and container that a call or culprit concerns, as far as they are known. Immutable. */
public record Subject(Optional<PodIdentity> pod, Optional<String> sandboxId, Optional<String> containerId) {
    static final Subject NODE = new Subject(Optional.empty(), Optional.empty(), Optional.empty());

    /** The subject of the first of {@code ids} that is known; if none is, the first is assumed to be a sandbox. */
    public static Subject of(List<String> ids, Optional<PodIdentity> pod, ContainerIndex workload) {
        for (String id : ids) {
            Optional<Container> container = workload.container(id);
            if (container.isPresent()) {
                return new Subject(
                        workload.pod(id).or(() -> pod), container.map(Container::sandboxId), Optional.of(id));
            }
            if (workload.sandbox(id).isPresent()) {
                return new Subject(workload.pod(id), Optional.of(id), Optional.empty());
            }
        }
        return new Subject(pod, ids.stream().findFirst(), Optional.empty());
    }

    /** The subject of a call. */
    public static Subject of(RuntimeCall<?> call, ContainerIndex workload) {
        if (call instanceof RuntimeCall.RunSandbox run) {
            PodIdentity pod = new PodIdentity(
                    run.config().podUid(), run.config().podName(), run.config().podNamespace());
            return new Subject(Optional.of(pod), Optional.empty(), Optional.empty());
        }
        if (call.podUid().isPresent()) {
            Optional<PodSandbox> sandbox = workload.sandboxOfPod(call.podUid().get());
            return new Subject(
                    sandbox.flatMap(known -> workload.pod(known.id()))
                            .or(() -> call.podUid().map(uid -> new PodIdentity(uid, "?", "?"))),
                    sandbox.map(PodSandbox::id),
                    Optional.empty());
        }
        List<String> ids = call.containerId().or(call::sandboxId).stream().toList();
        if (ids.isEmpty()) {
            return NODE;
        }
        Subject subject = of(ids, Optional.empty(), workload);
        return call.containerId().isPresent() && subject.containerId().isEmpty()
                ? new Subject(Optional.empty(), Optional.empty(), call.containerId())
                : subject;
    }

    /** Whether it is about the node as a whole. */
    public boolean isNode() {
        return pod.isEmpty() && sandboxId.isEmpty() && containerId.isEmpty();
    }

    /** Whether both are about the same pod. */
    public boolean samePod(Subject other) {
        return sandboxId.isPresent() && sandboxId.equals(other.sandboxId)
                || containerId.isPresent() && containerId.equals(other.containerId)
                || uid().isPresent() && uid().equals(other.uid());
    }

    /** The name for messages: the pod's name, or else what is known. */
    String text() {
        return pod.map(known -> "pod " + known.text())
                .or(() -> sandboxId.map(id -> "sandbox " + brief(id)))
                .or(() -> containerId.map(id -> "container " + brief(id)))
                .orElse("the node");
    }

    /** A text that is equal for equal subjects only. */
    String key() {
        return uid().or(() -> sandboxId).or(() -> containerId).orElse("");
    }

    /** A shortened id, as docker and crictl show it. */
    static String brief(String id) {
        return id.length() > 13 ? id.substring(0, 13) : id;
    }

    private Optional<String> uid() {
        return pod.map(PodIdentity::uid).filter(uid -> !uid.isEmpty());
    }
}
