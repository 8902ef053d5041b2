package io.nodekeeper.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.client.Call;
import io.nodekeeper.client.HttpTransport;
import io.nodekeeper.client.config.Kubeconfig;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;

/**
 * The heartbeats of 1,000 nodes while the API server is attacked in each of the ways of {@link Attack}, one after the other,
 * on one cluster of real processes: the server as it is shipped, a controller, and the nodes.
 *
 * <p>{@code scripts/hostile} is the measurement: the machine does nothing else, 99 % of the renewals take less than a second,
 * and the table of a whole run becomes {@code docs/hostile.md}. In {@code ./test --all}, on machines of any speed, the bound
 * for renewals is {@value #ANY_MACHINE} s, half the grace; the other bounds are the same.
 *
 * <p>{@code -Dhostile.only=YAML_KEY,PING} runs just those, and leaves the document alone.
 */
@Isolated("It measures.")
@Tag("long")
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class HostileIT {
    private static final int NODES = 1_000;
    private static final double ANY_MACHINE = 10;
    /** Where the bound of the measurement holds. */
    private static final boolean MEASURED = Boolean.getBoolean("hostile.measured");
    /** How long an attack takes, seconds; shorter in the suite, whose time is limited. */
    private static final int ATTACK = MEASURED ? 6 : 4;

    /** How long the test observes after an attack, seconds; a heartbeat that is later counts for the next attack. */
    private static final int AFTERMATH = MEASURED ? 2 : 1;

    private static final double MOST_SECONDS = MEASURED ? 1 : ANY_MACHINE;
    private static final long MOST_KB = 1_200_000;

    @TempDir
    static Path directory;

    private final List<Row> rows = new ArrayList<>();
    private final BenchReport report = new BenchReport();

    /** One line of the table. */
    private record Row(
            Attack attack,
            List<Double> heartbeats,
            long residentKb,
            long falselyBlamed,
            boolean alive,
            Map<String, Integer> answers) {

        double quantile(int percent) {
            return heartbeats.isEmpty() ? Prey.FAILED : heartbeats.get((heartbeats.size() - 1) * percent / 100);
        }

        boolean good() {
            return alive && falselyBlamed == 0 && quantile(99) < MOST_SECONDS && residentKb < MOST_KB;
        }

        String cells() {
            return String.format(
                    Locale.ROOT,
                    "| %s | %d | %s | %s | %s | %d MB | %d | %s | %s |%n",
                    attack.text(),
                    heartbeats.size(),
                    millis(quantile(50)),
                    millis(quantile(99)),
                    millis(quantile(100)),
                    residentKb / 1_024,
                    falselyBlamed,
                    answers.entrySet().stream()
                            .map(answer -> answer.getValue() + " × " + answer.getKey())
                            .collect(Collectors.joining(", ")),
                    good() ? "yes" : alive ? "**no**" : "**ended**");
        }

        private static String millis(double seconds) {
            return seconds >= Prey.FAILED ? "failed" : String.format(Locale.ROOT, "%.0f ms", seconds * 1e3);
        }
    }

    @TestFactory
    @Tag("W86")
    Stream<DynamicTest> heartbeatsGoOnAndNoNodeIsBlamedWhateverAClientDoes() throws Exception {
        Set<String> only = Set.of(System.getProperty("hostile.only", "").split(","));
        List<Attack> attacks = Arrays.stream(Attack.values())
                .filter(attack -> only.contains("") || only.contains(attack.name()))
                .toList();
        run(attacks);
        return rows.stream()
                .map(row -> DynamicTest.dynamicTest(row.attack.text(), () -> {
                    assertThat(row.alive).as("the server runs").isTrue();
                    assertThat(row.falselyBlamed)
                            .as("living nodes that became Unknown")
                            .isZero();
                    assertThat(row.heartbeats).isNotEmpty();
                    assertThat(row.quantile(99)).as("p99 of renewals, seconds").isLessThan(MOST_SECONDS);
                    assertThat(row.residentKb).as("resident memory, KB").isLessThan(MOST_KB);
                }));
    }

    private void run(List<Attack> attacks) throws Exception {
        Path tokens = directory.resolve("tokens.csv");
        List<String> lines = new ArrayList<>(Heartbeats.tokens());
        lines.add(Prey.HEAVY + ",heavy,,\"heavy\"");
        lines.add(Prey.NOBODY + ",nobody,,\"nobody\"");
        lines.add(Prey.NODE + ",system:node:hostile,,\"system:nodes\"");
        Files.write(tokens, lines);
        Path data = directory.resolve("data");
        List<Attack> left = new ArrayList<>(attacks);
        // A server that an attack has ended is started again for the others.
        while (!left.isEmpty()) {
            try (Running server = Running.byScript(
                    directory,
                    "apiserver",
                    "apiserver",
                    "--data-dir",
                    data.toString(),
                    "--secure-port",
                    "0",
                    "--token-auth-file",
                    tokens.toString())) {
                cluster(server, server.awaitAddress(), data, left);
            }
        }
    }

    private void cluster(Running server, String address, Path data, List<Attack> left) throws Exception {
        Prey prey = new Prey(address);
        Path admin = data.resolve("admin.kubeconfig");
        try (Running controller = Running.byScript(
                        directory,
                        "controller",
                        "controller",
                        "--kubeconfig",
                        data.resolve("controller.kubeconfig").toString(),
                        "--node-monitor-grace-period=20s");
                Running nodes = Running.hollow(directory, admin, "hollow-", NODES, "--node-lease-duration-seconds=20");
                Fleet fleet = new Fleet(admin);
                Heartbeats heartbeats = new Heartbeats(prey)) {
            nodes.awaitReady();
            allowAll(admin);
            heartbeats.start();
            Eventually.within(Duration.ofSeconds(60), () -> fleet.ready() >= NODES);
            Thread.sleep(3_000);
            while (!left.isEmpty()) {
                report.now("attack %d of %d: %s"
                        .formatted(
                                rows.size() + 1,
                                rows.size() + left.size(),
                                left.getFirst().text()));
                Row row = row(left.removeFirst(), prey, server, fleet, heartbeats);
                rows.add(row);
                report.add("hostile: " + row.cells());
                if (!row.alive) {
                    return;
                }
            }
            assertThat(controller.log()).doesNotContain("OutOfMemoryError");
        }
    }

    /** Lets the heavy user do all that administrators may. */
    private static void allowAll(Path admin) throws Exception {
        String binding = """
                {"metadata":{"name":"heavy"},
                 "roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"cluster-admin"},
                 "subjects":[{"apiGroup":"rbac.authorization.k8s.io","kind":"User","name":"heavy"}]}""";
        HttpTransport transport = new HttpTransport(Kubeconfig.load(admin));
        try {
            int status = Fleet.await(transport.send(new Call(
                            "POST",
                            "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
                            "application/json",
                            binding.getBytes(StandardCharsets.UTF_8))))
                    .status();
            assertThat(status).isIn(201, 409);
        } finally {
            transport.close();
        }
    }

    private static Row row(Attack attack, Prey prey, Running server, Fleet fleet, Heartbeats heartbeats)
            throws Exception {
        heartbeats.taken();
        long marksBefore = marks(fleet);
        long until = System.nanoTime() + Duration.ofSeconds(ATTACK).toNanos();
        ResidentMemory memory = new ResidentMemory(server.pid());
        Map<String, Integer> answers;
        try (memory) {
            answers = answers(attack, prey, until);
            Thread.sleep(AFTERMATH * 1_000L);
        }
        return new Row(
                attack,
                heartbeats.taken(),
                memory.mostKb(),
                marks(fleet) - marksBefore,
                ProcessFacts.state(server.pid()) != 'X',
                answers);
    }

    /** The server's answers. An attacker whom it answers too late gives up, which is a row like the others. */
    private static Map<String, Integer> answers(Attack attack, Prey prey, long until) throws Exception {
        try {
            return attack.attack(prey, until);
        } catch (SocketTimeoutException e) {
            TimeUnit.NANOSECONDS.sleep(until - System.nanoTime());
            return Map.of("given up", 1);
        }
    }

    /** How often a node has become Unknown; all of them live. */
    private static long marks(Fleet fleet) {
        return fleet.nodes().values().stream().mapToLong(seen -> seen.marked).sum();
    }

    @AfterAll
    void writeTable() throws Exception {
        if (!MEASURED || rows.size() != Attack.values().length) {
            return;
        }
        StringBuilder table = new StringBuilder();
        rows.forEach(row -> table.append(row.cells()));
        Files.writeString(Path.of("..", "docs", "hostile.md"), DOCUMENT.formatted(table));
    }

    private static final String DOCUMENT = """
            # Hostile and heavy clients

            Written by `scripts/hostile` (`HostileIT`); do not edit.

            How the API server withstands attacks while 1,000 nodes depend on it. One cluster of real processes on one machine with 2
            cores: the server as `./nodekeeper apiserver` starts it (RocksDB, a heap of 800 MB), the controller with a grace
            of 20 s, 1,000 hollow nodes that renew their leases, and the attacker, which also uses these processors.
            Each attack takes 6 s. Its user may do everything, but is not in `system:masters`, unless the table says otherwise.

            Heartbeats are those of 40 nodes that renew once a second over separate connections, timed from when each was
            due until its response arrived, during the attack and 2 s afterwards. False verdicts are living nodes, of the whole fleet, that
            the controller made Unknown. Memory is the maximum resident size. As it should be: 99 %% of the heartbeats take less
            than a second, no false verdict, less than 1.2 GB, and the server runs.

            | attack | heartbeats | half within | 99 %% within | all within | memory | false verdicts | answers | as it should be |
            |---|---|---|---|---|---|---|---|---|
            %s""";
}
