package io.nodekeeper.apiserver.controllers;

import io.nodekeeper.api.Failures;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.apiserver.authorization.rbac.Aggregation;
import io.nodekeeper.apiserver.catalogue.AccessResources;
import io.nodekeeper.apiserver.storage.PrefixFollower;
import io.nodekeeper.store.Entry;
import io.nodekeeper.store.Store;
import io.nodekeeper.store.StoreException;
import io.nodekeeper.time.Loop;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes the rules of ClusterRoles with an aggregation rule whenever other roles change, as kube-controller-manager's
 * clusterrole-aggregation-controller does. If both run, the second one finds the rules written and does nothing.
 * Confined to the store's loop.
 */
public final class RoleAggregator {
    private static final Logger log = LoggerFactory.getLogger(RoleAggregator.class);
    private static final Duration RETRY = Duration.ofSeconds(1);

    private final Store store;
    private final Loop loop;
    /** All ClusterRoles by key, as many as the store holds. */
    private final Map<String, JsonObject> roles = new HashMap<>();

    private boolean due;

    public RoleAggregator(Store store, Loop loop) {
        this.store = store;
        this.loop = loop;
    }

    public void start() {
        PrefixFollower.follow(
                store,
                loop,
                AccessResources.CLUSTER_ROLES.prefix(""),
                now -> {
                    roles.clear();
                    now.forEach(this::take);
                    settleSoon();
                },
                event -> {
                    event.after().ifPresentOrElse(this::take, () -> roles.remove(event.key()));
                    settleSoon();
                });
    }

    private void take(Entry entry) {
        roles.put(entry.key(), AccessResources.CLUSTER_ROLES.codec().decode(entry));
    }

    /** Computes once for all changes that arrive together. */
    private void settleSoon() {
        if (!due) {
            due = true;
            loop.execute(this::settle);
        }
    }

    private void settle() {
        due = false;
        Aggregation aggregation = new Aggregation(roles.values());
        for (Map.Entry<String, JsonObject> role : roles.entrySet()) {
            if (aggregation.isStale(role.getValue())) {
                write(role.getKey(), role.getValue().with("rules", aggregation.rules(role.getValue())));
            }
        }
    }

    private void write(String key, JsonObject role) {
        Optional<Entry> stored = store.get(key);
        String version = role.object("metadata").text("resourceVersion");
        if (stored.isEmpty() || !version.equals(Long.toString(stored.get().modRevision()))) {
            // The watch will send a newer version, which triggers another run.
            return;
        }
        store.put(
                        key,
                        AccessResources.CLUSTER_ROLES.codec().encode(role),
                        stored.get().modRevision())
                .whenComplete((done, error) -> {
                    if (error != null && !(Failures.cause(error) instanceof StoreException.Conflict)) {
                        log.warn(
                                "updating the rules of {} failed, retrying in {} s: {}",
                                key,
                                RETRY.toSeconds(),
                                error.getMessage());
                        loop.schedule(RETRY, this::settleSoon);
                    }
                });
    }
}
