package dev.space.node.engine.fake;

import com.google.protobuf.ByteString;
import dev.space.node.engine.spi.GuestProcess;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** One process of a fake guest. Guarded by its guest's lock. */
final class FakeProcess {

    private static final int NOT_FOUND = 127;
    private static final int SIGNAL_BASE = 128;

    private final FakeMemory.ProcessImage born;
    private final ArrayDeque<List<String>> todo;
    private final FakeDisk disk;
    private long progress;
    private ByteString stdout;
    private ByteString stderr;
    private ByteString stdin;
    private boolean stdinEnded;
    private boolean over;
    private int exitCode;
    private int signal;
    private String reason;
    private String detail;
    private long endedMillis;
    private int delivery;
    private @Nullable String machineCommand;

    FakeProcess(FakeMemory.ProcessImage image, FakeDisk disk) {
        this.born = image;
        this.disk = disk;
        this.todo = new ArrayDeque<>(image.todo());
        this.progress = image.progress();
        this.stdout = bytes(image.stdout());
        this.stderr = bytes(image.stderr());
        this.stdin = bytes(image.stdin());
        this.stdinEnded = image.stdinEnded();
        this.over = image.over();
        this.exitCode = image.exitCode();
        this.signal = image.signal();
        this.reason = image.reason();
        this.detail = image.detail();
        this.endedMillis = image.endedMillis();
    }

    private static ByteString bytes(String text) {
        return ByteString.copyFrom(Base64.getDecoder().decode(text));
    }

    private static String text(ByteString bytes) {
        return Base64.getEncoder().encodeToString(bytes.toByteArray());
    }

    FakeMemory.ProcessImage image() {
        return new FakeMemory.ProcessImage(
                born.id(),
                born.pid(),
                new ArrayList<>(todo),
                progress,
                over,
                exitCode,
                signal,
                reason,
                detail,
                born.startedMillis(),
                endedMillis,
                text(stdout),
                text(stderr),
                text(stdin),
                stdinEnded,
                born.timeoutMillis());
    }

    GuestProcess state() {
        return new GuestProcess(
                born.id(),
                born.pid(),
                !over,
                exitCode,
                signal,
                reason,
                detail,
                born.startedMillis(),
                endedMillis,
                stdout.size(),
                stderr.size());
    }

    boolean isOver() {
        return over;
    }

    /** What a command did to the whole machine, told once: {@code hang} or {@code panic}. */
    @Nullable String takeMachineCommand() {
        String taken = machineCommand;
        machineCommand = null;
        return taken;
    }

    /** A new delivery ends the one before. */
    int nextDelivery() {
        return ++delivery;
    }

    boolean isCurrent(int ofDelivery) {
        return delivery == ofDelivery;
    }

    ByteString output(boolean ofStderr, long from) {
        ByteString all = ofStderr ? stderr : stdout;
        return from >= all.size() ? ByteString.EMPTY : all.substring((int) from);
    }

    long write(long offset, ByteString data, boolean eof) {
        long skip = stdin.size() - offset;
        if (skip >= 0 && skip < data.size()) {
            stdin = stdin.concat(data.substring((int) skip));
        }
        stdinEnded |= eof;
        return stdin.size();
    }

    void kill(int number, long now) {
        if (!over) {
            signal = number;
            end(SIGNAL_BASE + number, "SIGNALED", now);
        }
    }

    private void end(int code, String why, long now) {
        over = true;
        exitCode = code;
        reason = why;
        endedMillis = now;
        todo.clear();
    }

    /** Runs for one tick; {@code tickMillis} of the guest's time pass. */
    void step(long tickMillis, long now) {
        if (over) {
            return;
        }
        if (born.timeoutMillis() > 0 && now - born.startedMillis() >= born.timeoutMillis()) {
            signal = 9;
            end(SIGNAL_BASE + 9, "TIMED_OUT", now);
            return;
        }
        List<String> command = todo.peekFirst();
        if (command == null) {
            end(exitCode, "EXITED", now);
            return;
        }
        if (run(command, tickMillis, now) && !over) {
            todo.pollFirst();
            progress = 0;
            if (todo.isEmpty()) {
                end(exitCode, "EXITED", now);
            }
        }
    }

    /** True when the command is done. */
    private boolean run(List<String> command, long tickMillis, long now) {
        List<String> args = command.subList(1, command.size());
        exitCode = 0;
        return switch (command.getFirst()) {
            case "true" -> true;
            case "false" -> {
                exitCode = 1;
                yield true;
            }
            case "echo" -> echo(args);
            case "cat" -> cat(args);
            case "exit" -> {
                end(args.isEmpty() ? 0 : Integer.parseInt(args.getFirst()), "EXITED", now);
                yield true;
            }
            case "sleep" -> {
                progress += tickMillis;
                yield progress >= Double.parseDouble(args.getFirst()) * 1000;
            }
            case "hang", "panic" -> {
                machineCommand = command.getFirst();
                yield true;
            }
            case "counter" -> {
                progress++;
                stdout = stdout.concat(ByteString.copyFromUtf8(progress + "\n"));
                yield !args.isEmpty() && progress >= Long.parseLong(args.getFirst());
            }
            default -> {
                detail = command.getFirst() + ": command not found";
                end(NOT_FOUND, "NOT_FOUND", now);
                yield true;
            }
        };
    }

    private boolean echo(List<String> args) {
        int redirect = args.indexOf(">");
        List<String> words = redirect < 0 ? args : args.subList(0, redirect);
        ByteString line = ByteString.copyFromUtf8(String.join(" ", words) + "\n");
        if (redirect < 0) {
            stdout = stdout.concat(line);
        } else {
            String name = FakeDisk.resolve(FakeDisk.home(), args.get(redirect + 1));
            disk.write(name, line, 0, false);
        }
        return true;
    }

    private boolean cat(List<String> args) {
        if (args.isEmpty()) {
            stdout = stdout.concat(stdin.substring((int) progress));
            progress = stdin.size();
            return stdinEnded;
        }
        for (String file : args) {
            try {
                stdout = stdout.concat(disk.read(FakeDisk.resolve(FakeDisk.home(), file)));
            } catch (dev.space.model.SpaceException e) {
                stderr =
                        stderr.concat(
                                ByteString.copyFromUtf8(
                                        "cat: " + file + ": No such file or directory\n"));
                exitCode = 1;
            }
        }
        return true;
    }
}
