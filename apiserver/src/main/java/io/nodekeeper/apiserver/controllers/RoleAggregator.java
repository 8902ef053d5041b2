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
import io.nodekeeper.time.Backoff;
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
import java.util.concurrent.ConcurrentHashMap;
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
    /** After a failure: a refusal may last until roles are made smaller or others deleted. */
    private static final Backoff RETRY = new Backoff(Duration.ofSeconds(1), Duration.ofMinutes(1));
    /** The most bytes of roles that are added up for one: twice the largest object. */
    private static final long SOURCES = 3 << 20;

    private final Store store;
    private final Loop loop;
    private final WriteHandler writes;
    private final Executor workers;
    /** The outlines of all ClusterRoles by key, as many as the store holds. */
    private final Map<String, JsonObject> roles = new HashMap<>();
    /** The roles of them that are aggregated. Only cluster administrators can write these, so they are few. */
    private final Map<String, JsonObject> aggregated = new HashMap<>();

    /** The labels that their selectors have looked at. */
    private final Set<String> labels = new HashSet<>();

    /** Why roles keep their former rules, by the name of the role; as it was logged. */
    private Map<String, String> faults = Map.of();

    private boolean due;
    private boolean busy;
    private boolean retrying;
    /** Consecutive computations of which something failed. */
    private int failures;

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
        Map<String, String> failed = new ConcurrentHashMap<>();
        List<CompletableFuture<?>> settled = new ArrayList<>();
        for (JsonObject role : all) {
            String name = Aggregation.name(role);
            settled.add(Futures.startOn(workers, () -> settle(aggregation, role))
                    .handle((done, error) -> {
                        // A role that was deleted or changed meanwhile has another turn, or needs none.
                        if (error != null && !Failures.isCode(error, 404)) {
                            failed.put(name, Failures.text(error));
                        }
                        return name;
                    }));
        }
        CompletableFuture.allOf(settled.toArray(CompletableFuture[]::new))
                .whenComplete((done, error) -> loop.execute(() -> settled(failed)));
    }

    private void settled(Map<String, String> failed) {
        busy = false;
        failed.forEach((name, why) -> {
            if (!why.equals(faults.get(name))) {
                log.warn("ClusterRole {} keeps its former rules, retrying until they can be written: {}", name, why);
            }
        });
        faults = Map.copyOf(failed);
        Duration wait = RETRY.delay(failures);
        failures = failed.isEmpty() ? 0 : failures + 1;
        if (due) {
            loop.execute(this::settle);
        } else if (failures > 0 && !retrying) {
            retrying = true;
            loop.schedule(wait, () -> {
                retrying = false;
                settleSoon();
            });
        }
    }

    /** Whether its rules had to be written. Runs on a worker. */
    private CompletableFuture<Boolean> settle(Aggregation aggregation, JsonObject outline) {
        String name = Aggregation.name(outline);
        Optional<JsonObject> role = read(name).map(ROLES.codec()::decode);
        List<JsonObject> sources = new ArrayList<>();
        long bytes = 0;
        for (JsonObject source : aggregation.sources(outline)) {
            Optional<Entry> entry = read(Aggregation.name(source));
            bytes += entry.map(Entry::length).orElse(0);
            if (bytes > SOURCES) {
                throw new IllegalStateException("the roles that it selects have more than " + SOURCES + " bytes");
            }
            entry.map(ROLES.codec()::decode).ifPresent(sources::add);
        }
        JsonArray rules = Aggregation.sum(sources);
        return role.filter(now -> Aggregation.differs(now, rules)).isPresent()
                ? write(outline, rules).thenApply(done -> true)
                : CompletableFuture.completedFuture(false);
    }

    private Optional<Entry> read(String name) {
        return store.get(ROLES.key("", name));
    }

    private CompletableFuture<?> write(JsonObject outline, JsonArray rules) {
        String name = Aggregation.name(outline);
        return writes.updateOwn(ROLES, name, role -> {
            // Somebody may have taken the selectors away, and given it rules of its own.
            if (!Aggregation.selectsAs(role, outline)) {
                throw ApiException.notFound(ROLES.type(), name);
            }
            return role.with("rules", rules);
        });
    }
}
