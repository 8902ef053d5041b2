package io.nodekeeper.apiserver.controllers;

import io.nodekeeper.api.ApiException;
import io.nodekeeper.api.Failures;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.apiserver.authorization.rbac.Aggregation;
import io.nodekeeper.apiserver.catalogue.AccessResources;
import io.nodekeeper.apiserver.registry.Resource;
import io.nodekeeper.apiserver.storage.PrefixFollower;
import io.nodekeeper.apiserver.writes.WriteHandler;
import io.nodekeeper.store.Entry;
import io.nodekeeper.store.Event;
import io.nodekeeper.store.Store;
import io.nodekeeper.time.Futures;
import io.nodekeeper.time.Loop;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes the rules of ClusterRoles with an aggregation rule whenever roles that they select change, as kube-controller-manager's
 * clusterrole-aggregation-controller does. If both run, the second one finds the rules written and does nothing.
 * It keeps only what selectors look at; rules are read when they are added up, by a worker. Confined to the store's loop.
 */
public final class RoleAggregator {
    private static final Logger log = LoggerFactory.getLogger(RoleAggregator.class);
    private static final Resource ROLES = AccessResources.CLUSTER_ROLES;
    private static final Duration RETRY = Duration.ofSeconds(1);
    /** After a refusal, which lasts until roles are made smaller or others deleted. */
    private static final Duration AFTER_REFUSAL = Duration.ofMinutes(1);
    /** The most bytes of roles that are added up for one: twice the largest object. */
    private static final long SOURCES = 3 << 20;

    private final Store store;
    private final Loop loop;
    private final WriteHandler writes;
    private final Executor workers;
    /** The outlines of all ClusterRoles by key, as many as the store holds. */
    private final Map<String, JsonObject> roles = new HashMap<>();
    /** The labels that selectors have looked at. Only cluster administrators can write selectors, so these are few. */
    private final Set<String> labels = new HashSet<>();

    /** Those of them that are aggregated, which only cluster administrators can write, too. */
    private final Map<String, JsonObject> aggregated = new HashMap<>();

    private boolean due;
    private boolean busy;
    private boolean retrying;
    /** Whether selectors look at labels that the outlines do not have. */
    private boolean outdated;

    public RoleAggregator(Store store, Loop loop, WriteHandler writes, Executor workers) {
        this.store = store;
        this.loop = loop;
        this.writes = writes;
        this.workers = workers;
    }

    public void start() {
        PrefixFollower.follow(
                store,
                loop,
                ROLES.prefix(""),
                now -> {
                    takeAll(now);
                    settleSoon();
                },
                this::take);
    }

    private void takeAll(List<Entry> now) {
        roles.clear();
        aggregated.clear();
        now.forEach(this::take);
    }

    private void take(Event event) {
        boolean before = matters(event.key());
        roles.remove(event.key());
        aggregated.remove(event.key());
        event.after().ifPresent(this::take);
        if (before || matters(event.key())) {
            settleSoon();
        }
    }

    /** Whether rules depend on the role. */
    private boolean matters(String key) {
        JsonObject role = roles.get(key);
        return role != null
                && (aggregated.containsKey(key)
                        || aggregated.values().stream().anyMatch(other -> Aggregation.selects(other, role)));
    }

    private void take(Entry entry) {
        JsonObject role = ROLES.codec().decode(entry);
        outdated |= labels.addAll(Aggregation.labelKeys(role));
        JsonObject outline = Aggregation.outline(role, labels);
        roles.put(entry.key(), outline);
        if (Aggregation.isAggregated(outline)) {
            aggregated.put(entry.key(), outline);
        }
    }

    /** Computes once for all changes that arrive together, or while it computes. */
    private void settleSoon() {
        if (!due) {
            due = true;
            if (!busy) {
                loop.execute(this::settle);
            }
        }
    }

    private void retry(Duration wait) {
        if (!retrying) {
            retrying = true;
            loop.schedule(wait, () -> {
                retrying = false;
                settleSoon();
            });
        }
    }

    private void settle() {
        due = false;
        if (outdated) {
            outdated = false;
            takeAll(store.list(ROLES.prefix(""), "", 0, 0).entries());
        }
        Aggregation aggregation = new Aggregation(roles.values());
        List<JsonObject> all = List.copyOf(aggregated.values());
        if (all.isEmpty()) {
            return;
        }
        busy = true;
        Futures.startOn(workers, () -> {
                    all.forEach(role -> settle(aggregation, role));
                    return CompletableFuture.completedFuture(all);
                })
                .whenComplete((done, error) -> loop.execute(() -> {
                    busy = false;
                    if (error != null) {
                        failed("ClusterRoles", error);
                    }
                    if (due) {
                        loop.execute(this::settle);
                    }
                }));
    }

    /** Runs on a worker. */
    private void settle(Aggregation aggregation, JsonObject outline) {
        String name = Aggregation.name(outline);
        Optional<JsonObject> role = read(name).map(ROLES.codec()::decode);
        if (role.isEmpty()) {
            return;
        }
        List<JsonObject> sources = new ArrayList<>();
        long bytes = 0;
        for (JsonObject source : aggregation.sources(outline)) {
            Optional<Entry> entry = read(Aggregation.name(source));
            bytes += entry.map(Entry::length).orElse(0);
            if (bytes > SOURCES) {
                loop.execute(() -> refused(name, "the roles that it selects have more than " + SOURCES + " bytes"));
                return;
            }
            entry.map(ROLES.codec()::decode).ifPresent(sources::add);
        }
        JsonArray rules = Aggregation.sum(sources);
        if (Aggregation.differs(role.get(), rules)) {
            write(name, rules);
        }
    }

    private Optional<Entry> read(String name) {
        return store.get(ROLES.key("", name));
    }

    private void write(String name, JsonArray rules) {
        writes.updateOwn(ROLES, name, role -> role.with("rules", rules)).whenComplete((done, error) -> {
            if (error == null) {
                return;
            }
            if (Failures.cause(error) instanceof ApiException refused) {
                // A role that was deleted meanwhile needs no rules.
                if (refused.code() != 404) {
                    loop.execute(() -> refused(name, refused.getMessage()));
                }
            } else {
                loop.execute(() -> failed("ClusterRole " + name, error));
            }
        });
    }

    private void failed(String what, Throwable error) {
        log.warn(
                "updating the rules of {} failed, retrying in {} s: {}", what, RETRY.toSeconds(), Failures.text(error));
        retry(RETRY);
    }

    private void refused(String name, String why) {
        log.warn("ClusterRole {} keeps its former rules, retrying in {} s: {}", name, AFTER_REFUSAL.toSeconds(), why);
        retry(AFTER_REFUSAL);
    }
}
