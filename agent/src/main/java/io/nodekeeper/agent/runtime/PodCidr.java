package io.nodekeeper.agent.runtime;

import io.nodekeeper.client.Failures;
import io.nodekeeper.cri.ContainerRuntime;
import io.nodekeeper.cri.RuntimeCall;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps the runtime told of the node's pod CIDR: once, unless it refuses; then at every look until it accepts. Kubernetes
 * patches its node at each of these looks; nothing in the status follows from them, so this does not. Confined to its loop.
 */
final class PodCidr {
    private static final Logger log = LoggerFactory.getLogger(PodCidr.class);
    /** The runtime writes one file. Chosen. */
    private static final Duration DEADLINE = Duration.ofSeconds(10);

    private final ContainerRuntime runtime;
    private String accepted = "";
    private boolean asking;

    PodCidr(ContainerRuntime runtime) {
        this.runtime = runtime;
    }

    /** The node's CIDRs now, separated by commas. */
    void set(String cidr) {
        if (asking || cidr.equals(accepted)) {
            return;
        }
        asking = true;
        runtime.call(new RuntimeCall.SetPodCidr(cidr), DEADLINE).whenComplete((done, error) -> {
            asking = false;
            if (error == null) {
                accepted = cidr;
                log.info("The runtime knows the pod CIDR {}", cidr);
            } else {
                log.warn("The runtime does not take the pod CIDR {}: {}", cidr, Failures.text(error));
            }
        });
    }
}
