package dev.space.nativeabi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.space.nativeabi.raw.Layouts;
import dev.space.nativeabi.raw.Libc;
import java.io.IOException;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.StructLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The layouts and constants of the raw layer must be what the C headers of this machine say. */
class LayoutProbeTest {

    private static final String PROBE =
            """
            #define _GNU_SOURCE
            #include <stdio.h>
            #include <stddef.h>
            #include <fcntl.h>
            #include <poll.h>
            #include <sched.h>
            #include <netinet/in.h>
            #include <sys/socket.h>
            #include <sys/uio.h>
            #include <sys/un.h>
            #include <unistd.h>
            #include <sys/ioctl.h>
            #include <sys/syscall.h>
            #include <sys/vfs.h>
            #include <linux/fiemap.h>
            #include <linux/fs.h>
            #include <linux/falloc.h>
            #define F(s, f) printf(#s "." #f " %zu\\n", offsetof(struct s, f))
            #define S(s) printf(#s " %zu\\n", sizeof(struct s))
            #define C(c) printf(#c " %llu\\n", (unsigned long long)(c))
            int main(void) {
              S(fiemap); F(fiemap, fm_start); F(fiemap, fm_length); F(fiemap, fm_flags);
              F(fiemap, fm_mapped_extents); F(fiemap, fm_extent_count); F(fiemap, fm_reserved);
              S(fiemap_extent); F(fiemap_extent, fe_logical); F(fiemap_extent, fe_physical);
              F(fiemap_extent, fe_length); F(fiemap_extent, fe_reserved64);
              F(fiemap_extent, fe_flags); F(fiemap_extent, fe_reserved);
              S(pollfd); F(pollfd, fd); F(pollfd, events); F(pollfd, revents);
              S(statfs); F(statfs, f_type);
              C(FICLONE); C(FS_IOC_FIEMAP); C(FIEMAP_FLAG_SYNC); C(FALLOC_FL_KEEP_SIZE);
              C(FALLOC_FL_PUNCH_HOLE); C(SEEK_DATA); C(SEEK_HOLE); C(POLLIN);
              C(SYS_pidfd_open); C(SYS_pidfd_send_signal);
              S(sockaddr_un); F(sockaddr_un, sun_family); F(sockaddr_un, sun_path);
              S(sockaddr_in); F(sockaddr_in, sin_family); F(sockaddr_in, sin_port);
              F(sockaddr_in, sin_addr); F(sockaddr_in, sin_zero);
              S(ucred); F(ucred, pid); F(ucred, uid); F(ucred, gid);
              S(iovec); F(iovec, iov_base); F(iovec, iov_len);
              S(msghdr); F(msghdr, msg_name); F(msghdr, msg_namelen); F(msghdr, msg_iov);
              F(msghdr, msg_iovlen); F(msghdr, msg_control); F(msghdr, msg_controllen);
              F(msghdr, msg_flags);
              S(cmsghdr); F(cmsghdr, cmsg_len); F(cmsghdr, cmsg_level); F(cmsghdr, cmsg_type);
              C(AF_UNIX); C(AF_INET); C(SOCK_STREAM); C(SOCK_DGRAM); C(SOCK_NONBLOCK);
              C(SOCK_CLOEXEC); C(SOL_SOCKET); C(SO_REUSEADDR); C(SO_PEERCRED); C(SCM_RIGHTS);
              C(MSG_CTRUNC); C(MSG_DONTWAIT); C(MSG_NOSIGNAL); C(MSG_CMSG_CLOEXEC);
              C(CLONE_NEWNET); C(POLLOUT);
              C(O_CREAT); C(O_EXCL); C(O_NOFOLLOW); C(O_CLOEXEC);
              return 0;
            }
            """;

    @TempDir Path directory;

