package io.nodekeeper.it;

import io.nodekeeper.api.KubeObject;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.client.Call;
import io.nodekeeper.client.HttpTransport;
import io.nodekeeper.client.Reply;
import io.nodekeeper.client.config.Kubeconfig;
import io.nodekeeper.it.Operation.Kind;
import io.nodekeeper.it.Operation.Outcome;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Clients that create, update, delete and read the same few ConfigMaps as fast as they are answered, each over any of the
 * servers, and record the results. */
final class HistoryClients implements AutoCloseable {
    static final String PATH = "/api/v1/namespaces/default/configmaps";

    private static final int KEYS = 6;
    private static final String KEY_PREFIX = "history-";
    /** Longer than any server takes to refuse; a later answer counts as none. */
    private static final long ANSWER_SECONDS = 8;

    private final List<HttpTransport> servers = new ArrayList<>();
    private final Queue<Operation> operations = new ConcurrentLinkedQueue<>();
    private final List<Thread> threads = new ArrayList<>();
    private final AtomicLong values = new AtomicLong();
    private volatile boolean running = true;

    /** Starts {@code count} of them against the servers of {@code kubeconfigs}. */
    HistoryClients(List<Path> kubeconfigs, int count) {
        kubeconfigs.forEach(file -> servers.add(new HttpTransport(Kubeconfig.load(file))));
        for (int client = 0; client < count; client++) {
            Random random = new Random(client);
            threads.add(Thread.ofPlatform().daemon().name("client-" + client).start(() -> run(random)));
        }
    }

    /** Whether it is one of the shared objects. */
    static boolean covers(String key) {
        return key.startsWith(KEY_PREFIX);
    }

    /** How many requests were answered with success. */
    long done() {
        return operations.stream()
                .filter(operation -> operation.outcome() == Outcome.DONE)
                .count();
    }

    /** Stops the clients and returns their operations. */
    List<Operation> stop() throws Exception {
        running = false;
        for (Thread thread : threads) {
            thread.join(30_000);
            if (thread.isAlive()) {
                throw new AssertionError(thread.getName() + " did not end");
            }
        }
        return List.copyOf(operations);
    }

    private void run(Random random) {
        // Each client remembers what it last knew of each object, which others may have changed meanwhile.
        long[] known = new long[KEYS];
        while (running) {
            int index = random.nextInt(KEYS);
            Operation operation = act(random, KEY_PREFIX + index, known[index]);
            operations.add(operation);
            known[index] = switch (operation.outcome()) {
                case DONE -> operation.kind() == Kind.DELETE ? 0 : operation.revision();
                case ABSENT -> 0;
                default -> known[index];
            };
            if (operation.outcome() == Outcome.UNKNOWN) {
                pause();
            }
        }
    }

    private Operation act(Random random, String key, long known) {
        int dice = random.nextInt(10);
        if (dice < 3) {
            return send(random, Kind.GET, key, known);
        }
        if (known == 0) {
            return send(random, Kind.CREATE, key, 0);
        }
        return send(random, dice == 9 ? Kind.DELETE : Kind.UPDATE, key, known);
    }

    private Operation send(Random random, Kind kind, String key, long known) {
        boolean write = kind == Kind.CREATE || kind == Kind.UPDATE;
        String value = write ? "v" + values.incrementAndGet() : "";
        long expected = kind == Kind.UPDATE || kind == Kind.DELETE ? known : 0;
        Call call = call(kind, key, value, expected);
        long invoked = System.nanoTime();
        try {
            Reply reply = servers.get(random.nextInt(servers.size())).send(call).get(ANSWER_SECONDS, TimeUnit.SECONDS);
            long returned = System.nanoTime();
            Outcome outcome = outcome(kind, reply);
            if (outcome == Outcome.UNKNOWN) {
                return new Operation(kind, key, value, expected, invoked, Long.MAX_VALUE, outcome, 0, "");
            }
            boolean object = outcome == Outcome.DONE && kind != Kind.DELETE;
            KubeObject seen = new KubeObject(object ? Json.parseObject(reply.body()) : JsonObject.EMPTY);
            return new Operation(
                    kind,
                    key,
                    value,
                    expected,
                    invoked,
                    returned,
                    outcome,
                    object ? Long.parseLong(seen.resourceVersion()) : 0,
                    kind == Kind.GET ? seen.json().object("data").text("value") : "");
        } catch (ExecutionException | TimeoutException e) {
            // A server that is being killed: the request may have got through.
            return new Operation(kind, key, value, expected, invoked, Long.MAX_VALUE, Outcome.UNKNOWN, 0, "");
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static Call call(Kind kind, String key, String value, long expected) {
        JsonObject.Builder metadata = JsonObject.builder().put("name", key);
        if (kind == Kind.UPDATE) {
            metadata.put("resourceVersion", Long.toString(expected));
        }
        JsonObject object = JsonObject.builder()
                .put("metadata", metadata.build())
                .put("data", JsonObject.builder().put("value", value).build())
                .build();
        return switch (kind) {
            case GET -> Call.get(PATH + "/" + key);
            case CREATE -> new Call("POST", PATH, "application/json", Json.writeBytes(object));
            case UPDATE -> new Call("PUT", PATH + "/" + key, "application/json", Json.writeBytes(object));
            case DELETE ->
                new Call(
                        "DELETE",
                        PATH + "/" + key,
                        "application/json",
                        ("{\"preconditions\":{\"resourceVersion\":\"" + expected + "\"}}")
                                .getBytes(StandardCharsets.UTF_8));
        };
    }

    private static Outcome outcome(Kind kind, Reply reply) {
        return switch (reply.status()) {
            case 200, 201 -> Outcome.DONE;
            case 404 -> Outcome.ABSENT;
            case 409 -> kind == Kind.CREATE ? Outcome.PRESENT : Outcome.CONFLICT;
            // A store that cannot say, a server that is about to stop.
            case 429, 500, 503, 504 -> Outcome.UNKNOWN;
            default ->
                throw new AssertionError("unexpected answer " + reply.status() + ": "
                        + new String(reply.body(), StandardCharsets.UTF_8));
        };
    }

    private static void pause() {
        try {
            Thread.sleep(50);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public void close() {
        running = false;
        servers.forEach(HttpTransport::close);
    }
}
