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
    private final List<String> checks = new ArrayList<>();

    @Test
    void waiterIsCheckedUntilItIsDone() {
        boolean[] done = {false};
        proofs.add(one, () -> {
            checks.add("one");
            return done[0];
        });
        proofs.sweep();
        proofs.sweep(one);
        assertThat(checks).hasSize(2);
        assertThat(proofs.holds(one)).isTrue();

        done[0] = true;
        proofs.sweep();
        proofs.sweep();

        assertThat(checks).hasSize(3);
        assertThat(proofs.holds(one)).isFalse();
        assertThat(proofs.size()).isZero();
    }

    @Test
    void lookAtOneNodeLeavesTheOthers() {
        proofs.add(one, () -> checks.add("one"));
        proofs.add(other, () -> checks.add("other"));

        proofs.sweep(other);

        assertThat(checks).containsExactly("other");
        assertThat(proofs.size()).isEqualTo(1);
    }

    @Test
    void lookThatAddsItsNodeAgainIsReplaced() {
        proofs.add(one, () -> {
            proofs.add(one, () -> checks.add("second"));
            return false;
        });
        proofs.sweep();
        assertThat(checks).isEmpty();

        proofs.sweep();

        assertThat(checks).containsExactly("second");
        assertThat(proofs.size()).isZero();
    }

    @Test
    void faultOfEveryNodeIsLoggedOncePerSweepAndAllNodesAreChecked() {
        LogLines log = LogLines.of(ProofQueue.class);
        for (String node : List.of(one, other)) {
            proofs.add(node, () -> {
                checks.add(node);
                throw new IllegalStateException("planted");
            });
        }

        proofs.sweep();
        assertThat(checks).containsExactlyInAnyOrder("one", "other");
        assertThat(log.lines()).hasSize(1);

        proofs.sweep();
        assertThat(checks).hasSize(4);
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
        // The order of checks is any: in some of these rounds the one that throws comes last.
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
