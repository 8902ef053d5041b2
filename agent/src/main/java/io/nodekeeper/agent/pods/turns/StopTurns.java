package io.nodekeeper.agent.pods.turns;

/**
 * The turns of what ends containers. A node that shuts down ends all of its containers at the same moment; the runtime's client has room for
 * all that these turns allow, so none is refused, and hooks that hang delay no stop. Confined to the loop of its turns.
 *
 * @param hooks those of commands before the end: if their answers, of 32 KiB at most, all come at the same moment, they need some 25 MB
 * @param stops those of the runtime's stops
 */
public record StopTurns(PodTurns hooks, PodTurns stops) {
    /** With Kubernetes' default of 110 pods on a node, and three hooks each, all run at once. */
    private static final int HOOKS = 256;
    /** With that default, and five containers each, all are stopped at once. */
    private static final int STOPS = 512;

    /** The turns of a node. */
    public static StopTurns ofNode() {
        return new StopTurns(new PodTurns(HOOKS), new PodTurns(STOPS));
    }
}
