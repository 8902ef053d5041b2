package io.nodekeeper.apiserver.pods.validation;

import io.nodekeeper.apiserver.fields.FieldCheck;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Validates projected volumes, which combine the files of several sources. */
final class ProjectionRules {
    private static final List<String> SOURCES = List.of(
            "secret", "configMap", "downwardAPI", "serviceAccountToken", "clusterTrustBundle", "podCertificate");

    /** The shortest and the longest lifetime of a token, in seconds (Kubernetes). */
    private static final long LEAST_SECONDS = 600;

    private static final long MOST_SECONDS = 1L << 32;

    private ProjectionRules() {}

    static void check(FieldCheck projected) {
        FileRules.mode(projected, "defaultMode");
        Set<String> paths = new HashSet<>();
        for (FieldCheck source : projected.items("sources")) {
            for (String kind : List.of("secret", "configMap")) {
                if (source.has(kind)) {
                    FieldCheck files = source.object(kind);
                    files.require("name");
                    for (FieldCheck item : files.items("items")) {
                        FileRules.keyToPath(item);
                        path(projected, paths, item.text("path"), files.text("name"));
                    }
                }
            }
            for (FieldCheck file : source.object("downwardAPI").items("items")) {
                DownwardRules.file(file);
                path(projected, paths, file.text("path"), file.text("path"));
            }
            if (source.has("serviceAccountToken")) {
                token(source.object("serviceAccountToken"));
            }
            if (source.has("clusterTrustBundle")) {
                FieldCheck bundle = source.object("clusterTrustBundle");
                bundle(bundle);
                path(projected, paths, bundle.text("path"), bundle.text("path"));
            }
            if (SOURCES.stream().filter(source::has).count() > 1) {
                source.forbidden("", "may not specify more than 1 volume type");
            }
        }
    }

    private static void path(FieldCheck projected, Set<String> paths, String path, String shown) {
        if (!path.isEmpty() && !paths.add(path)) {
            projected.invalid("", shown, "conflicting duplicate paths");
        }
    }

    private static void token(FieldCheck token) {
        long seconds = token.number("expirationSeconds").orElse(0L);
        if (seconds < LEAST_SECONDS) {
            token.invalidNumber("expirationSeconds", seconds, "may not specify a duration less than 10 minutes");
        }
        if (seconds > MOST_SECONDS) {
            token.invalidNumber("expirationSeconds", seconds, "may not specify a duration larger than 2^32 seconds");
        }
        if (token.require("path")) {
            Paths.notReserved(token, "path", token.text("path"));
        }
    }

    private static void bundle(FieldCheck bundle) {
        boolean name = bundle.has("name");
        boolean signer = bundle.has("signerName");
        if (name && signer) {
            bundle.invalid("", "only one of name and signerName may be used");
        } else if (name) {
            if (bundle.text("name").isEmpty()) {
                bundle.required("name", "must be a valid object name");
            }
            if (bundle.has("labelSelector")) {
                bundle.invalid("labelSelector", "labelSelector must be unset if name is specified");
            }
        } else if (signer) {
            if (bundle.text("signerName").isEmpty()) {
                bundle.required("signerName", "must be a valid signer name");
            }
            SelectorRules.check(bundle, "labelSelector");
        } else {
            bundle.required("", "either name or signerName must be specified");
        }
        bundle.require("path");
        Paths.notReserved(bundle, "path", bundle.text("path"));
    }
}
