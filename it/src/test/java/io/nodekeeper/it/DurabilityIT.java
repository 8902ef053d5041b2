package io.nodekeeper.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.KubeObject;
import io.nodekeeper.api.ResourceType;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.client.HttpTransport;
import io.nodekeeper.client.KubeClient;
import io.nodekeeper.client.Reflector;
import io.nodekeeper.client.Selection;
import io.nodekeeper.client.config.Kubeconfig;
import io.nodekeeper.time.Randoms;
import io.nodekeeper.time.ThreadLoop;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;

/** What the API server acknowledged survives kill -9. */
@Isolated("It keeps both processors busy.")
@Tag("long")
class DurabilityIT {
    private static final int KILLS = 20;
    private static final int WRITERS = 16;

    @TempDir
    Path directory;

    private final AtomicLong acknowledged = new AtomicLong();
    private final AtomicLong highest = new AtomicLong();
    private final Map<String, Long> counts = new ConcurrentHashMap<>();
    private volatile boolean writing = true;

    @Test
    @Tag("W71")
    @Tag("W85")
    void nothingAcknowledgedIsMissingAfterKillsUnderLoadAndWatchersResume() throws Exception {
        // Given a server under writes, and a watcher.
        Path data = directory.resolve("data");
        Running server = start(data, "0");
        ThreadLoop loop = new ThreadLoop("writers");
        try {
            String port = Integer.toString(URI.create(server.awaitAddress()).getPort());
            HttpTransport transport = new HttpTransport(Kubeconfig.load(data.resolve("admin.kubeconfig")));
            KubeClient client = new KubeClient(transport, loop, Duration.ofSeconds(5));
            // For a server that has just been started on a busy machine; the writers do not wait for so long.
            KubeClient patient = client.withTimeout(Duration.ofSeconds(60));
            Map<String, Long> watched = new ConcurrentHashMap<>();
            watch(client, watched);
            for (int writer = 0; writer < WRITERS; writer++) {
                create(client, "w" + writer);
            }
            for (int kill = 0; kill < KILLS; kill++) {
                long before = acknowledged.get();
                Eventually.within(Duration.ofSeconds(30), () -> acknowledged.get() > before + 500);

                // When it is killed in the middle of them and started again.
                server.kill();
                Map<String, Long> promised = Map.copyOf(counts);
                long revision = highest.get();
                server = start(data, port);
                server.awaitReady();

                // Then everything that it had acknowledged is there, and revisions go on.
                JsonObject list = Fleet.await(patient.list(ResourceType.LEASES, "default", ""));
                assertThat(Long.parseLong(list.object("metadata").text("resourceVersion")))
                        .isGreaterThanOrEqualTo(revision);
                Map<String, Long> stored = new ConcurrentHashMap<>();
                list.array("items")
                        .objects()
                        .map(KubeObject::new)
                        .forEach(lease -> stored.put(lease.name(), count(lease)));
                promised.forEach(
                        (name, count) -> assertThat(stored.get(name)).as(name).isGreaterThanOrEqualTo(count));
            }
            writing = false;

            // And the watcher has seen the last of it all.
            Eventually.within(Duration.ofSeconds(60), () -> {
                JsonObject list = Fleet.await(patient.list(ResourceType.LEASES, "default", ""));
                return list.array("items")
                        .objects()
                        .map(KubeObject::new)
                        .allMatch(lease -> Long.valueOf(count(lease)).equals(watched.get(lease.name())));
            });
            System.out.println(
                    "durability: " + KILLS + " kills, " + acknowledged.get() + " writes acknowledged, none lost");
            transport.close();
        } finally {
            server.close();
            loop.close();
        }
    }

    private Running start(Path data, String port) throws Exception {
        return Running.start(directory, "apiserver", "apiserver", "--data-dir", data.toString(), "--secure-port", port);
    }

    private static void watch(KubeClient client, Map<String, Long> watched) {
        new Reflector(
                        client,
                        Selection.inNamespace(ResourceType.LEASES, "default"),
                        Randoms.secure(),
                        new Reflector.Handler() {
                            @Override
                            public void onReplace(List<JsonObject> objects) {
                                objects.forEach(this::onChange);
                            }

                            @Override
                            public void onChange(JsonObject object) {
                                KubeObject lease = new KubeObject(object);
                                watched.put(lease.name(), count(lease));
                            }

                            @Override
                            public void onDelete(JsonObject object) {
                                watched.remove(new KubeObject(object).name());
                            }
                        })
                .start();
    }

    private void create(KubeClient client, String name) {
        JsonObject lease = JsonObject.EMPTY
                .update("metadata", metadata -> metadata.with("name", name))
                .with("spec", JsonObject.builder().put("leaseTransitions", 0).build());
        client.create(ResourceType.LEASES, "default", lease).whenComplete((stored, error) -> {
            if (error == null) {
                done(client, stored);
            } else {
                again(client, name);
            }
        });
    }

    /** Writes the next count as soon as the one before is acknowledged. */
    private void done(KubeClient client, JsonObject stored) {
        KubeObject lease = new KubeObject(stored);
        counts.put(lease.name(), count(lease));
        highest.accumulateAndGet(Long.parseLong(lease.resourceVersion()), Math::max);
        acknowledged.incrementAndGet();
        if (!writing) {
            return;
        }
        JsonObject next = stored.update(
                "spec",
                spec -> spec.toBuilder()
                        .put("leaseTransitions", count(lease) + 1)
                        .build());
        client.update(ResourceType.LEASES, "default", lease.name(), next).whenComplete((updated, error) -> {
            if (error == null) {
                done(client, updated);
            } else {
                again(client, lease.name());
            }
        });
    }

    /** Goes on from what is stored: a write without an answer may have landed or not. */
    private void again(KubeClient client, String name) {
        client.loop()
                .schedule(
                        Duration.ofMillis(20),
                        () -> client.get(ResourceType.LEASES, "default", name).whenComplete((stored, error) -> {
                            if (error == null) {
                                done(client, stored);
                            } else if (io.nodekeeper.api.Failures.isCode(error, 404)) {
                                create(client, name);
                            } else {
                                again(client, name);
                            }
                        }));
    }

    private static long count(KubeObject lease) {
        return lease.spec().number("leaseTransitions").orElse(0L);
    }
}
