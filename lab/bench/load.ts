/** Closed-loop HTTP load: each connection sends its next request after the previous request was answered. */
import { Pool } from 'undici';

export interface Request {
  method: 'GET' | 'POST' | 'PATCH';
  path: string;
  headers?: Record<string, string>;
  body?: string;
}

export function pick<Item>(list: readonly Item[], index: number): Item {
  return list[(index * 7919) % list.length] as Item;
}

export interface Measurement {
  requests: number;
  seconds: number;
  /** Milliseconds of each request, ascending. */
  latencies: Float64Array;
}

/**
 * @param makeRequest returns the request for a sequence number
 * @throws Error on the first response that is not 2xx, since a benchmark of errors is meaningless
 */
export async function runLoad(options: {
  baseUrl: string;
  connections: number;
  seconds: number;
  makeRequest: (index: number) => Request;
}): Promise<Measurement> {
  const pool = new Pool(options.baseUrl, { connections: options.connections, pipelining: 1 });
  const latencies: number[] = [];
  const startedAt = performance.now();
  const end = startedAt + options.seconds * 1_000;
  let index = 0;
  async function loop(): Promise<void> {
    while (performance.now() < end) {
      const { method, path, headers, body } = options.makeRequest(index++);
      const sentAt = performance.now();
      const answer = await pool.request({ method, path, headers: headers ?? {}, body: body ?? null });
      if (answer.statusCode >= 300)
        throw new Error(`${method} ${path} answered ${answer.statusCode}: ${await answer.body.text()}`);
      await answer.body.dump();
      latencies.push(performance.now() - sentAt);
    }
  }
  try {
    await Promise.all(Array.from({ length: options.connections }, loop));
  } finally {
    await pool.destroy();
  }
  const seconds = (performance.now() - startedAt) / 1_000;
  return { requests: latencies.length, seconds, latencies: Float64Array.from(latencies).toSorted() };
}

/** Joins the measurements of one operation's rounds. */
export function joinMeasurements(rounds: readonly Measurement[]): Measurement {
  const latencies = Float64Array.from(rounds.flatMap((round) => [...round.latencies])).toSorted();
  return { requests: latencies.length, seconds: rounds.reduce((sum, round) => sum + round.seconds, 0), latencies };
}

/** Returns a latency quantile in milliseconds, for `share` from 0 to 1. */
export function quantile(measurement: Measurement, share: number): number {
  const { latencies } = measurement;
  return latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * share))] ?? Number.NaN;
}
