package io.nodekeeper.client;

import java.util.Optional;

/** The version of this build. */
public final class Version {
    private Version() {}

    /** The version in the jar's manifest; {@code dev} when run from classes. */
    public static String current() {
        return Optional.ofNullable(Version.class.getPackage().getImplementationVersion())
                .orElse("dev");
    }
}
