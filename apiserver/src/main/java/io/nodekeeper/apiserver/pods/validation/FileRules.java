package io.nodekeeper.apiserver.pods.validation;

import io.nodekeeper.apiserver.fields.FieldCheck;

/** Validates the files of volumes. */
final class FileRules {
    private static final int MOST_MODE = 0777;

    private FileRules() {}

    /** Checks a file mode. */
    static void mode(FieldCheck at, String field) {
        at.number(field)
                .filter(mode -> mode < 0 || mode > MOST_MODE)
                .ifPresent(mode ->
                        at.invalidNumber(field, mode, "must be a number between 0 and 0777 (octal), both inclusive"));
    }

    /** Checks a file with the value of one key. */
    static void keyToPath(FieldCheck item) {
        item.require("key");
        item.require("path");
        Paths.notReserved(item, "path", item.text("path"));
        mode(item, "mode");
    }
}
