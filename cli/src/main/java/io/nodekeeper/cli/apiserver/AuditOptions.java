package io.nodekeeper.cli.apiserver;

import io.nodekeeper.apiserver.audit.AuditLog;
import io.nodekeeper.cli.command.Arguments;
import io.nodekeeper.cli.command.Checked;
import io.nodekeeper.cli.command.Faults;
import io.nodekeeper.time.ThreadLoop;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import picocli.CommandLine.Option;

/** The flags of an API server's audit log. Names are kube-apiserver's. */
final class AuditOptions implements Checked {
    @Option(
            names = "--audit-log-path",
            paramLabel = "FILE|-",
            description = "The file that gets a line of JSON for each request, with its user and its outcome"
                    + " (audit.k8s.io/v1, level Metadata); - for standard output. Default: no audit log.")
    String path = "";

    @Option(
            names = "--audit-log-maxsize",
            paramLabel = "MEGABYTES",
            defaultValue = "100",
            description = "The size in MiB at which the audit log is rotated. Default: ${DEFAULT-VALUE}.")
    int maxSize = 100;

    @Option(
            names = "--audit-log-maxage",
            paramLabel = "DAYS",
            defaultValue = "0",
            description = "How many days rotated audit logs are kept; 0 for no limit. Default: ${DEFAULT-VALUE}.")
    int maxAge;

    @Option(
            names = "--audit-log-maxbackup",
            paramLabel = "N",
            defaultValue = "0",
            description = "How many rotated audit logs are kept; 0 for no limit. Default: ${DEFAULT-VALUE}.")
    int maxBackup;

    @Override
    public void check(Faults faults) {
        faults.within("--audit-log-maxsize", maxSize, 1, 1 << 20);
        faults.within("--audit-log-maxage", maxAge, 0, 36_500);
        faults.within("--audit-log-maxbackup", maxBackup, 0, 1_000_000);
        if (!path.isEmpty() && !path.equals("-")) {
            Optional<String> fault = Arguments.pathFault(path);
            fault.ifPresent(text -> faults.require(false, "--audit-log-path " + text));
            if (fault.isPresent()) {
                return;
            }
            Path file = Path.of(path).toAbsolutePath();
            faults.require(
                    file.getParent() != null && Files.isDirectory(file.getParent()) && !Files.isDirectory(file),
                    "--audit-log-path is " + path + "; expected - or a file in a directory that exists");
        }
    }

    /** Opens the audit log; empty without {@code --audit-log-path}. */
    Optional<AuditLog> open() throws IOException {
        if (path.isEmpty()) {
            return Optional.empty();
        }
        ThreadLoop loop = new ThreadLoop("audit");
        AuditLog.Out out = path.equals("-")
                ? AuditFile.standardOutput()
                : AuditFile.open(Path.of(path), (long) maxSize << 20, maxAge, maxBackup, loop.clock());
        return Optional.of(new AuditLog(loop, out));
    }
}
