package io.nodekeeper.agent.pods.objects;

import io.nodekeeper.agent.pods.volumes.VolumeRoom;
import io.nodekeeper.api.Failures;
import io.nodekeeper.api.ResourceType;
import io.nodekeeper.api.json.JsonMemory;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.client.KubeClient;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Objects of the API that the pods of a node refer to. Pods that ask for the same object within its greatest age share one read;
 * each read has its client's deadline. Failures and absence are not kept. Confined to its client's loop.
 */
public final class ObjectCache {
    /** For the start of a pod or container: new enough to be what its owner wrote, old enough that a burst shares reads. */
    public static final Duration NEW = Duration.ofSeconds(1);
    /** For updates: each object is read at most this often, however many pods use it. */
    public static final Duration RECENT = Duration.ofSeconds(10);

    /** The most bytes of memory of objects that are kept. The oldest ones go first. */
    private static final long MOST_BYTES = 8 << 20;
    /** Reads at the same time; the others wait. An object of a megabyte takes up to twenty while it is read. */
    private static final int READS = 2;
    /** How long a read may wait for those: as long as the deadline of one. */
    private static final Duration LONGEST_WAIT = Duration.ofSeconds(10);
    /** Kubernetes' form of names. Others could lead to another object's path. */
    private static final Pattern NAME = Pattern.compile("[a-z0-9]([-.a-z0-9]{0,251}[a-z0-9])?");

    private final KubeClient client;
    /** In the order of their reads. Bounded by {@link #MOST_BYTES} and by the reads that wait for their deadline. */
    private final Map<String, Entry> entries = new LinkedHashMap<>();

    /** Reads that wait, in their order: some of each pod and container that starts. */
    private final Queue<Entry> waiting = new ArrayDeque<>();

    private final ServiceLists services;
    private final VolumeRoom room;
    private long bytes;
    private int running;
    private boolean proceeding;

    /**
     * A cache of what {@code client} reads.
     *
     * @param volumes bytes of memory for what volumes are made from
     */
    public ObjectCache(KubeClient client, long volumes) {
        this.client = client;
        services = new ServiceLists(client);
        room = new VolumeRoom(volumes);
    }

    /** The memory for the objects that volumes are made from. */
    public VolumeRoom room() {
        return room;
    }

    /** The Services of a namespace. */
    public ServiceLists services() {
        return services;
    }

    /** A read that waits, runs or has ended. */
    private static final class Entry {
        private final Supplier<CompletableFuture<JsonObject>> call;
        private final CompletableFuture<JsonObject> read = new CompletableFuture<>();
        /** Since when it waits, or when it was sent; monotonic ns. */
        private long since;

        private boolean sent;
        private long size;

        private Entry(long since, Supplier<CompletableFuture<JsonObject>> call) {
            this.since = since;
            this.call = call;
        }
    }

    /** The object if it exists, as it was at most {@code age} ago. */
    public CompletableFuture<Optional<JsonObject>> get(ResourceType type, String namespace, String name, Duration age) {
        if (!NAME.matcher(name).matches()) {
            return CompletableFuture.failedFuture(new IllegalArgumentException(
                    type.kind() + " name must be one of Kubernetes, got \"" + name + "\""));
        }
        long now = client.loop().clock().nanoTime();
        dropOld(now);
        String key = type.path(namespace, name);
        Entry entry = entries.get(key);
        if (entry == null || (entry.sent && now - entry.since > age.toNanos())) {
            entry = read(type, namespace, name, key, now);
        }
        return entry.read
                .thenApply(Optional::of)
                .exceptionallyCompose(error -> Failures.isCode(error, 404)
                        ? CompletableFuture.completedFuture(Optional.empty())
                        : CompletableFuture.failedFuture(Failures.cause(error)));
    }

    private Entry read(ResourceType type, String namespace, String name, String key, long now) {
        remove(key);
        Entry entry = new Entry(now, () -> client.get(type, namespace, name));
        entries.put(key, entry);
        entry.read.whenComplete((object, error) -> ended(key, entry, object));
        waiting.add(entry);
        proceed();
        return entry;
    }

    /** Sends what waits. While nothing is answered it gives up what has waited too long, so that callers can go on. */
    private void proceed() {
        if (proceeding) {
            return;
        }
        proceeding = true;
        while (running < READS && !waiting.isEmpty()) {
            Entry next = waiting.remove();
            long now = client.loop().clock().nanoTime();
            if (now - next.since > LONGEST_WAIT.toNanos()) {
                next.read.completeExceptionally(new IllegalStateException(
                        "not read, because earlier reads had no answer within " + LONGEST_WAIT.toSeconds() + " s"));
            } else {
                send(next, now);
            }
        }
        proceeding = false;
    }

    private void send(Entry next, long now) {
        running++;
        next.since = now;
        next.sent = true;
        next.call.get().whenComplete((object, error) -> {
            running--;
            if (error == null) {
                next.read.complete(object);
            } else {
                next.read.completeExceptionally(Failures.cause(error));
            }
            proceed();
        });
    }

    private void ended(String key, Entry entry, @Nullable JsonObject object) {
        if (entries.get(key) != entry) {
            return;
        }
        if (object == null) {
            remove(key);
            return;
        }
        entry.size = JsonMemory.of(object);
        bytes += entry.size;
        Iterator<Entry> oldest = entries.values().iterator();
        while (bytes > MOST_BYTES && oldest.hasNext()) {
            bytes -= oldest.next().size;
            oldest.remove();
        }
    }

    private void dropOld(long now) {
        Iterator<Entry> oldest = entries.values().iterator();
        while (oldest.hasNext()) {
            Entry entry = oldest.next();
            if (!entry.sent || now - entry.since <= RECENT.toNanos()) {
                return;
            }
            bytes -= entry.size;
            oldest.remove();
        }
    }

    private void remove(String key) {
        Entry old = entries.remove(key);
        if (old != null) {
            bytes -= old.size;
        }
    }
}
