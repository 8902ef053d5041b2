package io.nodekeeper.apiserver.pods.validation;

import io.nodekeeper.apiserver.fields.FieldCheck;
import java.util.Arrays;

/** Rules of file paths. */
final class Paths {
    private Paths() {}

    /** A path must not lead upwards. */
    static void noBacksteps(FieldCheck at, String field, String path) {
        if (Arrays.asList(path.split("/", -1)).contains("..")) {
            at.invalid(field, path, "must not contain '..'");
        }
    }

    /** A path below a directory. */
    static void descending(FieldCheck at, String field, String path) {
        if (path.startsWith("/")) {
            at.invalid(field, path, "must be a relative path");
        }
        noBacksteps(at, field, path);
    }

    /** A path below a directory whose names that begin with two dots belong to the kubelet. */
    static void notReserved(FieldCheck at, String field, String path) {
        descending(at, field, path);
        if (path.startsWith("..") && !path.startsWith("../")) {
            at.invalid(field, path, "must not start with '..'");
        }
    }
}
