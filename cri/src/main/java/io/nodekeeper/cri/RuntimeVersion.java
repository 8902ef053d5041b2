package io.nodekeeper.cri;

/**
 * Name and version of a runtime.
 *
 * @param name such as {@code containerd}
 * @param version its own version, such as {@code 1.6.20}
 * @param apiVersion of CRI, such as {@code v1}
 */
public record RuntimeVersion(String name, String version, String apiVersion) {}
