package io.nodekeeper.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.client.Call;
import io.nodekeeper.client.HttpTransport;
import io.nodekeeper.client.config.Kubeconfig;
import io.nodekeeper.store.etcd.EtcdCluster;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The API server is linearizable under faults, and its watches deliver each change once and in order.
 */
@Tag("long")
@Order(2)
class LinearizabilityIT {
    private static final int CLIENTS = 8;
    private static final Duration PROGRESS = Duration.ofSeconds(60);

    @TempDir
    Path directory;

    private final Deque<AutoCloseable> parts = new ArrayDeque<>();

    /** A fault while clients work. */
    private interface Trouble {
        void happen() throws Exception;
    }

    @AfterEach
    void close() throws Exception {
        while (!parts.isEmpty()) {
            parts.pop().close();
        }
    }

    @Test
    @Tag("W60")
    @Tag("W61")
    void aStoreInMemoryIsLinearizable() throws Exception {
        Server server = new Server("memory", List.of("--store=memory"));

        check("memory", List.of(server), List.of());
    }

    @Test
    @Tag("W60")
    @Tag("W61")
    @Tag("W71")
    @Tag("W85")
    void aStoreOnDiskIsLinearizableThroughKillsOfTheServer() throws Exception {
        Server server = new Server("rocksdb", List.of("--store=rocksdb"));
        Trouble kill = server::killAndRestart;

        check("rocksdb, 3 kills", List.of(server), List.of(kill, kill, kill));
    }

    @Test
    @Tag("W60")
    @Tag("W61")
    @Tag("W71")
    void twoServersOnEtcdAreLinearizableThroughKillsAndFrozenMembers() throws Exception {
        EtcdCluster etcd = opened(EtcdCluster.start(directory.resolve("etcd"), 3));
        List<String> store = List.of("--store=etcd", etcd.serversFlag());
        Server one = new Server("one", store);
        Server other = new Server("other", store);
        Trouble frozen = () -> {
            etcd.freeze(0);
            Thread.sleep(4_000);
            etcd.thaw(0);
        };
        Trouble stopped = () -> {
            etcd.kill(1);
            Thread.sleep(2_000);
            etcd.restart(1);
        };

        check(
                "etcd, a member frozen, one killed, a server killed",
                List.of(one, other),
                List.of(frozen, one::killAndRestart, stopped));
    }

    /** Runs clients while one fault follows another, and checks what they saw. */
    private void check(String what, List<Server> servers, List<Trouble> troubles) throws Exception {
        List<Path> kubeconfigs = servers.stream().map(Server::kubeconfig).toList();
        String version = put("begin", kubeconfigs.getFirst());
        HistoryWatch watch = opened(new HistoryWatch(kubeconfigs, version));
        HistoryWatch another = opened(new HistoryWatch(kubeconfigs.reversed(), version));
        HistoryClients clients = opened(new HistoryClients(kubeconfigs, CLIENTS));
        for (Trouble trouble : troubles) {
            awaitProgress(clients);
            trouble.happen();
        }
        awaitProgress(clients);
        awaitProgress(clients);
        List<Operation> operations = clients.stop();
        put("end", kubeconfigs.getFirst());
        Eventually.within(PROGRESS, () -> watch.hasSeen("end") && another.hasSeen("end"));

        System.out.println("linearizability: " + what + ": " + operations.size() + " requests, "
                + watch.events().size() + " changes");
        assertThat(HistoryCheck.faults(operations, watch.events())).isEmpty();
        assertThat(watch.refusals()).as("watches that could not go on").isEmpty();
        assertThat(another.events()).isEqualTo(watch.events());
        assertThat(another.refusals()).isEmpty();
    }

    private static void awaitProgress(HistoryClients clients) throws Exception {
        long before = clients.done();
        Eventually.within(PROGRESS, () -> {
            Thread.sleep(200);
            return clients.done() > before + 1_000;
        });
    }

    /** Creates an object of that name and returns its version. */
    private static String put(String name, Path kubeconfig) throws Exception {
        HttpTransport transport = new HttpTransport(Kubeconfig.load(kubeconfig));
        try {
            var reply = Fleet.await(transport.send(new Call(
                    "POST",
                    HistoryClients.PATH,
                    "application/json",
                    ("{\"metadata\":{\"name\":\"" + name + "\"}}").getBytes(StandardCharsets.UTF_8))));
            assertThat(reply.status())
                    .as(new String(reply.body(), StandardCharsets.UTF_8))
                    .isEqualTo(201);
            return io.nodekeeper.api.json.Json.parseObject(reply.body())
                    .object("metadata")
                    .text("resourceVersion");
        } finally {
            transport.close();
        }
    }

    private <T extends AutoCloseable> T opened(T part) {
        parts.push(part);
        return part;
    }

    /** An API server that can be killed and comes back at the same address. */
    private final class Server {
        private final String name;
        private final Path data;
        private final List<String> store;
        private final String port;
        private Running process;

        Server(String name, List<String> store) throws Exception {
            this.name = name;
            this.store = store;
            data = directory.resolve(name);
            process = start("0");
            port = Integer.toString(URI.create(process.awaitAddress()).getPort());
        }

        Path kubeconfig() {
            return data.resolve("admin.kubeconfig");
        }

        void killAndRestart() throws Exception {
            process.kill();
            process = start(port);
            process.awaitReady();
        }

        private Running start(String port) throws Exception {
            List<String> arguments =
                    new ArrayList<>(List.of("apiserver", "--data-dir", data.toString(), "--secure-port", port));
            arguments.addAll(store);
            return opened(Running.start(directory, name, arguments.toArray(String[]::new)));
        }
    }
}
