package io.nodekeeper.client.access;

import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.client.certificates.Subject;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * A user of the cluster, as reviews name it. Immutable.
 *
 * @param name the user's name, never empty
 * @param uid empty if the cluster does not say
 * @param groups the user's groups, {@code system:authenticated} included
 * @param extra more attributes, each an array of strings
 */
public record Caller(String name, String uid, List<String> groups, JsonObject extra) {
    /** A caller without credentials. */
    public static final Caller ANONYMOUS =
            new Caller("system:anonymous", "", List.of("system:unauthenticated"), JsonObject.EMPTY);

    private static final String AUTHENTICATED = "system:authenticated";

    /** Copies the list. */
    public Caller {
        groups = List.copyOf(groups);
    }

    /** The user of a verified client certificate: CN is the name, each O a group; empty without a CN. */
    public static Optional<Caller> of(X509Certificate certificate) {
        Subject subject;
        try {
            subject = Subject.of(certificate.getSubjectX500Principal());
        } catch (IllegalArgumentException e) {
            return Optional.empty();
        }
        List<String> groups = new ArrayList<>(subject.organizations());
        groups.add(AUTHENTICATED);
        return subject.commonName().isEmpty()
                ? Optional.empty()
                : Optional.of(new Caller(subject.commonName(), "", groups, JsonObject.EMPTY));
    }

    /** The user in the status of a TokenReview; empty if the token is not valid. */
    static Optional<Caller> reviewed(JsonObject review) {
        JsonObject status = review.object("status");
        JsonObject user = status.object("user");
        String name = user.text("username");
        return !status.bool("authenticated") || name.isEmpty()
                ? Optional.empty()
                : Optional.of(new Caller(
                        name, user.text("uid"), user.array("groups").strings().toList(), user.object("extra")));
    }

    /** The spec of a SubjectAccessReview about {@code right} of this user. */
    JsonObject may(PageRight right) {
        return right.attributes(JsonObject.builder()
                .put("user", name)
                .putUnlessEmpty("uid", uid)
                .put("groups", JsonArray.ofStrings(groups))
                .put("extra", extra));
    }
}
