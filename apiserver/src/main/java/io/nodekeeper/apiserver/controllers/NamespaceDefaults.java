package io.nodekeeper.apiserver.controllers;

import io.nodekeeper.api.ApiException;
import io.nodekeeper.api.Failures;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.apiserver.catalogue.ClusterResources;
import io.nodekeeper.apiserver.catalogue.Resources;
import io.nodekeeper.apiserver.registry.Resource;
import io.nodekeeper.apiserver.storage.PrefixFollower;
import io.nodekeeper.apiserver.writes.WriteHandler;
import io.nodekeeper.store.Entry;
import io.nodekeeper.store.Event;
import io.nodekeeper.store.Store;
import io.nodekeeper.time.Loop;
import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Creates the objects that pods need in each namespace: the ServiceAccount {@code default}, and the ConfigMap {@code
 * kube-root-ca.crt} with the certificates that verify this server. It creates both again when they are deleted. They
 * are the objects of kube-controller-manager's serviceaccount-controller and root-ca-certificate-publisher-controller;
 * if these run, too, they find the objects. A ConfigMap with other content is replaced once, at the server's start, and
 * not again: another controller may need it, and two writers must not alternate. Confined to the store's loop.
 */
public final class NamespaceDefaults {
    private static final Logger log = LoggerFactory.getLogger(NamespaceDefaults.class);
    /** Kubernetes' name of the ConfigMap. */
    static final String ROOT_CA = "kube-root-ca.crt";

    private static final String KEY = "ca.crt";
    private static final String ACCOUNT = "default";
    /** Kubernetes' annotation of the ConfigMap; kube-controller-manager writes where it is missing. */
    private static final String DESCRIPTION = "Contains a CA bundle that can be used to verify the kube-apiserver when"
            + " using internal endpoints such as the internal service IP or kubernetes.default.svc. No other usage is"
            + " guaranteed across distributions of Kubernetes clusters.";

    private static final Duration RETRY = Duration.ofSeconds(1);

    private final Store store;
    private final Loop loop;
    private final WriteHandler writes;
    private final String rootCertificates;
    /** Namespaces with a running or due attempt, at most one each; at most as many as the store has namespaces. */
    private final Set<String> trying = new HashSet<>();

    /** {@code rootCertificates} is PEM; if it is empty, no ConfigMap is created. */
    public NamespaceDefaults(Store store, Loop loop, WriteHandler writes, String rootCertificates) {
        this.store = store;
        this.loop = loop;
        this.writes = writes;
        this.rootCertificates = rootCertificates;
    }

    public void start() {
        Resource namespaces = Resources.NAMESPACES;
        String prefix = namespaces.prefix("");
        PrefixFollower.follow(
                store,
                loop,
                prefix,
                now -> now.forEach(entry -> {
                    String name = entry.key().substring(prefix.length());
                    complete(name);
                    replaceOther(name);
                }),
                event -> {
                    if (event.before().isEmpty()) {
                        complete(event.key().substring(prefix.length()));
                    }
                });
        follow(ClusterResources.SERVICE_ACCOUNTS, ACCOUNT);
        follow(ClusterResources.CONFIG_MAPS, ROOT_CA);
    }

    /** Creates the missing objects in the namespace in which an object of that name was deleted. */
    private void follow(Resource resource, String name) {
        String prefix = resource.prefix("");
        PrefixFollower.follow(store, loop, prefix, now -> {}, event -> {
            String[] place = event.key().substring(prefix.length()).split("/", 2);
            if (isDeletion(event) && place.length == 2 && place[1].equals(name)) {
                complete(place[0]);
            }
        });
    }

    private static boolean isDeletion(Event event) {
        return event.after().isEmpty();
    }

    private void complete(String namespace) {
        if (!isActive(namespace) || !trying.add(namespace)) {
            return;
        }
        JsonObject account = named(ACCOUNT);
        create(ClusterResources.SERVICE_ACCOUNTS, namespace, account)
                .thenCombine(
                        rootCertificates.isEmpty()
                                ? CompletableFuture.completedFuture(true)
                                : create(ClusterResources.CONFIG_MAPS, namespace, rootCa()),
                        (first, second) -> first && second)
                .whenComplete((done, error) -> loop.execute(() -> {
                    if (error == null && done) {
                        trying.remove(namespace);
                        // Deleted again during the attempt.
                        if (isIncomplete(namespace)) {
                            complete(namespace);
                        }
                    } else {
                        loop.schedule(RETRY, () -> {
                            trying.remove(namespace);
                            complete(namespace);
                        });
                    }
                }));
    }

    /** True if the object exists then, or the namespace accepts no more objects. */
    private CompletableFuture<Boolean> create(Resource resource, String namespace, JsonObject object) {
        String name = object.object("metadata").text("name");
        if (store.get(resource.key(namespace, name)).isPresent()) {
            return CompletableFuture.completedFuture(true);
        }
        return writes.createOwn(resource, namespace, object).handle((made, error) -> {
            if (error == null || Failures.cause(error) instanceof ApiException refused && refused.code() < 429) {
                return true;
            }
            log.warn(
                    "creating {}/{} failed, retrying in {} s: {}",
                    namespace,
                    name,
                    RETRY.toSeconds(),
                    error.getMessage());
            return false;
        });
    }

    private boolean isIncomplete(String namespace) {
        return isActive(namespace)
                && (isMissing(ClusterResources.SERVICE_ACCOUNTS, namespace, ACCOUNT)
                        || (!rootCertificates.isEmpty()
                                && isMissing(ClusterResources.CONFIG_MAPS, namespace, ROOT_CA)));
    }

    private boolean isMissing(Resource resource, String namespace, String name) {
        return store.get(resource.key(namespace, name)).isEmpty();
    }

    private boolean isActive(String namespace) {
        return store.get(Resources.NAMESPACES.key("", namespace))
                .map(Resources.NAMESPACES.codec()::decode)
                .filter(found -> !found.object("metadata").has("deletionTimestamp"))
                .isPresent();
    }

    private void replaceOther(String namespace) {
        Resource resource = ClusterResources.CONFIG_MAPS;
        if (rootCertificates.isEmpty()) {
            return;
        }
        store.get(resource.key(namespace, ROOT_CA)).ifPresent(entry -> {
            JsonObject now = resource.codec().decode(entry);
            JsonObject wanted = rootCa();
            JsonObject next = now.with("data", wanted.object("data"));
            if (!next.equals(now)) {
                write(entry, resource, next);
            }
        });
    }

    private void write(Entry entry, Resource resource, JsonObject next) {
        store.put(entry.key(), resource.codec().encode(next), entry.modRevision())
                .whenComplete((done, error) -> {
                    if (error != null) {
                        log.warn(
                                "{} still has other certificates than this server's: {}",
                                entry.key(),
                                error.getMessage());
                    } else {
                        log.info("{} now has this server's certificates", entry.key());
                    }
                });
    }

    private JsonObject rootCa() {
        return named(ROOT_CA)
                .update(
                        "metadata",
                        metadata -> metadata.with(
                                "annotations", JsonObject.EMPTY.with("kubernetes.io/description", DESCRIPTION)))
                .with("data", JsonObject.EMPTY.with(KEY, rootCertificates));
    }

    private static JsonObject named(String name) {
        return JsonObject.EMPTY.with("metadata", JsonObject.EMPTY.with("name", name));
    }
}
