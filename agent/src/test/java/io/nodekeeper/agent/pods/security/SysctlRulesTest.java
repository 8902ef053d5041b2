package io.nodekeeper.agent.pods.security;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.nodekeeper.agent.config.PodSecurityConfig;
import io.nodekeeper.agent.config.SysctlPattern;
import io.nodekeeper.agent.pods.model.Pod;
import io.nodekeeper.agent.pods.sync.Wanted;
import io.nodekeeper.api.json.Json;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Which sysctls pods may set. */
class SysctlRulesTest {
    private static Pod pod(String spec, String... sysctls) {
        String list = String.join(
                ", ",
                Stream.of(sysctls)
                        .map("{\"name\": \"%s\", \"value\": \"1\"}"::formatted)
                        .toList());
        return new Pod(
                Json.parseObject("{\"spec\": {\"securityContext\": {\"sysctls\": [%s]}%s}}".formatted(list, spec)));
    }

    private static Optional<Wanted.Eviction> refusal(Pod pod, String... unsafe) {
        List<SysctlPattern> patterns = Stream.of(unsafe).map(SysctlPattern::of).toList();
        return new SecurityAdmission(new PodSecurityConfig(patterns, false), new SimulatedSupport()).refusal(pod);
    }

    private static String fault(Pod pod, String... unsafe) {
        return refusal(pod, unsafe).map(Wanted.Eviction::message).orElse("");
    }

    @Test
    void shouldAllowSafeOnesInBothSpellings() {
        assertThat(fault(pod(
                        "",
                        "kernel.shm_rmid_forced",
                        "net.ipv4.ip_local_port_range",
                        "net/ipv4/tcp_syncookies",
                        "net.ipv4.tcp_rmem")))
                .isEmpty();
        assertThat(fault(new Pod(Json.parseObject("{}")))).isEmpty();
    }

    @Test
    void shouldRefuseOthersWithTheKubeletsReason() {
        assertThat(refusal(pod("", "net.ipv4.tcp_syncookies", "net.core.somaxconn")))
                .contains(new Wanted.Eviction(
                        "SysctlForbidden", "forbidden sysctl: \"net.core.somaxconn\" not allowlisted", false));
    }

    @Test
    void shouldAllowWhatTheOperatorAllows() {
        Pod pod = pod("", "net.core.somaxconn", "kernel.msgmax");

        assertThat(fault(pod, "net.core.*", "kernel.msg*")).isEmpty();
        assertThat(fault(pod, "net.core.somaxconn", "kernel/msgmax")).isEmpty();
        assertThat(fault(pod, "net.core.*")).isEqualTo("forbidden sysctl: \"kernel.msgmax\" not allowlisted");
    }

    @Test
    void shouldRefuseThoseOfANamespaceThatThePodSharesWithTheHost() {
        String network = ", \"hostNetwork\": true";
        String ipc = ", \"hostIPC\": true";

        assertThat(fault(pod(network, "net.ipv4.tcp_syncookies")))
                .isEqualTo("forbidden sysctl: \"net.ipv4.tcp_syncookies\" not allowed with host net enabled");
        assertThat(fault(pod(ipc, "kernel.shm_rmid_forced")))
                .isEqualTo("forbidden sysctl: \"kernel.shm_rmid_forced\" not allowed with host ipc enabled");
        assertThat(fault(pod(ipc, "fs.mqueue.msg_max"), "fs.mqueue.*"))
                .isEqualTo("forbidden sysctl: \"fs.mqueue.msg_max\" not allowed with host ipc enabled");
        assertThat(fault(pod(network, "kernel.shm_rmid_forced"))).isEmpty();
        assertThat(fault(pod(ipc, "net.ipv4.tcp_syncookies"))).isEmpty();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    kernel.*        | the sysctls "kernel.*" are not known to be namespaced
                    vm/swappiness   | the sysctl "vm.swappiness" are not known to be namespaced
                    net.Core        | sysctl "net.Core" must have at most 253 characters and match regex
                    net.*.forwarding| sysctl "net.*.forwarding" must have at most 253 characters and match regex
                    """)
    void shouldAcceptOnlyNamespacedPatterns(String pattern, String message) {
        assertThatThrownBy(() -> SysctlPattern.of(pattern))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith(message);
    }

    @Test
    void shouldKeepDotsWithinAPartOfANameWithSlashes() {
        assertThat(pod("", "net/ipv4/conf/eth0.5/forwarding", "net.ipv4.conf.eth0/5.forwarding")
                        .sysctls())
                .isEqualTo(Map.of("net.ipv4.conf.eth0/5.forwarding", "1"));
    }
}
