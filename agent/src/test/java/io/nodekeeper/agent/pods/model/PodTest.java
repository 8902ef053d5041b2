package io.nodekeeper.agent.pods.model;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.json.Json;
import java.time.Duration;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PodTest {
    /** The API accepts each number that is not negative. */
    @ParameterizedTest
    @CsvSource({"0, 1", "30, 30", "2147483648, 2147483647", "9223372037, 2147483647", "9223372036854775807, 2147483647"
    })
    void gracePeriodsAreThoseThatTimersCanCount(long asked, long granted) {
        Pod specified = new Pod(Json.parseObject("{\"spec\": {\"terminationGracePeriodSeconds\": " + asked + "}}"));
        Pod deleted = new Pod(Json.parseObject("{\"metadata\": {\"deletionGracePeriodSeconds\": " + asked + "}}"));

        assertThat(specified.grace()).isEqualTo(Duration.ofSeconds(granted));
        assertThat(deleted.grace()).isEqualTo(Duration.ofSeconds(granted));
        // what preemption and stops count with
        assertThat(specified.grace().multipliedBy(2).toNanos()).isPositive();
    }
}
