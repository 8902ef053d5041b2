package io.nodekeeper.apiserver.authentication;

import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonException;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.apiserver.authorization.rbac.Binding;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * The claims of a service account token. Immutable.
 *
 * @param namespace the account's namespace
 * @param account the account's name
 * @param accountUid the account's UID, which excludes another account of the same name
 * @param bound the object that the token is bound to; empty for only the account
 * @param audiences its audiences
 * @param issued when it was issued
 * @param expires when it expires
 * @param id its unique ID
 */
public record TokenClaims(
        String namespace,
        String account,
        String accountUid,
        Optional<Bound> bound,
        List<String> audiences,
        Instant issued,
        Instant expires,
        String id) {

    /** The most audiences of a token: far more than clients use, so that reading a token stays cheap. */
    public static final int MOST_AUDIENCES = 100;

    /**
     * An object in the account's namespace that a token is bound to.
     *
     * @param kind {@code Pod} or {@code Secret}
     * @param name its name
     * @param uid its UID
     * @param node the node of a pod when the token was issued; empty if it had none yet
     */
    public record Bound(String kind, String name, String uid, Optional<Node> node) {}

    /**
     * The node of a pod.
     *
     * @param name its name
     * @param uid its UID; empty if there was no such object
     */
    public record Node(String name, String uid) {}

    /** Copies {@code audiences}. */
    public TokenClaims {
        audiences = List.copyOf(audiences);
    }

    /** The user name of the account. */
    public String user() {
        return Binding.ACCOUNT_PREFIX + namespace + ":" + account;
    }

    /** The groups of the account. */
    public List<String> groups() {
        return List.of("system:serviceaccounts", "system:serviceaccounts:" + namespace);
    }

    /** The body of the token, with Kubernetes' names. */
    byte[] body(String issuer) {
        JsonObject.Builder kubernetes = JsonObject.builder().put("namespace", namespace);
        bound.ifPresent(object ->
                kubernetes.put(object.kind.equals("Pod") ? "pod" : "secret", reference(object.name, object.uid)));
        bound.flatMap(Bound::node).ifPresent(node -> kubernetes.put("node", reference(node.name, node.uid)));
        return Json.writeBytes(JsonObject.builder()
                .put("aud", JsonArray.ofStrings(audiences))
                .put("exp", expires.getEpochSecond())
                .put("iat", issued.getEpochSecond())
                .put("iss", issuer)
                .put("jti", id)
                .put(
                        "kubernetes.io",
                        kubernetes
                                .put("serviceaccount", reference(account, accountUid))
                                .build())
                .put("nbf", issued.getEpochSecond())
                .put("sub", user())
                .build());
    }

    private static JsonObject reference(String name, String uid) {
        return JsonObject.builder().put("name", name).putUnlessEmpty("uid", uid).build();
    }

    /** Parses the body of a token of {@code issuer}; empty if it is not a service account token. */
    static Optional<TokenClaims> read(byte[] body, String issuer) {
        JsonObject json;
        try {
            json = Json.parseObject(body);
        } catch (JsonException e) {
            return Optional.empty();
        }
        JsonObject kubernetes = json.object("kubernetes.io");
        JsonObject account = kubernetes.object("serviceaccount");
        TokenClaims claims = new TokenClaims(
                kubernetes.text("namespace"),
                account.text("name"),
                account.text("uid"),
                bound(kubernetes, "pod", "Pod").or(() -> bound(kubernetes, "secret", "Secret")),
                json.get("aud").isPresent() && json.array("aud").isEmpty()
                        ? List.of(json.text("aud"))
                        : json.array("aud").strings().toList(),
                instant(json, "nbf"),
                instant(json, "exp"),
                json.text("jti"));
        boolean ours = json.text("iss").equals(issuer)
                && json.text("sub").equals(claims.user())
                && !claims.namespace.isEmpty()
                && !claims.account.isEmpty()
                && !claims.accountUid.isEmpty();
        return ours ? Optional.of(claims) : Optional.empty();
    }

    private static Optional<Bound> bound(JsonObject kubernetes, String field, String kind) {
        JsonObject object = kubernetes.object(field);
        return kubernetes.has(field)
                ? Optional.of(new Bound(kind, object.text("name"), object.text("uid"), node(kubernetes)))
                : Optional.empty();
    }

    private static Optional<Node> node(JsonObject kubernetes) {
        JsonObject node = kubernetes.object("node");
        return node.text("name").isEmpty()
                ? Optional.empty()
                : Optional.of(new Node(node.text("name"), node.text("uid")));
    }

    /** A missing or out-of-range time makes a token expired. */
    private static Instant instant(JsonObject json, String field) {
        long second = json.number(field).orElse(0L);
        return Instant.ofEpochSecond(Math.clamp(second, 0, Instant.MAX.getEpochSecond()));
    }
}
