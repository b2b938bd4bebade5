package dev.space.manager;

import dev.space.privileged.PrivilegedClient;
import dev.space.privileged.PrivilegedException;
import dev.space.privileged.Request;
import dev.space.privileged.SlotInfo;
import dev.space.privileged.VmDirectory;
import dev.space.privileged.VmmExit;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/** Runs as the worker's uid in a process of its own: one command a line in, one answer out. */
final class ClientProbe {

    private ClientProbe() {}

    public static void main(String[] args) throws IOException {
        PrivilegedClient client = new PrivilegedClient(Path.of(args[0]), Duration.ofSeconds(30));
        BufferedReader in =
                new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            System.out.println(answer(client, line));
        }
    }

    private static String answer(PrivilegedClient client, String line) {
        List<String> words = List.of(line.split("\t", -1));
        try {
            int slot = words.size() > 1 ? Integer.parseInt(words.get(1)) : 0;
            return switch (words.getFirst()) {
                case "ensure" -> "uid " + client.ensureSlot(slot);
                case "start" -> "pid " + client.startVmm(start(slot, words));
                case "freeze" -> done(() -> client.freezeSlot(slot));
                case "thaw" -> done(() -> client.thawSlot(slot));
                case "kill" -> done(() -> client.killVmm(slot));
                case "release" -> done(() -> client.releaseSlot(slot));
                case "exit" -> exit(client.readExit(slot, Long.parseLong(words.get(2))));
                case "describe" ->
                        "slots " + client.describeSlots().stream().map(ClientProbe::slot).toList();
                default -> "unknown command";
            };
        } catch (PrivilegedException e) {
            return "refused " + e.code() + " " + e.getMessage();
        } catch (IllegalArgumentException e) {
            return "illegal " + e.getMessage();
        }
    }

    private interface Call {
        void run() throws PrivilegedException;
    }

    private static String done(Call call) throws PrivilegedException {
        call.run();
        return "done";
    }

    private static Request.StartVmm start(int slot, List<String> words) {
        VmDirectory directory = new VmDirectory("main", VmDirectory.Area.SESSIONS, words.get(3));
        return new Request.StartVmm(
                slot,
                Long.parseLong(words.get(2)),
                directory,
                words.get(4),
                Integer.parseInt(words.get(5)),
                200,
                64,
                words.subList(6, words.size()));
    }

    private static String slot(SlotInfo s) {
        return s.slot()
                + ":"
                + s.alive()
                + ":"
                + s.frozen()
                + ":"
                + s.pid()
                + ":"
                + s.startId()
                + ":"
                + s.directory()
                + ":"
                + (s.memoryBytes() > 0);
    }

    private static String exit(VmmExit e) {
        return "exit "
                + e.state()
                + " "
                + e.value()
                + " "
                + e.oomKills()
                + " "
                + e.message().replace('\n', '|');
    }
}
