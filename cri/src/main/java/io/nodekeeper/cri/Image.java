package io.nodekeeper.cri;

import java.util.List;
import java.util.OptionalLong;

/**
 * An image on the node.
 *
 * @param digests full names with a digest
 * @param tags full names with a tag
 * @param size in bytes
 * @param user the number of the user that its processes run as; empty if it names none or names one by text
 * @param userName the name of that user; empty if it names none or a number
 * @param pinned whether the runtime asks to keep it
 */
public record Image(
        String id,
        List<String> digests,
        List<String> tags,
        long size,
        OptionalLong user,
        String userName,
        boolean pinned) {

    /** An image that is not pinned. */
    public Image(String id, List<String> digests, List<String> tags, long size, OptionalLong user, String userName) {
        this(id, digests, tags, size, user, userName, false);
    }

    /** An image whose user is not known, and that is not pinned. */
    public Image(String id, List<String> digests, List<String> tags, long size) {
        this(id, digests, tags, size, OptionalLong.empty(), "");
    }
}
