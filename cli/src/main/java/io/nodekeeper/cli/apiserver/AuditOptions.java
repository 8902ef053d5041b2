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

/** What an API server can be told of its audit log. Names are kube-apiserver's. */
final class AuditOptions implements Checked {
    @Option(
            names = "--audit-log-path",
            paramLabel = "FILE|-",
            description = "Where each request is put down with who made it and what came of it, as a line of JSON"
                    + " (audit.k8s.io/v1, level Metadata); - for standard output. Default: nowhere.")
    String path = "";

    @Option(
            names = "--audit-log-maxsize",
            paramLabel = "MEGABYTES",
            defaultValue = "100",
            description =
                    "The size at which the audit log is put aside and a new one begun. Default: ${DEFAULT-VALUE}.")
    int maxSize = 100;

    @Option(
            names = "--audit-log-maxage",
            paramLabel = "DAYS",
            defaultValue = "0",
            description = "How long audit logs that were put aside are kept; 0 for ever. Default: ${DEFAULT-VALUE}.")
    int maxAge;

    @Option(
            names = "--audit-log-maxbackup",
            paramLabel = "N",
            defaultValue = "0",
            description = "How many audit logs that were put aside are kept; 0 for all. Default: ${DEFAULT-VALUE}.")
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

    /** The audit log, if one is wanted. */
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