    @Test
    void layoutsAndConstantsAreThoseOfTheHeaders() throws Exception {
        Path compiler = Path.of("/usr/bin/cc");
        assumeTrue(Files.isExecutable(compiler), "not run here: no C compiler at /usr/bin/cc");
        Map<String, Long> c = runProbe(compiler);
        Map<String, Long> ours = new TreeMap<>();
        layout(ours, "fiemap", Layouts.FIEMAP);
        layout(ours, "fiemap_extent", Layouts.FIEMAP_EXTENT);
        layout(ours, "pollfd", Layouts.POLLFD);
        ours.put("statfs", Layouts.STATFS.byteSize());
        ours.put("statfs.f_type", Layouts.offset(Layouts.STATFS, "f_type"));
        layout(ours, "sockaddr_un", Layouts.SOCKADDR_UN);
        layout(ours, "sockaddr_in", Layouts.SOCKADDR_IN);
        layout(ours, "ucred", Layouts.UCRED);
        layout(ours, "iovec", Layouts.IOVEC);
        layout(ours, "msghdr", Layouts.MSGHDR);
        layout(ours, "cmsghdr", Layouts.CMSGHDR);
        sockets(ours);
        ours.put("FICLONE", Libc.FICLONE);
        ours.put("FS_IOC_FIEMAP", Libc.FS_IOC_FIEMAP);
        ours.put("FIEMAP_FLAG_SYNC", (long) Libc.FIEMAP_FLAG_SYNC);
        ours.put("FALLOC_FL_KEEP_SIZE", (long) Libc.FALLOC_FL_KEEP_SIZE);
        ours.put("FALLOC_FL_PUNCH_HOLE", (long) Libc.FALLOC_FL_PUNCH_HOLE);
        ours.put("SEEK_DATA", (long) Libc.SEEK_DATA);
        ours.put("SEEK_HOLE", (long) Libc.SEEK_HOLE);
        ours.put("POLLIN", (long) Libc.POLLIN);
        ours.put("SYS_pidfd_open", Libc.SYS_PIDFD_OPEN);
        ours.put("SYS_pidfd_send_signal", Libc.SYS_PIDFD_SEND_SIGNAL);
        ours.put("O_CREAT", (long) Libc.O_CREAT);
        ours.put("O_EXCL", (long) Libc.O_EXCL);
        ours.put("O_NOFOLLOW", (long) Libc.O_NOFOLLOW);
        ours.put("O_CLOEXEC", (long) Libc.O_CLOEXEC);
        assertThat(ours).isEqualTo(c);
    }

    private static void sockets(Map<String, Long> ours) {
        ours.put("AF_UNIX", (long) Libc.AF_UNIX);
        ours.put("AF_INET", (long) Libc.AF_INET);
        ours.put("SOCK_STREAM", (long) Libc.SOCK_STREAM);
        ours.put("SOCK_DGRAM", (long) Libc.SOCK_DGRAM);
        ours.put("SOCK_NONBLOCK", (long) Libc.SOCK_NONBLOCK);
        ours.put("SOCK_CLOEXEC", (long) Libc.SOCK_CLOEXEC);
        ours.put("SOL_SOCKET", (long) Libc.SOL_SOCKET);
        ours.put("SO_REUSEADDR", (long) Libc.SO_REUSEADDR);
        ours.put("SO_PEERCRED", (long) Libc.SO_PEERCRED);
        ours.put("SCM_RIGHTS", (long) Libc.SCM_RIGHTS);
        ours.put("MSG_CTRUNC", (long) Libc.MSG_CTRUNC);
        ours.put("MSG_DONTWAIT", (long) Libc.MSG_DONTWAIT);
        ours.put("MSG_NOSIGNAL", (long) Libc.MSG_NOSIGNAL);
        ours.put("MSG_CMSG_CLOEXEC", (long) Libc.MSG_CMSG_CLOEXEC);
        ours.put("CLONE_NEWNET", (long) Libc.CLONE_NEWNET);
        ours.put("POLLOUT", (long) Libc.POLLOUT);
    }

    private static void layout(Map<String, Long> into, String name, StructLayout layout) {
        into.put(name, layout.byteSize());
        for (MemoryLayout field : layout.memberLayouts()) {
            // Padding has no name.
            field.name().ifPresent(f -> into.put(name + "." + f, Layouts.offset(layout, f)));
        }
    }

    private Map<String, Long> runProbe(Path compiler) throws IOException, InterruptedException {
        Path source = directory.resolve("probe.c");
        Path binary = directory.resolve("probe");
        Files.writeString(source, PROBE);
        run(List.of(compiler.toString(), "-o", binary.toString(), source.toString()));
        Map<String, Long> values = new TreeMap<>();
        for (String line : run(List.of(binary.toString())).split("\n", -1)) {
            if (!line.isBlank()) {
                int space = line.indexOf(' ');
                values.put(line.substring(0, space), Long.valueOf(line.substring(space + 1)));
            }
        }
        return values;
    }

    private static String run(List<String> command) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor(30, TimeUnit.SECONDS)).isTrue();
        assertThat(process.exitValue()).as(output).isZero();
        return output;
    }
}
