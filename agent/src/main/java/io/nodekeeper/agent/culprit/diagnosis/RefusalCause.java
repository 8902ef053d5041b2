package io.nodekeeper.agent.culprit.diagnosis;

import io.nodekeeper.agent.culprit.evidence.Confidence;
import io.nodekeeper.cri.RuntimeCallException;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * The table of error texts of a container runtime and what they mean. The texts are those of Linux's errno values, as Go
 * and the C library write them, and those of containerd, CRI-O and gRPC. The first match counts, so the more precise
 * ones come first.
 */
enum RefusalCause {
    DISK_FULL(
            "DiskFull",
            Layer.DISK,
            "the disk is full",
            "free space on the runtime's file system: remove unused images, old logs and large files",
            Confidence.CERTAIN,
            "no space left on device",
            "disk quota exceeded"),
    DISK_READ_ONLY(
            "DiskReadOnly",
            Layer.DISK,
            "its file system is read-only",
            "repair the file system (see dmesg), then mount it writable: mount -o remount,rw",
            Confidence.CERTAIN,
            "read-only file system"),
    DISK_ERROR(
            "DiskError",
            Layer.DISK,
            "the disk reports errors",
            "look for errors of the disk in dmesg, and replace it",
            Confidence.CERTAIN,
            "input/output error",
            "structure needs cleaning"),
    FILE_SERVER(
            "FileServerGone",
            Layer.DISK,
            "the server of a FUSE file system has ended",
            "start the server of the file system in the error again, or umount -f it",
            Confidence.LIKELY,
            "transport endpoint is not connected",
            "software caused connection abort"),
    OPEN_FILES(
            "OpenFilesExhausted",
            Layer.PROCESS,
            "it cannot open more files",
            "raise LimitNOFILE of the runtime's service (or fs.file-max), and restart it",
            Confidence.CERTAIN,
            "too many open files"),
    PROCESSES(
            "ProcessLimitReached",
            Layer.PROCESS,
            "it cannot start more processes",
            "end processes that are not needed, or raise pids.max (TasksMax), kernel.pid_max or ulimit -u",
            Confidence.CERTAIN,
            "resource temporarily unavailable",
            "cannot fork",
            "pthread_create failed",
            "failed to create new os thread"),
    MEMORY(
            "MemoryExhausted",
            Layer.PROCESS,
            "it cannot allocate memory",
            "find out what uses the memory of the node, or raise the memory limit of the runtime's cgroup",
            Confidence.CERTAIN,
            "cannot allocate memory",
            "out of memory"),
    PERMISSION(
            "PermissionDenied",
            Layer.RUNTIME,
            "it is refused permission",
            "check the owner and mode of the file in the error, and AppArmor, SELinux and seccomp (see the audit log)",
            Confidence.LIKELY,
            "permission denied",
            "operation not permitted",
            "permissiondenied"),
    GARBAGE(
            "GarbageAnswer",
            Layer.RUNTIME,
            "its answers cannot be read",
            "check that a container runtime with CRI v1 listens on this socket, and nothing else",
            Confidence.LIKELY,
            "invalid wire type",
            "protocol message",
            "invalid protobuf",
            "invalidprotocolbuffer",
            "malformed",
            "http2 exception",
            "unexpected http",
            "not a grpc",
            "invalid content-type",
            "frame too large",
            "cannot unmarshal",
            "failed to unmarshal"),
    IMAGE_STORE(
            "ImageStoreBroken",
            Layer.RUNTIME,
            "its image store is damaged",
            "look at the runtime's log; remove the image in the error and pull it again",
            Confidence.LIKELY,
            "content digest",
            "blob not found",
            "failed to extract layer",
            "snapshot does not exist",
            "parent snapshot",
            "invalid database",
            "image store",
            "checksum mismatch",
            "unexpected end of json",
            "metadata.db"),
    SHIM_GONE(
            "ShimGone",
            Layer.SHIM,
            "the shim of the container is gone",
            "let the runtime remove the sandbox; its owner creates it again",
            Confidence.LIKELY,
            "ttrpc: closed",
            "ttrpc: server closed",
            "shim disconnected",
            "task not running"),
    CONNECTION(
            "RuntimeConnectionClosed",
            Layer.RUNTIME,
            "it closes connections",
            "look at the end of the runtime's log for a crash, and restart it",
            Confidence.LIKELY,
            "connection reset",
            "broken pipe",
            "connection closed",
            "transport is closing",
            "unexpected eof",
            "end of stream",
            "stream terminated"),
    NETWORK(
            "PodNetworkFails",
            Layer.CNI_PLUGIN,
            "the CNI plugin reports an error",
            "look at the plugin and its error: addresses left in its range, its configuration and its daemon",
            Confidence.LIKELY,
            "failed to setup network",
            "failed to destroy network",
            "failed (add)",
            "failed (delete)");

    private final String reason;
    private final Layer layer;
    private final String meaning;
    private final String advice;
    private final Confidence confidence;
    private final List<String> texts;

    RefusalCause(String reason, Layer layer, String meaning, String advice, Confidence confidence, String... texts) {
        this.reason = reason;
        this.layer = layer;
        this.meaning = meaning;
        this.advice = advice;
        this.confidence = confidence;
        this.texts = List.of(texts);
    }

    /** How the message of a call begins whose answer could not be read; what follows quotes what came instead. */
    private static final Pattern UNREADABLE =
            Pattern.compile("^(\\w+: )?" + RuntimeCallException.Code.UNREADABLE + ": .*", Pattern.DOTALL);

    /** The cause of an error message; empty if the table does not have it. */
    static Optional<RefusalCause> of(String error) {
        if (UNREADABLE.matcher(error).matches()) {
            return Optional.of(GARBAGE);
        }
        String lower = error.toLowerCase(Locale.ROOT);
        return Arrays.stream(values())
                .filter(cause -> cause.texts.stream().anyMatch(lower::contains))
                .findFirst();
    }

    /** The reason for conditions and events. */
    String reason() {
        return reason;
    }

    Layer layer() {
        return layer;
    }

    /** What it means for the runtime, as the second half of a sentence. */
    String meaning() {
        return meaning;
    }

    /** What an operator should do. */
    String advice() {
        return advice;
    }

    /** How sure it is that the text means this. */
    Confidence confidence() {
        return confidence;
    }

    /** Parts of the error messages, in lower case. */
    List<String> texts() {
        return texts;
    }
}
