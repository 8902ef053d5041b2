package io.nodekeeper.it.faults;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;

/**
 * Faults that a generator chooses by a seed: what is struck, what the agent names, and what the doctor's remedies do.
 * {@code ./test --all} runs a small, fixed sample; {@code scripts/faults} runs many and writes {@code docs/faults-generated.md}.
 *
 * <p>{@code -Dfaults.seed}, {@code -Dfaults.count}, {@code -Dfaults.parallel}; {@code -Dfaults.match=TEXT} runs only the
 * faults whose text contains it.
 */
@Isolated("It measures.")
@Tag("long")
class GeneratedFaultsIT {
    /** A fixed sample, one of each mechanism: what two rounds of four nodes serve in about 90 s. */
    private static final List<String> SAMPLE = List.of(
            "a shim is stopped with SIGSTOP",
            "containerd is frozen by the freezer of cgroup v1",
            "a child of CNI ADD is held by a tracer",
            "CNI DEL waits for a flock of a process outside",
            "a child of CNI ADD waits for a record lock (fcntl) of a stopped process outside",
            "CNI DEL sleeps for ever",
            "a container writes to a frozen disk and is stopped",
            "containerd is killed (SIGKILL)");

    private static final long SEED = Long.getLong("faults.seed", 1);
    private static final int COUNT = Integer.getInteger("faults.count", 0);
    private static final int SIDE_BY_SIDE = Integer.getInteger("faults.parallel", 4);
    private static final boolean MEASURED = Boolean.getBoolean("faults.measured");

    @TempDir
    static Path directory;

    @Test
    void noRemedyHarmsAndNothingFalseIsCertain() throws Exception {
        Campaign campaign = new Campaign(directory, faults(), SIDE_BY_SIDE, COUNT > 0);
        Thread partial = new Thread(() -> write(campaign, true), "partial table");
        Runtime.getRuntime().addShutdownHook(partial);
        campaign.run();
        Runtime.getRuntime().removeShutdownHook(partial);
        write(campaign, false);

        List<FaultResult> results = campaign.results();
        assertThat(campaign.failures()).as("faults that could not be run").isEmpty();
        assertThat(results)
                .filteredOn(result -> !result.harm().isEmpty())
                .extracting(FaultResult::details)
                .as("harm")
                .isEmpty();
        assertThat(results)
                .filteredOn(result -> !result.falselyCertain().isEmpty())
                .extracting(FaultResult::details)
                .as("false with confidence certain")
                .isEmpty();
        assertThat(results)
                .filteredOn(result -> !result.harsh().isEmpty())
                .extracting(FaultResult::details)
                .as("a remedy that is not the mildest")
                .isEmpty();
        assertThat(Score.of(results).right()).as("right of %d", results.size()).isGreaterThanOrEqualTo((int)
                (0.9 * results.size()));
    }

    private static List<GeneratedFault> faults() {
        if (COUNT == 0) {
            return sample();
        }
        String match = System.getProperty("faults.match", "");
        List<Primitive> catalog = Catalog.all().stream()
                .filter(primitive -> primitive.text().contains(match))
                .toList();
        return new Generator(SEED, catalog).choose(COUNT);
    }

    /** The faults of {@code ./test --all}. */
    static List<GeneratedFault> sample() {
        List<GeneratedFault> sample = new ArrayList<>();
        Catalog.all().stream()
                .filter(primitive -> SAMPLE.contains(primitive.text()))
                .forEach(primitive -> sample.add(new GeneratedFault(
                        sample.size() + 1, List.of(primitive), false, GeneratedFault.Healer.GENERATOR, false)));
        return sample;
    }

    private static void write(Campaign campaign, boolean partial) {
        List<FaultResult> results = campaign.results();
        String table = results.stream().map(FaultResult::row).collect(Collectors.joining());
        String score = Score.of(results).table();
        System.out.println("faults: " + (partial ? "partial table\n" : "\n") + score);
        campaign.failures().forEach(failure -> System.out.println("faults: could not be run: " + failure));
        if (!MEASURED) {
            return;
        }
        String restarts = results.stream()
                .filter(result -> result.restart().isPresent())
                .map(result -> "| %d | %s | %s |%n"
                        .formatted(
                                result.fault().number(),
                                FaultResult.brief(result.fault().text()),
                                result.restart().orElseThrow().replace("|", "\\|")))
                .collect(Collectors.joining());
        Path document = Path.of(partial ? "target/faults-generated.md" : "../docs/faults-generated.md");
        try {
            Files.writeString(
                    document,
                    DOCUMENT.formatted(
                            SEED,
                            COUNT,
                            partial ? "The run was ended early: " + results.size() + " faults.\n\n" : "",
                            score,
                            campaign.failures().size(),
                            table,
                            restarts));
            System.out.println("faults: wrote " + document.toAbsolutePath().normalize());
        } catch (IOException e) {
            System.out.println("faults: " + e);
        }
    }

    private static final String DOCUMENT = """
            # Generated faults of the container runtime

            Written by `scripts/faults --seed %d --count %d`; do not edit.

            %sA generator combines layers (containerd, shim, runc, CNI plugin, its child, container, disk, socket, limits)
            with ways to stand still or fail, with and without busy neighbours, and two faults at once. It strikes them on real
            containerd with real pods, looks at what the agent names for 12 s to 25 s, and in half of the cases lets
            `nodekeeper doctor --fix --yes`, with or without `--force`, end the fault.

            * **Right**: the agent names each cause, one of them at the first place: the process, mount or limit that
              the generator struck, with words for how it stands still. **Partly right**: only one of two causes, or not at
              the first place. **No effect**: nothing hung, so the fault does not count.
            * **After**: when the agent became right for good.
            * **Healed**: whether the cause was gone after the doctor's run. "no" is also what is right where only an operator
              can act.
            * **Harm**: processes of healthy pods, of the pod that was hit, or containerd, that did not survive.

            %s
            Faults that could not be run, or after which the node did not become clean: %d.

            | # | fault | truth | verdict | named first | after | confidence | remedy | healed | harm |
            |---|---|---|---|---|---|---|---|---|---|
            %s
            ## The agent is started again while a fault lasts

            What the condition `RuntimeDegraded` says in the 60 s after the new agent's start.

            | # | fault | RuntimeDegraded |
            |---|---|---|
            %s""";
}
