/** Callers who each wait for their answer before they ask again, played by k6 (test/load/callers.js). */
import { execFile } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { provideGoTool } from '../../tools/servers/go-tool.ts';
import { k6Tool } from '../../tools/servers/go-tools.ts';
import type { Request } from '../bench/load.ts';

export interface Calls {
  /** Each caller stays with one of them. */
  readonly urls: readonly string[];
  readonly callers: number;
  readonly seconds: number;
  readonly makeRequest: (index: number) => Request;
}

const script = join(import.meta.dirname, '..', '..', 'test', 'load', 'callers.js');
/** Different ones, sent in turn: so many that what is changed is another each time. */
const requestCount = 1_480;

/** @param dir existing folder. @returns requests a second. @throws Error when one was not answered with a 2xx */
export async function callTogether(dir: string, { makeRequest, ...calls }: Calls, say: (line: string) => void): Promise<number> {
  const program = await provideGoTool(k6Tool, say);
  const file = join(dir, 'callers.json');
  const requests = Array.from({ length: requestCount }, (_value, index) => makeRequest(index));
  writeFileSync(file, JSON.stringify({ ...calls, requests }), { mode: 0o600 });
  try {
    const { stdout } = await promisify(execFile)(program, ['run', '--quiet', '--no-usage-report', script], {
      env: { ...process.env, CALLERS_FILE: file },
    });
    const told = JSON.parse(stdout) as { requests: number; failed: number; seconds: number };
    if (told.failed > 0) throw new Error(`${told.failed} of ${told.requests} requests failed`);
    return told.requests / told.seconds;
  } finally {
    rmSync(file, { force: true });
  }
}
