package io.nodekeeper.cri;

import java.util.List;

/** The status of one sandbox; {@code ips} may be empty: on the host's network, or no longer running. */
public record PodSandboxStatus(PodSandbox sandbox, List<String> ips) {}
