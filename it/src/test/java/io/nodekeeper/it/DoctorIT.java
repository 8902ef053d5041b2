package io.nodekeeper.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.json.Json;
import io.nodekeeper.cri.v1.ListPodSandboxRequest;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code nodekeeper doctor} beside a real containerd: it names what hangs, and the remedy affects nothing else. */
@Tag("long")
@Order(5)
class DoctorIT {
    /** Longer than any plugin of the real world takes, so that the doctor may call it hung. */
    private static final Duration HUNG = Duration.ofSeconds(16);
    /** In which what a hung script starts for a moment ends. */
    private static final Duration MOMENT = Duration.ofSeconds(1);

    @TempDir
    Path directory;

    @Test
    void aHungPluginIsNamedAndKilledAndNobodyElse() throws Exception {
        try (Containerd containerd = Containerd.start(directory.resolve("containerd"), false);
                Pods pods = new Pods(containerd)) {
            // Given a runtime whose pods are well.
            pods.runMany("pod", 2);
            assertThat(doctor(containerd).code()).as("all is well").isZero();

            // When a plugin hangs, and a pod waits for its network.
            containerd.cni().hang("ADD");
            CompletableFuture<Pods.RealPod> newcomer = pods.begin("newcomer");
            Eventually.within(
                    Duration.ofSeconds(30), () -> !containerd.pluginRuns().isEmpty());
            long plugin = containerd.pluginRuns().getFirst();
            Thread.sleep(HUNG.toMillis());

            // Then it is named, by its pid.
            Command.Result named = doctor(containerd, "-o", "json");
            assertThat(named.code()).as("somebody is ill").isNotZero();
            assertThat(Json.write(Json.parse(named.output())))
                    .contains("CNIPluginHung")
                    .contains("\"pid\":" + plugin);
            assertThat(newcomer).isNotDone();

            // And the remedy ends only that process.
            Set<Long> before = others(containerd, plugin);
            Thread.sleep(MOMENT.toMillis());
            before.retainAll(others(containerd, plugin));
            Command.Result fixed = doctor(containerd, "--fix", "--yes");
            // A killed process is there until the runtime has taken note of its end.
            ProcessHandle.of(plugin)
                    .ifPresent(killed ->
                            assertThat(killed.onExit()).as(fixed.output()).succeedsWithin(30, TimeUnit.SECONDS));
            assertThat(newcomer).failsWithin(30, TimeUnit.SECONDS);
            assertThat(others(containerd, plugin)).containsAll(before);
            assertThat(pods
                            .stub(Duration.ofSeconds(30))
                            .listPodSandbox(ListPodSandboxRequest.getDefaultInstance())
                            .getItemsList()
                            .stream()
                            .filter(sandbox -> sandbox.getMetadata().getName().startsWith("pod-")))
                    .hasSize(2);
            containerd.cni().open("ADD");
            pods.run("after");
            assertThat(doctor(containerd).code()).as("all is well again").isZero();
        }
    }

    /** The runtime, its shims and containers, without the plugin and what it runs. */
    private static Set<Long> others(Containerd containerd, long plugin) {
        Set<Long> others = new TreeSet<>(containerd.leftovers().processes());
        others.remove(plugin);
        ProcessHandle.of(plugin)
                .ifPresent(
                        process -> process.descendants().map(ProcessHandle::pid).forEach(others::remove));
        return others;
    }

    private Command.Result doctor(Containerd containerd, String... flags) throws Exception {
        String[] arguments = new String[flags.length + 5];
        arguments[0] = "doctor";
        arguments[1] = "--container-runtime-endpoint";
        arguments[2] = containerd.endpoint();
        // Other tests' agents may serve the usual port.
        arguments[3] = "--healthz-port";
        arguments[4] = "1";
        System.arraycopy(flags, 0, arguments, 5, flags.length);
        try (Running doctor = Running.start(directory, "doctor", arguments)) {
            int code = doctor.awaitEnd();
            return new Command.Result(code, doctor.output());
        }
    }
}
