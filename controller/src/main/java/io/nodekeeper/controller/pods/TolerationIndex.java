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

    private TolerationIndex() {}

    static TolerationIndex of(List<Toleration> tolerations) {
        TolerationIndex index = new TolerationIndex();
        for (Toleration toleration : tolerations) {
            if (index.ofAnyKey.isPresent()) {
                // It matches everything, so no later one is ever the first.
                break;
            }
            index.add(toleration);
        }
        return index;
    }

    private void add(Toleration toleration) {
        // An unknown operator or another effect matches no taint, not even this one.
        if (!toleration.tolerates(toleration.key(), toleration.value(), Taint.NO_EXECUTE)) {
            return;
        }
        if (toleration.key().isEmpty()) {
            ofAnyKey = Optional.of(toleration);
            return;
        }
        OfKey ofKey = byKey.computeIfAbsent(toleration.key(), key -> new OfKey());
        if (ofKey.ofAnyValue.isPresent()) {
            return;
        }
        if (toleration.operator().equals(Toleration.EXISTS)) {
            ofKey.ofAnyValue = Optional.of(toleration);
        } else {
            ofKey.byValue.putIfAbsent(toleration.value(), toleration);
        }
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
