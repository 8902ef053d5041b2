package io.nodekeeper.cri;

import io.grpc.Status;
import io.nodekeeper.cri.RuntimeCallException.Code;
import java.io.EOFException;
import java.io.IOException;
import java.nio.channels.ClosedChannelException;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Decides for which reason a call failed, from gRPC's status. A server's own error has a text and no cause. An error
 * that gRPC found in this process has a cause, or one of the texts below: then what came from the socket is not
 * HTTP/2, not gRPC, or not the message that was expected.
 */
final class FailureCodes {
    /** The starts of gRPC's own texts for answers that break HTTP/2 or gRPC; of grpc-java 1.82, in lower case. */
    private static final List<String> BROKEN = List.of(
            "error in frame handler",
            "protocol error",
            "internal error\nrst stream",
            "flow control error",
            "stream closed\nrst stream",
            "frame too large",
            "compression error",
            "connect error",
            "no error: a grpc status of ok",
            "unknown http2 error code",
            "headers not received before payload",
            "received headers twice",
            "received unexpected eos",
            "encountered end-of-stream mid-frame",
            "grpc frame header malformed",
            "can't decode compressed grpc message",
            "invalid protobuf byte sequence");
    /** Parts of gRPC's texts for answers in HTTP/2 that are not gRPC. */
    private static final List<String> NOT_GRPC =
            List.of("invalid content-type: ", "missing grpc status in response", "missing http status code");

    private FailureCodes() {}

    /** The reason of a call that ended with {@code status}, which is not OK. */
    static Code of(Status status) {
        String text =
                status.getDescription() == null ? "" : status.getDescription().toLowerCase(Locale.ROOT);
        // With a cause, gRPC in this process cancelled the call because the message could not be parsed.
        boolean here = status.getCause() != null;
        return switch (status.getCode()) {
            case NOT_FOUND -> Code.NOT_FOUND;
            case DEADLINE_EXCEEDED -> Code.DEADLINE_EXCEEDED;
            case CANCELLED -> here ? Code.UNREADABLE : Code.CANCELLED;
            case UNIMPLEMENTED -> isNotGrpc(text) ? Code.UNREADABLE : Code.UNIMPLEMENTED;
            case UNAVAILABLE -> isNotGrpc(text) ? Code.UNREADABLE : Code.UNAVAILABLE;
            case INTERNAL ->
                isCut(status.getCause())
                        ? Code.UNAVAILABLE
                        : BROKEN.stream().anyMatch(text::startsWith) || isNotGrpc(text) ? Code.UNREADABLE : Code.OTHER;
            // The runtime itself has another text, if it has not enough of something.
            case RESOURCE_EXHAUSTED ->
                text.startsWith("grpc message exceeds maximum size") ? Code.TOO_LARGE : Code.OTHER;
            default -> isNotGrpc(text) ? Code.UNREADABLE : Code.OTHER;
        };
    }

    private static boolean isNotGrpc(String text) {
        return NOT_GRPC.stream().anyMatch(text::contains);
    }

    /** Whether the connection ended in the middle of a frame: that says nothing about the frame. */
    private static boolean isCut(@Nullable Throwable cause) {
        for (Throwable at = cause; at != null; at = at.getCause()) {
            String text = String.valueOf(at.getMessage()).toLowerCase(Locale.ROOT);
            if (at instanceof EOFException
                    || at instanceof ClosedChannelException
                    || at instanceof IOException
                            && (text.contains("connection reset")
                                    || text.contains("broken pipe")
                                    || text.contains("closed"))) {
                return true;
            }
        }
        return false;
    }
}
