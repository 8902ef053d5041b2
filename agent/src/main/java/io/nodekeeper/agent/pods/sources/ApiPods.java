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
import java.util.function.Predicate;
import java.util.random.RandomGenerator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The pods that are bound to a node according to the API, by a watch. Who may create pods must not fill the agent's memory with them:
 * of a pod for which there is no room only an outline is kept, which the node refuses ({@link Pod#isOutline}); and a pod that grows
 * too large while it runs stays as it was, until it is deleted. Of pods that had ended when they were listed only what their status, logs and volumes need is kept. Confined to its client's loop.
 */
public final class ApiPods {
    private static final Logger log = LoggerFactory.getLogger(ApiPods.class);
    /** As many as the API holds for the node: their number is bounded by the scheduler and by {@code maxPods}. */
    private final Map<String, Pod> pods = new LinkedHashMap<>();

    private final Reflector reflector;
    private final Consumer<Pod> changed;
    private final long limit;
    private PodRoom room;
    /** The room of the list that is being read. */
    private PodRoom listing;

    /** The UIDs of pods that were found too large, of those that the API has. */
    private final Set<String> large = new HashSet<>();

    private boolean seen;

    /**
     * A source that is not started yet; {@code changed} gets each pod that came, changed or went.
     *
     * @param limit the bytes of memory for all pods
     */
    public ApiPods(KubeClient client, String node, RandomGenerator random, long limit, Consumer<Pod> changed) {
        this.changed = changed;
        this.limit = limit;
        room = new PodRoom(limit);
        listing = room;
        Selection selection = new Selection(ResourceType.PODS, "", "", "spec.nodeName=" + node);
        reflector = new Reflector(client, selection, random, new Reflector.Handler() {
            @Override
            public void onListing() {
                listing = new PodRoom(limit);
            }

            @Override
            public JsonObject parts(JsonObject object) {
                return listed(new Pod(object)).json();
            }

            @Override
            public void onReplace(List<JsonObject> objects) {
                replace(objects.stream().map(Pod::new).toList());
            }

            @Override
            public void onChange(JsonObject object) {
                Pod pod = kept(new Pod(object), room);
                pods.put(pod.uid(), pod);
                changed.accept(pod);
            }

            @Override
            public void onDelete(JsonObject object) {
                Pod pod = PodParts.ofGone(new Pod(object));
                pods.remove(pod.uid());
                room.release(pod.uid());
                large.remove(pod.uid());
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

    /**
     * What is kept of a pod of the list that is being read. One that is known already is not kept twice; one that ran before this agent
     * started has its room, whatever else is in the list.
     */
    private Pod listed(Pod pod) {
        Optional<Pod> known = pod(pod.uid());
        if (known.isPresent() && known.get().resourceVersion().equals(pod.resourceVersion())) {
            return known.get();
        }
        boolean ranBefore = known.isEmpty() && hasBegun(pod) && !pod.isTerminal();
        return ranBefore ? PodParts.whole(pod) : kept(pod, listing);
    }

    /** The pods of a list that is complete. Those that will start come last, wherever they were in the list. */
    private List<Pod> counted(List<Pod> listed) {
        room = new PodRoom(limit);
        Predicate<Pod> stays = pod -> hasBegun(pod) || pod.isTerminal();
        listed.stream().filter(stays).forEach(room::hold);
        return listed.stream()
                .map(pod -> stays.test(pod) ? pod : kept(pod, room))
                .toList();
    }

    /** Whether there was room for it before, for this agent or the one before it. */
    private boolean hasBegun(Pod pod) {
        return pod.status().has("startTime")
                || pod(pod.uid()).filter(ApiPods::isActive).isPresent();
    }

    /** What is kept of {@code pod}, and counted in {@code room}. */
    private Pod kept(Pod pod, PodRoom room) {
        Optional<Pod> former = pod(pod.uid()).filter(ApiPods::isActive);
        Pod wanted = pod.isTerminal() && former.isEmpty() ? PodParts.ofEnded(pod) : PodParts.whole(pod);
        if (room.take(wanted)) {
            return wanted;
        }
        Pod less = former.map(running -> PodParts.unchanged(running, pod))
                .orElseGet(() -> hasBegun(pod) && !pod.isTerminal() ? wanted : PodParts.outline(pod));
        if (less != wanted && !pod.isTerminal() && large.add(pod.uid())) {
            log.warn(
                    "Pod {} is too large: the pods of this node may take {} bytes of the agent's memory; {}",
                    pod.fullName(),
                    limit,
                    less.isOutline() ? "it does not start" : "its changes are ignored");
        }
        room.hold(less);
        return less;
    }

    private static boolean isActive(Pod pod) {
        return !pod.isTerminal() && !pod.isOutline();
    }

    private void replace(List<Pod> all) {
        List<Pod> listed = counted(all);
        Set<String> uids = new HashSet<>();
        listed.forEach(pod -> uids.add(pod.uid()));
        List<Pod> gone = pods.values().stream()
                .filter(pod -> !uids.contains(pod.uid()))
                .map(PodParts::ofGone)
                .toList();
        List<Pod> changes = new ArrayList<>(gone);
        changes.addAll(listed);
        pods.clear();
        listed.forEach(pod -> pods.put(pod.uid(), pod));
        large.retainAll(uids);
        seen = true;
        changes.forEach(changed);
    }
}
