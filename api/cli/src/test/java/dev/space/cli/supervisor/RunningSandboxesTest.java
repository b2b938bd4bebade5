package dev.space.cli.supervisor;

import static org.assertj.core.api.Assertions.assertThat;

import dev.space.cli.platform.NodePlace;
import dev.space.cli.platform.Platform;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Whose VM runs, by what the kernel says of processes. */
final class RunningSandboxesTest {

    private static final String SESSION = "ses_aaaaaaaaaaaaaaaaaaaaaaaaaa";

    @TempDir Path proc;

    private void process(int pid, String mounts) throws IOException {
        Path directory = Files.createDirectory(proc.resolve(String.valueOf(pid)));
        Files.writeString(directory.resolve("mountinfo"), mounts);
    }

    private static String mount(String path) {
        return "61 60 7:0 " + path + " /vm/disk rw - btrfs /dev/loop0 rw\n";
    }

    private RunningSandboxes of(Platform platform, int base) {
        return new RunningSandboxes(NodePlace.first(platform, 1), base, 4, proc);
    }

    @Test
    void onlyASessionsVmUnderASlotsUidCounts() throws IOException {
        int uid = (Integer) Files.getAttribute(proc, "unix:uid");
        Platform platform = Platform.of(Map.of(), Path.of("/data"), Path.of("/none"));
        process(10, mount("/volumes/default/sessions/" + SESSION + "/live/disk"));
        process(11, mount("/volumes/default/staging/pool-7/live/disk"));
        process(12, "");
        Files.createDirectory(proc.resolve("13")); // has ended
        Files.createDirectory(proc.resolve("self"));
        assertThat(of(platform, uid).sessions()).isEqualTo(Set.of(SESSION));
        assertThat(of(platform, uid + 1).sessions()).as("another's").isEmpty();
        assertThat(of(platform, uid - 4).sessions()).as("another's").isEmpty();
        assertThat(List.of(of(platform, uid - 3).sessions())).containsExactly(Set.of(SESSION));
    }
}
