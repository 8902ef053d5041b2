package io.nodekeeper.api.json;

/**
 * How much of the heap a parsed value takes, which may be ten times its text: {@code {"a":"b"}} is seven objects. An estimate from
 * above; names count as if no other object had the same.
 */
public final class JsonMemory {
    /** An object with its map and the two arrays of that. */
    private static final long OBJECT = 80;

    private static final long ARRAY = 72;
    /** A text with its string and the array of that; or a number, of whatever size. */
    private static final long TEXT = 64;
    /** A reference in an array that has grown by half more than it needs. */
    private static final long REFERENCE = 6;

    private JsonMemory() {}

    /** Bytes. */
    public static long of(JsonValue value) {
        return switch (value) {
            case JsonObject object -> {
                long bytes = OBJECT;
                for (int i = 0; i < object.size(); i++) {
                    bytes += 2 * REFERENCE + text(object.nameAt(i)) + of(object.valueAt(i));
                }
                yield bytes;
            }
            case JsonArray array -> {
                long bytes = ARRAY;
                for (JsonValue item : array.items()) {
                    bytes += REFERENCE + of(item);
                }
                yield bytes;
            }
            case JsonString string -> text(string.value());
            case JsonNumber number -> TEXT + number.literal().length();
            case JsonBool bool -> 0;
            case JsonNull none -> 0;
        };
    }

    private static long text(String text) {
        return TEXT + characters(text);
    }

    /** Bytes of the characters of {@code text}: two for each if one of them needs two. */
    public static long characters(String text) {
        return (isLatin(text) ? 1L : 2L) * text.length();
    }

    private static boolean isLatin(String text) {
        for (int i = 0; i < text.length(); i++) {
            if (text.charAt(i) > 0xff) {
                return false;
            }
        }
        return true;
    }
}
