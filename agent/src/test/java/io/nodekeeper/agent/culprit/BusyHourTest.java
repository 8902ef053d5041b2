package io.nodekeeper.agent.culprit;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Virtual time on a healthy node that is busy in changing ways: what is said is true. One hour of three seeds is part of the
 * suite; a day of five seeds is run with {@code -Dtest=BusyHourTest -Dbusy.hours=24 -Dbusy.seeds=5}, see docs/diagnosis.md.
 */
class BusyHourTest {
    static LongStream seeds() {
        return LongStream.rangeClosed(1, Long.getLong("busy.seeds", 3));
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void healthyNodeIsNeverAccusedInABusyHour(long seed) {
        BusyNode busy = new BusyNode(seed);
        List<String> untrue = new ArrayList<>();
        busy.start();
        Duration duration = Duration.ofHours(Long.getLong("busy.hours", 1));
        for (long second = 0; second < duration.toSeconds(); second += 10) {
            int before = busy.node.heard.size();
            busy.node.time.advance(Duration.ofSeconds(10));
            busy.node.heard.subList(before, busy.node.heard.size()).stream()
                    .filter(line -> line.contains(" found "))
                    .filter(line -> !busy.isTrue(line.substring(line.lastIndexOf(' ') + 1)))
                    .forEach(line -> untrue.add(busy.load() + " " + line));
        }
        assertThat(untrue).as("%d statements in all", busy.node.found().size()).isEmpty();
    }
}
