package io.nodekeeper.controller.reference;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.controller.config.ZoneConfig;
import io.nodekeeper.controller.zones.ZoneCommand;
import io.nodekeeper.controller.zones.ZoneState;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The reference's rules of zones as pure functions: transitions and queues. */
class PassRulesTest {
    private static final long SECOND = 1_000_000_000L;

    @Test
    @Tag("L55")
    @Tag("L56")
    @Tag("L59")
    void passesEnterAtAStartAndExitForAll() {
        PassDisruption zones = new PassDisruption(ZoneConfig.DEFAULT);
        PassDisruption.Count down = new PassDisruption.Count(0, 2);
        PassDisruption.Count up = new PassDisruption.Count(2, 0);

        assertThat(zones.step(Map.of("zone1", down, "zone2", down)))
                .contains(
                        new ZoneCommand.Enter(true),
                        new ZoneCommand.SetRate("zone1", 0f),
                        new ZoneCommand.SetRate("zone2", 0f));
        assertThat(zones.step(Map.of("zone1", down, "zone2", down)))
                .allMatch(command -> command instanceof ZoneCommand.Counted);
        assertThat(zones.step(Map.of("zone1", down, "zone2", up)))
                .contains(
                        new ZoneCommand.Exit(),
                        new ZoneCommand.SetRate("zone1", 0.1f),
                        new ZoneCommand.SetRate("zone2", 0.1f));
        assertThat(zones.step(Map.of("zone2", up)))
                .containsExactly(
                        new ZoneCommand.Counted("zone2", 2, 0, ZoneState.NORMAL),
                        new ZoneCommand.Counted("zone1", 0, 0, ZoneState.INITIAL));
    }

    @Test
    @Tag("L58")
    void passesSlowDownAZoneThatIsPartlyDown() {
        PassDisruption zones = new PassDisruption(ZoneConfig.DEFAULT);

        assertThat(zones.step(
                        Map.of("small", new PassDisruption.Count(20, 30), "large", new PassDisruption.Count(20, 31))))
                .contains(new ZoneCommand.SetRate("small", 0f), new ZoneCommand.SetRate("large", 0.01f));
    }

    @Test
    @Tag("L60")
    @Tag("W11")
    void rateOfOneDoesNotResumeTheQueueOfTheReference() {
        PassQueue<String> pass = new PassQueue<>(1f, 0);
        pass.add("a", 0);
        pass.rate(0f, SECOND);
        pass.rate(1f, 2 * SECOND);
        assertThat(ran(pass, 3600 * SECOND)).isEmpty();
        pass.rate(0.5f, 3601 * SECOND);
        assertThat(ran(pass, 3604 * SECOND)).containsExactly("a");
    }

    @Test
    @Tag("L45")
    void passQueueKeepsWhatWasDoneUntilItIsRemovedAndRetriesAfterItsWait() {
        PassQueue<String> queue = new PassQueue<>(1000f, 0);
        queue.add("a", 0);
        assertThat(ran(queue, 0)).containsExactly("a");
        queue.add("a", SECOND);
        assertThat(ran(queue, SECOND)).isEmpty();

        queue.remove("a");
        queue.add("a", 2 * SECOND);
        queue.run(2 * SECOND, value -> OptionalLong.of(50_000_000));
        assertThat(ran(queue, 2 * SECOND + 50_000_000)).isEmpty();
        assertThat(ran(queue, 2 * SECOND + 52_000_000)).containsExactly("a");
    }

    private static List<String> ran(PassQueue<String> queue, long now) {
        List<String> ran = new ArrayList<>();
        queue.run(now, value -> {
            ran.add(value);
            return OptionalLong.empty();
        });
        return ran;
    }
}
