package io.nodekeeper.apiserver.writes;

import io.nodekeeper.api.ApiException;

/** The {@code dryRun} option. */
public final class DryRun {
    private DryRun() {}

    /** Whether {@code mode} asks for a dry run; refuses what is neither empty nor {@code All}. */
    public static boolean wanted(String mode) {
        if (!mode.isEmpty() && !mode.equals("All")) {
            throw new ApiException(
                    422, "Invalid", "dryRun: Unsupported value: []string{\"" + mode + "\"}: supported values: \"All\"");
        }
        return !mode.isEmpty();
    }
}
