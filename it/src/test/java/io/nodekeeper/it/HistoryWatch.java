package io.nodekeeper.it;

import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.client.Call;
import io.nodekeeper.client.HttpTransport;
import io.nodekeeper.client.Reply;
import io.nodekeeper.client.Transport;
import io.nodekeeper.client.TransportException;
import io.nodekeeper.client.config.Kubeconfig;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;

/** Follows the ConfigMaps of {@link HistoryClients} without listing them: a watch that breaks is continued from its last version. */
final class HistoryWatch implements AutoCloseable {
    private final List<HttpTransport> servers = new ArrayList<>();
    private final List<WatchedEvent> events = new ArrayList<>();
    private final List<String> refusals = new ArrayList<>();
    private final Thread thread;
    private volatile boolean running = true;
    private volatile String version;

    /** Begins after {@code version}; each time that a watch ends, the next server of {@code kubeconfigs} is asked. */
    HistoryWatch(List<Path> kubeconfigs, String version) {
        this.version = version;
        kubeconfigs.forEach(file -> servers.add(new HttpTransport(Kubeconfig.load(file))));
        thread = Thread.ofPlatform().daemon().name("watch").start(this::run);
    }

    /** Whether an object of this name has been seen. */
    boolean hasSeen(String key) {
        synchronized (events) {
            return events.stream().anyMatch(event -> event.key().equals(key));
        }
    }

    /** The events of the shared objects. */
    List<WatchedEvent> events() {
        synchronized (events) {
            return events.stream()
                    .filter(event -> HistoryClients.covers(event.key()))
                    .toList();
        }
    }

    /** The errors of servers that refused to continue a watch. */
    List<String> refusals() {
        synchronized (events) {
            return List.copyOf(refusals);
        }
    }

    private void run() {
        for (int turn = 0; running; turn++) {
            CountDownLatch ended = new CountDownLatch(1);
            Transport.Stream stream = servers.get(turn % servers.size())
                    .open(
                            Call.get(HistoryClients.PATH + "?watch=true&timeoutSeconds=600&resourceVersion=" + version),
                            new Lines(ended));
            try {
                ended.await();
                stream.cancel();
                Thread.sleep(50);
            } catch (InterruptedException e) {
                return;
            }
        }
    }

    private final class Lines implements Transport.StreamHandler {
        private final CountDownLatch ended;

        private Lines(CountDownLatch ended) {
            this.ended = ended;
        }

        @Override
        public void onOpen() {
            // What counts are the lines.
        }

        @Override
        public void onLine(byte[] line) {
            JsonObject event = Json.parseObject(line);
            JsonObject object = event.object("object");
            synchronized (events) {
                if (event.text("type").equals("ERROR")) {
                    refusals.add(event.toString());
                    return;
                }
                version = object.object("metadata").text("resourceVersion");
                events.add(new WatchedEvent(
                        event.text("type"),
                        object.object("metadata").text("name"),
                        Long.parseLong(version),
                        object.object("data").text("value")));
            }
        }

        @Override
        public void onEnd(Optional<Reply> refusal, Optional<TransportException> why) {
            ended.countDown();
        }
    }

    @Override
    public void close() {
        running = false;
        thread.interrupt();
        servers.forEach(HttpTransport::close);
    }
}
