package io.nodekeeper.it.faults;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;

/**
 * Faults that a generator chooses by a seed: what is struck, what the agent names, and what the doctor's remedies do.
 * {@code ./test --all} runs a small, fixed sample; {@code scripts/faults} runs many and writes {@code docs/faults-generated.md}.
 *
 * <p>{@code -Dfaults.seed}, {@code -Dfaults.count}, {@code -Dfaults.parallel}; {@code -Dfaults.match=REGEX} runs only the
 * faults whose text matches it; no fault begins after {@code -Dfaults.minutes}.
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
    private static final String MATCH = System.getProperty("faults.match", "");
    private static final Duration LIMIT = Duration.ofMinutes(Integer.getInteger("faults.minutes", 180));
    private static final boolean MEASURED = Boolean.getBoolean("faults.measured");
    /** A run of so many faults of all kinds is a document. */
    private static final int WHOLE = 120;

    @TempDir
    static Path directory;

    @Test
    void noRemedyHarmsAndNothingFalseIsCertain() throws Exception {
        List<GeneratedFault> faults = faults();
        Campaign campaign =
                new Campaign(Files.createDirectory(directory.resolve("all")), faults, SIDE_BY_SIDE, COUNT > 0, LIMIT);
        Pressure pressure = new Pressure();
        campaign.run(MEASURED, partial -> write(campaign, faults.size(), pressure, partial));
        List<FaultResult> results = new ArrayList<>(campaign.results());
        List<String> failures = campaign.failures();
        List<GeneratedFault> notRight = without(faults, right(results));
        if (COUNT == 0 && !notRight.isEmpty()) {
            // Four nodes on two processors can leave an agent without one for longer than a fault is observed.
            Campaign alone = new Campaign(Files.createDirectory(directory.resolve("alone")), notRight, 1, false, LIMIT);
            alone.run(false, partial -> write(alone, notRight.size(), pressure, partial));
            results.addAll(alone.results());
            failures = alone.failures();
        }

        assertThat(failures).as("faults that could not be run").isEmpty();
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
        if (MEASURED) {
            Score score = Score.of(results);
            assertThat(score.reached()).as(score.line()).isTrue();
        } else {
            List<GeneratedFault> never = without(faults, right(results));
            assertThat(never)
                    .as(() -> "faults of which another cause was named, beside others and alone: "
                            + details(results, never))
                    .hasSizeLessThanOrEqualTo((int) (0.15 * faults.size()));
        }
    }

    private static Set<Integer> right(List<FaultResult> results) {
        return results.stream()
                .filter(result -> result.verdict() == Judgement.Verdict.RIGHT)
                .map(result -> result.fault().number())
                .collect(Collectors.toSet());
    }

    private static List<GeneratedFault> without(List<GeneratedFault> faults, Set<Integer> numbers) {
        return faults.stream()
                .filter(fault -> !numbers.contains(fault.number()))
                .toList();
    }

    private static String details(List<FaultResult> results, List<GeneratedFault> faults) {
        return results.stream()
                .filter(result -> faults.contains(result.fault()))
                .map(FaultResult::details)
                .collect(Collectors.joining());
    }

    private static List<GeneratedFault> faults() {
        if (COUNT == 0) {
            return sample();
        }
        List<Primitive> catalog = Catalog.all().stream()
                .filter(primitive ->
                        Pattern.compile(MATCH).matcher(primitive.text()).find())
                .toList();
        assertThat(catalog).as("faults whose text matches \"" + MATCH + "\"").isNotEmpty();
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

    private static void write(Campaign campaign, int chosen, Pressure pressure, boolean partial) {
        List<FaultResult> results = campaign.results();
        String table = results.stream().map(FaultResult::row).collect(Collectors.joining());
        String score = Score.of(results).table();
        System.out.println("faults: " + (partial ? "partial table\n" : "\n") + score);
        campaign.failures().forEach(failure -> System.out.println("faults: could not be run: " + failure));
        if (!MEASURED) {
            return;
        }
        String restarts = RestartScore.rows(results);
        boolean whole = !partial && MATCH.isEmpty() && COUNT >= WHOLE;
        Path document = Path.of(whole ? "../docs/faults-generated.md" : "target/faults-generated.md");
        try {
            Files.writeString(
                    document,
                    DOCUMENT.formatted(
                            SEED,
                            COUNT,
                            results.size() + campaign.failures().size(),
                            chosen,
                            partial ? ", then the run was ended" : "",
                            SIDE_BY_SIDE,
                            Runtime.getRuntime().availableProcessors(),
                            pressure.percent(),
                            pressure.minutes(),
                            score,
                            campaign.failures().size(),
                            campaign.repeated().isEmpty() ? "none" : campaign.repeated(),
                            Coverage.table(Catalog.all(), results),
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

            %d of %d faults were run%s, on %d nodes at the same time, on %d processors. In %d %% of the %d minutes that this took
            something on the machine waited for a processor.

            A generator combines layers with ways to stand still or fail, with and without busy neighbours, and two faults at once.
            It strikes them on real containerd with real pods and looks at what the agent names: until the agent has been right for
            4 s, at least 10 s (15 s where nothing is wrong), at most 25 s (40 s if only the probes of the pod network can show it).
            In half of the cases it lets `nodekeeper doctor --fix --yes`, with or without `--force`, end the fault.

            * **Right**: the agent names each cause, one of them at the first place: the process, mount or limit that
              the generator struck, with words for how it stands still. **Partly right**: only one of two causes, or not at
              the first place. **No effect**: nothing hung, so the fault does not count. **Not counted**: a thread of the agent
              waited for a processor in more than 25 %% of the time, because of what else ran on the machine; the verdict is shown.
            * **After**: when the agent became right for good.
            * **Healed**: whether the cause was gone after the doctor's run. "no" is also what is right where only an operator
              can act.
            * **Harm**: processes of healthy pods, of the pod that was hit, or containerd, that did not survive.

            %s
            Faults that could not be run, or after which the node did not become clean: %d; in the first of two attempts: %s.

            What was seen, layer by way: right at the first place, of how many. "–" makes no sense, or this kernel lacks it. Two
            faults at once count for both. Version 1 control groups have no `memory.high`; this generator has no NFS server, but
            file servers in user space that are silent, slow or gone.

            %s
            | # | fault | truth | verdict | named first | after | confidence | remedy | healed | harm |
            |---|---|---|---|---|---|---|---|---|---|
            %s
            ## The agent is started again while a fault lasts

            What is said in the 60 s after the new agent's start, as in [faults-restarts.md](faults-restarts.md).

            | # | fault | verdict | said |
            |---|---|---|---|
            %s""";
}
