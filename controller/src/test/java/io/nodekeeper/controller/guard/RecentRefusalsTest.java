package io.nodekeeper.controller.guard;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.json.JsonObject;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

class RecentRefusalsTest {
    private static final Instant NOW = Instant.parse("2026-11-23T03:00:00Z");

    private final RecentRefusals recent = new RecentRefusals();

    private List<String> names(Instant now) {
        return recent.json(now).objects().map(row -> row.text("name")).toList();
    }

    @Test
    void nodesAreListedWithTheLatestFirstAndTheNumberOfRefusals() {
        recent.add(NOW, "n1", "GuardRefused", "first");
        recent.add(NOW.plusSeconds(1), "n2", "GuardRefused", "other");
        recent.add(NOW.plusSeconds(2), "n1", "GuardBudgetSpent", "second");

        assertThat(names(NOW.plusSeconds(3))).containsExactly("n1", "n2");
        JsonObject first = recent.json(NOW.plusSeconds(3)).objects().findFirst().orElseThrow();
        assertThat(first.number("times")).contains(2L);
        assertThat(first.text("kind")).isEqualTo("GuardBudgetSpent");
        assertThat(first.text("text")).isEqualTo("second");
        assertThat(first.text("at")).isEqualTo("2026-11-23T03:00:02.000000Z");
    }

    @Test
    void whatIsOlderThanAnHourIsNotRecent() {
        recent.add(NOW, "n1", "GuardRefused", "text");
        recent.add(NOW.plusSeconds(60), "n2", "GuardRefused", "text");

        assertThat(names(NOW.plusSeconds(3_600))).containsExactly("n2", "n1");
        assertThat(names(NOW.plusSeconds(3_601))).containsExactly("n2");
    }

    @Test
    void ofTooManyNodesTheOldestAreForgotten() {
        for (int i = 0; i < 500; i++) {
            recent.add(NOW, "n" + i, "GuardRefused", "text");
        }

        assertThat(names(NOW)).hasSize(100).startsWith("n499").endsWith("n400");
    }
}
