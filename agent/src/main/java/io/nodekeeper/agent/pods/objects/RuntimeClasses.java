package io.nodekeeper.agent.pods.objects;

import io.nodekeeper.agent.pods.model.Pod;
import io.nodekeeper.api.Failures;
import io.nodekeeper.api.ResourceType;
import java.util.concurrent.CompletableFuture;

/** Finds the handlers of the container runtime that the RuntimeClasses of pods name. Confined to the loop of its objects. */
public final class RuntimeClasses {
    private static final ResourceType RUNTIME_CLASSES =
            new ResourceType("node.k8s.io", "v1", "runtimeclasses", "RuntimeClass", false);

    private final ObjectCache objects;

    /** Finds them among {@code objects}. */
    public RuntimeClasses(ObjectCache objects) {
        this.objects = objects;
    }

    /** The handler for {@code pod}; empty for the runtime's default. Fails with a kubelet's message. */
    public CompletableFuture<String> handler(Pod pod) {
        String name = pod.spec().text("runtimeClassName");
        if (name.isEmpty()) {
            return CompletableFuture.completedFuture("");
        }
        return objects.get(RUNTIME_CLASSES, "", name, ObjectCache.NEW).handle((found, error) -> {
            if (error != null) {
                throw new RuntimeClassException("failed to lookup RuntimeClass " + name + ": " + Failures.text(error));
            }
            return found.map(object -> object.text("handler"))
                    .orElseThrow(
                            () -> new RuntimeClassException("runtimeclass.node.k8s.io \"" + name + "\" not found"));
        });
    }

    /** A pod has no usable RuntimeClass. */
    private static final class RuntimeClassException extends RuntimeException {
        private RuntimeClassException(String message) {
            super(message);
        }
    }
}
