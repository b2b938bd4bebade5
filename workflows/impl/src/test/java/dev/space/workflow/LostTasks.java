package dev.space.workflow;

import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.ForwardingClientCall.SimpleForwardingClientCall;
import io.grpc.ForwardingClientCallListener.SimpleForwardingClientCallListener;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Workers that die after a workflow task did its local activities and before it is reported: the
 * report is not sent, the worker forgets the workflow, and the server gives the task out again
 * after its time-out. To end real workers instead loses tasks for ever: the test server may hand
 * one to a poller that is gone.
 */
final class LostTasks implements ClientInterceptor {

    private final AtomicInteger left = new AtomicInteger();
    private final AtomicBoolean stuck = new AtomicBoolean();

    /** The next reports are not sent. */
    void lose(int reports) {
        left.set(reports);
    }

    /**
     * True, once, when the test server refused a report that Temporal's own server takes: the
     * cancellation of an activity whose end it has and has not told yet. It refuses that for ever.
     */
    boolean serverIsStuck() {
        return stuck.getAndSet(false);
    }

    @Override
    public <Q, A> ClientCall<Q, A> interceptCall(
            MethodDescriptor<Q, A> method, CallOptions options, Channel next) {
        if (!"RespondWorkflowTaskCompleted".equals(method.getBareMethodName())) {
            return next.newCall(method, options);
        }
        if (left.getAndUpdate(n -> Math.max(0, n - 1)) > 0) {
            throw Status.NOT_FOUND.withDescription("the worker died").asRuntimeException();
        }
        return new SimpleForwardingClientCall<>(next.newCall(method, options)) {
            @Override
            public void start(Listener<A> answer, Metadata headers) {
                super.start(watched(answer), headers);
            }
        };
    }

    private <A> ClientCall.Listener<A> watched(ClientCall.Listener<A> answer) {
        return new SimpleForwardingClientCallListener<>(answer) {
            @Override
            public void onClose(Status status, Metadata trailers) {
                String why = String.valueOf(status.getDescription());
                if (why.startsWith("ACTIVITY_UNKNOWN")) {
                    stuck.set(true);
                }
                super.onClose(status, trailers);
            }
        };
    }
}
