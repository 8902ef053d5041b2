package io.nodekeeper.agent.pods.volumes;

/**
 * The memory for what volumes are made from, of all pods that make or update their volumes at the same time. One pod may take half of it;
 * a pod that finds none tries again later. Confined to one loop.
 */
public final class VolumeRoom {
    /** What each pod may always take: a token, the root certificate and some settings. */
    private static final long FREE = 64 << 10;

    private final long limit;
    private long used;

    /** Room for {@code limit} bytes. */
    public VolumeRoom(long limit) {
        this.limit = limit;
    }

    /** What one pod holds. Confined as its room. */
    public final class Claim {
        private long own;

        private Claim() {}

        /**
         * Holds {@code bytes} more.
         *
         * @throws IllegalStateException if there is not so much
         */
        public void take(long bytes) {
            if (own + bytes > limit / 2) {
                throw new IllegalStateException("the objects of the pod's volumes take more than " + limit / 2
                        + " bytes of the agent's memory");
            }
            if (used + bytes > limit && own + bytes > FREE) {
                throw new IllegalStateException("no memory in the agent: objects of other pods' volumes take "
                        + (used - own) + " of " + limit + " bytes");
            }
            own += bytes;
            used += bytes;
        }

        /** Holds nothing any more. */
        public void release() {
            used -= own;
            own = 0;
        }
    }

    /** A claim of nothing yet. */
    public Claim claim() {
        return new Claim();
    }
}
