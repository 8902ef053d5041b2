package io.nodekeeper.controller.pods;

import io.nodekeeper.api.Taint;
import io.nodekeeper.api.Toleration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Finds the first of a pod's tolerations that matches a NoExecute taint, without a walk through all of them: both a pod
 * and a node may have tens of thousands.
 */
final class TolerationIndex {
    /** The tolerations of one key. */
    private static final class OfKey {
        private final Map<String, Toleration> byValue = new HashMap<>();
        private Optional<Toleration> ofAnyValue = Optional.empty();
    }

    private final Map<String, OfKey> byKey = new HashMap<>();
    private Optional<Toleration> ofAnyKey = Optional.empty();

    static TolerationIndex of(List<Toleration> tolerations) {
        TolerationIndex index = new TolerationIndex();
        tolerations.forEach(index::add);
        return index;
    }

    /** Adds the pod's next toleration; false if it is never the first that matches. */
    boolean add(Toleration toleration) {
        // One of any key matches everything, so no later one is ever the first. An unknown operator or another effect
        // matches no taint,
        // not even this one.
        if (ofAnyKey.isPresent() || !toleration.tolerates(toleration.key(), toleration.value(), Taint.NO_EXECUTE)) {
            return false;
        }
        if (toleration.key().isEmpty()) {
            ofAnyKey = Optional.of(toleration);
            return true;
        }
        OfKey ofKey = byKey.computeIfAbsent(toleration.key(), key -> new OfKey());
        if (ofKey.ofAnyValue.isPresent()) {
            return false;
        }
        if (toleration.operator().equals(Toleration.EXISTS)) {
            ofKey.ofAnyValue = Optional.of(toleration);
            return true;
        }
        return ofKey.byValue.putIfAbsent(toleration.value(), toleration) == null;
    }

    /** The first toleration that matches {@code taint}; empty if none does. */
    Optional<Toleration> firstFor(ActiveTaint taint) {
        OfKey ofKey = byKey.get(taint.key());
        if (ofKey == null) {
            return ofAnyKey;
        }
        // A toleration of one value is kept only if it stands before those of any value, and both before one of any
        // key.
        return Optional.ofNullable(ofKey.byValue.get(taint.value()))
                .or(() -> ofKey.ofAnyValue)
                .or(() -> ofAnyKey);
    }
}
