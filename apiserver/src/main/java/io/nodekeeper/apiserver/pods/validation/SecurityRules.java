package io.nodekeeper.apiserver.pods.validation;

import io.nodekeeper.api.json.JsonBool;
import io.nodekeeper.api.json.JsonNumber;
import io.nodekeeper.apiserver.fields.FieldCheck;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;

/** Validates security contexts. */
final class SecurityRules {
    private static final long MOST_ID = Integer.MAX_VALUE;
    private static final Pattern SYSCTL =
            Pattern.compile("([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?");
    private static final int SYSCTL_LENGTH = 253;
    private static final List<String> PROFILES = List.of("Localhost", "RuntimeDefault", "Unconfined");

    private SecurityRules() {}

    /** Checks the security context of a pod. */
    static void pod(FieldCheck spec) {
        FieldCheck context = spec.object("securityContext");
        for (String field : List.of("fsGroup", "runAsUser", "runAsGroup")) {
            context.range(field, 0, MOST_ID);
        }
        var groups = context.value().array("supplementalGroups").items();
        for (int i = 0; i < groups.size(); i++) {
            if (groups.get(i) instanceof JsonNumber group && (group.longValue() < 0 || group.longValue() > MOST_ID)) {
                context.invalidNumber(
                        "supplementalGroups[" + i + "]",
                        group.longValue(),
                        "must be between 0 and " + MOST_ID + ", inclusive");
            }
        }
        if (spec.bool("shareProcessNamespace") && spec.bool("hostPID")) {
            spec.invalid("shareProcessNamespace", "ShareProcessNamespace and HostPID cannot both be enabled");
        }
        sysctls(context);
        context.oneOfIfSet("fsGroupChangePolicy", List.of("OnRootMismatch", "Always"));
        context.oneOfIfSet("supplementalGroupsPolicy", List.of("Merge", "Strict"));
        seccomp(context);
        AppArmor.check(context);
        if (spec.value().get("hostUsers").filter(JsonBool.FALSE::equals).isPresent()) {
            for (String host : List.of("hostNetwork", "hostPID", "hostIPC")) {
                if (spec.bool(host)) {
                    spec.forbidden(host, "when `hostUsers` is false");
                }
            }
        }
    }

    private static void sysctls(FieldCheck context) {
        Set<String> seen = new HashSet<>();
        for (FieldCheck sysctl : context.items("sysctls")) {
            String name = sysctl.text("name");
            if (sysctl.require("name")
                    && (name.length() > SYSCTL_LENGTH || !SYSCTL.matcher(name).matches())) {
                sysctl.invalid(
                        "name",
                        "must have at most " + SYSCTL_LENGTH + " characters and match regex ^" + SYSCTL.pattern()
                                + "$");
            } else if (!name.isEmpty() && !seen.add(name)) {
                sysctl.duplicate("name", name);
            }
        }
    }

    /** Checks the security context of a container. */
    static void container(FieldCheck container) {
        FieldCheck context = container.object("securityContext");
        context.range("runAsUser", 0, MOST_ID);
        context.range("runAsGroup", 0, MOST_ID);
        context.oneOfIfSet("procMount", List.of("Default", "Unmasked"));
        seccomp(context);
        AppArmor.check(context);
        boolean noEscalation = context.value()
                .get("allowPrivilegeEscalation")
                .filter(JsonBool.FALSE::equals)
                .isPresent();
        if (noEscalation && context.bool("privileged")) {
            context.invalid("", "cannot set `allowPrivilegeEscalation` to false and `privileged` to true");
        }
        if (noEscalation
                && context.value().object("capabilities").array("add").strings().anyMatch("CAP_SYS_ADMIN"::equals)) {
            context.invalid("", "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN");
        }
    }

    private static void seccomp(FieldCheck context) {
        if (!context.has("seccompProfile")) {
            return;
        }
        FieldCheck profile = context.object("seccompProfile");
        boolean local = profile.text("type").equals("Localhost");
        boolean named = !profile.text("localhostProfile").isEmpty();
        if (local && !named) {
            profile.required("localhostProfile", "must be set when type is Localhost");
        }
        if (!local && profile.has("localhostProfile")) {
            profile.invalid("localhostProfile", "can only be set when type is Localhost");
        }
        if (local && named) {
            Paths.descending(profile, "localhostProfile", profile.text("localhostProfile"));
        }
        profile.oneOf("type", PROFILES);
    }
}
