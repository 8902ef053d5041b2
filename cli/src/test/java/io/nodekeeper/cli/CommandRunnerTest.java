package io.nodekeeper.cli;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.LoggingEvent;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.apiserver.admission.DefaultTolerations;
import io.nodekeeper.cli.agent.AgentCommand;
import io.nodekeeper.cli.apiserver.ApiServerCommand;
import io.nodekeeper.cli.apiserver.ApiServerOptions;
import io.nodekeeper.cli.certs.Certificates;
import io.nodekeeper.cli.certs.CertsCommand;
import io.nodekeeper.cli.certs.KubeconfigFiles;
import io.nodekeeper.cli.command.CommandRunner;
import io.nodekeeper.cli.command.NodekeeperCommand;
import io.nodekeeper.cli.controller.ControllerCommand;
import io.nodekeeper.cli.doctor.DoctorCommand;
import io.nodekeeper.cli.hollow.HollowNodesCommand;
import io.nodekeeper.cli.output.KlogLayout;
import io.nodekeeper.cli.output.Logging;
import io.nodekeeper.cli.simulate.SimulateCommand;
import io.nodekeeper.cli.simulate.SimulateProcess;
import io.nodekeeper.cli.up.UpCommand;
import io.nodekeeper.cli.why.WhyCommand;
import io.nodekeeper.cli.why.WhyProcess;
import io.nodekeeper.client.config.Kubeconfig;
import io.nodekeeper.time.Randoms;
import io.nodekeeper.time.VirtualTime;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class CommandRunnerTest {
    private static final Instant NOW = Instant.parse("2026-11-21T09:07:17.123456Z");

    @TempDir
    Path data;

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();
    private final List<NodekeeperCommand> launched = new ArrayList<>();
    private final CommandRunner runner = new CommandRunner(
            List.of(
                    new UpCommand(this::launch),
                    new ApiServerCommand(this::launch),
                    new ControllerCommand(this::launch),
                    new AgentCommand(this::launch),
                    new HollowNodesCommand(this::launch),
                    new SimulateCommand(
                            command -> SimulateProcess.run(command, new PrintWriter(out), new PrintWriter(err))),
                    new WhyCommand(command -> WhyProcess.run(
                            command,
                            new VirtualTime(NOW).loop("why").clock(),
                            new PrintWriter(out),
                            new PrintWriter(err))),
                    new DoctorCommand(this::launch),
                    new CertsCommand(NOW, Randoms.seeded(1), new PrintWriter(out))),
            new PrintWriter(out),
            new PrintWriter(err));

    @Test
    void upTakesTheFlagsOfAllThree() {
        int code = runner.run(
                "up",
                "--data-dir=" + data,
                "--secure-port",
                "0",
                "--node-name",
                "n1",
                "--node-monitor-grace-period=1m30s",
                "-v",
                "4");

        assertThat(err.toString()).isEmpty();
        assertThat(code).isZero();
        UpCommand up = (UpCommand) launched.getFirst();
        assertThat(up.server.data.dir).isEqualTo(data);
        assertThat(up.server.securePort).isZero();
        assertThat(up.agent.nodeName).contains("n1");
        assertThat(up.controller.judgement.gracePeriod).isEqualTo(Duration.ofSeconds(90));
        assertThat(up.logging.verbosity).isEqualTo(4);
    }

    @Test
    void defaultsAreThoseOfTheContract() {
        runner.run("up", "--data-dir=" + data);

        UpCommand up = (UpCommand) launched.getFirst();
        assertThat(up.server.securePort).isEqualTo(6443);
        assertThat(up.server.store).isEqualTo(ApiServerOptions.Store.rocksdb);
        assertThat(up.server.eventTtl).isEqualTo(Duration.ofHours(1));
        assertThat(up.server.defaultTolerations()).isEqualTo(new DefaultTolerations(300, 300));
        assertThat(up.controller.judgement.gracePeriod).isEqualTo(Duration.ofSeconds(50));
        assertThat(up.controller.judgement.startupGracePeriod).isEqualTo(Duration.ofSeconds(60));
        assertThat(up.agent.heartbeat.leaseDurationSeconds).isEmpty();
        assertThat(up.agent.registerNode).isEmpty();
        assertThat(up.logging.verbosity).isEqualTo(2);
    }

    @Test
    @Tag("L74")
    void defaultTolerationsAreWhatTheFlagsSay() {
        runner.run(
                "apiserver",
                "--data-dir=" + data,
                "--default-not-ready-toleration-seconds=7",
                "--default-unreachable-toleration-seconds=0");
        ApiServerCommand command = (ApiServerCommand) launched.getFirst();
        assertThat(command.server.defaultTolerations()).isEqualTo(new DefaultTolerations(7, 0));

        runner.run("apiserver", "--data-dir=" + data, "--default-unreachable-toleration-seconds=-1");
        assertThat(err.toString()).contains("--default-unreachable-toleration-seconds is -1; expected 0 to 2147483647");
    }

    @Test
    void saysEverythingThatIsWrongAtOnce() {
        int code = runner.run(
                "up",
                "--data-dir=" + data,
                "--secure-port=70000",
                "--node-name=Bad_Name",
                "--node-monitor-grace-period=fast",
                "--colour=red",
                "--event-ttl=0s",
                "--node-monitor-period=-1s");

        assertThat(code).isEqualTo(2);
        assertThat(launched).isEmpty();
        assertThat(err.toString())
                .startsWith("error: 6 errors:\n")
                .contains("--secure-port is 70000; expected 0 to 65535")
                .contains("--node-name is \"Bad_Name\"; expected lower case letters")
                .contains("\"fast\" is not a duration; expected a form like 300ms, 40s, 1m30s or 2h")
                .contains("--colour=red")
                .contains("--event-ttl is 0s; expected more than 0s")
                .contains("--node-monitor-period is -1s; expected more than 0s")
                .endsWith("See: nodekeeper up --help\n");
    }

    @Test
    void namesTheValuesThatAFlagTakes() {
        int code = runner.run("up", "--data-dir=" + data, "--store=mysql");

        assertThat(code).isEqualTo(2);
        assertThat(err.toString()).contains("--store").contains("mysql").contains("rocksdb, memory");
    }

    @Test
    void refusesContradictions() {
        assertThat(runner.run("apiserver", "--data-dir=" + data, "--tls-cert-file=/etc/hostname"))
                .isEqualTo(2);

        assertThat(err.toString()).contains("--tls-cert-file and --tls-private-key-file must be given together");
    }

    @Test
    void tellsWhichCommandsThereAre() {
        assertThat(runner.run()).isEqualTo(2);
        assertThat(runner.run("destroy")).isEqualTo(2);

        assertThat(err.toString())
                .contains("error: a command is missing; expected one of up, apiserver, controller, agent, hollow-nodes,"
                        + " simulate, why, doctor, certs")
                .contains("destroy");
    }

    @Test
    void helpTeachesEachCommandWithExamples() {
        for (String command : List.of(
                "up", "apiserver", "controller", "agent", "hollow-nodes", "simulate", "why", "doctor", "certs")) {
            int before = out.getBuffer().length();

            int code = runner.run(command, "--help");

            assertThat(code).isZero();
            assertThat(out.getBuffer().substring(before))
                    .contains("Usage: nodekeeper " + command)
                    .contains("Examples:\n  nodekeeper ");
        }
        assertThat(launched).isEmpty();
    }

    @Test
    void tellsItsVersion() {
        assertThat(runner.run("--version")).isZero();

        // From classes it is "dev", from the jar the version in its manifest.
        assertThat(out.toString()).matches("nodekeeper (dev|\\d+\\.\\d+\\.\\d+(-SNAPSHOT)?)\n");
    }

    @Test
    void aFailureIsOneLineAndExitCodeOne() {
        CommandRunner failing = new CommandRunner(
                List.of(new UpCommand(command -> {
                    throw new IOException("port 6443 is taken");
                })),
                new PrintWriter(out),
                new PrintWriter(err));

        int code = failing.run("up", "--data-dir=" + data);

        assertThat(code).isEqualTo(1);
        assertThat(err.toString()).isEqualTo("error: port 6443 is taken\n");
    }

    @Test
    void controllerAndAgentNeedAKubeconfig() {
        assertThat(runner.run("controller", "--kubeconfig", data.resolve("none").toString()))
                .isEqualTo(2);

        assertThat(err.toString())
                .contains("--kubeconfig is " + data.resolve("none") + ", which is not a readable file");
    }

    @Test
    void certsIssuesAKubeconfigForANode() throws IOException {
        Certificates.open(data, NOW, Randoms.seeded(2));

        int code = runner.run("certs", "--data-dir=" + data, "--node=web-1", "--server=https://10.0.0.1:6443");

        assertThat(err.toString()).isEmpty();
        assertThat(code).isZero();
        Path file = data.resolve("agent-web-1.kubeconfig");
        assertThat(out.toString()).isEqualTo(file + "\n");
        assertThat(Kubeconfig.load(file)).hasToString("https://10.0.0.1:6443 as CN=system:node:web-1,O=system:nodes");
    }

    @Test
    void certsIssuesAKubeconfigForAUserAtTheAdminsServer() throws IOException {
        new KubeconfigFiles(Certificates.open(data, NOW, Randoms.seeded(2)), java.net.URI.create("https://h:1"))
                .admin(data);
        Path file = data.resolve("out");

        int code = runner.run(
                "certs", "--data-dir=" + data, "--user=alice", "--group=dev", "--group=ops", "--out=" + file);

        assertThat(code).isZero();
        assertThat(Kubeconfig.load(file)).hasToString("https://h:1 as CN=alice,O=ops,O=dev");
    }

    @ParameterizedTest
    @ValueSource(strings = {"admin", "controller", "agent-web-1", "agent:web-1"})
    void certsReplacesNoKubeconfigOfTheServer(String user) throws IOException {
        KubeconfigFiles files = new KubeconfigFiles(
                Certificates.open(data, NOW, Randoms.seeded(2)), java.net.URI.create("https://h:1"));
        String admin = Files.readString(files.admin(data));

        assertThat(runner.run("certs", "--data-dir=" + data, "--user=" + user)).isEqualTo(2);

        assertThat(err.toString())
                .contains("--user is \"" + user + "\", whose file ")
                .contains("is the API server's own; expected --out with another file");
        assertThat(files.admin(data)).hasContent(admin);
    }

    @Test
    void certsRefusesAPasswordInTheAddressAndDoesNotShowIt() {
        assertThat(runner.run("certs", "--data-dir=" + data, "--node=n1", "--server=https://user:secret@h:6443"))
                .isEqualTo(2);

        assertThat(err.toString())
                .contains("--server is a URL with a user or a password; expected a form like https://10.0.0.1:6443")
                .doesNotContain("secret");
    }

    @Test
    void certsNeedsAServersDataDirectory() {
        assertThat(runner.run("certs", "--data-dir=" + data, "--node=n1", "--user=u"))
                .isEqualTo(2);

        assertThat(err.toString())
                .contains("expected --node NAME or --user NAME, one of them")
                .contains(data.resolve("pki/ca.key") + " cannot be read")
                .contains("--server is missing");
    }

    @Test
    void simulateReportsTheSameForTheSameSeed() throws IOException {
        Path trace = data.resolve("trace.txt");

        int code = runner.run(
                "simulate",
                "--nodes=3",
                "--duration=10m",
                "--seed=4",
                "--crashes-per-hour=60",
                "--pods=0",
                "--trace=" + trace,
                "--quiet",
                "-o",
                "json");

        assertThat(code).isZero();
        assertThat(err.toString()).isEmpty();
        JsonObject first = Json.parseObject(out.toString());
        assertThat(first.number("nodes")).contains(3L);
        assertThat(first.bool("good")).isTrue();
        List<String> lines = Files.readAllLines(trace);
        assertThat(first.number("traceLines")).contains((long) lines.size());
        assertThat(lines).anyMatch(line -> line.endsWith("n2 Node created"));

        out.getBuffer().setLength(0);
        runner.run("simulate", "--nodes=3", "--duration=10m", "--seed=4", "--crashes-per-hour=60", "--pods=0");
        assertThat(out.toString())
                .contains("sha256 " + first.text("traceSha256"))
                .doesNotContain("INVARIANTS BROKE")
                .doesNotContain("NOTHING JUDGED");
    }

    @Test
    void simulateRefusesWhatItCannotRun() {
        int code = runner.run("simulate", "--nodes=0", "--duration=-1s", "-o", "xml");

        assertThat(code).isEqualTo(2);
        assertThat(err.toString())
                .contains("--nodes is 0; expected 1 to 100000")
                .contains("--duration is -1s; expected more than 0s")
                .contains("xml");
    }

    @Test
    void aLeanSimulationRefusesTheFlagsThatItDoesNotUse() {
        int code = runner.run(
                "simulate",
                "--lean",
                "--nodes=3",
                "--seed=2",
                "--quiet",
                "-o",
                "json",
                "--trace=" + data.resolve("trace.txt"),
                "--detector=adaptive",
                "--node-monitor-grace-period=20s",
                "--explore=3");

        assertThat(code).isEqualTo(2);
        assertThat(err.toString())
                .contains("--trace excludes --lean; expected one of them")
                .contains("--detector excludes --lean; expected one of them")
                .contains("--node-monitor-grace-period excludes --lean; expected one of them")
                .contains("--explore excludes --lean; expected one of them")
                .doesNotContain("--nodes excludes", "--seed excludes", "--quiet excludes", "--output excludes");
    }

    @Test
    void aControllerThatObservesLogsThatNothingIsWritten() {
        LoggerContext context = new LoggerContext();
        KlogLayout layout = new KlogLayout(ZoneOffset.UTC);
        layout.observing();

        assertThat(layout.doLayout(event(context, "io.nodekeeper.controller.taints.Tainter", Level.INFO)))
                .isEqualTo("I1121 09:07:17.123456 controller] (observing, nothing is written) node n1 registered\n");
        assertThat(layout.doLayout(event(context, "io.nodekeeper.controller.observe.Observation", Level.INFO)))
                .isEqualTo("I1121 09:07:17.123456 controller] node n1 registered\n");
        assertThat(layout.doLayout(event(context, "io.nodekeeper.controller.guard.GuardReport", Level.WARN)))
                .as("a guard that enforces does refuse")
                .isEqualTo("W1121 09:07:17.123456 controller] node n1 registered\n");
        assertThat(layout.doLayout(event(context, "io.nodekeeper.agent.registration.Registration", Level.INFO)))
                .isEqualTo("I1121 09:07:17.123456 agent] node n1 registered\n");
    }

    @Test
    void logsLikeKlog() {
        LoggerContext context = new LoggerContext();
        KlogLayout layout = new KlogLayout(ZoneOffset.UTC);

        String line = layout.doLayout(event(context, "io.nodekeeper.agent.registration.Registration", Level.INFO));
        String warning = layout.doLayout(event(context, "io.netty.Something", Level.WARN));

        assertThat(line).isEqualTo("I1121 09:07:17.123456 agent] node n1 registered\n");
        assertThat(warning).isEqualTo("W1121 09:07:17.123456 Something] node n1 registered\n");
    }

    @Test
    void verbosityOpensLevels() {
        assertThat(List.of(Logging.ours(0), Logging.ours(3), Logging.ours(4), Logging.ours(6)))
                .containsExactly(Level.INFO, Level.INFO, Level.DEBUG, Level.TRACE);
        assertThat(List.of(Logging.libraries(5), Logging.libraries(6), Logging.libraries(8)))
                .containsExactly(Level.WARN, Level.INFO, Level.DEBUG);
    }

    private int launch(NodekeeperCommand command) {
        launched.add(command);
        return 0;
    }

    private static LoggingEvent event(LoggerContext context, String logger, Level level) {
        LoggingEvent event = new LoggingEvent();
        event.setLoggerContext(context);
        event.setLoggerName(logger);
        event.setLevel(level);
        event.setMessage("node {} registered");
        event.setArgumentArray(new Object[] {"n1"});
        event.setInstant(NOW);
        return event;
    }
}
