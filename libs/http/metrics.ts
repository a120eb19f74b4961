/** How often the guards of this process have refused, and why. */
import type { Metrics } from '#libs/telemetry';
import { type Refusal, refusals } from './exchange.ts';

/** @returns what counts one */
export function countRefusals(metrics: Metrics): (reason: Refusal) => void {
  const total = metrics.counter('http_requests_refused_total', 'Requests and connections ended by a guard', { reason: refusals });
  return (reason) => total.inc({ reason }, 1);
}
