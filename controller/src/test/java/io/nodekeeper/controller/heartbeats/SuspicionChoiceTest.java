package io.nodekeeper.controller.heartbeats;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.controller.config.DetectorConfig;
import io.nodekeeper.time.Randoms;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;

/**
 * The experiment behind {@link Suspicion}: known estimators on traces of renewals. The table is that of
 * docs/decisions/0007-adaptive-suspicion.md: false suspicions in 1,000 renewals / mean silence until suspicion.
 */
class SuspicionChoiceTest {
    private static final int RENEWALS = 3_000;
    private static final int FIRST_JUDGED = 20;

    interface Estimator {
        void heard(double gap);

        double patience();
    }

    /** The same for every estimator. */
    static final class Fixed implements Estimator {
        @Override
        public void heard(double gap) {}

        @Override
        public double patience() {
            return 25;
        }
    }

    /** Chen's mean with his constant margin. */
    static final class Chen implements Estimator {
        private double mean;
        private int count;

        @Override
        public void heard(double gap) {
            mean += (gap - mean) / Math.min(++count, 64);
        }

        @Override
        public double patience() {
            return mean + 5;
        }
    }

    /** The same with Jacobson's margin, with the constants of Bertier, Marin and Sens (2002). */
    static final class Bertier implements Estimator {
        private double mean;
        private double delay;
        private double deviation;
        private int count;

        @Override
        public void heard(double gap) {
            double error = count == 0 ? 0 : gap - mean - delay;
            delay += 0.1 * error;
            deviation += 0.1 * (Math.abs(error) - deviation);
            mean += (gap - mean) / Math.min(++count, 64);
        }

        @Override
        public double patience() {
            return mean + delay + 4 * deviation;
        }
    }

    /** Phi accrual of Hayashibara and others (2004): phi 8 of a normal distribution is 5.6 deviations. */
    static final class Phi implements Estimator {
        private double mean;
        private double variance;
        private int count;

        @Override
        public void heard(double gap) {
            double weight = 1.0 / Math.min(++count, 100);
            double difference = gap - mean;
            mean += weight * difference;
            variance = (1 - weight) * (variance + weight * difference * difference);
        }

        @Override
        public double patience() {
            return mean + 5.6 * Math.max(0.1, Math.sqrt(variance));
        }
    }

    /** What was chosen. */
    static final class Chosen implements Estimator {
        private final Suspicion suspicion = new Suspicion(DetectorConfig.DEFAULT, Duration.ofHours(1));
        private final Suspicion.State state = new Suspicion.State();
        private double now;

        private Chosen() {
            suspicion.heard(state, 0);
        }

        @Override
        public void heard(double gap) {
            now += gap;
            suspicion.heard(state, (long) (now * 1e9));
        }

        @Override
        public double patience() {
            return suspicion.patience(state) / 1e9;
        }
    }

    interface Trace {
        double gap(int number, double regular, RandomGenerator random);
    }

    private static double lossy(double gap, double share, RandomGenerator random) {
        double sum = gap;
        while (random.nextDouble() < share) {
            sum += 10;
        }
        return sum;
    }

    /** A renewal each 10 s with 4 % jitter, sent in 5 to 20 ms, and what goes wrong with it. */
    private static final List<Trace> TRACES = List.of(
            (i, gap, random) -> gap,
            (i, gap, random) -> random.nextInt(60) == 0 ? gap + 2 + 6 * random.nextDouble() : gap,
            (i, gap, random) -> lossy(gap, 0.05, random),
            (i, gap, random) -> lossy(gap, 0.1, random),
            (i, gap, random) -> lossy(gap, 0.2, random),
            (i, gap, random) -> i == 1_500 ? 41 : gap,
            (i, gap, random) -> i >= 1_000 && i < 2_000 ? 4 * gap : gap);

    @Test
    void chosenEstimatorIsTheBestCompromiseOverAllTraces() {
        List<String> table = new ArrayList<>();
        table.add("            regular     pauses      5% lost     10% lost    20% lost    41s once    40s period");
        table.add(row("fixed 25s", Fixed::new));
        table.add(row("Chen 5s", Chen::new));
        table.add(row("Bertier", Bertier::new));
        table.add(row("phi 8", Phi::new));
        table.add(row("chosen", Chosen::new));

        assertThat(String.join("\n", table)).isEqualTo("""
                        regular     pauses      5% lost     10% lost    20% lost    41s once    40s period
            fixed 25s   0.0/25.0s   0.0/25.0s   2.0/25.0s   12.1/25.0s  44.3/25.0s  0.3/25.0s   335.6/25.0s
            Chen 5s     0.0/15.2s   9.7/15.3s   50.3/15.7s  106.0/16.4s 202.0/17.8s 0.3/15.2s   39.6/25.5s
            Bertier     0.0/10.6s   19.1/11.4s  46.3/14.9s  66.8/20.0s  43.6/29.3s  0.3/10.7s   1.0/22.3s
            phi 8       0.0/10.9s   14.1/14.6s  6.0/23.3s   6.4/31.5s   2.0/44.6s   0.3/11.9s   1.3/38.7s
            chosen      0.0/17.9s   0.0/18.1s   13.4/22.1s  8.7/29.3s   5.4/41.1s   0.3/18.0s   1.0/41.4s\
            """);
    }

    private static String row(String name, Supplier<Estimator> make) {
        StringBuilder row = new StringBuilder(String.format(Locale.ROOT, "%-11s", name));
        for (Trace trace : TRACES) {
            row.append(String.format(Locale.ROOT, " %-11s", judge(make.get(), trace)));
        }
        return row.toString().stripTrailing();
    }

    private static String judge(Estimator estimator, Trace trace) {
        RandomGenerator random = Randoms.seeded(7);
        int suspicions = 0;
        double patience = 0;
        for (int i = 0; i < RENEWALS; i++) {
            double regular = 10 * (1 + 0.04 * random.nextDouble()) + 0.005 + 0.015 * random.nextDouble();
            double gap = trace.gap(i, regular, random);
            if (i >= FIRST_JUDGED) {
                patience += estimator.patience();
                suspicions += gap > estimator.patience() ? 1 : 0;
            }
            estimator.heard(gap);
        }
        int judged = RENEWALS - FIRST_JUDGED;
        return String.format(Locale.ROOT, "%.1f/%.1fs", 1_000.0 * suspicions / judged, patience / judged);
    }
}
