package dev.space.cli.platform;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

final class ProcTest {

    @Test
    void aLivingProcessIsKnownByPidAndStartTime() {
        long pid = ProcessHandle.current().pid();
        long ticks = Proc.startTicks(pid).orElseThrow();
        assertThat(new Proc(pid, ticks).alive()).isTrue();
    }

    @Test
    void anotherProcessWithTheSamePidIsNotTheSame() {
        long pid = ProcessHandle.current().pid();
        long ticks = Proc.startTicks(pid).orElseThrow();
        assertThat(new Proc(pid, ticks - 1).alive()).isFalse();
    }

    @Test
    void anEndedProcessIsDead() throws Exception {
        Process process = new ProcessBuilder("sleep", "60").start();
        long ticks = Proc.startTicks(process.pid()).orElseThrow();
        process.destroyForcibly().waitFor();
        assertThat(new Proc(process.pid(), ticks).alive()).isFalse();
    }
}
