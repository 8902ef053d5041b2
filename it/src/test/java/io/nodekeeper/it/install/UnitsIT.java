package io.nodekeeper.it.install;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.it.Command;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The units of each component, judged by systemd's own tools. */
class UnitsIT {
    private static final Path UNITS = Repository.root().resolve("dist/src/main/systemd");
    private static final Duration LIMIT = Duration.ofSeconds(60);

    /** Options that give a service a mount namespace of its own, or take a right that pods' volumes need. */
    private static final Predicate<String> RESTRICTED = Pattern.compile(
                    "(?:Protect(?:Home|System|Kernel\\w+|ControlGroups"
                            + "|Hostname|Proc|Clock)|ProcSubset|Private(?:Tmp|Devices|Mounts|Users|IPC)|MountFlags|MountAPIVFS"
                            + "|Root(?:Directory|Image)|DynamicUser|(?:ReadOnly|ReadWrite|Inaccessible|Exec|NoExec)Paths"
                            + "|Bind(?:ReadOnly)?Paths|TemporaryFileSystem|ExtensionImages|MountImages"
                            + "|RestrictSUIDSGID|CapabilityBoundingSet|RestrictNamespaces)=.*")
            .asMatchPredicate();

    @TempDir
    Path directory;

    /** The limits are tenths of systemd's exposure level, from 0 to 100. The agent sees the whole machine, as root. */
    @ParameterizedTest
    @CsvSource({"controller, 20", "apiserver, 20", "agent, 92"})
    void systemdAcceptsTheUnitAndItsExposure(String component, int exposure) throws Exception {
        Path unit = installed(component, "");

        assertThat(analyze("verify", "--man=no", unit.toString())).isEqualTo(new Command.Result(0, ""));
        assertThat(analyze("security", "--offline=true", "--threshold=" + exposure, unit.toString())
                        .code())
                .isZero();
    }

    /** The runtime must see the volumes that the agent mounts, such as secrets and subPaths; fsGroup sets the group's bit. */
    @Test
    void agentHasTheMountsOfTheMachineAndTheRightsOfRoot() throws Exception {
        assertThat(Files.readString(UNITS.resolve("nodekeeper-agent.service")).lines())
                .noneMatch(RESTRICTED);
    }

    @Test
    void verificationFindsWrongUnits() throws Exception {
        Path unit = installed("controller", "\n[Service]\nProtectSystem=perhaps\n");

        assertThat(analyze("verify", "--man=no", unit.toString()).output()).contains("protect system");
    }

    /** The unit as it is installed, with a program that exists, and {@code more} at its end. */
    private Path installed(String component, String more) throws Exception {
        String name = "nodekeeper-" + component + ".service";
        String unit = Files.readString(UNITS.resolve(name));
        assertThat(unit)
                .contains("ExecStart=/usr/bin/nodekeeper " + component + " $NODEKEEPER_FLAGS\n")
                .contains("EnvironmentFile=-/etc/nodekeeper/" + component + ".env\n");
        return Files.writeString(directory.resolve(name), unit.replace("/usr/bin/nodekeeper", "/bin/true") + more);
    }

    private static Command.Result analyze(String... arguments) throws Exception {
        String[] command = new String[arguments.length + 1];
        command[0] = Command.find("systemd-analyze", "systemd").toString();
        System.arraycopy(arguments, 0, command, 1, arguments.length);
        return Command.run(LIMIT, command);
    }
}
