package io.nodekeeper.it.faults;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;

/**
 * In each of many generated faults the agent is started again: what it says in the next 60 s, second by second.
 * {@code scripts/faults --restarts N} runs it and writes {@code docs/faults-restarts.md}.
 *
 * <p>{@code -Dfaults.seed}, {@code -Dfaults.count}, {@code -Dfaults.parallel}, {@code -Dfaults.minutes}, {@code -Dfaults.match}
 * as in {@link GeneratedFaultsIT}.
 */
@Isolated("It measures.")
@Tag("long")
class RestartedAgentsBench {
    private static final long SEED = Long.getLong("faults.seed", 1);
    private static final int COUNT = Integer.getInteger("faults.count", 30);
    private static final int SIDE_BY_SIDE = Integer.getInteger("faults.parallel", 3);
    private static final String MATCH = System.getProperty("faults.match", "");
    private static final Duration LIMIT = Duration.ofMinutes(Integer.getInteger("faults.minutes", 180));
    /** A run of so many faults of all kinds is a document. */
    private static final int WHOLE = 30;

    @TempDir
    static Path directory;

    @Test
    void aNewAgentSaysNothingBeforeItKnows() throws Exception {
        List<Primitive> catalog = Catalog.all().stream()
                .filter(primitive ->
                        Pattern.compile(MATCH).matcher(primitive.text()).find())
                .toList();
        assertThat(catalog).as("faults whose text matches \"" + MATCH + "\"").isNotEmpty();
        List<GeneratedFault> faults = new Generator(SEED, catalog)
                .choose(COUNT).stream().map(GeneratedFault::restarted).toList();
        Campaign campaign = new Campaign(directory, faults, SIDE_BY_SIDE, true, LIMIT);
        Pressure pressure = new Pressure();
        campaign.run(true, partial -> write(campaign, faults.size(), pressure, partial));

        assertThat(campaign.failures()).as("faults that could not be run").isEmpty();
        RestartScore score = RestartScore.of(campaign.results());
        assertThat(score.reached()).as(score.line()).isTrue();
    }

    private static void write(Campaign campaign, int chosen, Pressure pressure, boolean partial) {
        List<FaultResult> results = campaign.results();
        RestartScore score = RestartScore.of(results);
        System.out.println("faults: " + (partial ? "partial table: " : "") + score.line());
        campaign.failures().forEach(failure -> System.out.println("faults: could not be run: " + failure));
        boolean whole = !partial && MATCH.isEmpty() && COUNT >= WHOLE;
        Path document = Path.of(whole ? "../docs/faults-restarts.md" : "target/faults-restarts.md");
        try {
            Files.writeString(
                    document,
                    DOCUMENT.formatted(
                            COUNT,
                            SEED,
                            results.size(),
                            chosen,
                            partial ? ", then the run was ended" : "",
                            SIDE_BY_SIDE,
                            Runtime.getRuntime().availableProcessors(),
                            pressure.percent(),
                            pressure.minutes(),
                            score.table(),
                            campaign.failures().size(),
                            RestartScore.rows(results)));
            System.out.println("faults: wrote " + document.toAbsolutePath().normalize());
        } catch (IOException e) {
            System.out.println("faults: " + e);
        }
    }

    private static final String DOCUMENT = """
            # What an agent says after its start while a fault lasts

            Written by `scripts/faults --restarts %d --seed %d`; do not edit.

            %d of %d faults were run%s, on %d nodes at the same time, on %d processors. In %d %% of the %d minutes that this took
            something on the machine waited for a processor. The faults are those of a generator on real containerd
            ([faults-generated.md](faults-generated.md)). While the fault lasts, the agent is killed with SIGKILL and started
            again, and each second for 60 s its own page and the API are read.

            * **Ready**, **NotReady**: the condition `Ready`. A node that was Ready stays Ready while its agent starts; a new agent
              must not turn it Ready before it has examined the runtime.
            * **nothing yet**: the new agent has not written `RuntimeDegraded`. **not yet known**: it is Unknown. **nothing hangs**: it
              is False. **only load**: it is False, with a load as its reason. Where only the agent's probes of the pod network can
              show the fault, `PodNetworkUnavailable` counts instead.
            * Else what the agent names first, with its process and its confidence.
            * **Falsely well**: "nothing hangs" while the cause could be seen, or within the first 10 s, or Ready too early.
              **False first**, **false later**: an accusation of something else. What has confidence "unknown" accuses nothing.

            %s
            Faults that could not be run, or after which the node did not become clean: %d.

            | # | fault | verdict | what is said, seconds after the start |
            |---|---|---|---|
            %s""";
}
