package io.nodekeeper.agent.pods.sources;

import io.nodekeeper.agent.pods.model.Pod;
import io.nodekeeper.api.ResourceType;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.client.KubeClient;
import io.nodekeeper.client.Reflector;
import io.nodekeeper.client.Selection;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;

/** The pods that are bound to a node according to the API, by a watch. Confined to its client's loop. */
public final class ApiPods {
    /** As many as the API holds for the node: their number is bounded by the scheduler and by {@code maxPods}. */
    private final Map<String, Pod> pods = new LinkedHashMap<>();

    private final Reflector reflector;
    private final Consumer<Pod> changed;
    private boolean seen;

    /** A source that is not started yet; {@code changed} gets each pod that came, changed or went. */
    public ApiPods(KubeClient client, String node, RandomGenerator random, Consumer<Pod> changed) {
        this.changed = changed;
        Selection selection = new Selection(ResourceType.PODS, "", "", "spec.nodeName=" + node);
        reflector = new Reflector(client, selection, random, new Reflector.Handler() {
            @Override
            public void onReplace(List<JsonObject> objects) {
                replace(objects.stream().map(Pod::new).toList());
            }

            @Override
            public void onChange(JsonObject object) {
                Pod pod = new Pod(object);
                pods.put(pod.uid(), pod);
                changed.accept(pod);
            }

            @Override
            public void onDelete(JsonObject object) {
                Pod pod = new Pod(object);
                pods.remove(pod.uid());
                changed.accept(pod);
            }
        });
    }

    /** Starts the watch. */
    public void start() {
        reflector.start();
    }

    /** Stops the watch. */
    public void stop() {
        reflector.stop();
    }

    /** Whether all pods were listed once. Before that, a pod that is not known may exist. */
    public boolean seen() {
        return seen;
    }

    /** The pod with that UID. */
    public Optional<Pod> pod(String uid) {
        return Optional.ofNullable(pods.get(uid));
    }

    /** All pods of the node. */
    public List<Pod> pods() {
        return List.copyOf(pods.values());
    }

    private void replace(List<Pod> listed) {
        Set<String> uids = new HashSet<>();
        listed.forEach(pod -> uids.add(pod.uid()));
        List<Pod> gone =
                pods.values().stream().filter(pod -> !uids.contains(pod.uid())).toList();
        List<Pod> all = new ArrayList<>(gone);
        all.addAll(listed);
        pods.clear();
        listed.forEach(pod -> pods.put(pod.uid(), pod));
        seen = true;
        all.forEach(changed);
    }
}
