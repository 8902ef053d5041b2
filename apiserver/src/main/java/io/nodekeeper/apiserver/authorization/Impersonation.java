package io.nodekeeper.apiserver.authorization;

import io.nodekeeper.api.ApiException;
import io.nodekeeper.apiserver.authorization.rbac.Attributes;
import io.nodekeeper.apiserver.authorization.rbac.Binding;
import io.nodekeeper.apiserver.request.ApiRequest;
import io.nodekeeper.apiserver.request.User;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * User impersonation ({@code kubectl --as}): each requested name, group, uid and extra value needs the verb {@code
 * impersonate}. Thread-safe.
 */
public final class Impersonation {
    private static final String PREFIX = "impersonate-";
    private static final String EXTRA = PREFIX + "extra-";
    private static final String GROUP = "authentication.k8s.io";
    private static final Pattern ACCOUNT = Pattern.compile(Binding.ACCOUNT_PREFIX + "([^:]+):([^:]+)");

    private final Authorizer authorizer;

    public Impersonation(Authorizer authorizer) {
        this.authorizer = authorizer;
    }

    /** The user for whom {@code request} is served: {@code user}, or the impersonated user. */
    public User apply(User user, ApiRequest request) {
        for (String header : request.headers().keySet()) {
            if (header.startsWith(PREFIX)) {
                return impersonated(user, request).impersonatedBy(user);
            }
        }
        return user;
    }

    private User impersonated(User user, ApiRequest request) {
        String name = request.header(PREFIX + "user");
        if (name.isEmpty()) {
            throw ApiException.badRequest(
                    "requested groups, a uid or extra values to impersonate without impersonating a user");
        }
        var account = ACCOUNT.matcher(name);
        List<String> groups = new ArrayList<>(values(request.header(PREFIX + "group")));
        if (account.matches()) {
            check(user, "", "serviceaccounts", account.group(1), account.group(2));
        } else {
            check(user, "", "users", "", name);
        }
        groups.forEach(group -> check(user, "", "groups", "", group));
        if (account.matches() && groups.isEmpty()) {
            groups.add("system:serviceaccounts");
            groups.add("system:serviceaccounts:" + account.group(1));
        }
        String uid = request.header(PREFIX + "uid");
        if (!uid.isEmpty()) {
            check(user, GROUP, "uids", "", uid);
        }
        Map<String, List<String>> extra = new LinkedHashMap<>();
        request.headers().forEach((header, text) -> {
            if (header.startsWith(EXTRA)) {
                String key = decoded(header.substring(EXTRA.length()));
                List<String> values = values(text);
                values.forEach(value -> check(user, GROUP, "userextras/" + key, "", value));
                extra.put(key, values);
            }
        });
        if (name.equals(User.ANONYMOUS.name())) {
            groups.add(User.UNAUTHENTICATED);
            return new User(name, uid, groups.stream().distinct().toList(), extra);
        }
        return groups.contains(User.UNAUTHENTICATED)
                ? new User(name, uid, groups, extra)
                : User.authenticated(name, uid, groups, extra);
    }

    private void check(User user, String group, String resource, String namespace, String name) {
        authorizer.check(
                Attributes.ofResource(user.name(), user.groups(), "impersonate", group, resource, namespace, name));
    }

    /** The values of a header that may occur several times. */
    private static List<String> values(String header) {
        return header.isEmpty() ? List.of() : List.of(header.split("\n"));
    }

    private static String decoded(String key) {
        try {
            return URLDecoder.decode(key.replace("+", "%2B"), StandardCharsets.UTF_8);
        } catch (IllegalArgumentException e) {
            // Kubernetes uses a badly encoded value unchanged.
            return key;
        }
    }
}
