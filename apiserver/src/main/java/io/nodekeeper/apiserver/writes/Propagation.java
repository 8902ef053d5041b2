package io.nodekeeper.apiserver.writes;

import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonObject;
import java.util.ArrayList;
import java.util.List;

/**
 * What happens to the objects that a deleted object owns. The garbage collector of a kube-controller-manager does it: a finalizer in the
 * deleted object tells it what is asked, and it removes the finalizer when it is done. Without such a finalizer it deletes
 * the owned objects later.
 */
enum Propagation {
    /** As finalizers of the object say; background without any. */
    UNSAID,
    BACKGROUND,
    FOREGROUND,
    ORPHAN;

    private static final String ORPHANS = "orphan";
    private static final String FIRST = "foregroundDeletion";

    /** {@code object}, about to be deleted, with the finalizers that this needs, and without those of other policies. */
    JsonObject in(JsonObject object) {
        if (this == UNSAID) {
            return object;
        }
        List<String> before =
                object.object("metadata").array("finalizers").strings().toList();
        List<String> after = new ArrayList<>(before);
        after.removeIf(name -> name.equals(ORPHANS) || name.equals(FIRST));
        if (this == ORPHAN) {
            after.add(ORPHANS);
        } else if (this == FOREGROUND) {
            after.add(FIRST);
        }
        if (List.copyOf(before).equals(after)) {
            return object;
        }
        return object.update(
                "metadata",
                metadata -> after.isEmpty()
                        ? metadata.without("finalizers")
                        : metadata.with("finalizers", JsonArray.ofStrings(after)));
    }
}
