package io.nodekeeper.agent.pods.security;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.agent.config.PodSecurityConfig;
import io.nodekeeper.agent.pods.model.AppArmor;
import io.nodekeeper.agent.pods.model.Pod;
import io.nodekeeper.agent.pods.sync.Wanted;
import io.nodekeeper.api.json.Json;
import io.nodekeeper.cri.config.SecurityProfile;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Which pods are refused because the machine or its runtime cannot confine them. */
class SecurityAdmissionTest {
    private static final String DEFAULT_PROFILE = "{\"appArmorProfile\": {\"type\": \"RuntimeDefault\"}}";
    private static final String UNCONFINED = "{\"appArmorProfile\": {\"type\": \"Unconfined\"}}";

    private final SimulatedSupport support = new SimulatedSupport();
    private final SecurityAdmission admission = new SecurityAdmission(PodSecurityConfig.DEFAULT, support);

    private static Pod pod(String shared, String own, String annotation) {
        return new Pod(Json.parseObject("""
                {"metadata": {"annotations": {"container.apparmor.security.beta.kubernetes.io/app": "%s"}},
                 "spec": {"securityContext": %s, "containers": [{"name": "app", "securityContext": %s}]}}
                """.formatted(annotation, shared, own)));
    }

    private static Pod strict() {
        return pod("{\"supplementalGroupsPolicy\": \"Strict\"}", "{}", "");
    }

    private static Optional<SecurityProfile> profile(Pod pod) {
        return AppArmor.profile(pod, pod.containers().getFirst());
    }

    @Test
    void shouldRefuseProfilesOfAppArmorOnAMachineWithoutIt() {
        Wanted.Eviction refusal =
                new Wanted.Eviction("AppArmor", "Cannot enforce AppArmor: AppArmor is not enabled on the host", false);

        assertThat(admission.refusal(pod(DEFAULT_PROFILE, "{}", ""))).contains(refusal);
        assertThat(admission.refusal(pod("{}", "{}", "localhost/narrow"))).contains(refusal);
        assertThat(admission.refusal(pod("{}", "{}", ""))).isEmpty();
        assertThat(admission.refusal(pod(DEFAULT_PROFILE, UNCONFINED, ""))).isEmpty();

        support.hasAppArmor = true;
        assertThat(admission.refusal(pod(DEFAULT_PROFILE, "{}", ""))).isEmpty();
    }

    @Test
    void shouldPreferTheContainersFieldThenItsAnnotationThenThePod() {
        assertThat(profile(pod(DEFAULT_PROFILE, UNCONFINED, "localhost/narrow")))
                .contains(SecurityProfile.UNCONFINED);
        assertThat(profile(pod(DEFAULT_PROFILE, "{}", "localhost/narrow")))
                .contains(SecurityProfile.localhost("narrow"));
        assertThat(profile(pod(UNCONFINED, "{}", "runtime/default"))).contains(SecurityProfile.RUNTIME_DEFAULT);
        assertThat(profile(pod(DEFAULT_PROFILE, "{}", "unconfined"))).contains(SecurityProfile.UNCONFINED);
        assertThat(profile(pod(DEFAULT_PROFILE, "{}", "else"))).contains(SecurityProfile.RUNTIME_DEFAULT);
        assertThat(profile(pod("{}", "{}", ""))).isEmpty();
    }

    @Test
    void shouldRefuseStrictGroupsWhereTheRuntimeDoesNotAnnounceThem() {
        assertThat(admission.refusal(strict()))
                .contains(new Wanted.Eviction(
                        "SupplementalGroupsPolicyNotSupported",
                        "SupplementalGroupsPolicy=Strict is not supported in this node",
                        false));

        support.hasStrictGroups = Optional.of(true);
        assertThat(admission.refusal(strict())).isEmpty();
    }

    @Test
    void shouldLetStrictGroupsWaitUntilTheRuntimeSaysWhatItCan() {
        support.hasStrictGroups = Optional.empty();

        assertThat(admission.mustWait(strict())).isTrue();
        assertThat(admission.mustWait(pod("{}", "{}", ""))).isFalse();
    }
}
