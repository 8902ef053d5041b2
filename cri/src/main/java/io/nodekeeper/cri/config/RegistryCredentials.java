package io.nodekeeper.cri.config;

/**
 * The credentials of an image registry, as CRI's {@code AuthConfig} has them. Immutable.
 *
 * @param username of a user, with {@code password}; empty with a token
 * @param identityToken from which the runtime gets an access token; usually empty
 * @param registryToken an access token of the registry; usually empty
 * @param serverAddress the registry that the credentials are for; may be empty
 */
public record RegistryCredentials(
        String username, String password, String identityToken, String registryToken, String serverAddress) {

    /** Without secrets. */
    @Override
    public String toString() {
        return "RegistryCredentials[user \"" + username + "\" of \"" + serverAddress + "\"]";
    }
}
