package io.nodekeeper.agent.config.file;

/**
 * Where a field is set.
 *
 * @param file the name of the file for messages; empty if there is one file only
 * @param order of the file among those that are merged, from 0
 * @param line from 1
 */
public record Place(String file, int order, int line) implements Comparable<Place> {
    @Override
    public int compareTo(Place other) {
        return order == other.order ? Integer.compare(line, other.line) : Integer.compare(order, other.order);
    }

    /** Such as {@code line 5}, or {@code /etc/x.conf, line 5}. */
    @Override
    public String toString() {
        return (file.isEmpty() ? "" : file + ", ") + "line " + line;
    }
}
