package io.nodekeeper.cli.ui;

import io.nodekeeper.api.Failures;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.client.pages.Feed;
import io.nodekeeper.time.Deadlines;
import io.nodekeeper.time.Loop;
import java.time.Duration;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/**
 * Sends the fleet to each reader, then once a second what changed since the reader's last event. A reader has at most
 * one event on its way, so that a slow one skips moments instead of queueing them. A reader that takes longer than
 * {@link #SLOWEST} for an event is cut. Each stream ends after {@link #LONGEST}. Nothing is read while there is no reader.
 * Thread-safe; its state is confined to its loop.
 */
final class FleetFeed implements Feed {
    /** The most readers, each with at most one event on its way (6 MB for 50,000 nodes): some teams' open pages. */
    static final int READERS = 16;
    /** How long a reader may take for one event: the whole fleet of 5,000 nodes, 600 KB, over a 3G line. */
    static final Duration SLOWEST = Duration.ofSeconds(15);
    /** The longest stream: its reader connects again, and its rights are checked again, as they are for pages. */
    static final Duration LONGEST = Duration.ofMinutes(5);
    /** The pause between events: people do not follow faster changes. */
    static final Duration PAUSE = Duration.ofSeconds(1);
    /** More pause for each node beyond 10,000, so that reading takes a few percent of the controller's loop at most. */
    private static final Duration PAUSE_PER_NODE = Duration.ofNanos(100_000);
    /** How long the controller's loop may take to answer, as for its pages. */
    private static final Duration ANSWER_LIMIT = Duration.ofSeconds(2);

    private final Supplier<CompletableFuture<FleetSnapshot>> source;
    private final Loop loop;
    /** At most {@link #READERS}. */
    private final List<Client> clients = new ArrayList<>();

    private boolean reading;

    /** {@code source} is called on {@code loop}, which must not be the one that answers. */
    FleetFeed(Supplier<CompletableFuture<FleetSnapshot>> source, Loop loop) {
        this.source = source;
        this.loop = loop;
    }

    /** What is known of one reader. */
    private static final class Client {
        final Reader reader;
        final long since;
        /** What the reader has, once it was sent. */
        Optional<FleetSnapshot> base = Optional.empty();

        boolean busy;
        long busySince;

        Client(Reader reader, long since) {
            this.reader = reader;
            this.since = since;
        }
    }

    @Override
    public CompletableFuture<Boolean> open(Reader reader) {
        return CompletableFuture.supplyAsync(() -> admit(reader), loop);
    }

    /** The number of readers. On the loop. */
    int readers() {
        return clients.size();
    }

    private boolean admit(Reader reader) {
        if (clients.size() >= READERS) {
            return false;
        }
        clients.add(new Client(reader, loop.clock().nanoTime()));
        if (!reading) {
            reading = true;
            read();
        }
        return true;
    }

    private void read() {
        cut();
        if (clients.isEmpty()) {
            reading = false;
            return;
        }
        Deadlines.within(loop, ANSWER_LIMIT, "the controller", source.get())
                .whenCompleteAsync(
                        (snapshot, error) -> {
                            loop.schedule(error == null ? pause(snapshot.rows().size()) : PAUSE, this::read);
                            if (error == null) {
                                send(snapshot);
                            } else {
                                trouble(Failures.text(error));
                            }
                        },
                        loop);
    }

    private static Duration pause(int nodes) {
        Duration forNodes = PAUSE_PER_NODE.multipliedBy(nodes);
        return forNodes.compareTo(PAUSE) > 0 ? forNodes : PAUSE;
    }

    /** Ends the streams of slow readers and those that are old. */
    private void cut() {
        long now = loop.clock().nanoTime();
        List<Client> over = clients.stream()
                .filter(client -> client.busy && now - client.busySince >= SLOWEST.toNanos()
                        || now - client.since >= LONGEST.toNanos())
                .toList();
        over.forEach(client -> {
            clients.remove(client);
            client.reader.close();
        });
    }

    private void send(FleetSnapshot snapshot) {
        // Most readers have the same snapshot, so that their events are the same.
        Map<FleetSnapshot, byte[]> events = new IdentityHashMap<>();
        Optional<byte[]> first = Optional.empty();
        for (Client client : List.copyOf(clients)) {
            if (client.busy) {
                continue;
            }
            if (client.base.isEmpty()) {
                byte[] event = first.orElseGet(snapshot::first);
                first = Optional.of(event);
                send(client, event);
            } else {
                send(client, events.computeIfAbsent(client.base.get(), snapshot::since));
            }
            client.base = Optional.of(snapshot);
        }
    }

    private void trouble(String text) {
        byte[] event = FleetSnapshot.event("trouble", JsonObject.EMPTY.with("text", text));
        List.copyOf(clients).stream().filter(client -> !client.busy).forEach(client -> send(client, event));
    }

    private void send(Client client, byte[] event) {
        client.busy = true;
        client.busySince = loop.clock().nanoTime();
        client.reader
                .send(event)
                .whenCompleteAsync(
                        (sent, error) -> {
                            client.busy = false;
                            if (error != null) {
                                clients.remove(client);
                                client.reader.close();
                            }
                        },
                        loop);
    }
}
