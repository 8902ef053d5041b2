package io.nodekeeper.it.faults;

import java.util.Comparator;
import java.util.List;
import java.util.stream.Collectors;

/**
 * One thing that the generator lets happen. Immutable.
 *
 * @param number counts from 1
 * @param parts one primitive, or two that strike at once
 * @param bystanders whether healthy pods are busy meanwhile
 * @param restart whether the agent is started again meanwhile
 */
record GeneratedFault(int number, List<Primitive> parts, boolean bystanders, Healer healer, boolean restart) {
    /** Who ends it. */
    enum Healer {
        /** The generator. */
        GENERATOR("–"),
        /** {@code nodekeeper doctor --fix --yes}. */
        DOCTOR("doctor"),
        /** The same with {@code --force}. */
        DOCTOR_WITH_FORCE("doctor --force");

        private final String text;

        Healer(String text) {
            this.text = text;
        }

        String text() {
            return text;
        }
    }

    String text() {
        return parts.stream().map(Primitive::text).collect(Collectors.joining(" + "))
                + (bystanders ? ", others busy" : "");
    }

    /** The parts in the order in which they strike: what blocks new pods last, as the other part may need one. */
    List<Primitive> inOrder() {
        return parts.stream()
                .sorted(Comparator.comparing(Primitive::blocksNewPods))
                .toList();
    }

    /** The same, in which the agent is started again; the generator ends it. */
    GeneratedFault restarted() {
        return new GeneratedFault(number, parts, bystanders, Healer.GENERATOR, true);
    }

    /** Whether the agent must probe the pod network to see it. */
    boolean needsProbes() {
        return parts.stream().anyMatch(Primitive::needsProbes);
    }

    /** Whether the pods that are hit end as a part of it. */
    boolean endsVictims() {
        return parts.stream().anyMatch(Primitive::endsVictim);
    }

    /** Whether the runtime's process may end as a part of it. */
    boolean endsRuntime() {
        return parts.stream().anyMatch(part -> part.scope() == Primitive.Scope.RUNTIME);
    }
}
