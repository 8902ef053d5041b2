package io.nodekeeper.apiserver.controllers;

import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.apiserver.catalogue.Resources;
import io.nodekeeper.apiserver.kinds.NamespaceStrategy;
import io.nodekeeper.apiserver.storage.PrefixFollower;
import io.nodekeeper.apiserver.writes.WriteHandler;
import io.nodekeeper.store.Store;
import io.nodekeeper.time.Loop;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Creates the namespaces that always exist, and one that was deleted again: without {@code kube-node-lease} no node could renew its
 * lease. Confined to the store's loop.
 */
public final class FixedNamespaces {
    private static final Logger log = LoggerFactory.getLogger(FixedNamespaces.class);
    private static final Duration RETRY = Duration.ofSeconds(1);

    private final Store store;
    private final Loop loop;
    private final WriteHandler writes;

    public FixedNamespaces(Store store, Loop loop, WriteHandler writes) {
        this.store = store;
        this.loop = loop;
        this.writes = writes;
    }

    /** Completes when all of them exist. */
    public CompletableFuture<Void> start() {
        String prefix = Resources.NAMESPACES.prefix("");
        CompletableFuture<?>[] created =
                NamespaceStrategy.FIXED.stream().map(this::create).toArray(CompletableFuture[]::new);
        PrefixFollower.follow(store, loop, prefix, now -> {}, event -> {
            String name = event.key().substring(prefix.length());
            if (event.after().isEmpty() && NamespaceStrategy.FIXED.contains(name)) {
                createAgain(name);
            }
        });
        return CompletableFuture.allOf(created);
    }

    private CompletableFuture<?> create(String name) {
        if (store.get(Resources.NAMESPACES.key("", name)).isPresent()) {
            return CompletableFuture.completedFuture(name);
        }
        return BuiltInRolesBootstrap.unlessFaster(writes.createOwn(
                Resources.NAMESPACES,
                "",
                JsonObject.EMPTY.update("metadata", metadata -> metadata.with("name", name))));
    }

    private void createAgain(String name) {
        create(name).whenComplete((done, error) -> {
            if (error != null) {
                log.warn(
                        "creating the namespace {} failed, retrying in {} s: {}",
                        name,
                        RETRY.toSeconds(),
                        error.getMessage());
                loop.schedule(RETRY, () -> createAgain(name));
            }
        });
    }
}
