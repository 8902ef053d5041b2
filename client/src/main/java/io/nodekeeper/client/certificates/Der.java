package io.nodekeeper.client.certificates;

import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * One element of DER (X.690): its tag and its contents. The input is never trusted: a length beyond the element around it
 * is an IllegalArgumentException. Immutable; the bytes are shared and must not change.
 */
record Der(int tag, byte[] bytes, int start, int from, int to) {
    static final int INTEGER = 0x02;
    static final int BITS = 0x03;
    static final int OCTETS = 0x04;
    static final int OBJECT_ID = 0x06;
    static final int SEQUENCE = 0x30;
    static final int SET = 0x31;

    /** The most elements in one; a request has a few, and names some dozens. */
    private static final int CHILDREN = 1_000;

    /** The only element of {@code bytes}. */
    static Der read(byte[] bytes) {
        Der element = at(bytes, 0, bytes.length);
        if (element.to != bytes.length) {
            throw new IllegalArgumentException((bytes.length - element.to) + " bytes follow the request");
        }
        return element;
    }

    private static Der at(byte[] bytes, int at, int end) {
        if (end - at < 2) {
            throw new IllegalArgumentException("the request is truncated");
        }
        int length = bytes[at + 1] & 0xff;
        int from = at + 2;
        if (length >= 0x80) {
            int count = length & 0x7f;
            if (count == 0 || count > 3 || end - from < count) {
                throw new IllegalArgumentException("the request has an element with a wrong length");
            }
            length = 0;
            for (int i = 0; i < count; i++) {
                length = length << 8 | bytes[from++] & 0xff;
            }
        }
        if (length > end - from) {
            throw new IllegalArgumentException("the request is truncated");
        }
        return new Der(bytes[at] & 0xff, bytes, at, from, from + length);
    }

    /** The elements in it. */
    List<Der> children() {
        List<Der> children = new ArrayList<>();
        int at = from;
        while (at < to) {
            if (children.size() == CHILDREN) {
                throw new IllegalArgumentException("the request has more than " + CHILDREN + " elements in one");
            }
            Der child = at(bytes, at, to);
            children.add(child);
            at = child.to;
        }
        return children;
    }

    /** The element {@code index} in it, which must have the tag {@code expected}. */
    Der child(int index, int expected) {
        List<Der> children = children();
        if (index >= children.size() || children.get(index).tag != expected) {
            throw new IllegalArgumentException("the request has not the structure of PKCS#10");
        }
        return children.get(index);
    }

    /** Its contents. */
    byte[] contents() {
        return Arrays.copyOfRange(bytes, from, to);
    }

    /** The contents of a BIT STRING of whole bytes. */
    byte[] bits() {
        if (to == from || bytes[from] != 0) {
            throw new IllegalArgumentException("the request has a signature that is not of whole bytes");
        }
        return Arrays.copyOfRange(bytes, from + 1, to);
    }

    /** The element itself. */
    byte[] whole() {
        return Arrays.copyOfRange(bytes, start, to);
    }

    /** An element of {@code parts}, which have less than 16 MiB together. */
    static byte[] of(int tag, byte[]... parts) {
        ByteArrayOutputStream body = new ByteArrayOutputStream();
        for (byte[] part : parts) {
            body.writeBytes(part);
        }
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        out.write(tag);
        int length = body.size();
        if (length >= 0x80) {
            int count = length < 0x100 ? 1 : length < 0x10000 ? 2 : 3;
            out.write(0x80 | count);
            for (int i = count - 1; i > 0; i--) {
                out.write(length >> 8 * i);
            }
        }
        out.write(length);
        out.writeBytes(body.toByteArray());
        return out.toByteArray();
    }
}
