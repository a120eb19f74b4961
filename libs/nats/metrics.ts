import type { Metrics } from '#libs/telemetry';
import type { BusMetrics } from './responder.ts';

/** Rate, errors and duration per subject, on both sides of a call, and the state of the connection (operations, Signals). */
export function createBusMetrics(metrics: Metrics): BusMetrics {
  const served = metrics.red('rpc_server', 'Requests served', ['subject']);
  const called = metrics.red('rpc_client', 'Calls to services', ['subject']);
  const connection = metrics.gauge('nats_connected', '1 while the connection to the broker stands');
  return {
    served: (subject, code, seconds) => served.observe({ subject }, code, seconds),
    called: (subject, code, seconds) => called.observe({ subject }, code, seconds),
    connected: (up) => connection.set(up ? 1 : 0),
  };
}
