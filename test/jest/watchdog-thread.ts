/** The thread of watchdog.ts. It can end the process in two ways, which both work while the main thread is blocked. */
import { writeSync } from 'node:fs';
import { parentPort } from 'node:worker_threads';
import type { Watched } from './watchdog.ts';

let timer: NodeJS.Timeout | undefined;

parentPort?.on('message', (watched: Watched | undefined) => {
  clearTimeout(timer);
  if (watched === undefined) return;
  timer = setTimeout(() => {
    writeSync(2, `\nHANGS for ${watched.limitMs / 1000} s, ended: ${watched.what}\n`);
    process.kill(process.pid, 'SIGKILL');
  }, watched.limitMs);
});
