package io.nodekeeper.apiserver.admission;

import io.nodekeeper.api.ApiException;
import io.nodekeeper.api.json.JsonBool;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonValue;
import io.nodekeeper.apiserver.authorization.node.NodeGraph;
import io.nodekeeper.apiserver.catalogue.ClusterResources;
import io.nodekeeper.apiserver.catalogue.Resources;
import io.nodekeeper.apiserver.pods.TokenVolume;
import io.nodekeeper.apiserver.registry.ObjectMetaRules;
import io.nodekeeper.apiserver.registry.Resource;
import io.nodekeeper.apiserver.request.RequestTarget;
import io.nodekeeper.store.Store;
import java.util.Optional;
import java.util.random.RandomGenerator;

/**
 * The admission plugin ServiceAccount: gives each new pod a service account, its image pull secrets, and a volume with
 * a token. Unlike Kubernetes, it does not refuse a pod whose account does not exist (decision 40). Thread-safe if the
 * random numbers are.
 */
public final class ServiceAccountAdmission {
    private final Store store;
    private final RandomGenerator random;
    private final boolean tokens;

    /** {@code tokens}: whether the server issues tokens; without them a pod would wait for its volume for ever. */
    public ServiceAccountAdmission(Store store, RandomGenerator random, boolean tokens) {
        this.store = store;
        this.random = random;
        this.tokens = tokens;
    }

    /**
     * The object to create, of any kind. Unless the lookup is {@code fresh}, a pod whose account is not found is refused: it may have
     * just been created.
     */
    public JsonObject admit(Resource resource, RequestTarget target, JsonObject object, boolean fresh) {
        boolean mirror = object.object("metadata").object("annotations").has(NodeGraph.CONFIG_MIRROR);
        if (!resource.equals(Resources.PODS) || !target.subresource().isEmpty() || mirror) {
            return object;
        }
        return object.update("spec", given -> {
            JsonObject spec = TokenVolume.named(given);
            String name = spec.text("serviceAccountName");
            Optional<JsonObject> account =
                    store.get(key(target, name)).map(ClusterResources.SERVICE_ACCOUNTS.codec()::decode);
            if (account.isEmpty() && !fresh) {
                throw ApiException.notFound(ClusterResources.SERVICE_ACCOUNTS.type(), name);
            }
            return account.map(found -> with(spec, found)).orElse(spec);
        });
    }

    /** The key of the account of the new pod {@code object}. */
    public String account(RequestTarget target, JsonObject object) {
        return key(target, TokenVolume.named(object.object("spec")).text("serviceAccountName"));
    }

    private static String key(RequestTarget target, String name) {
        return ClusterResources.SERVICE_ACCOUNTS.key(target.namespace(), name);
    }

    private JsonObject with(JsonObject spec, JsonObject account) {
        JsonObject pulling = spec.array("imagePullSecrets").isEmpty()
                        && !account.array("imagePullSecrets").isEmpty()
                ? spec.with("imagePullSecrets", account.array("imagePullSecrets"))
                : spec;
        Optional<JsonValue> mounts =
                spec.get("automountServiceAccountToken").or(() -> account.get("automountServiceAccountToken"));
        boolean wanted = mounts.filter(JsonBool.FALSE::equals).isEmpty();
        return tokens && wanted && !TokenVolume.isReplaced(spec)
                ? TokenVolume.with(pulling, TokenVolume.PREFIX + ObjectMetaRules.suffix(random))
                : pulling;
    }
}
