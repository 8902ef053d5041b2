package io.nodekeeper.controller.verdicts;

import static io.nodekeeper.controller.TestCluster.B;
import static io.nodekeeper.controller.TestCluster.ready;
import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.Node;
import io.nodekeeper.api.json.JsonObject;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The verdict on a node whose deadline is at 5. */
class VerdictTest {
    private static Verdict at(long now, String status) {
        Node node = new Node(JsonObject.EMPTY).withConditions(List.of(ready(status, B)));
        return Verdict.of(node, 5, now, B);
    }

    @Test
    @Tag("L12")
    void deadlineItselfIsStillInTime() {
        assertThat(at(5, "True")).isEqualTo(new Verdict.Alive());
        assertThat(at(5, "Unknown")).isEqualTo(new Verdict.Alive());
    }

    @Test
    @Tag("L12")
    void nextNanosecondIsLate() {
        assertThat(at(6, "True"))
                .isInstanceOfSatisfying(
                        Verdict.MarkUnknown.class,
                        mark -> assertThat(mark.wasReady()).isTrue());
        assertThat(at(6, "False"))
                .isInstanceOfSatisfying(
                        Verdict.MarkUnknown.class,
                        mark -> assertThat(mark.wasReady()).isFalse());
        assertThat(at(6, "Unknown")).isEqualTo(new Verdict.AlreadyUnknown());
    }
}
