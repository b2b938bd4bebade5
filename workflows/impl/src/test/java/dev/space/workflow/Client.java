package dev.space.workflow;

import io.temporal.client.WorkflowException;
import io.temporal.client.WorkflowServiceException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * Makes calls to Temporal and waits for none of them longer than its patience, as the API does. A
 * call whose answer did not come goes on in the background; whether it had its effect is not known.
 */
final class Client implements AutoCloseable {

    private final Duration patience;
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
    private final List<Future<?>> made = new ArrayList<>();
    private final List<Throwable> defects = new ArrayList<>();

    Client(Duration patience) {
        this.patience = patience;
    }

    /** The answer; null when there is none, in time or at all. */
    <T> @Nullable T ask(Callable<T> call) {
        return await(begin(call));
    }

    void tell(Runnable call) {
        var _ = ask(Executors.callable(call, true));
    }

    /** Begins a call that may take long. */
    <T> Future<T> begin(Callable<T> call) {
        Future<T> answer = threads.submit(call);
        made.add(answer);
        return answer;
    }

    private <T> @Nullable T await(Future<T> answer) {
        try {
            return answer.get(patience.toMillis(), TimeUnit.MILLISECONDS);
        } catch (TimeoutException late) {
            return null;
        } catch (ExecutionException refused) {
            judge(refused.getCause());
            return null;
        } catch (InterruptedException stop) {
            throw new AssertionError("stopped", stop);
        }
    }

    /** Temporal may say that the workflow has ended, or not answer; all else is a defect. */
    private void judge(@Nullable Throwable failure) {
        boolean temporal =
                failure instanceof WorkflowException
                        || failure instanceof WorkflowServiceException
                        || failure instanceof io.grpc.StatusRuntimeException;
        if (!temporal && failure != null) {
            defects.add(failure);
        }
    }

    /** Failures that no caller of Temporal should see. */
    List<Throwable> defects() {
        return List.copyOf(defects);
    }

    @Override
    public void close() {
        made.forEach(call -> call.cancel(true));
        var _ = CompletableFuture.runAsync(threads::shutdownNow);
    }
}
