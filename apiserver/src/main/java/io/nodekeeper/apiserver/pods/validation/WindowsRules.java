package io.nodekeeper.apiserver.pods.validation;

import io.nodekeeper.api.Names;
import io.nodekeeper.apiserver.fields.FieldCheck;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/** Validates the Windows options of pods, and refuses them in pods for Linux. */
final class WindowsRules {
    private static final String OPTIONS = "windowsOptions";
    private static final String CONTEXT = "securityContext";
    private static final String ONLY_LINUX = "cannot be set for a windows pod";
    private static final List<String> LISTS = List.of("containers", "initContainers", "ephemeralContainers");

    private static final List<String> OF_POD = List.of("hostPID", "hostIPC", "hostUsers", "shareProcessNamespace");
    private static final List<String> OF_POD_CONTEXT = List.of(
            "appArmorProfile",
            "seLinuxOptions",
            "seccompProfile",
            "fsGroup",
            "fsGroupChangePolicy",
            "sysctls",
            "runAsUser",
            "runAsGroup",
            "supplementalGroups",
            "supplementalGroupsPolicy");
    private static final List<String> OF_CONTEXT = List.of(
            "appArmorProfile",
            "seLinuxOptions",
            "seccompProfile",
            "capabilities",
            "readOnlyRootFilesystem",
            "privileged",
            "allowPrivilegeEscalation",
            "procMount",
            "runAsUser",
            "runAsGroup");

    private static final int MOST_SPEC_KIB = 64;
    private static final int LONGEST_DOMAIN = 256;
    private static final int LONGEST_USER = 104;
    private static final Pattern CONTROL = Pattern.compile("[\\x00-\\x1F\\x7F]");
    private static final Pattern NET_BIOS = Pattern.compile("[^\\\\/:*?\"<>|.][^\\\\/:*?\"<>|]{0,14}");
    private static final Pattern DNS_LABEL = Pattern.compile("[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?");
    private static final String NOT_IN_USER = "\"/\\:;|=,+*?<>@[]";

    private WindowsRules() {}

    static void check(FieldCheck spec) {
        FieldCheck context = spec.object(CONTEXT);
        boolean windows = AppArmor.isWindows(spec.value());
        boolean linux = spec.value().object("os").text("name").equals("linux");
        if (windows) {
            forbid(spec, OF_POD, ONLY_LINUX);
            forbid(context, OF_POD_CONTEXT, ONLY_LINUX);
        }
        if (linux) {
            forbid(context, List.of(OPTIONS), "windows options cannot be set for a linux pod");
        }
        options(context);
        for (FieldCheck container : containers(spec)) {
            FieldCheck own = container.object(CONTEXT);
            if (windows) {
                forbid(own, OF_CONTEXT, ONLY_LINUX);
            }
            if (linux) {
                forbid(own, List.of(OPTIONS), "windows options cannot be set for a linux pod");
            }
            options(own);
        }
        hostProcess(spec);
    }

    private static List<FieldCheck> containers(FieldCheck spec) {
        List<FieldCheck> all = new ArrayList<>();
        LISTS.forEach(list -> all.addAll(spec.items(list)));
        return all;
    }

    private static void forbid(FieldCheck holder, List<String> fields, String why) {
        fields.stream().filter(holder::has).forEach(field -> holder.forbidden(field, why));
    }

    private static void options(FieldCheck context) {
        FieldCheck options = context.object(OPTIONS);
        if (options.has("gmsaCredentialSpecName")) {
            options.form("gmsaCredentialSpecName", Names::subdomainFault);
        }
        if (options.has("gmsaCredentialSpec")) {
            if (options.text("gmsaCredentialSpec").isEmpty()) {
                options.invalid("gmsaCredentialSpec", "gmsaCredentialSpec cannot be an empty string");
            } else if (options.text("gmsaCredentialSpec").length() > MOST_SPEC_KIB << 10) {
                options.invalid(
                        "gmsaCredentialSpec", "", "gmsaCredentialSpec size must be under " + MOST_SPEC_KIB + " KiB");
            }
        }
        if (options.has("runAsUserName")) {
            userFault(options.text("runAsUserName")).ifPresent(fault -> options.invalid("runAsUserName", fault));
        }
    }

    /** The error in a user name, which may have a domain before a backslash. */
    private static Optional<String> userFault(String name) {
        if (name.isEmpty()) {
            return Optional.of("runAsUserName cannot be an empty string");
        }
        if (CONTROL.matcher(name).find()) {
            return Optional.of("runAsUserName cannot contain control characters");
        }
        String[] parts = name.split("\\\\", -1);
        if (parts.length > 2) {
            return Optional.of("runAsUserName cannot contain more than one backslash");
        }
        String user = parts[parts.length - 1];
        if (parts.length == 2 && parts[0].length() >= LONGEST_DOMAIN) {
            return Optional.of("runAsUserName's Domain length must be under " + LONGEST_DOMAIN + " characters");
        }
        if (parts.length == 2 && !NET_BIOS.matcher(parts[0]).matches() && !isDnsName(parts[0])) {
            return Optional.of("runAsUserName's Domain doesn't match the NetBios nor the DNS format");
        }
        if (user.isEmpty()) {
            return Optional.of("runAsUserName's User cannot be empty");
        }
        if (user.length() > LONGEST_USER) {
            return Optional.of("runAsUserName's User length must not be longer than " + LONGEST_USER + " characters");
        }
        if (user.chars().allMatch(c -> c == '.' || c == ' ')) {
            return Optional.of("runAsUserName's User cannot contain only periods or spaces");
        }
        return user.chars().anyMatch(c -> NOT_IN_USER.indexOf(c) >= 0)
                ? Optional.of("runAsUserName's User cannot contain the following characters: " + NOT_IN_USER)
                : Optional.empty();
    }

    /** Whether this is a DNS name. Matches each label, because one pattern for the whole name may take very long. */
    private static boolean isDnsName(String name) {
        for (String label : name.split("\\.", -1)) {
            if (!DNS_LABEL.matcher(label).matches()) {
                return false;
            }
        }
        return true;
    }

    /** Checks HostProcess containers: all containers of a pod or none, and only in the host's network. */
    private static void hostProcess(FieldCheck spec) {
        FieldCheck shared = spec.object(CONTEXT).object(OPTIONS);
        int processes = 0;
        List<FieldCheck> containers = containers(spec);
        for (FieldCheck container : containers) {
            FieldCheck own = container.object(CONTEXT).object(OPTIONS);
            boolean both = shared.has("hostProcess") && own.has("hostProcess");
            if (both && shared.bool("hostProcess") != own.bool("hostProcess")) {
                own.invalid(
                        "hostProcess",
                        "pod hostProcess value must be identical if both are specified, was "
                                + shared.bool("hostProcess"));
            }
            if (own.has("hostProcess") ? own.bool("hostProcess") : shared.bool("hostProcess")) {
                processes++;
            }
        }
        if (processes == 0) {
            return;
        }
        if (processes < containers.size()) {
            spec.invalid(
                    "",
                    "",
                    "If pod contains any hostProcess containers then all containers must be HostProcess containers");
        }
        if (!spec.bool("hostNetwork")) {
            spec.invalid("hostNetwork", "hostNetwork must be true if pod contains any hostProcess containers");
        }
    }
}
