package io.nodekeeper.controller.guard;

/** What to answer to a write that blames a node. Immutable. */
public sealed interface GuardVerdict {

    /** Why a write passes. */
    enum Reason {
        /** It blames no node, or another user writes it. */
        UNTOUCHED,
        /** The node is silent, or nothing is proven in its favour. */
        UNPROVEN,
        /** A read failed or was late, or this process cannot judge. */
        TROUBLE,
        /** The guard is switched off. */
        SWITCHED_OFF,
        /** It would be refused, but the budget is spent. */
        OVER_BUDGET
    }

    /**
     * It passes.
     *
     * @param why for metrics
     * @param text for people
     */
    record Allow(Reason why, String text) implements GuardVerdict {}

    /** It passes with a warning, because refusals are not enforced. */
    record AllowWithWarning(Proof proof) implements GuardVerdict {}

    /** It is refused. */
    record Refuse(Proof proof) implements GuardVerdict {}

    /** The verdict as a label of metrics. */
    default String label() {
        return switch (this) {
            case Allow allow ->
                switch (allow.why()) {
                    case UNTOUCHED -> "untouched";
                    case UNPROVEN -> "allowed";
                    case TROUBLE -> "trouble";
                    case SWITCHED_OFF -> "switched_off";
                    case OVER_BUDGET -> "over_budget";
                };
            case AllowWithWarning warned -> "would_refuse";
            case Refuse refused -> "refused";
        };
    }
}
