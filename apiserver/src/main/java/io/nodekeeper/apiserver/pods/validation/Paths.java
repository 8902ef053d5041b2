package io.nodekeeper.apiserver.pods.validation;

import io.nodekeeper.apiserver.fields.FieldCheck;
import java.util.Arrays;

/** Validates file paths. */
final class Paths {
    private Paths() {}

    /** Checks that a path has no {@code ..} step. */
    static void noBacksteps(FieldCheck at, String field, String path) {
        if (Arrays.asList(path.split("/", -1)).contains("..")) {
            at.invalid(field, path, "must not contain '..'");
        }
    }

    /** Checks that a path is relative and has no {@code ..} step. */
    static void descending(FieldCheck at, String field, String path) {
        if (path.startsWith("/")) {
            at.invalid(field, path, "must be a relative path");
        }
        noBacksteps(at, field, path);
    }

    /** Checks a path in a volume that the kubelet fills; names that begin with two dots are reserved for it. */
    static void notReserved(FieldCheck at, String field, String path) {
        descending(at, field, path);
        if (path.startsWith("..") && !path.startsWith("../")) {
            at.invalid(field, path, "must not start with '..'");
        }
    }
}
