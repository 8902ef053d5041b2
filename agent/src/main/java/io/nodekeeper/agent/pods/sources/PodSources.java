package io.nodekeeper.agent.pods.sources;

import io.nodekeeper.agent.config.StaticPodConfig;
import io.nodekeeper.agent.pods.model.Pod;
import io.nodekeeper.api.Node;
import io.nodekeeper.client.KubeClient;
import io.nodekeeper.time.BlockingCalls;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import java.util.stream.Stream;

/**
 * All pods that the node shall run: those of the API and static ones, which are also kept in the API as copies. Confined to its
 * client's loop.
 */
public final class PodSources {
    private final ApiPods api;
    private final StaticPods statics;
    private final MirrorPods mirrors;

    /**
     * Sources that are not started yet.
     *
     * @param node the node's name
     * @param object the Node in the API
     * @param memory bytes for the pods of the API
     * @param changed gets each pod that came, changed or went, copies of static pods included
     */
    public PodSources(
            KubeClient client,
            String node,
            Supplier<Optional<Node>> object,
            StaticPodConfig settings,
            long memory,
            BlockingCalls disk,
            RandomGenerator random,
            Consumer<Pod> changed) {
        api = new ApiPods(client, node, random, memory, changed);
        statics = new StaticPods(settings, node, disk, client.loop(), changed);
        mirrors = new MirrorPods(client, object);
    }

    /** Starts to watch the API. */
    public void start() {
        api.start();
    }

    /** Watches and reads nothing more. */
    public void stop() {
        api.stop();
        statics.stop();
    }

    /**
     * To be called about each second.
     *
     * @param ending whether containers of the static pod with that full name still end; its copy stays as long
     */
    public void tick(Predicate<String> ending) {
        statics.tick();
        if (api.seen()) {
            Predicate<Pod> settled = pod -> !ending.test(pod.fullName());
            mirrors.tick(
                    statics.pods().stream().filter(settled).toList(),
                    statics.seen(),
                    api.pods().stream().filter(Pod::isMirror).filter(settled).toList());
        }
    }

    /** Whether all pods were seen once. Before that, a pod that is not known may exist. */
    public boolean seen() {
        return api.seen() && statics.seen();
    }

    /** The pod with that UID that the node shall run. */
    public Optional<Pod> pod(String uid) {
        return statics.pod(uid).or(() -> api.pod(uid).filter(pod -> !pod.isMirror()));
    }

    /** Whether a static pod has that UID. */
    public boolean isStatic(String uid) {
        return statics.pod(uid).isPresent();
    }

    /** All pods that the node shall run. */
    public List<Pod> pods() {
        return Stream.concat(statics.pods().stream(), api.pods().stream().filter(pod -> !pod.isMirror()))
                .toList();
    }

    /** The number of copies of static pods in the API. */
    public long mirrors() {
        return api.pods().stream().filter(Pod::isMirror).count();
    }

    /** The static pod of which {@code copy} is the API's copy. */
    public Optional<Pod> original(Pod copy) {
        return statics.pods().stream()
                .filter(pod -> pod.fullName().equals(copy.fullName()) && MirrorPods.isOf(pod, copy))
                .findFirst();
    }

    /** The object of {@code pod} in the API: of a static pod its copy, if there is one. */
    public Optional<Pod> object(Pod pod) {
        if (!isStatic(pod.uid())) {
            return Optional.of(pod);
        }
        return api.pods().stream()
                .filter(copy -> copy.fullName().equals(pod.fullName()) && MirrorPods.isOf(pod, copy))
                .filter(copy -> copy.deletionTimestamp().isEmpty())
                .findFirst();
    }
}
