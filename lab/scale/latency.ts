/** Measures latencies of the same requests on two platforms concurrently, so that noise affects both alike. */
import { Pool } from 'undici';
import type { Measurement, Request } from '../bench/load.ts';

export interface Subject {
  baseUrl: string;
  request: (index: number) => Request;
}

/**
 * Runs `connections` loops, each of which calls one platform, waits for the whole answer, then calls the other
 * platform.
 * @throws Error on the first answer that is not 2xx
 */
export async function measurePair(
  subjects: readonly [Subject, Subject],
  options: { connections: number; seconds: number },
): Promise<[Measurement, Measurement]> {
  const sides = subjects.map(({ baseUrl, request }) => ({
    pool: new Pool(baseUrl, { connections: options.connections, pipelining: 1 }),
    request,
    latencies: [] as number[],
  }));
  const startedAt = performance.now();
  const end = startedAt + options.seconds * 1_000;
  let index = 0;
  const loop = async (): Promise<void> => {
    while (performance.now() < end) {
      const number = index++;
      for (const side of number % 2 === 0 ? sides : sides.toReversed()) {
        const { method, path, headers, body } = side.request(number);
        const sentAt = performance.now();
        const answer = await side.pool.request({ method, path, headers: headers ?? {}, body: body ?? null });
        if (answer.statusCode >= 300)
          throw new Error(`${method} ${path} answered ${answer.statusCode}: ${await answer.body.text()}`);
        await answer.body.dump({ limit: Number.MAX_SAFE_INTEGER });
        side.latencies.push(performance.now() - sentAt);
      }
    }
  };
  try {
    await Promise.all(Array.from({ length: options.connections }, loop));
  } finally {
    await Promise.all(sides.map((side) => side.pool.destroy()));
  }
  const seconds = (performance.now() - startedAt) / 1_000;
  const [first, second] = sides.map(({ latencies }) => ({
    requests: latencies.length,
    seconds,
    latencies: Float64Array.from(latencies).toSorted(),
  }));
  if (first === undefined || second === undefined) throw new Error('A side is missing');
  return [first, second];
}

export interface AnswerSize {
  rows: number;
  /** Total number of matches of the query, of which an answer contains one page. */
  matches: number;
}

/** Returns the average size of `count` answers. An answer that is not a list counts as one row. */
export async function measureAnswers({ baseUrl, request }: Subject, count: number): Promise<AnswerSize> {
  const sum = { rows: 0, matches: 0 };
  for (let index = 0; index < count; index++) {
    const { method, path, headers, body } = request(index);
    const answer = await fetch(baseUrl + path, { method, headers: headers ?? {}, body: body ?? null });
    const value = (await answer.json()) as unknown[] | { items?: unknown[]; count?: number };
    const rows = Array.isArray(value) ? value.length : (value.items?.length ?? 1);
    sum.rows += rows;
    sum.matches += Array.isArray(value) ? rows : (value.count ?? rows);
  }
  return { rows: sum.rows / count, matches: sum.matches / count };
}
