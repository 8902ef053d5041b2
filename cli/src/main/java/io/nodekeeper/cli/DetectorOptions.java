package io.nodekeeper.cli;

import io.nodekeeper.time.GoDuration;
import java.time.Duration;
import java.util.Optional;
import picocli.CommandLine.Option;

/** When silence counts, and what becomes of nodes that fall silent again and again. */
final class DetectorOptions implements Checked {
    /** What decides. */
    enum Detector {
        /** The grace period. */
        fixed,
        /** Each node's own history, within bounds. */
        adaptive
    }

    @Option(
            names = "--detector",
            paramLabel = "fixed|adaptive",
            defaultValue = "fixed",
            description =
                    "What makes a silent node Unknown: the grace period, or how regular its heartbeats used to be,"
                            + " within --detector-min and --detector-max. Default: ${DEFAULT-VALUE}.")
    Detector detector = Detector.fixed;

    @Option(
            names = "--detector-min",
            paramLabel = "DURATION",
            converter = DurationConverter.class,
            description =
                    "The adaptive detector excuses at least this much. Default: 20s, or the grace if that is less.")
    Optional<Duration> min = Optional.empty();

    @Option(
            names = "--detector-max",
            paramLabel = "DURATION",
            converter = DurationConverter.class,
            description = "The adaptive detector excuses at most this much. Default: the grace period.")
    Optional<Duration> max = Optional.empty();

    @Option(
            names = "--flap-half-life",
            paramLabel = "DURATION",
            defaultValue = "5m",
            converter = DurationConverter.class,
            description = "How fast a node's flaps are forgiven: after this half of the penalty is left. Default:"
                    + " ${DEFAULT-VALUE}.")
    Duration flapHalfLife = Duration.ofMinutes(5);

    @Option(
            names = "--flap-suppress-limit",
            paramLabel = "PENALTY",
            defaultValue = "2500",
            description = "From this penalty on (1000 a flap) a node keeps its taints when it returns. Default:"
                    + " ${DEFAULT-VALUE}.")
    int flapSuppressLimit = 2_500;

    @Option(
            names = "--flap-reuse-limit",
            paramLabel = "PENALTY",
            defaultValue = "750",
            description = "Below this penalty it loses them. Default: ${DEFAULT-VALUE}.")
    int flapReuseLimit = 750;

    /** The least that the adaptive detector excuses. */
    Duration min(Duration grace) {
        return min.orElse(grace.compareTo(Duration.ofSeconds(20)) < 0 ? grace : Duration.ofSeconds(20));
    }

    /** The most that the adaptive detector excuses. */
    Duration max(Duration grace) {
        return max.orElse(grace);
    }

    @Override
    public void check(Faults faults) {
        min.ifPresent(bound -> faults.positive("--detector-min", bound));
        max.ifPresent(bound -> faults.positive("--detector-max", bound));
        faults.require(
                detector == Detector.adaptive || (min.isEmpty() && max.isEmpty()),
                "--detector-min and --detector-max need --detector=adaptive");
        if (min.isPresent() && max.isPresent()) {
            faults.require(
                    min.get().compareTo(max.get()) <= 0,
                    "--detector-min is " + GoDuration.format(min.get()) + "; expected at most --detector-max, which is "
                            + GoDuration.format(max.get()));
        }
        faults.positive("--flap-half-life", flapHalfLife);
        faults.within("--flap-suppress-limit", flapSuppressLimit, 1, Integer.MAX_VALUE);
        faults.require(
                flapReuseLimit > 0 && flapReuseLimit < flapSuppressLimit,
                "--flap-reuse-limit is " + flapReuseLimit
                        + "; expected more than 0 and less than --flap-suppress-limit, which is " + flapSuppressLimit);
    }
}
