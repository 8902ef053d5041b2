package io.nodekeeper.apiserver.request;

import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonObject;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * The user of a request.
 * @param name the user name, as in messages
 * @param uid distinguishes users of the same name at different times; may be empty
 * @param groups the groups, those that Kubernetes adds by itself included
 * @param extra further attributes, by name
 * @param flow the name under which shares of the server are given to it (Kubernetes' term). Names of some users are free: whoever may
 *     create service accounts in a namespace or impersonate users can be as many users as they like. So all service accounts of a
 *     namespace share one flow, except those of {@code kube-system}, and impersonated users have that of their impersonator.
 */
public record User(String name, String uid, List<String> groups, Map<String, List<String>> extra, String flow) {
    public static final String MASTERS = "system:masters";
    static final String AUTHENTICATED = "system:authenticated";
    public static final String UNAUTHENTICATED = "system:unauthenticated";
    public static final User ANONYMOUS = new User("system:anonymous", "", List.of(UNAUTHENTICATED), Map.of());

    private static final String ACCOUNT = "system:serviceaccount:";
    private static final String SYSTEM_ACCOUNT = ACCOUNT + "kube-system:";

    /** Copies {@code groups} and {@code extra}. */
    public User {
        groups = List.copyOf(groups);
        extra = Map.copyOf(extra);
    }

    /** A user who acts for itself. */
    public User(String name, String uid, List<String> groups, Map<String, List<String>> extra) {
        this(name, uid, groups, extra, flow(name));
    }

    private static String flow(String name) {
        if (!name.startsWith(ACCOUNT) || name.startsWith(SYSTEM_ACCOUNT)) {
            return name;
        }
        int end = name.indexOf(':', ACCOUNT.length());
        return "system:serviceaccounts:" + name.substring(ACCOUNT.length(), end < 0 ? name.length() : end);
    }

    /** This user, impersonated by {@code caller}. */
    public User impersonatedBy(User caller) {
        return new User(name, uid, groups, extra, caller.flow);
    }

    /** An authenticated user: in the given groups and {@code system:authenticated}. */
    public static User authenticated(String name, List<String> groups) {
        return authenticated(name, "", groups, Map.of());
    }

    /** An authenticated user with further attributes. */
    public static User authenticated(String name, String uid, List<String> groups, Map<String, List<String>> extra) {
        List<String> all = new ArrayList<>(groups);
        if (!all.contains(AUTHENTICATED)) {
            all.add(AUTHENTICATED);
        }
        return new User(name, uid, all, extra);
    }

    public boolean in(String group) {
        return groups.contains(group);
    }

    /** This user in Kubernetes' form {@code UserInfo}, as reviews and the audit log show users. */
    public JsonObject toUserInfo() {
        JsonObject.Builder info = JsonObject.builder()
                .put("username", name)
                .putUnlessEmpty("uid", uid)
                .put("groups", JsonArray.ofStrings(groups));
        if (!extra.isEmpty()) {
            JsonObject.Builder values = JsonObject.builder();
            extra.forEach((key, texts) -> values.put(key, JsonArray.ofStrings(texts)));
            info.put("extra", values.build());
        }
        return info.build();
    }
}
