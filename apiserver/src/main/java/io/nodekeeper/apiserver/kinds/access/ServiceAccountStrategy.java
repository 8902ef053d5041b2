package io.nodekeeper.apiserver.kinds.access;

import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.apiserver.registry.Strategy;
import java.util.List;
import java.util.function.Supplier;

/** The rules of ServiceAccounts. */
public final class ServiceAccountStrategy implements Strategy {
    /** Limits the secrets of an account's pods to those that the account lists; deprecated since Kubernetes 1.32. */
    private static final String ENFORCE = "kubernetes.io/enforce-mountable-secrets";

    @Override
    public List<String> warnings(Supplier<JsonObject> account) {
        return account.get()
                        .object("metadata")
                        .object("annotations")
                        .text(ENFORCE)
                        .equals("true")
                ? List.of("this API server stores the annotation " + ENFORCE + ", but does not limit secrets by it")
                : List.of();
    }
}
