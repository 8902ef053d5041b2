package io.nodekeeper.it.faults;

/** One way in which one layer stands still or fails. Immutable; strikes any number of scenes. */
interface Primitive {
    /** How much of the node is affected. */
    enum Scope {
        /** One pod, so that another fault can strike beside it. */
        POD,
        /** The runtime as a whole. */
        NODE,
        /** The runtime as a whole, and its process may end. */
        RUNTIME
    }

    Layer layer();

    Way way();

    /** What happens, for the table; distinct. */
    String text();

    Scope scope();

    /** Two primitives with the same slot do not strike at once. */
    String slot();

    /** Whether it shows only in calls that the agent makes by itself when it probes the pod network. */
    default boolean needsProbes() {
        return false;
    }

    /** Whether the victim ends as a part of the fault. */
    default boolean endsVictim() {
        return false;
    }

    /** Whether no pod can be created on the node while it is in effect. */
    default boolean blocksNewPods() {
        return false;
    }

    /** Creates the pod that it hits, before anything on the node is at fault. */
    default void prepare(Scene scene) throws Exception {}

    /** Lets it happen. */
    Struck strike(Scene scene) throws Exception;
}
