package io.nodekeeper.agent.config;

import java.util.Arrays;
import java.util.Optional;

/**
 * Who makes the cgroups of pods. A cgroup has one name for both drivers, such as {@code /kubepods/burstable/podUID}; where it is
 * depends on the driver.
 */
public enum CgroupDriver {
    /** The agent makes directories; a name is a path. */
    CGROUPFS("cgroupfs") {
        @Override
        public String place(String name) {
            return name;
        }
    },
    /** systemd makes slices, whose names contain those of all slices above them. */
    SYSTEMD("systemd") {
        @Override
        public String place(String name) {
            if (name.equals("/")) {
                return name;
            }
            StringBuilder place = new StringBuilder();
            String above = "";
            for (String part : name.substring(1).split("/", -1)) {
                // A dash is a step down to systemd.
                above += (above.isEmpty() ? "" : "-") + part.replace('-', '_');
                place.append('/').append(above).append(SLICE);
            }
            return place.toString();
        }
    };

    /** The end of the name of each slice. */
    public static final String SLICE = ".slice";

    private final String text;

    CgroupDriver(String text) {
        this.text = text;
    }

    /** The driver that configurations call {@code text}. */
    static Optional<CgroupDriver> of(Object text) {
        return Arrays.stream(values())
                .filter(driver -> driver.text.equals(text))
                .findFirst();
    }

    /** As configurations call it. */
    public String text() {
        return text;
    }

    /**
     * The path below each hierarchy of the cgroup {@code name}: {@code /kubepods.slice/kubepods-burstable.slice} of {@code
     * /kubepods/burstable} with systemd.
     */
    public abstract String place(String name);
}
