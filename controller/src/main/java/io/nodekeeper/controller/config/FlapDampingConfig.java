package io.nodekeeper.controller.config;

import io.nodekeeper.time.GoDuration;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * The configuration of flap damping, in the terms of RFC 2439. It can hold any values; {@link #faults} lists the
 * invalid ones.
 *
 * @param penalty the points for each time the node stops being Ready
 * @param halfLife the time in which the points decay by half
 * @param suppress the points at which a node becomes damped
 * @param reuse the points below which damping ends
 * @param maxSuppress the longest time for which a node that stays Ready can be damped
 */
public record FlapDampingConfig(
        double penalty, Duration halfLife, double suppress, double reuse, Duration maxSuppress) {
    /**
     * Two falls do not damp a node, however close together: 2000 points are less than 2200. Three within eight minutes
     * do: PLEG's cycle of 3 min Ready and 1 min not Ready gives 2332 points at its third fall. Damping ends 16 min
     * after that, or 30 min after many falls. Penalty and reuse limit are the usual ones of routers.
     */
    public static final FlapDampingConfig DEFAULT =
            new FlapDampingConfig(1000, Duration.ofMinutes(10), 2200, 750, Duration.ofMinutes(30));

    /** The faults of the values, each with its flag, its value and what was expected; empty if there are none. */
    public List<String> faults() {
        List<String> faults = new ArrayList<>();
        positive(faults, "--flap-penalty", penalty);
        positive(faults, "--flap-suppress", suppress);
        positive(faults, "--flap-reuse", reuse);
        positive(faults, "--flap-half-life", halfLife);
        positive(faults, "--flap-max-suppress", maxSuppress);
        if (!faults.isEmpty()) {
            return List.copyOf(faults);
        }
        if (reuse >= suppress) {
            faults.add("--flap-reuse: must be less than --flap-suppress (" + suppress + "), got " + reuse);
        } else if (ceiling() <= suppress) {
            faults.add("--flap-max-suppress: must be long enough for the penalty to decay from --flap-suppress ("
                    + suppress + ") to --flap-reuse (" + reuse + "), because otherwise no node is ever damped; got "
                    + GoDuration.format(maxSuppress));
        }
        return List.copyOf(faults);
    }

    /** The most points that a node can have: they decay to the reuse limit in {@code maxSuppress}. */
    public double ceiling() {
        return reuse * Math.pow(2, seconds(maxSuppress) / seconds(halfLife));
    }

    /** {@code points} after a time; a negative time changes nothing. */
    public double decayed(double points, double seconds) {
        return points * Math.pow(2, -Math.max(0, seconds) / seconds(halfLife));
    }

    /** In how many seconds {@code points} have decayed to the reuse limit. */
    public double secondsToReuse(double points) {
        return points <= reuse ? 0 : seconds(halfLife) * Math.log(points / reuse) / Math.log(2);
    }

    private static double seconds(Duration duration) {
        return duration.toNanos() / 1e9;
    }

    private static void positive(List<String> faults, String flag, double value) {
        if (!(value > 0) || Double.isInfinite(value)) {
            faults.add(flag + ": must be greater than 0, got " + value);
        }
    }

    private static void positive(List<String> faults, String flag, Duration value) {
        if (value.isNegative() || value.isZero()) {
            faults.add(flag + ": must be greater than 0, got " + GoDuration.format(value));
        }
    }
}
