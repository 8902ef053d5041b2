package io.nodekeeper.client.certificates;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import javax.security.auth.x500.X500Principal;

/**
 * The user whom the subject of a certificate or a request names, read as Kubernetes reads it. One part of a subject may have
 * several values, and Go writes all organizations into one, so each value counts. Immutable.
 *
 * @param commonName the last CN, the user's name; may be empty
 * @param organizations each O, the user's groups, in order
 */
public record Subject(String commonName, List<String> organizations) {
    private static final String COMMON_NAME = "550403";
    private static final String ORGANIZATION = "55040a";

    private static final int UTF8 = 0x0c;
    private static final int NUMERIC = 0x12;
    private static final int PRINTABLE = 0x13;
    private static final int TELETEX = 0x14;
    private static final int IA5 = 0x16;
    private static final int UNIVERSAL = 0x1c;
    private static final int BMP = 0x1e;

    /** Copies the list. */
    public Subject {
        organizations = List.copyOf(organizations);
    }

    /**
     * The user that {@code name} names.
     *
     * @throws IllegalArgumentException if a CN or an O is no text
     */
    public static Subject of(X500Principal name) {
        String commonName = "";
        List<String> organizations = new ArrayList<>();
        // SEQUENCE { SET { SEQUENCE { type, value }, … }, … }
        for (Der part : Der.read(name.getEncoded()).children()) {
            for (Der attribute : part.children()) {
                List<Der> typed = attribute.children();
                switch (HexFormat.of().formatHex(typed.getFirst().contents())) {
                    case COMMON_NAME -> commonName = text(typed.getLast());
                    case ORGANIZATION -> organizations.add(text(typed.getLast()));
                    default -> {
                        // Says nothing about the user.
                    }
                }
            }
        }
        return new Subject(commonName, organizations);
    }

    private static String text(Der value) {
        Charset charset = switch (value.tag()) {
            case UTF8 -> StandardCharsets.UTF_8;
            case NUMERIC, PRINTABLE, IA5 -> StandardCharsets.US_ASCII;
            // The standard has other characters there, but Go and Java read Latin-1, too.
            case TELETEX -> StandardCharsets.ISO_8859_1;
            case BMP -> StandardCharsets.UTF_16BE;
            case UNIVERSAL -> StandardCharsets.UTF_32BE;
            default -> throw new IllegalArgumentException("a value of the subject is no text");
        };
        try {
            return charset.newDecoder()
                    .decode(ByteBuffer.wrap(value.contents()))
                    .toString();
        } catch (CharacterCodingException e) {
            throw new IllegalArgumentException("a value of the subject is not in its character set", e);
        }
    }
}
