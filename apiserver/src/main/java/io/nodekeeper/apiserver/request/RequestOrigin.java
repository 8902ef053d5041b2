package io.nodekeeper.apiserver.request;

/** Where a request came from, and where its answer goes. Thread-safe. */
public interface RequestOrigin {
    /** A caller that takes any answer. */
    RequestOrigin ANY = new RequestOrigin() {
        @Override
        public void authorized(String flow) {}

        @Override
        public boolean hasRoom(long bytes) {
            return true;
        }
    };

    /**
     * The request is authorized as one of a user with the {@linkplain User#flow flow} {@code flow}.
     *
     * @throws io.nodekeeper.api.ApiException if it must not be carried out after all
     */
    void authorized(String flow);

    /** Whether an answer of about {@code bytes} could be sent now. Asked after {@link #authorized}. */
    boolean hasRoom(long bytes);
}
