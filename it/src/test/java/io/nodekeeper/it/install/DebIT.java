package io.nodekeeper.it.install;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.it.Command;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The Debian package that {@code scripts/deb} writes, in a copy of this machine's Debian system: an overlay in memory, which
 * nothing outside sees and which ends with the test. The copy has no JDK, and systemd does not run in it.
 */
@Tag("long")
class DebIT {
    private static final Duration BUILD = Duration.ofMinutes(5);
    private static final Duration RUN = Duration.ofMinutes(4);

    /** Its arguments: a new directory, a script. The directories that the copy needs are mounted with it, and end with it. */
    private static final String IN_A_COPY = """
            set -e
            mount -t tmpfs -o size=1g tmpfs "$1"
            mkdir "$1/upper" "$1/work" "$1/root"
            mount -t overlay -o "lowerdir=/,upperdir=$1/upper,workdir=$1/work" overlay "$1/root"
            mount -t tmpfs tmpfs "$1/root/run"
            mount -t tmpfs tmpfs "$1/root/usr/lib/jvm"
            mount -t proc proc "$1/root/proc"
            mount --bind /dev "$1/root/dev"
            cp "$2"/*.deb "$2/scenario" "$1/root/run"
            exec env -u JAVA_HOME PATH=/usr/sbin:/usr/bin:/sbin:/bin chroot "$1/root" sh -e /run/scenario
            """;

    private static final String SCENARIO = """
            serve() {
              nodekeeper apiserver --data-dir /var/lib/nodekeeper-apiserver --secure-port 0 >/run/out 2>/run/err &
              pid=$!
              tries=0
              until grep -q '^ready' /run/out; do
                tries=$((tries + 1))
                if [ $tries = 900 ] || ! kill -0 $pid; then cat /run/out /run/err; exit 1; fi
                sleep 0.1
              done
              kill $pid
              wait $pid || [ $? = 143 ]
            }
            if java -version 2>/dev/null; then exit 1; fi
            dpkg --install /run/first.deb
            nodekeeper --version | grep '^nodekeeper '
            kubectl node-why --help | grep -q 'nodekeeper why'
            systemd-analyze verify --man=no /lib/systemd/system/nodekeeper-*.service
            getent passwd nodekeeper | grep -q nologin
            echo "directory $(stat -c '%a %U %G' /etc/nodekeeper)"
            serve
            authority=$(sha256sum /var/lib/nodekeeper-apiserver/*/ca.crt)
            echo 'NODEKEEPER_FLAGS="--secure-port 7443"' >/etc/nodekeeper/apiserver.env
            dpkg --install /run/second.deb
            dpkg-query -W -f='upgraded to ${Version}\\n' nodekeeper
            serve
            [ "$authority" = "$(sha256sum /var/lib/nodekeeper-apiserver/*/ca.crt)" ]
            grep -q 7443 /etc/nodekeeper/apiserver.env
            dpkg --remove nodekeeper
            for file in /usr/bin/nodekeeper /usr/lib/nodekeeper /lib/systemd/system/nodekeeper-agent.service; do
              if [ -e $file ]; then echo "$file is still there"; exit 1; fi
            done
            [ -f /etc/nodekeeper/apiserver.env ] && echo kept
            dpkg --purge nodekeeper
            [ ! -e /etc/nodekeeper ] && [ -d /var/lib/nodekeeper-apiserver ] && echo purged
            """;

    @TempDir
    Path directory;

    @Test
    void packageIsInstalledRunsIsUpgradedAndRemoved() throws Exception {
        // Given two versions of the package, of which the second has the same content
        Path packages = Files.createDirectory(directory.resolve("packages"));
        Path first = packages.resolve("first.deb");
        Command.Result built = Command.run(
                BUILD,
                Repository.root().resolve("scripts/deb").toString(),
                "--version",
                "1.2.3",
                "--dist",
                Repository.dist().toString(),
                first.toString());
        assertThat(built.code()).as(built.output()).isZero();
        System.out.print("deb: " + built.output());
        Path content = directory.resolve("content");
        Command.ok("dpkg-deb", "--raw-extract", first.toString(), content.toString());
        Command.ok(
                "sed",
                "-i",
                "s/^Version: .*/Version: 1.2.4/",
                content.resolve("DEBIAN/control").toString());
        Command.ok(
                "dpkg-deb",
                "-Znone",
                "--build",
                content.toString(),
                packages.resolve("second.deb").toString());
        Files.writeString(packages.resolve("scenario"), SCENARIO);

        // When it is installed, run, upgraded, run, removed and purged in a copy of this system
        Path copy = Files.createDirectory(directory.resolve("copy"));
        Command.Result result = Command.run(
                RUN,
                Command.find("unshare", "util-linux").toString(),
                "--mount",
                "--pid",
                "--fork",
                "--kill-child",
                "sh",
                "-c",
                IN_A_COPY,
                "sh",
                copy.toString(),
                packages.toString());

        // Then each step did what it should.
        assertThat(result.code()).as(result.output()).isZero();
        assertThat(result.output())
                .contains("nodekeeper ", "directory 750 root nodekeeper\n", "upgraded to 1.2.4\n")
                .contains("kept\n", "purged\n");
        assertThat(Path.of("/usr/lib/nodekeeper")).doesNotExist();
    }

    @Test
    void versionThatDpkgWouldRefuseIsRefusedBeforeTheBuild() throws Exception {
        Command.Result result = Command.run(
                BUILD, Repository.root().resolve("scripts/deb").toString(), "--version", "v1", directory + "/no.deb");

        assertThat(result.code()).isEqualTo(2);
        assertThat(result.output()).contains("--version is v1");
    }
}
