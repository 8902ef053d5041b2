package io.nodekeeper.apiserver.writes;

import io.nodekeeper.api.KubeTime;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Optional;

/**
 * Recognizes the update of a Lease that changes nothing but {@code spec.renewTime}, by comparing the bytes of the request with those
 * of the store, and makes the new bytes to store. Such an update needs no parser and no validation: everything else in the object
 * was validated when it was stored. What this class does not recognize is left to the general path.
 */
final class LeaseRenewal {
    /** The same as {@link LeaseForm#HEAD}, in the other order. */
    private static final byte[] OTHER_HEAD =
            "{\"apiVersion\":\"coordination.k8s.io/v1\",\"kind\":\"Lease\",\"metadata\":{"
                    .getBytes(StandardCharsets.US_ASCII);

    private LeaseRenewal() {}

    /**
     * The bytes to store, if {@code body} is the JSON of {@code stored} with another renewTime and with this resource version as a
     * field anywhere in its metadata.
     *
     * @param stored a Lease as the store has it; it is not changed
     * @param version the revision of {@code stored}
     * @param body the body of the update
     */
    static Optional<byte[]> renewed(byte[] stored, long version, byte[] body) {
        String number = Long.toString(version);
        // The quotes and the comma: "resourceVersion":"7",
        int field = "\"resourceVersion\":\"\",".length() + number.length();
        int length = body.length - (body.length > 0 && body[body.length - 1] == '\n' ? 1 : 0);
        int head = LeaseForm.HEAD.length;
        if (length != stored.length + field || !hasHead(body)) {
            return Optional.empty();
        }
        int same = Arrays.mismatch(stored, head, stored.length, body, head, length);
        // The field begins with the quote with which the next one begins, too, unless it is the last one.
        boolean last = stored[Math.min(head + same, stored.length - 1)] == '}';
        int place = head + same - (last ? 0 : 1);
        byte[] expected = (last ? ",\"resourceVersion\":\"" + number + '"' : "\"resourceVersion\":\"" + number + "\",")
                .getBytes(StandardCharsets.US_ASCII);
        if (!Bytes.has(body, place, expected)) {
            return Optional.empty();
        }
        int time = LeaseForm.renewTime(stored, place);
        if (time < 0) {
            return Optional.empty();
        }
        int end = time + LeaseForm.TIME;
        boolean equal = Arrays.equals(stored, place, time, body, place + field, time + field)
                && Arrays.equals(stored, end, stored.length, body, end + field, length)
                && !Arrays.equals(stored, time, end, body, time + field, end + field);
        if (!equal || !isTime(new String(body, time + field, LeaseForm.TIME, StandardCharsets.ISO_8859_1))) {
            return Optional.empty();
        }
        byte[] renewed = stored.clone();
        System.arraycopy(body, time + field, renewed, time, LeaseForm.TIME);
        return Optional.of(renewed);
    }

    private static boolean hasHead(byte[] body) {
        return Bytes.has(body, 0, LeaseForm.HEAD) || Bytes.has(body, 0, OTHER_HEAD);
    }

    /** Whether {@code text} is a time in the form in which it is stored. */
    private static boolean isTime(String text) {
        return KubeTime.isFormattedMicro(text) && KubeTime.parse(text).isPresent();
    }
}
