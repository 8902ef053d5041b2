package io.nodekeeper.simulator;

import io.nodekeeper.client.Call;
import io.nodekeeper.client.Reply;
import io.nodekeeper.client.Transport;
import io.nodekeeper.client.TransportException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * Numbers the moments of a controller: each call as it leaves, each answer and each line of a watch as it arrives; and
 * strikes the controller or its server at one of them. A controller that was struck does nothing more: what it still says
 * is not carried, and what it is told is not heard. Of a server that was struck just this message is lost. Confined to
 * virtual time.
 */
final class Moments {
    /** Where exactly to strike. */
    enum Side {
        /** The call does not leave; the answer or line is not heard. */
        BEFORE,
        /** The call has left; nobody is there for its answer. */
        AFTER
    }

    /** What happened at a moment. */
    record Moment(String what, boolean isCall) {}

    private final List<Moment> seen = new ArrayList<>();
    private final int target;
    private final Side side;
    private final boolean fatal;
    private final Runnable strike;
    private boolean counting;

    private Moments(int target, Side side, boolean fatal, Runnable strike) {
        this.target = target;
        this.side = side;
        this.fatal = fatal;
        this.strike = strike;
    }

    /** Only numbers. */
    static Moments numbering() {
        return new Moments(-1, Side.BEFORE, false, () -> {});
    }

    /** Strikes at moment {@code target}, from 0; {@code fatal} if it is the controller that is struck. */
    static Moments strikingAt(int target, Side side, boolean fatal, Runnable strike) {
        return new Moments(target, side, fatal, strike);
    }

    /** From now on moments count. */
    void begin() {
        counting = true;
    }

    /** From now on they do not. */
    void end() {
        counting = false;
    }

    List<Moment> seen() {
        return seen;
    }

    /** Puts itself between one life of the process and its network. */
    Transport tap(Transport inner) {
        return new Tap(inner);
    }

    /** Whether this moment is the one. */
    private boolean is(String what, boolean isCall) {
        if (!counting) {
            return false;
        }
        seen.add(new Moment(what, isCall));
        return seen.size() == target + 1;
    }

    private final class Tap implements Transport {
        private final Transport inner;
        private boolean dead;

        private Tap(Transport inner) {
            this.inner = inner;
        }

        @Override
        public CompletableFuture<Reply> send(Call call) {
            CompletableFuture<Reply> answer = new CompletableFuture<>();
            carry(
                    call,
                    () -> inner.send(call)
                            .whenComplete((reply, error) -> arrive(
                                    "answer to " + call,
                                    () -> {
                                        if (error == null) {
                                            answer.complete(reply);
                                        } else {
                                            answer.completeExceptionally(error);
                                        }
                                    },
                                    () -> answer.completeExceptionally(
                                            new TransportException(call + ": lost", null)))));
            return answer;
        }

        @Override
        public Stream open(Call call, StreamHandler handler) {
            List<Stream> opened = new ArrayList<>(1);
            carry(call, () -> opened.add(inner.open(call, heard(call, handler))));
            return () -> opened.forEach(Stream::cancel);
        }

        @Override
        public void close() {
            inner.close();
        }

        private void carry(Call call, Runnable leave) {
            boolean struck = !dead && is("call " + call, true);
            if (struck && side == Side.BEFORE) {
                strike();
            }
            if (!dead) {
                leave.run();
            }
            if (struck && side == Side.AFTER) {
                strike();
            }
        }

        /** What arrives is heard, or lost. */
        private void arrive(String what, Runnable heard, Runnable lost) {
            boolean struck = !dead && is(what, false);
            if (struck) {
                strike();
            }
            if (struck || dead) {
                lost.run();
            } else {
                heard.run();
            }
        }

        private void strike() {
            dead = fatal;
            strike.run();
        }

        private StreamHandler heard(Call call, StreamHandler handler) {
            return new StreamHandler() {
                @Override
                public void onOpen() {
                    arrive("agreement to " + call, () -> handler.onOpen(), () -> {});
                }

                @Override
                public void onLine(byte[] line) {
                    arrive("line of " + call, () -> handler.onLine(line), () -> {});
                }

                @Override
                public void onEnd(Optional<Reply> refusal, Optional<TransportException> why) {
                    arrive("end of " + call, () -> handler.onEnd(refusal, why), () -> {});
                }
            };
        }
    }
}
