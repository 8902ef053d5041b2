package io.nodekeeper.client;

/** The kinds of patches. */
public enum PatchType {
    /** RFC 6902. */
    JSON("application/json-patch+json"),
    /** RFC 7386. */
    MERGE("application/merge-patch+json"),
    /** Kubernetes' own: lists of objects are merged by their keys. */
    STRATEGIC("application/strategic-merge-patch+json");

    private final String mediaType;

    PatchType(String mediaType) {
        this.mediaType = mediaType;
    }

    /** The content type on the wire. */
    public String mediaType() {
        return mediaType;
    }
}
