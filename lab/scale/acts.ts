/** Bulk actions, each measured once. */

export interface Act {
  readonly name: string;
  readonly path: string;
  readonly body: unknown;
}

export interface DoneAct {
  readonly name: string;
  readonly matched: number;
  readonly changed: number;
  readonly seconds: number;
}

/** Runs and measures each action. @throws Error on the first answer that is not 2xx */
export async function measureActs(
  baseUrl: string,
  token: string,
  acts: readonly Act[],
  log: (line: string) => void,
): Promise<DoneAct[]> {
  const done: DoneAct[] = [];
  for (const { name, path, body } of acts) {
    log(name);
    const startedAt = performance.now();
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const answer = await fetch(baseUrl + path, { method: 'POST', headers, body: JSON.stringify(body) });
    if (answer.status >= 300) throw new Error(`${name} answered ${answer.status}: ${await answer.text()}`);
    const { matched, changed } = (await answer.json()) as { matched: number; changed: number };
    done.push({ name, matched, changed, seconds: (performance.now() - startedAt) / 1_000 });
  }
  return done;
}
