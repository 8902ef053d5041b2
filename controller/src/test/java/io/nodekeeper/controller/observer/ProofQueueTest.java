package io.nodekeeper.controller.observer;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.client.LogLines;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A waiting entry is checked until it no longer waits, even if a check throws an exception. */
class ProofQueueTest {
    private final ProofQueue<String> proofs = new ProofQueue<>();
    private final String one = "one";
    private final String other = "other";
    private final List<String> looks = new ArrayList<>();

    @Test
    void waiterIsCheckedUntilItIsDone() {
        boolean[] done = {false};
        proofs.add(one, () -> {
            looks.add("one");
            return done[0];
        });
        proofs.sweep();
        proofs.sweep(one);
        assertThat(looks).hasSize(2);
        assertThat(proofs.holds(one)).isTrue();

        done[0] = true;
        proofs.sweep();
        proofs.sweep();

        assertThat(looks).hasSize(3);
        assertThat(proofs.holds(one)).isFalse();
        assertThat(proofs.size()).isZero();
    }

    @Test
    void lookAtOneNodeLeavesTheOthers() {
        proofs.add(one, () -> looks.add("one"));
        proofs.add(other, () -> looks.add("other"));

        proofs.sweep(other);

        assertThat(looks).containsExactly("other");
        assertThat(proofs.size()).isEqualTo(1);
    }

    @Test
    void lookThatAddsItsNodeAgainIsReplaced() {
        proofs.add(one, () -> {
            proofs.add(one, () -> looks.add("second"));
            return false;
        });
        proofs.sweep();
        assertThat(looks).isEmpty();

        proofs.sweep();

        assertThat(looks).containsExactly("second");
        assertThat(proofs.size()).isZero();
    }

    @Test
    void faultOfEveryNodeIsLoggedOncePerSweepAndAllNodesAreChecked() {
        LogLines log = LogLines.of(ProofQueue.class);
        for (String node : List.of(one, other)) {
            proofs.add(node, () -> {
                looks.add(node);
                throw new IllegalStateException("planted");
            });
        }

        proofs.sweep();
        assertThat(looks).containsExactlyInAnyOrder("one", "other");
        assertThat(log.lines()).hasSize(1);

        proofs.sweep();
        assertThat(looks).hasSize(4);
        assertThat(log.lines()).hasSize(2);
        proofs.sweep(one);
        assertThat(log.lines()).hasSize(3);
    }

    @Test
    void faultAfterASuccessfulCheckIsLogged() {
        LogLines log = LogLines.of(ProofQueue.class);
        List<String> order = new ArrayList<>();
        for (String node : List.of(one, other)) {
            proofs.add(node, () -> {
                order.add(node);
                if (order.size() == 2) {
                    throw new IllegalStateException("planted");
                }
                return false;
            });
        }

        proofs.sweep();

        assertThat(log.lines()).hasSize(1);
        assertThat(proofs.size()).isEqualTo(2);
    }

    @Test
    void nodeThatAnotherLookSettledIsNoFault() {
        // The order of looks is any: in some of these rounds the one that throws comes last.
        for (int round = 0; round < 60; round++) {
            ProofQueue<String> proofs = new ProofQueue<>();
            String first = "first";
            String settled = "settled";
            String failing = "failing";
            LogLines log = LogLines.of(ProofQueue.class);
            proofs.add(first, () -> {
                proofs.sweep(settled);
                return true;
            });
            proofs.add(settled, () -> true);
            proofs.add(failing, () -> {
                throw new IllegalStateException("planted");
            });

            proofs.sweep();

            assertThat(log.lines()).hasSize(1);
            assertThat(proofs.size()).isEqualTo(1);
        }
    }
}
