package io.nodekeeper.agent.runtime;

import io.nodekeeper.api.Failures;
import io.nodekeeper.cri.ContainerRuntime;
import io.nodekeeper.cri.RuntimeCall;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Passes the node's pod CIDR to the runtime: once, and after a refusal again at every status update until it is
 * accepted. Kubernetes also patches its Node each time; nothing in the status depends on that, so this class does
 * not. Confined to its loop.
 */
final class PodCidr {
    private static final Logger log = LoggerFactory.getLogger(PodCidr.class);
    /** The runtime writes one small file for this call; 10 s covers a busy disk. */
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
                log.info("The runtime accepted the pod CIDR {}", cidr);
            } else {
                log.warn("The runtime rejected the pod CIDR {}: {}", cidr, Failures.text(error));
            }
        });
    }
}
